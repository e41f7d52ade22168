package share

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestSpreadPortsReference compares equal shares by sets of ports, and what is back-filled behind them,
// with the same part that looks up the links of every row. The results must be equal to the bit, on few
// hosts and on enough for a set of several words.
func TestSpreadPortsReference(t *testing.T) {
	t.Parallel()
	filled := 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 53))
		v := crossbar(t)
		if seed < fewOfMany {
			v = crossbarOf(t, manyHosts)
		}
		used, next := NewDCLAS(), southbound.CoflowID(0)
		for step := range 20 {
			if seed%2 == 1 && (step == 0 || r.IntN(8) == 0) {
				v.ReservedBandwidth = reserveBandwidth(r, v)
			}
			ev := goOn(r, v, &next)
			for i := range v.Coflows { // some have sent enough to sink to a lower queue
				if left := &v.Coflows[i].Remaining; r.IntN(4) == 0 {
					for row := range left.Base {
						left.Base[row] *= .7
					}
				}
			}
			p, q := controller.Plan{Wake: southbound.Never}, controller.Plan{Wake: southbound.Never}
			used.Fill(v, ev, &p)
			slow := NewDCLAS()
			slow.topologyContext.refresh(v, &q)
			slow.topologyContext.plain = false // Fill surveys no fabric that it knows
			slow.Fill(v, nil, &q)
			if a, b := fmt.Sprint(p.Share, p.Wake), fmt.Sprint(q.Share, q.Wake); a != b {
				t.Fatalf("seed %d step %d: says\n%s\nlooking at every row\n%s", seed, step, a, b)
			}
			if err := policytest.Check(v, &p); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			filled += len(p.Share.Extra)
		}
	}
	if filled < 100 {
		t.Errorf("only %d host flows were filled", filled)
	}
}

// TestSurveys: links are read again when outside schedulers hold more or less of them, or in another
// fabric, and never else.
func TestSurveys(t *testing.T) {
	v, other := crossbar(t), crossbar(t)
	var g topologyContext
	p := &controller.Plan{}
	look := func(what string, v *controller.View, surveys uint64, free float64) {
		t.Helper()
		g.refresh(v, p)
		if up := g.up[2]; g.surveys != surveys || g.free[up] != free {
			t.Errorf("%s: survey %d, host 2 may send %v; want survey %d, %v", what, g.surveys, g.free[up],
				surveys, free)
		}
		g.take(g.up[2], 1) // the next look has all of it again
	}
	look("first", v, 1, 1e9)
	look("again", v, 1, 1e9)
	v.ReservedBandwidth = make([]pathmap.BitsPerSecond, len(v.Fabric.Topology.Links()))
	v.ReservedBandwidth[g.up[2]] = 4e8
	look("reserved", v, 2, 6e8)
	look("reserved, again", v, 2, 6e8)
	v.ReservedBandwidth[g.up[2]] = 3e8 // one that stands, and in the same memory
	look("less reserved", v, 3, 7e8)
	look("another fabric", other, 4, 1e9)
	v.ReservedBandwidth = nil
	look("released", v, 5, 1e9)
}
