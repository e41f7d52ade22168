package sparse

import (
	"math/rand/v2"
	"testing"
)

// TestTable compares a table with a map.
func TestTable(t *testing.T) {
	for seed := range uint64(20) {
		chance := rand.New(rand.NewPCG(seed, 1))
		var table Table[int]
		want := map[int]int{}
		for n := range 5000 {
			id := n/2 + chance.IntN(1000)
			switch chance.IntN(3) {
			case 0:
				table.Drop(id)
				delete(want, id)
			default:
				*table.Make(id) += n
				want[id] += n
			}
			id = chance.IntN(4000)
			got := table.Get(id)
			if v, ok := want[id]; ok != (got != nil) || ok && *got != v {
				t.Fatalf("seed %d: %d is %v, want %d, %v", seed, id, got, v, ok)
			}
		}
		for id := range want {
			table.Drop(id)
		}
		for _, p := range table.pages {
			if p != nil {
				t.Fatalf("seed %d: an empty table holds a page", seed)
			}
		}
	}
}
