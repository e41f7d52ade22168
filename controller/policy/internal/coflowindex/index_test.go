package coflowindex

import (
	"testing"

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
