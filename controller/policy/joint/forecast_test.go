package joint

import (
	"math"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestForecastTries: the sum that a try returns is that of a fresh forecast with the job in it, in which no other job
// ends sooner than without, and tries leave nothing behind, in whatever order they come.
func TestForecastTries(t *testing.T) {
	tested := 0
	for seed := range tries.Of[uint64](800, 8000) {
		v := policytest.View(seed)
		if len(v.Waiting) == 0 || v.Waiting[0].Tasks() == 0 || !plannable(v, v.Waiting[0]) || !fits(v) {
			continue
		}
		j, rng := v.Waiting[0], v.Rand("forecast", 1)
		f := newForecast(v, false, -1)
		before, laid, used := f.run(nil), f.scratch.Mark(), len(f.used)
		var ends []float64
		for _, j := range f.jobs {
			ends = append(ends, j.end)
		}
		for range 4 {
			hosts := make([]southbound.HostID, j.Tasks())
			for i := range hosts {
				hosts[i] = southbound.HostID(rng.IntN(len(v.Free)))
			}
			got := f.try(f.placed(j, hosts))
			fresh := newForecast(v, false, -1)
			fresh.add(fresh.placed(j, hosts))
			want := fresh.jobs[len(f.jobs)].end
			for i := range f.jobs {
				want += max(fresh.jobs[i].end, ends[i])
			}
			if math.Abs(got-want) > 1e-6 {
				t.Fatalf("view %d: tried %v, fresh %v", seed, got, want)
			}
			tested++
		}
		f.try(f.placed(j, make([]southbound.HostID, j.Tasks()))) // nothing is sent: all is laid again
		if after := f.run(nil); math.Abs(after-before) > 1e-6 || f.scratch.Mark() != laid || len(f.used) != used {
			t.Fatalf("view %d: %v with %d, %d laid, before the tries %v with %d, %d", seed, after, f.scratch.Mark(),
				len(f.used), before, laid, used)
		}
	}
	if tested < 40 {
		t.Errorf("only %d tries", tested)
	}
}

// TestSearchKeepsSlots: every task gets a host with a slot for it, and those that have one keep it.
func TestSearchKeepsSlots(t *testing.T) {
	tested := 0
	for seed := range tries.Of[uint64](800, 8000) {
		v := policytest.View(seed)
		if len(v.Waiting) == 0 || v.Waiting[0].Tasks() == 0 || !plannable(v, v.Waiting[0]) || !fits(v) {
			continue
		}
		j, free := v.Waiting[0], slices.Clone(v.Free)
		fixed := slices.Repeat([]southbound.HostID{controller.NoHost}, j.Tasks())
		if seed%2 == 0 {
			fixed[0] = 0
		}
		for task, h := range search(newForecast(v, seed%3 == 0, -1), j, fixed, v.Free) {
			if fixed[task] != controller.NoHost {
				if h != fixed[task] {
					t.Fatalf("view %d: task %d moved from %d to %d", seed, task, fixed[task], h)
				}
			} else if free[h]--; free[h] < 0 {
				t.Fatalf("view %d: host %d has no slot for task %d", seed, h, task)
			}
		}
		tested++
	}
	if tested < 10 {
		t.Errorf("only %d searches", tested)
	}
}

// TestPortTime: a pair of racks takes the sender's port for a circuit and its dark time, or to the packet network if
// that is sooner, if one of them has no circuits, or if nobody knows of circuits; a rack's own bytes take none.
func TestPortTime(t *testing.T) {
	job := &controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, 4)},
		{Tasks: make([]controller.Task, 2)}}, Edges: []controller.Edge{{Kind: controller.ScatterGather, To: 1, Bytes: 8e6}}}
	for _, tc := range []struct {
		name  string
		blind bool
		ports bool
		count [][]int32
		want  float64
	}{
		{"within a rack", false, true, [][]int32{{4, 0, 0}, {2, 0, 0}}, 0},
		{"a circuit", false, true, [][]int32{{4, 0, 0}, {0, 2, 0}}, 0.010 + 8e6/1e8},
		{"two, with half of a stage each", false, true, [][]int32{{2, 2, 0}, {0, 0, 2}}, 2 * (0.010 + 4e6/1e8)},
		{"packets", true, true, [][]int32{{4, 0, 0}, {0, 2, 0}}, 8e6 / 1e7},
		{"no port at the receiver", false, false, [][]int32{{4, 0, 0}, {0, 2, 0}}, 8e6 / 1e7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &forecast{v: &controller.View{Delta: 10 * time.Millisecond}, blind: tc.blind}
			x := &shapes{f: f, job: job, need: []int32{4, 2}}
			f.rates[rackUp], f.optical[0] = []float64{1e7, 1e7, 1e7}, []float64{1e8, 1e8, 1e8}
			if f.optical[1] = []float64{1e8, 1e8, 1e8}; !tc.ports {
				f.optical[1][1] = 0
			}
			if got := x.portTime(tc.count); math.Abs(got-tc.want) > 1e-9 {
				t.Errorf("%v s, want %v", got, tc.want)
			}
		})
	}
}

// TestReadTime: what a task reads from given hosts takes their racks' ports, unless it is in the same rack, and what no
// circuit can carry takes the packet network's.
func TestReadTime(t *testing.T) {
	job := &controller.Job{Edges: []controller.Edge{{Kind: controller.Fixed}, {Kind: controller.ScatterGather}}}
	f := &forecast{v: &controller.View{Delta: 10 * time.Millisecond}}
	x := &shapes{f: f, job: job}
	f.rates[rackUp], f.optical[0] = []float64{1e7, 1e7}, []float64{1e8, 1e8}
	coflow := func(up pathmap.Bytes, pairs ...circuits.Pair) *liveCoflow {
		c := &liveCoflow{pairs: pairs}
		c.ports[rackUp] = []portBytes{{at: 1, bytes: float64(up), flows: 1}}
		return c
	}
	for _, tc := range []struct {
		name  string
		reads *liveCoflow
		want  float64
	}{
		{"nothing from elsewhere", nil, 0},
		{"a circuit", coflow(8e6, circuits.Pair{In: 1, Bytes: 8e6}), 0.010 + 8e6/1e8},
		{"sooner over packets", coflow(1e4, circuits.Pair{In: 1, Bytes: 1e4}), 1e4 / 1e7},
		{"no circuits", coflow(8e6), 8e6 / 1e7},
		{"a circuit for some", coflow(9e6, circuits.Pair{In: 1, Bytes: 8e6}), 0.010 + 8e6/1e8 + 1e6/1e7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			shuffled := coflow(5e6)
			if got := x.readTime(&liveJob{coflows: []*liveCoflow{tc.reads, shuffled}}); math.Abs(got-tc.want) > 1e-9 {
				t.Errorf("%v s, want %v", got, tc.want)
			}
		})
	}
}

// fits reports whether the first waiting job has slots.
func fits(v *controller.View) bool {
	n := 0
	for _, k := range v.Free {
		n += int(max(k, 0))
	}
	return n >= v.Waiting[0].Slots()
}
