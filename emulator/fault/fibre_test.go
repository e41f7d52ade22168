package fault

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/emulator/cabling"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// dark is a switch without packets.
type dark struct{}

func (dark) SetRules([]southbound.Rule, []southbound.Match, bool) error { return nil }
func (dark) Move([]southbound.Port, []southbound.CrossConnect, time.Duration) error {
	return nil
}
func (dark) SetLight(southbound.Port, bool) error { return nil }
func (dark) Dropped() (uint64, error)             { return 0, nil }

// TestFibreReference: over thousands of random faults fibres sit where a patch panel has them after the
// same words of the command fibre, what has been healed left away; and the panel takes what the faults
// say.
func TestFibreReference(t *testing.T) {
	names := hybrid(t)
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		d, panel := NewDamage(names), cabling.New(dark{}, 4, nil)
		var done []string // and not undone
		for range 20 {
			a, b := rng.IntN(4), rng.IntN(4)
			name := fmt.Sprintf("pull:%d", a)
			if a != b {
				name = fmt.Sprintf("swap:%d:%d", min(a, b), max(a, b))
			}
			name += []string{"", ":in", ":out"}[rng.IntN(3)]
			i := slices.Index(done, name)
			changes, changed, err := d.Inject(Event{Fault: Fault{Fibre, name}, Heal: i >= 0})
			if err != nil || !changed || len(changes) != 1 || changes[0].Kind != Fibre ||
				changes[0].Up != (i >= 0) {
				t.Fatalf("seed %d: %s: %+v, %v, %v", seed, name, changes, changed, err)
			}
			if i >= 0 {
				done = slices.Delete(done, i, i+1)
			} else {
				done = append(done, name)
			}
			in, out := reference(t, done)
			if !slices.Equal(changes[0].In, in) || !slices.Equal(changes[0].Out, out) {
				t.Fatalf("seed %d: after %v fibres sit at %v and %v, want %v and %v", seed, done,
					changes[0].In, changes[0].Out, in,
					out)
			}
			if err := panel.Plug(changes[0].In, changes[0].Out); err != nil {
				t.Fatal(err)
			}
			if gotIn, gotOut := panel.Plugged(); !slices.Equal(gotIn, in) || !slices.Equal(gotOut, out) {
				t.Fatalf("seed %d: the panel has %v and %v", seed, gotIn, gotOut)
			}
		}
	}
}

// reference does the words one after the other at a panel of its own.
func reference(t *testing.T, done []string) (in, out []southbound.Port) {
	t.Helper()
	p := cabling.New(dark{}, 4, nil)
	for _, name := range done {
		which := cabling.Both
		switch name[len(name)-2:] {
		case "in":
			which = cabling.In
		case "ut":
			which = cabling.Out
		}
		a := southbound.Port(name[5] - '0')
		err := error(nil)
		if name[:4] == "swap" {
			err = p.Swap(a, southbound.Port(name[7]-'0'), which)
		} else {
			err = p.Pull(a, which)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return p.Plugged()
}

// TestPlugRefuses: a panel takes no fibre that is not there, or twice.
func TestPlugRefuses(t *testing.T) {
	p := cabling.New(dark{}, 3, nil)
	whole := []southbound.Port{0, 1, 2}
	for _, bad := range [][]southbound.Port{{0, 1}, {0, 1, 3}, {0, 1, 1}, {0, -2, 1}} {
		if p.Plug(bad, whole) == nil || p.Plug(whole, bad) == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	if in, out := p.Plugged(); !slices.Equal(in, whole) || !slices.Equal(out, whole) {
		t.Errorf("fibres sit at %v and %v", in, out)
	}
}

// TestFibresOfSeveralSwitches: fibres are refused with the reason, and with what can fail in their place.
func TestFibresOfSeveralSwitches(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 4, OCSes: 3})
	if err != nil {
		t.Fatal(err)
	}
	err = NewNames(f, 1).Check(Fault{Fibre, "pull:1"})
	var unknown *UnknownError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), "single optical switch alone, and there are 3") ||
		!strings.Contains(unknown.Hint(), "switch ocs1") {
		t.Errorf("%v", err)
	}
}
