package place

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// TestSumsAnew holds sums that keep what has ended against sums of all tasks, while tasks are placed, begin, end, and
// lose their hosts.
func TestSumsAnew(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		j := mapReduce("a", time.Second, 1+r.IntN(6), r.IntN(4), 100)
		n := j.Tasks()
		p := &controller.Partial{Job: j, Hosts: slices.Repeat([]southbound.HostID{controller.NoHost}, n)}
		for s := range j.Stages {
			for range j.Stages[s].Tasks {
				p.Tasks = append(p.Tasks, controller.TaskState{Stage: int32(s), Host: controller.NoHost, Started: -1, Ended: -1})
			}
		}
		v := &controller.View{Now: time.Second}
		v.TaskChanges, v.AllTaskChanges = 1, 1
		kept := newTotals(v, j, p)
		for step := range 60 {
			v.Now += time.Duration(r.IntN(3000)) * time.Millisecond
			v.TaskChanges++
			for range 1 + r.IntN(3) {
				changeTask(r, v, p, r.IntN(n))
			}
			kept.sum(v, p)
			if got, want := sumsOf(kept), sumsOf(newTotals(v, j, p)); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d step %d:\n%+v\nanew\n%+v", seed, step, got, want)
			}
		}
	}
}

// changeTask has a task be placed, at first or again, begin, end, or lose its host, which can change all jobs.
func changeTask(r *rand.Rand, v *controller.View, p *controller.Partial, i int) {
	x := &p.Tasks[i]
	switch {
	case x.Host == controller.NoHost:
		x.Host = southbound.HostID(r.IntN(4))
		x.NonLocal = r.IntN(3) == 0 && x.Ended < 0 || x.NonLocal && x.Ended >= 0
	case r.IntN(8) == 0:
		x.Host, v.AllTaskChanges = controller.NoHost, v.TaskChanges
		if x.Ended < 0 {
			x.Started = -1
		}
	case x.Started < 0:
		x.Started = v.Now
	case x.Ended < 0:
		x.Ended = v.Now
	}
	p.Hosts[i] = x.Host
}

// sumsOf is the sums alone, ends in order.
func sumsOf(t *totals) totals {
	return totals{unplaced: t.unplaced, ended: t.ended, behind: t.behind, lastBegun: t.lastBegun, latest: t.latest,
		ends: slices.Sorted(slices.Values(t.ends)), lastLocal: t.lastLocal, running: t.running, reading: t.reading,
		lost: t.lost}
}
