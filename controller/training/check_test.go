package training

import (
	"runtime"
	"testing"
)

// TestCheckOfPairs: what the check of many small communicators allocates grows with the ranks, not with their square.
func TestCheckOfPairs(t *testing.T) {
	const ranks = 4096
	w := NewWorkload("pairs", ranks)
	for r := int32(0); r < ranks; r += 2 {
		g := int32(len(w.Groups))
		w.Groups = append(w.Groups, Group{Name: "pair", Ranks: []int32{r, r + 1}})
		for _, member := range w.Groups[g].Ranks {
			w.Add(int(member), Node{Kind: Collective, Op: AllReduce, Bytes: 1, Group: g})
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if b := (after.TotalAlloc - before.TotalAlloc) / ranks; b > 4096 {
		t.Errorf("%d bytes a rank, want at most 4,096", b)
	}
}
