package share

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestSpreadReference compares decisions of dclas that remember how coflows were spread with spreading
// them row by row: their rates and wake-ups must be equal to the bit. On every other seed outside
// schedulers hold some of the links, which changes on the way; on some, views do not say how many rows are
// left.
func TestSpreadReference(t *testing.T) {
	t.Parallel()
	for seed := range tries.Of[uint64](200, 1000) {
		r := rand.New(rand.NewPCG(seed, 71))
		v := crossbar(t)
		if seed < fewOfMany {
			v = crossbarOf(t, manyHosts)
		}
		used, next, seen := NewDCLAS(), southbound.CoflowID(0), map[southbound.CoflowID]bool{}
		for step := range 25 {
			if seed%2 == 1 && (step == 0 || r.IntN(8) == 0) {
				v.ReservedBandwidth = reserveBandwidth(r, v)
			}
			ev := goOn(r, v, &next)
			for i := range v.Coflows {
				c := &v.Coflows[i]
				for row := range c.Size {
					if !seen[c.ID] {
						c.Size[row] = 1 << (20 + r.IntN(6))
						c.Remaining.Base[row] = float64(c.Size[row])
					} else if r.IntN(3) == 0 {
						c.Remaining.Base[row] *= r.Float64()
					}
				}
				seen[c.ID] = true
			}
			p, q := controller.Plan{Wake: southbound.Never}, controller.Plan{Wake: southbound.Never}
			restore := func() {}
			if seed%5 == 0 && r.IntN(2) == 0 {
				restore = withoutLive(v)
			}
			used.Fill(v, ev, &p)
			restore()
			spreadSlowly(NewDCLAS(), v, &q)
			if got, want := fmt.Sprint(p.Share, p.Wake), fmt.Sprint(q.Share, q.Wake); got != want {
				t.Fatalf("seed %d step %d: says\n%s\nrow by row\n%s", seed, step, got, want)
			}
			if err := policytest.Check(v, &p); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
		}
	}
}

// withoutLive removes from a view how many rows are left, and returns what puts it back.
func withoutLive(v *controller.View) (restore func()) {
	live := make([]int32, len(v.Coflows))
	for i := range v.Coflows {
		live[i], v.Coflows[i].Remaining.Live = v.Coflows[i].Remaining.Live, 0
	}
	return func() {
		for i := range v.Coflows {
			v.Coflows[i].Remaining.Live = live[i]
		}
	}
}

// spreadSlowly is Fill of a new instance that looks at every row of every coflow.
func spreadSlowly(p *DCLAS, v *controller.View, plan *controller.Plan) {
	o := &p.Ordered
	o.start(v, plan)
	all := slices.Clone(o.demands(v, nil))
	for i := range all {
		all[i].remains = all[i].c.LeftTotal()
	}
	p.sort(all)
	wake := southbound.Never
	for i := range all {
		before := o.given(&all[i])
		from, to := o.spreadRows(v, all[i:i+1])
		o.rates.Spread = append(o.rates.Spread, southbound.Spread{Coflow: all[i].c.ID, From: from, To: to})
		wake = min(wake, sinks(v.Now, &all[i], o.given(&all[i])-before, o.topologyContext.bits))
	}
	for i := range all {
		o.backfill(v, &all[i])
	}
	plan.Wake = wake
	o.finish(plan)
}

// TestSpreadTogetherKeepsNoEnds: rows that end are not listed while nothing reads the list, and are counted
// when the coflow is spread alone again.
func TestSpreadTogetherKeepsNoEnds(t *testing.T) {
	v := crossbar(t, []flow{{0, 1, 1}, {2, 1, 1}}, []flow{{0, 3, 1}})
	o := new(Ordered)
	spread := func(ev []controller.Event, n int) []southbound.HostRate {
		o.start(v, new(controller.Plan))
		from, _ := o.spread(v, o.demands(v, ev)[:n])
		return from
	}
	for i := range v.Coflows {
		v.Coflows[i].Remaining.Live = int32(len(v.Coflows[i].Src))
	}
	spread(nil, 1)
	spread(nil, 2)
	v.Coflows[0].Ended[0], v.Coflows[0].Remaining.Live = true, 1
	ended := []controller.Event{{Kind: controller.HostFlowEnded, Coflow: v.Coflows[0].ID}}
	o.demands(v, ended)
	if n := len(o.open[0].spread.ended); n > 0 {
		t.Errorf("%d rows are listed, want none", n)
	}
	if got := fmt.Sprint(spread(nil, 1)); got != fmt.Sprint([]southbound.HostRate{{Host: 2, Rate: pathmap.Gbps}}) {
		t.Errorf("alone it sends %s, want 1 Gb/s of host 2", got)
	}
}
