package state_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestRowsLikeReference: the rows between two racks that are searched for are those that looking at
// every row finds.
func TestRowsLikeReference(t *testing.T) {
	for hosts, arg := range map[int]string{1: "crossbar:ports=7,rate=1Gbps,dark=10ms",
		3: "leafspine:racks=5,hosts=3,spines=1,eps=1Gbps"} {
		spec, err := topo.FromArgument(arg)
		if err != nil {
			t.Fatal(err)
		}
		f, err := topo.New(spec.WithDefaults())
		if err != nil {
			t.Fatal(err)
		}
		s := state.New(f)
		for seed := range uint64(300) {
			rng := rand.New(rand.NewPCG(seed, 13))
			// Both are asked for by turns, and twice: what was found for one must not be taken for the other's.
			both := []*state.Coflow{someRows(rng, f), someRows(rng, f)}
			for range 4 * f.Racks * f.Racks {
				c := both[rng.IntN(2)]
				in, out := southbound.Port(rng.IntN(f.Racks)), southbound.Port(rng.IntN(f.Racks))
				for range 1 + rng.IntN(2) {
					var got, want []int32
					s.Rows(c, in, out, func(row int32) { got = append(got, row) })
					from, to := f.OCSRack(int32(in)), f.OCSRack(int32(out))
					for row, done := range c.Done {
						if !done && int32(s.RackOf(c.Columns.Src[row])) == from && int32(s.RackOf(c.Columns.Dst[row])) == to {
							want = append(want, int32(row))
						}
					}
					if !slices.Equal(got, want) {
						t.Fatalf("%d hosts a rack, seed %d, %d→%d: rows %v, want %v", hosts, seed, in, out, got, want)
					}
				}
			}
		}
	}
}

// someRows draws a coflow between some hosts.
func someRows(rng *rand.Rand, f *topo.Fabric) *state.Coflow {
	var c state.Coflow
	dense := rng.IntN(4)
	for dst := range southbound.HostID(f.Hosts()) {
		for src := range southbound.HostID(f.Hosts()) {
			if src != dst && rng.IntN(4) <= dense && (dst+1)%southbound.HostID(1+rng.IntN(5)) == 0 {
				c.Columns.Src, c.Columns.Dst = append(c.Columns.Src, src), append(c.Columns.Dst, dst)
				c.Done = append(c.Done, rng.IntN(3) == 0)
			}
		}
	}
	return &c
}
