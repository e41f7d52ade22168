package pathmap_test

import (
	"cmp"
	"fmt"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

func TestBandwidth(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 3, Spines: 2, EPS: 4 * pathmap.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := pathmap.NewBandwidth(f.Topology)
	ab, ac := m.AppendPath(nil, 0, 1, 0), m.AppendPath(nil, 0, 2, 0)
	if left, ok := b.Least(ab); left != 4*pathmap.Gbps || !ok {
		t.Errorf("an idle path has %v, %v", left, ok)
	}
	if err := b.Take(ab, 3*pathmap.Gbps); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("take 2Gbps: link %d has 1Gbps left of 4Gbps", ab[0])
	if err := b.Take(ab, 2*pathmap.Gbps); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	shared := cmp.Compare(ab[0], ac[0]) == 0
	if left, _ := b.Least(ac); shared != (left == pathmap.Gbps) {
		t.Errorf("shared %v: %v left", shared, left)
	}
	if back := pathmap.Reverse(ab[0]); b.Available(back) != 4*pathmap.Gbps {
		t.Error("the other direction was taken too")
	}
	b.Give(ab, 3*pathmap.Gbps)
	if left, _ := b.Least(ab); left != 4*pathmap.Gbps {
		t.Errorf("%v left after all is given back", left)
	}
	if !panics(func() { b.Give(ab, 1) }) {
		t.Error("what was not taken is given back")
	}
	if _, ok := b.Least(nil); ok {
		t.Error("an empty path has a least link")
	}
	if err := b.Take(ab, -1); err == nil {
		t.Error("a rate below zero is taken")
	}
}
