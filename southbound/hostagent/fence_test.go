package hostagent

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// TestFenceOnDisk: the largest election id outlives the agent, in whatever order ids came. A file that holds anything
// else is an error that names it, and an id that cannot be stored is refused.
func TestFenceOnDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h0.election")
	r := rand.New(rand.NewPCG(1, 47))
	largest := wire.Election{}
	for step := range 200 {
		f, err := newFence(file)
		if err != nil || f.leader != largest {
			t.Fatalf("step %d: it knows %v, want %v: %v", step, f.leader, largest, err)
		}
		for range r.IntN(4) {
			e := wire.Election{High: uint64(step/20) + r.Uint64N(3), Low: 1 + r.Uint64N(3)}
			err := f.admit(e)
			if smaller := e.Compare(largest) < 0; smaller != errors.Is(err, southbound.ErrNotLeader) ||
				!smaller && err != nil {
				t.Fatalf("step %d: %v after %v: %v", step, e, largest, err)
			} else if !smaller {
				largest = e
			}
		}
	}
	for _, text := range []string{"", "{", `{"High":"x"}`, `{"High":1,"Low":1}{}`, `{"height":1}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := newFence(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := newFence(filepath.Join(file, "below", "a", "file")); err == nil {
		t.Error("a file that cannot be made")
	}
	f, err := newFence(filepath.Join(t.TempDir(), "gone", ".."+"/x"))
	if err == nil {
		f.file = filepath.Join(t.TempDir(), "gone", "x")
		err = f.admit(wire.Election{High: 1})
	}
	if !errors.Is(err, wire.ErrUnavailable) || f.leader.High != 0 {
		t.Errorf("an id that cannot be kept: %v, and it knows %v", err, f.leader)
	}
}

// FuzzElection: what is read is written the same, and nothing panics.
func FuzzElection(f *testing.F) {
	f.Add([]byte(`{"High":281474976710657,"Low":1}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := readElection(data)
		if err != nil {
			return
		}
		fence, err := newFence(filepath.Join(t.TempDir(), "x"))
		if err != nil {
			t.Fatal(err)
		}
		if err := fence.admit(e); (err != nil) != (e == wire.Election{}) {
			t.Fatalf("%v: %v", e, err)
		}
		if again, err := newFence(fence.file); err != nil || again.leader != e {
			t.Fatalf("%v, want %v: %v", again.leader, e, err)
		}
	})
}
