package place

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/certified"
	"lightloom/controller/policy/policytest"
	"lightloom/controller/policy/policytest/decided"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/state"
	"lightloom/pathmap"
)

var update = flag.Bool("update", false, "write down what all parts decide")

// run has one part place random jobs as they come, of which some read what others write, and digests
// its plans.
func run(t *testing.T, fresh func() filler) string {
	d := decided.New()
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 73))
		f := allocatorFabric(t, 2+r.IntN(4), 1+r.IntN(3))
		jobs := family(r, f)
		for slices.ContainsFunc(jobs, func(j *controller.Job) bool { return orphan(jobs, j) }) {
			jobs = slices.DeleteFunc(jobs, func(j *controller.Job) bool { return orphan(jobs, j) })
		}
		if seed%2 == 0 {
			jobs = jobs[:0]
		}
		for i := len(jobs); i < 6; i++ {
			slots := f.Hosts() * f.Spec.Slots
			j := mapReduce(fmt.Sprint("u", r.IntN(3)),
				time.Duration(i)*time.Duration(r.IntN(9))*time.Second, 1+r.IntN(slots),
				r.IntN(slots), pathmap.Bytes(1+r.IntN(40_000)))
			j.Weight = float64(1 + r.IntN(2))
			if r.IntN(2) == 0 {
				apart(j)
			}
			jobs = append(jobs, j)
		}
		slices.SortStableFunc(jobs, func(a, b *controller.Job) int { return int(a.Arrival - b.Arrival) })
		c := &cluster{t: t, s: state.New(f), make: fresh}
		c.after = func(_ *controller.View, p *controller.Plan) { d.Add(p) }
		c.run(jobs)
	}
	return d.String()
}

func fast(t *certified.Tasks, e certified.Effort, _ *rand.Rand) (*certified.Placed, error) {
	return certified.TaPRAFast(t, e)
}

// TestDecisions: where every part places the jobs of random views, and jobs that come and end.
func TestDecisions(t *testing.T) {
	view := policytest.Remembering(policytest.View)
	if runtime.GOARCH != "amd64" {
		t.Skip("loads are floating point, which other processors round otherwise")
	}
	all := parts()
	maps.Copy(all, map[string]func() filler{
		"random": func() filler { return Random{} }, "packed": func() filler { return Packed{} },
		"tapra":               func() filler { return &Certified{Placer: fast} },
		"ontapra":             func() filler { return &Certified{Placer: fast, Shortest: true} },
		"gsa":                 func() filler { return &Certified{Placer: certified.GSA(certified.Proportional)} },
		"dawn":                func() filler { return &Dawn{} },
		"dawn low":            func() filler { return &Dawn{Threshold: 1e-9} },
		"dawn-strict":         func() filler { return &Dawn{Strict: true} },
		"dawn-alone":          func() filler { return &Dawn{Alone: true} },
		"hadoop-fifo":         func() filler { return NewPacker(pushbox.Hadoop, AllFIFO) },
		"shufflewatcher-fifo": func() filler { return NewPacker(pushbox.ShuffleWatcher, AllFIFO) },
	})
	var got []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		line := name + ": " + decided.Views(view, func() decided.Part { return all[name]() })
		// These take whole jobs, or leave slots free.
		if !slices.Contains([]string{"dawn-strict", "random", "packed", "tapra", "ontapra", "gsa"}, name) {
			line += ", " + run(t, all[name])
		}
		got = append(got, line)
	}
	decided.Compare(t, "testdata/decisions.golden", *update, got)
}
