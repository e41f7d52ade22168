package coflowindex

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"

	"lightloom/controller"
	"lightloom/southbound"
)

type note struct {
	Entry
	text string
}

// TestIndex: what was read of a coflow is found until its rows change or a decision does not meet it.
func TestIndex(t *testing.T) {
	var x Index[*note]
	first, other := controller.CoflowView{ID: 3, Generation: 1}, controller.CoflowView{ID: 4, Generation: 2}
	x.Begin()
	if b, known := x.Get(&first); known || b != nil || x.At(3) != nil {
		t.Errorf("an empty index knows %v", b)
	}
	a := &note{text: "a"}
	x.Put(&first, a)
	x.Put(&other, &note{text: "b"})
	x.Begin()
	if b, known := x.Get(&first); !known || b != a || !x.Met(a) {
		t.Errorf("coflow 3: %v, %v, want what was read of it", b, known)
	}
	if x.Forget(); x.Len() != 1 || x.At(4) != nil {
		t.Errorf("%d coflows are remembered, want the one that was met", x.Len())
	}
	again := controller.CoflowView{ID: 3, Generation: 5}
	if _, known := x.Get(&again); known {
		t.Error("rows are known that have never been read")
	}
	x.Put(&again, &note{text: "c"})
	var all []string
	x.Each(func(b *note) { all = append(all, b.text) })
	if len(all) != 1 || all[0] != "c" || x.At(southbound.CoflowID(3)).text != "c" {
		t.Errorf("it holds %v, want c", all)
	}
}

// TestIndexUnsaid: rows without a generation are never taken as known.
func TestIndexUnsaid(t *testing.T) {
	var x Index[*note]
	c := controller.CoflowView{ID: 1}
	x.Begin()
	x.Put(&c, new(note))
	x.Begin()
	if _, known := x.Get(&c); known {
		t.Error("rows without a generation are known")
	}
}

// TestIndexFrees: what was forgotten is not held.
func TestIndexFrees(t *testing.T) {
	var x Index[*note]
	held := make([]weak.Pointer[note], 1000)
	x.Begin()
	for i := range held {
		b := &note{text: "forgotten"}
		held[i] = weak.Make(b)
		x.Put(&controller.CoflowView{ID: southbound.CoflowID(i), Generation: 1}, b)
	}
	for range 50 {
		x.Begin()
		x.Forget()
	}
	runtime.GC()
	if n := len(slices.DeleteFunc(held, func(p weak.Pointer[note]) bool { return p.Value() == nil })); n > 0 {
		t.Errorf("%d of 1000 are held, want none", n)
	}
	runtime.KeepAlive(&x)
}

// TestIndexReference: whatever comes, goes, comes back, changes its rows or its place, what was put last is
// found, as in a map.
func TestIndexReference(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 43))
		var x Index[*note]
		var all []controller.CoflowView
		want := map[southbound.CoflowID]*note{}
		for next := southbound.CoflowID(0); next < 60; {
			for ; r.IntN(3) > 0; next++ {
				all = append(all, controller.CoflowView{ID: next, Generation: 1})
			}
			all = slices.DeleteFunc(all, func(controller.CoflowView) bool { return r.IntN(8) == 0 })
			if n := len(all); n > 1 && r.IntN(4) == 0 {
				i, k := r.IntN(n), r.IntN(n)
				all[i], all[k] = all[k], all[i]
			}
			x.Begin()
			for i := range all {
				c := &all[i]
				if r.IntN(6) == 0 {
					c.Generation++
				}
				b, known := x.Get(c)
				if w := want[c.ID]; b != w || known != (w != nil && w.generation == c.Generation) {
					t.Fatalf("seed %d: coflow %d: %v, %v, want %v", seed, c.ID, b, known, w)
				}
				if !known || r.IntN(8) == 0 {
					want[c.ID] = new(note)
					x.Put(c, want[c.ID])
				}
			}
			if r.IntN(4) > 0 {
				continue
			}
			x.Forget()
			for id := range next {
				if slices.ContainsFunc(all, func(c controller.CoflowView) bool { return c.ID == id }) {
					continue
				}
				delete(want, id)
				c := controller.CoflowView{ID: id, Generation: 1}
				if b, known := x.Get(&c); b != nil || known {
					t.Fatalf("seed %d: coflow %d: %v, %v, want nothing: it was forgotten", seed, id, b, known)
				}
				if r.IntN(20) == 0 {
					all = append(all, c) // it comes back
				}
			}
		}
	}
}
