package joint

import (
	"math"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestForecastTries: the sum that a try returns is that of a fresh forecast with the job in it, in
// which no other job ends sooner than without, and tries leave nothing behind, in whatever order they
// come.
func TestForecastTries(t *testing.T) {
	tested := 0
	for seed := range tries.Of[uint64](800, 8000) {
		v := policytest.View(seed)
		if len(v.Waiting) == 0 || v.Waiting[0].Tasks() == 0 || !plannable(v, v.Waiting[0]) || !fits(v) {
			continue
		}
		j, rng := v.Waiting[0], v.Rand("forecast", 1)
		f := newForecast(v, false, -1)
		before, laid, used := f.run(nil, nil), f.scratch.Mark(), len(f.used)
		var ends []float64
		for _, j := range f.jobs {
			ends = append(ends, j.end)
		}
		for range 4 {
			hosts := make([]southbound.HostID, j.Tasks())
			for i := range hosts {
				hosts[i] = southbound.HostID(rng.IntN(len(v.Free)))
			}
			got := f.try(f.placed(j, hosts), nil)
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
		f.try(f.placed(j, make([]southbound.HostID, j.Tasks())), nil) // nothing is sent: all is laid again
		if after := f.run(nil, nil); math.Abs(after-before) > 1e-6 || f.scratch.Mark() != laid ||
			len(f.used) != used {
			t.Fatalf("view %d: %v with %d, %d laid, before the tries %v with %d, %d", seed, after,
				f.scratch.Mark(),
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
		for task, h := range search(newForecast(v, seed%3 == 0, -1), j, fixed, v.Free, nil) {
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

// fits reports whether the first waiting job has slots.
func fits(v *controller.View) bool {
	n := 0
	for _, k := range v.Free {
		n += int(max(k, 0))
	}
	return n >= v.Waiting[0].Slots()
}
