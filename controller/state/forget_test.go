package state_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestForgetsMoves: a state that forgets old moves returns the same circuits and reconfiguration delays
// as one that keeps all. The forgotten and the kept moves together are all moves, and its snapshot is
// equivalent.
func TestForgetsMoves(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.Crossbar, Racks: 6, Hosts: 1, NIC: pathmap.Gbps, OCS: pathmap.Gbps,
		Dark: time.Millisecond, Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range tries.Of[uint64](15, 40) {
		rng := rand.New(rand.NewPCG(seed, 5))
		all, some := state.New(f), state.New(f)
		var gone []state.Move
		forgotten := func(m []state.Move) { gone = append(gone, m...) }
		all.KeepMoves(0, nil)
		some.KeepMoves(512, forgotten)
		for i := range 2500 {
			e := state.Entry{Kind: state.CircuitIntended, At: time.Duration(i) * time.Second,
				Port:   southbound.Port(rng.IntN(6)),
				Coflow: -1}
			if e.Out = (e.Port + 1 + southbound.Port(rng.IntN(5))) % 6; seed%2 == 0 {
				e.Port, e.Out = e.Port/3, e.Out/3+2 // inputs 4 and 5 keep what they once get
			}
			if c := all.Circuit(e.Port); rng.IntN(2) == 0 && c.Out != southbound.NoPort {
				e.Kind, e.Out, e.OK = state.CircuitSettled, c.Out, rng.IntN(4) > 0
			}
			if i < 2 && seed%2 == 0 {
				e.Kind, e.Port, e.Out = state.CircuitIntended, southbound.Port(4+i), southbound.Port(i)
			}
			if a, b := all.Apply(&e), some.Apply(&e); (a == nil) != (b == nil) {
				t.Fatalf("seed %d, entry %d: %v and %v", seed, i, a, b)
			}
			if i == 1300 { // a follower that begins from the snapshot goes on alike
				b, err := some.Snapshot()
				if err != nil {
					t.Fatal(err)
				}
				if some = state.New(f); some.Restore(b) != nil {
					t.Fatalf("seed %d: %v", seed, some.Restore(b))
				}
				some.KeepMoves(512, forgotten)
			}
			if all.ReconfigurationDelay(time.Second) != some.ReconfigurationDelay(time.Second) {
				t.Fatalf("seed %d, entry %d: reconfiguration delays %v and %v", seed, i,
					all.ReconfigurationDelay(time.Second),
					some.ReconfigurationDelay(time.Second))
			}
			for in := range southbound.Port(6) {
				a, b := all.Circuit(in), some.Circuit(in)
				if a.Move >= 0 && !reflect.DeepEqual(all.Data().Moves[a.Move], some.Data().Moves[b.Move]) {
					t.Fatalf("seed %d, entry %d: circuit %d is of move %+v, want %+v", seed, i, in,
						some.Data().Moves[b.Move],
						all.Data().Moves[a.Move])
				}
				if a.Move, b.Move = 0, 0; a != b {
					t.Fatalf("seed %d, entry %d: circuit %d: %+v, want %+v", seed, i, in, b, a)
				}
			}
		}
		d := some.Data()
		if len(d.Moves) > 512 || d.Forgot != int64(len(gone)) || d.Forgot == 0 {
			t.Fatalf("seed %d: %d moves are kept, %d are forgotten, %d told", seed, len(d.Moves),
				d.Forgot, len(gone))
		}
		byIntent := func(a, b state.Move) int { return int(a.Intent - b.Intent) }
		if got := slices.SortedFunc(slices.Values(slices.Concat(gone, d.Moves)),
			byIntent); !reflect.DeepEqual(got,
			all.Data().Moves) {
			t.Fatalf("seed %d: what is kept and what was told are not all moves", seed)
		}
	}
}
