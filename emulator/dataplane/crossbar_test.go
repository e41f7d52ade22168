package dataplane

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/southbound"
)

// TestCrossbarReference holds Move against a set of pairs, and the dark and made inputs against what
// became of each.
func TestCrossbarReference(t *testing.T) {
	const n = 5
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		bar := NewCrossbar(n)
		reference := map[southbound.Port]southbound.Port{}
		for range 6 {
			var off []southbound.Port
			for range r.IntN(3) {
				off = append(off, southbound.Port(r.IntN(n)))
			}
			ins, outs := r.Perm(n), r.Perm(n)
			var on []southbound.CrossConnect
			for i := range r.IntN(4) {
				on = append(on, southbound.CrossConnect{In: southbound.Port(ins[i]), Out: southbound.Port(outs[i]),
					Off: r.IntN(5) == 0})
			}
			was := slices.Clone(bar)
			next, dark, made, err := bar.Move(off, on)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !slices.Equal(bar, was) {
				t.Fatalf("seed %d: the crossbar was written to", seed)
			}
			moveReference(reference, off, on)
			for in := range southbound.Port(n) {
				want, ok := reference[in]
				if !ok {
					want = southbound.NoPort
				}
				if next[in] != want {
					t.Fatalf("seed %d: input %d leads to %d, want %d", seed, in, next[in], want)
				}
				touched := was[in] != next[in] || slices.Contains(off, in)
				if got, want := slices.Contains(dark, in), touched && was[in] != southbound.NoPort; got != want {
					t.Fatalf("seed %d: input %d dark %v, want %v", seed, in, got, want)
				}
				x := southbound.CrossConnect{In: in, Out: next[in]}
				if got, want := slices.Contains(made, x), touched && next[in] != southbound.NoPort; got != want {
					t.Fatalf("seed %d: circuit %v made %v, want %v", seed, x, got, want)
				}
			}
			bar = next
		}
	}
}

func moveReference(reference map[southbound.Port]southbound.Port, off []southbound.Port,
	on []southbound.CrossConnect) {
	for _, in := range off {
		delete(reference, in)
	}
	for _, x := range on {
		delete(reference, x.In)
		if x.Off {
			continue
		}
		for in, out := range reference { // at most one has it
			if out == x.Out {
				delete(reference, in)
			}
		}
		reference[x.In] = x.Out
	}
}

func TestCrossbarRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		off  []southbound.Port
		on   []southbound.CrossConnect
	}{
		{"an input beyond", nil, []southbound.CrossConnect{{In: 3, Out: 0}}},
		{"an output beyond", nil, []southbound.CrossConnect{{In: 0, Out: 3}}},
		{"an input below", []southbound.Port{-1}, nil},
		{"one input twice", nil, []southbound.CrossConnect{{In: 0, Out: 1}, {In: 0, Out: 2}}},
		{"one output twice", nil, []southbound.CrossConnect{{In: 0, Out: 1}, {In: 2, Out: 1}}},
	} {
		if _, _, _, err := NewCrossbar(3).Move(c.off, c.on); !errors.Is(err, southbound.ErrRefused) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
