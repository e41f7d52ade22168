package place

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/policy/route"
	"lightloom/controller/state"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestPackersEnd runs families of jobs that read from each other to their end under every rule of
// slots, with few slots: no stage holds slots that another waits for.
func TestPackersEnd(t *testing.T) {
	for seed := range tries.Of[uint64](80, 2000) {
		r := rand.New(rand.NewPCG(seed, 0x9b))
		f := allocatorFabric(t, 2+r.IntN(3), 1+r.IntN(3))
		jobs := family(r, f)
		for slices.ContainsFunc(jobs, func(j *controller.Job) bool { return orphan(jobs, j) }) {
			jobs = slices.DeleteFunc(jobs, func(j *controller.Job) bool { return orphan(jobs, j) })
		}
		rule := []pushbox.Rule{pushbox.PushBox, pushbox.Hadoop, pushbox.ShuffleWatcher, pushbox.NEAT}[seed%4]
		fifo := []func(string) bool{nil, AllFIFO}[seed/4%2]
		c := &cluster{t: t, s: state.New(f), make: func() filler { return NewPacker(rule, fifo) }}
		t.Logf("seed %d, rule %d: %d jobs", seed, rule, len(jobs))
		c.run(jobs)
	}
}

// TestPackerExplains: each task's slot is told with the rule that gave it: maps near their data, and a
// reduce that its machine's network has room for.
func TestPackerExplains(t *testing.T) {
	told := map[int]*route.SlotWhy{} // by task: every instance that is asked tells the same
	c := &cluster{t: t, s: state.New(allocatorFabric(t, 3, 4)), make: func() filler {
		k := NewPacker(pushbox.PushBox, nil)
		k.Tell(func(_ *controller.View, w route.Why) { told[w.Slot.Task] = w.Slot })
		return k
	}}
	c.run([]*controller.Job{mapReduce("a", 0, 2, 1, 300)})
	for task, want := range []pushbox.Reason{pushbox.Near, pushbox.Near, pushbox.Uncrowded} {
		w := told[task]
		if w == nil || w.Reason != string(want) || w.Host < 0 || (w.Stage == 1) != (w.Input > 0) {
			t.Errorf("task %d: %+v, want %q", task, w, want)
		}
	}
}

// TestShuffleWatcherStaysTogether: maps go to the fewest racks that have a copy of each of their blocks,
// and reduces to the racks that hold the output.
func TestShuffleWatcherStaysTogether(t *testing.T) {
	c := &cluster{t: t, s: state.New(allocatorFabric(t, 6, 4)), make: func() filler {
		return NewPacker(pushbox.ShuffleWatcher, nil)
	}}
	maps, reduces, fewest := map[southbound.RackID]bool{}, map[southbound.RackID]bool{}, 0
	c.after = func(v *controller.View, p *controller.Plan) {
		for _, x := range p.Place {
			for i, h := range x.Hosts {
				if h == controller.NoHost {
					continue
				}
				if i < 6 {
					maps[v.HostRack(h)] = true
				} else {
					reduces[v.HostRack(h)] = true
				}
			}
		}
		if fewest == 0 {
			fewest = smallestCover(scatter(v, v.Waiting[0])[:6*pushbox.Replicas], 6)
		}
	}
	c.run([]*controller.Job{mapReduce("a", 0, 6, 4, 300)})
	if len(maps) != fewest {
		t.Errorf("maps on racks %v, %d would do", maps, fewest)
	}
	for r := range reduces {
		if !maps[r] {
			t.Errorf("a reduce on rack %d, which holds no output: %v", r, maps)
		}
	}
}

// smallestCover is the fewest racks that have a copy of each block, by trying all sets.
func smallestCover(copies []southbound.RackID, racks int) int {
	fewest := racks
	for set := range 1 << racks {
		all := true
		for b := 0; b < len(copies); b += pushbox.Replicas {
			all = all && slices.ContainsFunc(copies[b:b+pushbox.Replicas], func(r southbound.RackID) bool {
				return set>>r&1 == 1
			})
		}
		if all {
			fewest = min(fewest, bits.OnesCount(uint(set)))
		}
	}
	return fewest
}

// TestNEATStaysWithSender: on an idle fabric a reduce of one map has its input at once where the map ran.
func TestNEATStaysWithSender(t *testing.T) {
	for id := range 4 { // the same map at other places
		hosts := map[int]southbound.HostID{}
		c := &cluster{t: t, s: state.New(allocatorFabric(t, 6, 4)), make: func() filler {
			return NewPacker(pushbox.NEAT, nil)
		}}
		c.after = func(_ *controller.View, p *controller.Plan) {
			for _, x := range p.Place {
				for i, h := range x.Hosts {
					if h != controller.NoHost && int(x.Job) == id {
						hosts[i] = h
					}
				}
			}
		}
		var jobs []*controller.Job
		for i := range id + 1 {
			jobs = append(jobs, mapReduce("a", time.Duration(i)*time.Minute, 1, 1, 300))
		}
		c.run(jobs)
		if hosts[0] != hosts[1] {
			t.Errorf("job %d: the map on host %d, the reduce on %d", id, hosts[0], hosts[1])
		}
	}
}
