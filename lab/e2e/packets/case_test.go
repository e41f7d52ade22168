package packets

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/emulator/fault"
	"lightloom/lab/labtest"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/southbound/noise"
)

// endless returns streams that send until the case stops.
func endless(t *testing.T, n int) []controller.Job {
	t.Helper()
	d, err := workload.ParseDrawn("storm:bolts=4,spouts=1")
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := d.Jobs(1, 1, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		jobs[i].Arrival = time.Duration(i) * 100 * time.Millisecond
		for k := range jobs[i].Edges {
			jobs[i].Edges[k].Bytes = 1 << 38
		}
	}
	return jobs
}

// TestUntil stops a case whose jobs would go on for hours, on both fabrics: a link that its host flows
// use fails meanwhile, and what is received comes back to what it was.
func TestUntil(t *testing.T) {
	t.Parallel()
	for _, on := range []string{scenario.OnFlowsim, scenario.OnNetns} {
		t.Run(on, func(t *testing.T) {
			c := replay.Case{Options: scenario.Options{
				On: on, Fabric: "jellyfish:switches=6,degree=3,hosts=6,rate=200Mbps,slots=3,paths=6",
				Policies: []string{"crosslayer"}, Given: endless(t, 3), Seed: 1, StopAt: 6 * time.Second,
				Scale: 10, Speedup: 2,
			}, Stderr: os.Stderr}
			measure := noise.Measure
			if on == scenario.OnNetns {
				measure = labtest.ShareNetns(t, "netns", false).Measure
			}
			used := usedAt(t, c, time.Second)
			name := fault.NewNames(used.Fabric(), 1).Cable(used.links[0])
			c.Events = []fault.Event{{At: 2 * time.Second, Fault: fault.Fault{Kind: fault.Link, Name: name}},
				{At: 3 * time.Second, Fault: fault.Fault{Kind: fault.Link, Name: name}, Heal: true}}
			measure(t, 4, func() error {
				ran, err := c.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if ran.End < 3*time.Second || len(ran.Jobs) != 0 {
					t.Errorf("ended at %v with %d jobs, want 3s, half of 6s, and none", ran.End, len(ran.Jobs))
				}
				if len(ran.PolicyResult.Faults) != 1 || !ran.PolicyResult.Faults[0].WasRerouted {
					t.Errorf("faults %+v", ran.PolicyResult.Faults)
				}
				before, after := between(ran, 400*time.Millisecond, time.Second), between(ran,
					1800*time.Millisecond, 3*time.Second)
				if ran.End > 6*time.Second || before == 0 || math.Abs(after/before-1) > 0.5 {
					return fmt.Errorf("ended at %v, received %.3g bytes a second before and %.3g after",
						ran.End, before, after)
				}
				return nil
			})
		})
	}
}

type usedLinks struct {
	*replay.Ran
	links []pathmap.LinkID
}

func usedAt(t *testing.T, c replay.Case, at time.Duration) usedLinks {
	t.Helper()
	c.On, c.StopAt = scenario.OnFlowsim, at
	ran, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	links, err := ran.Used()
	if err != nil || len(links) == 0 || !slices.IsSorted(links) {
		t.Fatalf("used %v, %v", links, err)
	}
	for _, l := range links {
		net := ran.Fabric().Topology
		end := net.Link(l)
		if l%2 != 0 || net.Node(end.From).Role == pathmap.Host || net.Node(end.To).Role == pathmap.Host {
			t.Errorf("link %d is used, from %d to %d", l, end.From, end.To)
		}
	}
	return usedLinks{ran, links}
}

// between is the mean of what was received in an interval, in bytes a second.
func between(r *replay.Ran, from, to time.Duration) float64 {
	sum := pathmap.Bytes(0)
	for _, x := range r.Received {
		if x.From >= from && x.To <= to {
			sum += x.Bytes
		}
	}
	return float64(sum) / (to - from).Seconds()
}
