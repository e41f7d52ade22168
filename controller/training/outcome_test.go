package training

import (
	"testing"
	"time"
)

// TestCollectives: from when the last rank joined until the last left, the nth of each rank together.
func TestCollectives(t *testing.T) {
	w := NewWorkload("two", 2)
	for r := range 2 {
		w.Add(r, Node{Kind: Collective, Op: AllReduce, Bytes: 1000})
		w.Add(r, Node{Kind: Compute})
		w.Add(r, Node{Kind: Collective, Op: AllReduce, Bytes: 1000})
	}
	o := &Outcome{Ranks: []RankOutcome{
		{End: 60, Compute: 5, Spans: []Span{{0, 30}, {30, 35}, {35, 60}}},
		{End: 50, Compute: 5, Spans: []Span{{10, 30}, {30, 35}, {40, 50}}}}}
	got := o.Collectives(w)
	if len(got) != 1 || got[0].Count != 2 || got[0].Mean != 20 || got[0].Max != 20 {
		t.Fatalf("%+v, want two of 20 ns each: 10 to 30, and 40 to 60", got)
	}
	if got[0].Bus != 400e9 { // 2·1/2 of 8,000 bits in 20 ns
		t.Errorf("bus bandwidth %v", got[0].Bus)
	}
	if o.End() != 60 || o.Ranks[1].Exposed() != 45*time.Nanosecond {
		t.Errorf("%v, %v", o.End(), o.Ranks[1].Exposed())
	}
}

// TestProgress: nodes begin by id once what they wait for has ended, and are taken once.
func TestProgress(t *testing.T) {
	p := NewProgress([]Node{{ID: 5}, {ID: 3}, {ID: 4, After: []int32{0, 1}}, {ID: 1, After: []int32{1}}})
	if f := p.Free(); len(f) != 2 || f[0] != 1 || f[1] != 0 {
		t.Fatalf("%v are free, want nodes 3 and 5", f)
	}
	if !p.Take(1) || p.Take(1) {
		t.Error("a node is taken once")
	}
	p.End(1)
	if f := p.Free(); len(f) != 2 || f[0] != 3 || p.Left() != 3 {
		t.Errorf("%v are free of %d, want nodes 1 and 5 of 3", f, p.Left())
	}
}
