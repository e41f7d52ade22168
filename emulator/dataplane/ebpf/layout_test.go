package ebpf

import (
	"math/rand/v2"
	"testing"

	"lightloom/emulator/dataplane"
	"lightloom/southbound"
)

// TestExpandTwin: the word of (rack, tag) is what a lookup in the table finds.
func TestExpandTwin(t *testing.T) {
	const racks = 3
	tags := []southbound.Tag{0, 1, 2, 7, southbound.AnyTag}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		var table dataplane.Table
		for range r.IntN(10) {
			m := southbound.Match{Dst: southbound.RackID(r.IntN(racks)), Tag: tags[r.IntN(len(tags))], Src: southbound.AnyRack}
			table, _ = table.Change([]southbound.Rule{{Match: m, Primary: southbound.Port(r.IntN(4)), Backup: southbound.Port(r.IntN(4) - 1)}}, nil, false)
		}
		cells := expand(table, racks)
		for i, got := range cells {
			want := uint64(0)
			if rule, ok := table.Lookup(southbound.RackID(i/southbound.Tags), southbound.Tag(i%southbound.Tags)); ok {
				want = word(rule)
			}
			if got != want {
				t.Fatalf("seed %d: cell %d is %#x, want %#x", seed, i, got, want)
			}
		}
	}
}
