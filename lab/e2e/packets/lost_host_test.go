package packets

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/emulator/fault"
	"lightloom/lab/labtest"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/southbound"
	"lightloom/southbound/noise"
)

// TestLostHost: when a host fails for good, the application level places its tasks again, and they
// restart; no other task is moved or restarted, and every job ends. On both fabrics.
func TestLostHost(t *testing.T) {
	t.Parallel()
	for _, on := range []string{scenario.OnFlowsim, scenario.OnNetns} {
		t.Run(on, func(t *testing.T) {
			measure := noise.Measure
			if on == scenario.OnNetns {
				measure = labtest.ShareNetns(t, "netns", false).Measure
			}
			const at = 600 * time.Millisecond
			c := replay.Case{Options: scenario.Options{
				On: on, Fabric: "leafspine:racks=4,hosts=3,spines=2,eps=50Mbps,nic=200Mbps,slots=4",
				Policies: []string{"crosslayer"}, Given: computing(t), Seed: 1,
			}, Stderr: os.Stderr}
			before := forecast(t, c, at)
			lost := busiestHost(before)
			name := before.Fabric().Topology.Node(before.Fabric().HostNode[lost]).Name
			c.Events = []fault.Event{{At: at, Fault: fault.Fault{Kind: fault.Host, Name: name}}}
			measure(t, 5, func() error {
				ran, err := c.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if len(ran.Jobs) != len(c.Given) {
					t.Fatalf("%d of %d jobs have ended: %q", len(ran.Jobs), len(c.Given), ran.Notes)
				}
				return placedAgain(t, before, ran, lost)
			})
		})
	}
}

// placedAgain holds where tasks ended against where they were when a host failed, by the simulator.
// Where the machine is so busy that jobs came later than that, others are where they were not then:
// that is returned.
func placedAgain(t *testing.T, before, ran *replay.Ran, lost southbound.HostID) error {
	t.Helper()
	var differ []error
	moved := 0
	for i, was := range before.State.Tasks {
		is := ran.State.Tasks[i]
		switch {
		case was.Host != lost && (is.Host != was.Host || is.Try != 0):
			differ = append(differ, fmt.Errorf("task %d was on host %d, which lives, and ended on host %d in try %d", i,
				was.Host, is.Host, is.Try))
		case was.Host == lost && is.Host == lost:
			t.Errorf("task %d ended on host %d, which has failed", i, lost)
		case was.Host == lost && was.Running() && is.Try != 1:
			differ = append(differ, fmt.Errorf("task %d ran on the host that failed, and ended in try %d", i, is.Try))
		case was.Host == lost:
			moved++
		}
	}
	if moved == 0 {
		t.Error("the host that failed held no task")
	}
	return errors.Join(differ...)
}

// computing returns jobs that have all been placed, and whose first tasks compute, when a host fails.
func computing(t *testing.T) []controller.Job {
	t.Helper()
	d, err := workload.ParseDrawn("hadoop:maps=4,reduces=3,bytes=1MB-2MB,compute=1s")
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := d.Jobs(1, 1, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		jobs[i].Arrival = time.Duration(i) * 150 * time.Millisecond
	}
	return jobs
}

// forecast returns the simulator's state of a case at an instant.
func forecast(t *testing.T, c replay.Case, at time.Duration) *replay.Ran {
	t.Helper()
	c.On, c.StopAt = scenario.OnFlowsim, at
	ran, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ran
}

// busiestHost is the host that runs the most tasks.
func busiestHost(r *replay.Ran) southbound.HostID {
	n := make([]int, r.Fabric().Hosts())
	best := 0
	for i := range r.State.Tasks {
		if task := &r.State.Tasks[i]; task.Running() {
			if n[task.Host]++; n[task.Host] > n[best] {
				best = int(task.Host)
			}
		}
	}
	return southbound.HostID(best)
}
