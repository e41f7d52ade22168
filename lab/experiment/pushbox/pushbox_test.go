package pushbox

import (
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/controller/policy/share"
	"lightloom/controller/workload"
	"lightloom/lab/experiment"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
)

// someTrace draws coflows, some of them larger than all slots of the fabric below.
func someTrace(seed uint64) *workload.Trace {
	r := rand.New(rand.NewPCG(seed, 0x7062))
	t := &workload.Trace{Name: "drawn", Racks: 6}
	for i := range 12 {
		c := workload.TraceCoflow{ID: i + 1, Arrival: time.Duration(r.IntN(20)) * time.Second,
			Mappers: []int32{0, 1}}
		for k := range 1 + r.IntN(30) {
			c.Reducers = append(c.Reducers, workload.Reducer{Rack: int32(k % 6),
				Bytes: pathmap.Bytes(1+r.IntN(900)) * 1e6})
		}
		t.Coflows = append(t.Coflows, c)
	}
	return t
}

// TestNoJobStarves is a watchdog: under every policy of slots, also beside circuits, each task gets a
// slot and each job ends, on fabrics with fewer slots than jobs.
func TestNoJobStarves(t *testing.T) {
	model := workload.FacebookV1()
	for _, name := range []string{"pushbox", "pushbox-fifo", "pushbox-queues", "pushbox+sunflow",
		"hadoop", "hadoop-fifo",
		"shufflewatcher", "neat+priority", "neat-fifo+priority-arrival", "hadoop+priority-bins+sunflow"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) {
				trace := someTrace(seed)
				jobs := model.Jobs(trace)
				for i := range jobs {
					jobs[i].User = []string{share.QueueOfOrder, "fair", "b"}[i%3]
				}
				c := replay.Case{Options: scenario.Options{
					On: experiment.OnFlowsim, Policies: []string{name}, Given: jobs, Seed: seed,
					Fabric: "hybrid:racks=6,hosts=1,slots=2,spines=1,nic=10Gbps,eps=5Gbps,ocs=10Gbps,dark=10ms",
				}}
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

// TestNoChainStarves is the watchdog for jobs that read from each other and from data sets, whose
// stages wait until each of their tasks has a slot: none holds slots that another needs for ever, on
// little more than one stage takes.
func TestNoChainStarves(t *testing.T) {
	for _, name := range []string{"pushbox", "pushbox-fifo", "pushbox+sunflow", "hadoop", "shufflewatcher",
		"neat+priority", "dawn", "dawn-strict", "dawn-alone", "dawn+sunflow", "fair", "corral"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, kind := range workload.ChainKinds() {
				jobs, err := workload.Chains(workload.ChainOptions{Kind: kind, Seed: uint64(i), Chains: 3,
					Maps: 5, Reduces: 4,
					Hosts: 6, Every: time.Second, Least: 1e9, Most: 5e9, Blocks: i%2 == 1, Rounds: 3})
				if err != nil {
					t.Fatal(err)
				}
				c := replay.Case{Options: scenario.Options{
					On: experiment.OnFlowsim, Policies: []string{name}, Given: jobs, Seed: uint64(i),
					Fabric: "hybrid:racks=6,hosts=1,slots=8,spines=1,nic=10Gbps,eps=5Gbps,ocs=10Gbps,dark=10ms",
				}}
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
		s, err := f.run(t.Context(), new(experiment.Bench), someTrace(7), 1)
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		if s[meanJCT] <= 0 || s[p95JCT] < s[meanJCT]/2 || s[longest] < s[p99JCT] || s[p99JCT] < s[p95JCT] {
			t.Errorf("%v: %+v", f, s)
		}
	}
}

// TestSpans: percentiles are of the jobs' times, in whatever order the jobs come.
func TestSpans(t *testing.T) {
	var took, size []float64
	for i := range 100 {
		took, size = append(took, float64(i*37%100+1)), append(size, 1e5)
	}
	size[0], size[1] = 1e12, 1e12 // of which the jobs take 1 and 38 s
	s := spansOf(took, size)
	if s[meanJCT] != 50.5 || s[p95JCT] != 95 || s[p99JCT] != 99 || s[longest] != 100 || s[largeJobs] != 19.5 {
		t.Errorf("%+v", s)
	}
}

// TestInPriority: of three reducers of one machine each ends before the next, and together they use its
// line well.
func TestInPriority(t *testing.T) {
	o, err := inPriority(t.Context(), 8, 3)
	if err != nil {
		t.Fatal(err)
	}
	if e := o.Ends; !(o.Lone <= e[0] && e[0] < e[1] && e[1] < e[2]) || o.Use < 90 || o.Use > 100 {
		t.Errorf("%+v", o)
	}
}

// TestPushBoxRows runs the small form of the experiments that no other test runs, on the simulator.
func TestPushBoxRows(t *testing.T) {
	trace := someTrace(5)
	o, err := deciding(t.Context(), new(experiment.Bench), trace, 30, 1)
	if err != nil || o[allDecisions] <= 0 || o[medianDecision] > o[p95Decision] {
		t.Errorf("%+v: %v", o, err)
	}
	for which := 1; which <= 2; which++ {
		n := map[int]int{1: 30, 2: 29}[which]
		if got := len(testbedJobs(which, 1)); got != n {
			t.Errorf("workload %d has %d jobs, want %d", which, got, n)
		}
		for _, p := range []string{"hadoop+ecmp", "pushbox+ecmp"} {
			s, err := testbed{which, experiment.OnFlowsim, nil}.run(t.Context(),
				&experiment.Bench{Quick: true}, p, 1)
			if err != nil || s[meanJCT] <= 0 || s[p95JCT] < s[meanJCT]/2 {
				t.Errorf("workload %d, %s: %+v: %v", which, p, s, err)
			}
		}
	}
	for _, s := range axes() {
		got := map[string]experiment.Systems{}
		for _, x := range s.x {
			at := experiment.Systems{}
			for k, p := range rivals(share.FairIntent) {
				at[p.name] = experiment.Runs{{meanJCT: float64(5 - k), p99JCT: 1}}
			}
			got[s.setting(x)] = at
		}
		out := new(experiment.Bench).Result()
		s.rows(got, out)
		for _, r := range out.Rows {
			if r.Measured == nil || r.Verdict == "" {
				t.Errorf("%+v", r)
			}
		}
	}
}
