package experiment

import (
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/cmd/lightloom/internal/replay"
	"lightloom/controller/policy/share"
	"lightloom/controller/workload"
	"lightloom/pathmap"
)

// someTrace draws coflows, some of them larger than all slots of the fabric below.
func someTrace(seed uint64) *workload.Trace {
	r := rand.New(rand.NewPCG(seed, 0x7062))
	t := &workload.Trace{Name: "drawn", Racks: 6}
	for i := range 12 {
		c := workload.TraceCoflow{ID: i + 1, Arrival: time.Duration(r.IntN(20)) * time.Second, Mappers: []int32{0, 1}}
		for k := range 1 + r.IntN(30) {
			c.Reducers = append(c.Reducers, workload.Reducer{Rack: int32(k % 6),
				Bytes: pathmap.Bytes(1+r.IntN(900)) * 1e6})
		}
		t.Coflows = append(t.Coflows, c)
	}
	return t
}

// TestNoJobStarves is a watchdog: under every policy of slots, also beside circuits, each task gets a slot and each
// job ends, on fabrics with fewer slots than jobs.
func TestNoJobStarves(t *testing.T) {
	model := workload.FacebookV1()
	for _, name := range []string{"pushbox", "pushbox-fifo", "pushbox-queues", "pushbox+sunflow", "hadoop", "hadoop-fifo",
		"shufflewatcher", "neat+priority", "neat-fifo+priority-arrival", "hadoop+priority-bins+sunflow"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) {
				trace := someTrace(seed)
				jobs := model.Jobs(trace)
				for i := range jobs {
					jobs[i].User = []string{share.QueueOfOrder, "fair", "b"}[i%3]
				}
				c := replay.Case{On: OnFlowsim, Policy: name, Jobs: jobs, Seed: seed,
					Fabric: "hybrid:racks=6,hosts=1,slots=2,spines=1,nic=10Gbps,eps=5Gbps,ocs=10Gbps,dark=10ms"}
				ran, err := c.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if len(ran.Jobs) != len(jobs) {
					t.Fatalf("seed %d: %d of %d jobs ended", seed, len(ran.Jobs), len(jobs))
				}
				for i, task := range ran.State.Tasks {
					if task.Ended < 0 {
						t.Fatalf("seed %d: task %d of job %d has not ended", seed, i, task.Job)
					}
				}
			}
		})
	}
}

// TestNoChainStarves is the watchdog for jobs that read from each other and from data sets, whose stages wait until
// each of their tasks has a slot: none holds slots that another needs for ever, on little more than one stage takes.
func TestNoChainStarves(t *testing.T) {
	for _, name := range []string{"pushbox", "pushbox-fifo", "pushbox+sunflow", "hadoop", "shufflewatcher",
		"neat+priority", "dawn", "dawn-strict", "dawn-alone", "dawn+sunflow", "fair", "corral"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, kind := range workload.ChainKinds() {
				jobs, err := workload.Chains(workload.ChainOptions{Kind: kind, Seed: uint64(i), Chains: 3, Maps: 5, Reduces: 4,
					Hosts: 6, Every: time.Second, Least: 1e9, Most: 5e9, Blocks: i%2 == 1, Rounds: 3})
				if err != nil {
					t.Fatal(err)
				}
				c := replay.Case{On: OnFlowsim, Policy: name, Jobs: jobs, Seed: uint64(i),
					Fabric: "hybrid:racks=6,hosts=1,slots=8,spines=1,nic=10Gbps,eps=5Gbps,ocs=10Gbps,dark=10ms"}
				ran, err := c.Run(t.Context())
				if err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				if len(ran.Jobs) != len(jobs) {
					t.Fatalf("%s: %d of %d jobs ended", kind, len(ran.Jobs), len(jobs))
				}
			}
		})
	}
}

// TestPackings runs every scheduler of the experiment once, and holds its figures to be of all jobs.
func TestPackings(t *testing.T) {
	all := append(rivals(share.FairIntent), components()...)
	for _, p := range append(append(all, rivals(share.FIFOIntent)...), rivals(share.QueueIntent)...) {
		f := farm{"test", machines(6, 2, "10Gbps"), workload.FacebookV1(), p.intent == share.QueueIntent, p}
		s, err := f.run(t.Context(), new(Bench), someTrace(7), 1)
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		if s.Mean <= 0 || s.P95 < s.Mean/2 || s.Max < s.P99 || s.P99 < s.P95 {
			t.Errorf("%v: %+v", f, s)
		}
	}
}
