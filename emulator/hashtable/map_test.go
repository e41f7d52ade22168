package hashtable_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"lightloom/emulator/hashtable"
)

// TestRandom holds it against a Go map, with keys that differ in few bits, high or low, and with keys
// at random.
func TestRandom(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var m, before hashtable.Map[int]
		var old map[uint64]int
		reference := map[uint64]int{}
		shift := 8 * rng.IntN(8)
		key := func() uint64 {
			if rng.IntN(50) == 0 {
				return rng.Uint64()
			}
			return uint64(rng.IntN(40)) << shift
		}
		for step := range 300 {
			switch k := key(); rng.IntN(20) {
			case 0:
				if rng.IntN(10) == 0 {
					m.Clear()
					clear(reference)
				}
			case 1:
				before, old = m.Clone(), maps.Clone(reference)
			case 2, 3, 4, 5, 6, 7, 8:
				m.Delete(k)
				delete(reference, k)
			case 9, 10, 11:
				got, ok := m.Get(k)
				if want, known := reference[k]; got != want || ok != known {
					t.Fatalf("seed %d, step %d: key %#x has %d, %t, want %d, %t", seed, step, k, got, ok, want, known)
				}
			default:
				m.Set(k, step)
				reference[k] = step
			}
			if m.Len() != len(reference) {
				t.Fatalf("seed %d, step %d: %d keys, want %d", seed, step, m.Len(), len(reference))
			}
		}
		if got := maps.Collect(m.All()); !maps.Equal(got, reference) {
			t.Fatalf("seed %d: %v, want %v", seed, got, reference)
		}
		if got := maps.Collect(before.All()); !maps.Equal(got, old) {
			t.Fatalf("seed %d: a clone has changed to %v, was %v", seed, got, old)
		}
		for k, want := range reference {
			if got, ok := m.Get(k); !ok || got != want {
				t.Fatalf("seed %d: key %#x has %d, %t, want %d", seed, k, got, ok, want)
			}
		}
	}
}

// TestAllStops: a loop over a map can stop early.
func TestAllStops(t *testing.T) {
	var m hashtable.Map[int]
	m.Delete(3)
	for k := range uint64(10) {
		m.Set(k, 1)
	}
	n := 0
	for range m.All() {
		if n++; n == 4 {
			break
		}
	}
	if n != 4 {
		t.Errorf("saw %d, want 4", n)
	}
}

// TestHighestKey: the one key that there is no place for is refused, and not found.
func TestHighestKey(t *testing.T) {
	var m hashtable.Map[int]
	m.Set(1, 1)
	if _, ok := m.Get(math.MaxUint64); ok {
		t.Error("it is there")
	}
	m.Delete(math.MaxUint64)
	defer func() {
		if recover() == nil || m.Len() != 1 {
			t.Errorf("it was taken: %d keys", m.Len())
		}
	}()
	m.Set(math.MaxUint64, 2)
}
