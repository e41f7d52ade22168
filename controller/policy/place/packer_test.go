package place

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/policy/route"
	"lightloom/controller/state"
	"lightloom/pathmap/tries"
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
