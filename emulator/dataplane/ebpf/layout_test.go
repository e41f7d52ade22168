package ebpf

import (
	"math/rand/v2"
	"testing"

	"lightloom/emulator/dataplane"
	"lightloom/southbound"
)

// TestExpandReference: the word of (source, rack, tag) is what a lookup in the table finds.
func TestExpandReference(t *testing.T) {
	const racks = 3
	tags := []southbound.Tag{0, 1, 2, 7, southbound.AnyTag}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		l := packetLayout{racks: racks, sources: 1}
		if seed%2 == 0 {
			l.sources = racks
		}
		var table dataplane.Table
		for range r.IntN(10 * l.sources) {
			m := southbound.Match{Dst: southbound.RackID(r.IntN(racks)), Tag: tags[r.IntN(len(tags))],
				Src: southbound.AnyRack}
			if l.sources > 1 {
				m.Src = southbound.RackID(r.IntN(racks+1) - 1)
			}
			table, _ = table.Change([]southbound.Rule{{Match: m, Primary: southbound.Port(r.IntN(4)),
				Backup: southbound.Port(r.IntN(4) - 1)}}, nil, false)
		}
		cells := expand(table, l)
		for i, got := range cells {
			want := uint64(0)
			dst, src := i/southbound.Tags%racks, i/southbound.Tags/racks
			if rule, ok := table.Lookup(southbound.RackID(dst), southbound.RackID(src),
				southbound.Tag(i%southbound.Tags)); ok {
				want = word(rule)
			}
			if got != want {
				t.Fatalf("seed %d: cell %d is %#x, want %#x", seed, i, got, want)
			}
		}
	}
}
