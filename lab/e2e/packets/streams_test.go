package packets

import (
	"context"
	"slices"
	"testing"
	"time"

	"lightloom/controller/state"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
)

// streamSetup is two drawn stream topologies on a small fabric of packets alone.
func streamSetup(t *testing.T, policies ...string) *scenario.Prepared {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{
		Workload: "storm:jobs=2,rate=120/min,bytes=50kB-200kB,forward=split,cycles=0.5,parallel=2",
		Fabric:   "leafspine:racks=4,hosts=2,spines=2,eps=50Mbps,nic=200Mbps,slots=8",
		Policies: policies, Seed: 3, Speedup: 1, Replicas: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStreamsOnBoth runs streams, circles among them, on the simulator and on packets: tasks are where
// the policy put them on both, all bytes arrive, and each job has its throughput.
func TestStreamsOnBoth(t *testing.T) {
	s := streamSetup(t, "crosslayer")
	sim, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	checkStreams(t, s, sim)
	labtest.ShareNetns(t, "netns", false)
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
	defer cancel()
	real, err := labtest.Enter(ctx, s, s.Rows[0], emulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkStreams(t, s, real)
	labtest.CheckPackets(t, s, real)
	if !slices.Equal(sim.State.Jobs[0].Hosts, real.State.Jobs[0].Hosts) {
		t.Errorf("the first job is on %v on the simulator and on %v on packets", sim.State.Jobs[0].Hosts,
			real.State.Jobs[0].Hosts)
	}
	t.Logf("the jobs took %v on the simulator and %v on packets", sim.End, real.End)
}

func checkStreams(t *testing.T, s *scenario.Prepared, o *outcome.Outcome) {
	t.Helper()
	for i, j := range o.State.Jobs {
		for k := range j.Edges {
			c := o.State.Coflows[int(j.FirstCoflow)+k]
			if c.Ended == state.Unset || c.Started < j.Placed || c.Bytes+c.Local != j.Edges[k].Bytes {
				t.Errorf("job %d: stream %d has %d of %d bytes, started at %v, ended at %v", i, k, c.Bytes+c.Local,
					j.Edges[k].Bytes, c.Started, c.Ended)
			}
		}
		for k := range j.Tasks() {
			if task := o.State.Tasks[int(j.FirstTask)+k]; task.Ended == state.Unset {
				t.Errorf("job %d: task %d has not ended", i, k)
			}
		}
	}
	for _, j := range o.ResultOf(s).Jobs {
		if j.Throughput() <= 0 || j.Delivered <= 0 {
			t.Errorf("job %q delivered %d bytes at %v bit/s", j.Name, j.Delivered, j.Throughput())
		}
	}
}

// TestHadoopChains: rounds follow each other through the file system, on the same bytes.
func TestHadoopChains(t *testing.T) {
	s, err := scenario.Prepare(scenario.Options{Workload: "hadoop:jobs=3,rounds=2,bytes=1MB-5MB",
		Seed: 1, Speedup: 1,
		On:     scenario.OnFlowsim,
		Fabric: "leafspine:racks=4,hosts=2,spines=2,eps=100Mbps,nic=1Gbps,slots=8", Policies: []string{"crosslayer"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range o.State.Jobs {
		last := time.Duration(0)
		for _, k := range []int{0, 1, 2, 3} { // shuffle, write, read, shuffle
			c := o.State.Coflows[int(j.FirstCoflow)+k]
			if c.Started < last || c.Bytes+c.Local != j.Edges[0].Bytes {
				t.Errorf("job %d: edge %d began at %v, the one before ended at %v; %d bytes", i, k,
					c.Started, last, c.Bytes+
						c.Local)
			}
			last = c.Ended
		}
	}
}
