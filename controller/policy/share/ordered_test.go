package share

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// alikeCoflows returns a view of coflows of one flow, whose figures are equal, in no order.
func alikeCoflows(t *testing.T, n int) *controller.View {
	t.Helper()
	flows := make([][]flow, n)
	for i := range flows {
		flows[i] = []flow{{0, 1, 1}}
	}
	v := crossbar(t, flows...)
	for i := range v.Coflows {
		c := &v.Coflows[i]
		c.Arrival, c.Start, c.Remaining.Live = 0, 0, 1
	}
	r := rand.New(rand.NewPCG(43, 211))
	r.Shuffle(n, func(i, k int) { v.Coflows[i], v.Coflows[k] = v.Coflows[k], v.Coflows[i] })
	return v
}

// TestRankTies: coflows with equal keys are served by id. They are more than a sort that is not stable
// leaves in their order.
func TestRankTies(t *testing.T) {
	for name, o := range map[string]*Ordered{"fifo": NewFIFO(), "scf": NewSCF(), "ncf": NewNCF(), "lcf": NewLCF(),
		"sebf": NewSEBF()} {
		v := alikeCoflows(t, 40)
		var p controller.Plan
		o.Fill(v, nil, &p)
		if !slices.IsSortedFunc(p.Share.Pace, func(a, b southbound.Pace) int { return int(a.Coflow) - int(b.Coflow) }) {
			t.Errorf("%s serves %v, want by id", name, p.Share.Pace)
		}
	}
}

// TestFreesEnded: what was remembered of coflows that have ended is not held, also where the first decision
// without them finds other links, or circuits.
func TestFreesEnded(t *testing.T) {
	parts := map[string]func() (*Ordered, filler){}
	for name, make := range map[string]func() *Ordered{"sebf": NewSEBF, "bssi": NewBSSI, "rapier": NewRapier} {
		parts[name] = func() (*Ordered, filler) { o := make(); return o, o }
	}
	parts["dclas"] = func() (*Ordered, filler) { p := NewDCLAS(); return &p.Ordered, p }
	parts["sincronia"] = func() (*Ordered, filler) { p := NewSincronia(); return &p.Ordered, p }
	changes := map[string]func(*controller.View){
		"nothing": func(*controller.View) {},
		"links": func(v *controller.View) {
			v.ReservedBandwidth = make([]pathmap.BitsPerSecond, len(v.Fabric.Topology.Links()))
		},
		"reservations": func(v *controller.View) {
			v.Reserved = []controller.CircuitReservation{{In: 2, Out: 3, Coflow: v.Coflows[0].ID, Fallback: controller.Hold}}
		},
	}
	for name, part := range parts {
		for what, change := range changes {
			o, p := part()
			if n := heldOfEnded(t, o, p, change); n > 0 {
				t.Errorf("%s, other %s: %d of 299 coflows that have ended are held", name, what, n)
			}
		}
	}
}

// filler is a part that sets rates.
type filler interface {
	Fill(v *controller.View, ev []controller.Event, p *controller.Plan)
}

// heldOfEnded lets all coflows but one end, and returns of how many something is held.
func heldOfEnded(t *testing.T, o *Ordered, p filler, change func(*controller.View)) int {
	t.Helper()
	v := alikeCoflows(t, 300)
	p.Fill(v, nil, new(controller.Plan))
	var held []weak.Pointer[coflowRows]
	o.books.Each(func(b *coflowRows) {
		if b != o.books.At(v.Coflows[0].ID) {
			held = append(held, weak.Make(b))
		}
	})
	v.Coflows = v.Coflows[:1:1]
	change(v)
	for range 3 {
		p.Fill(v, nil, new(controller.Plan))
	}
	runtime.GC()
	runtime.KeepAlive(p)
	return len(slices.DeleteFunc(held, func(p weak.Pointer[coflowRows]) bool { return p.Value() == nil }))
}
