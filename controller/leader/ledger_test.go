package leader

import (
	"testing"

	"lightloom/southbound"
)

// TestLedger: what was asked for, what was accepted and what was seen are counted as the device would
// hold them.
func TestLedger(t *testing.T) {
	rule := func(dst southbound.RackID, port southbound.Port) southbound.Rule {
		return southbound.Rule{Match: southbound.Match{Dst: dst, Src: southbound.AnyRack}, Primary: port,
			Backup: southbound.NoPort}
	}
	l := &holdings{by: accounts(true)}
	l.claimed(1, &southbound.Seen{Rules: []southbound.Rule{rule(1, 2), rule(2, 2)}})
	want := func(what string, w Holding) {
		t.Helper()
		if got := l.of(1); got == nil || *got != w {
			t.Errorf("%s: %+v, want %+v", what, got, w)
		}
	}
	want("claimed", Holding{Held{2, 0}, Held{2, 0}, Held{2, 0}})
	c := &southbound.Change{Rules: []southbound.Rule{rule(2, 3), rule(3, 3)},
		Drop: []southbound.Match{rule(1, 2).Match}}
	l.asked(1, c)
	l.asked(1, c) // once more, as after a refusal
	want("asked", Holding{Held{2, 0}, Held{2, 0}, Held{2, 0}})
	l.asked(1, &southbound.Change{Rules: []southbound.Rule{rule(4, 3)}})
	want("asked for one more", Holding{Held{3, 0}, Held{2, 0}, Held{2, 0}})
	l.accepted(1, c)
	l.accepted(1, &southbound.Change{Rules: []southbound.Rule{rule(4, 3)}})
	want("accepted", Holding{Held{3, 0}, Held{3, 0}, Held{2, 0}})
	l.read(1, &southbound.Seen{Rules: make([]southbound.Rule, 3)})
	want("read", Holding{Held{3, 0}, Held{3, 0}, Held{3, 0}})
	for _, x := range []southbound.CrossConnect{{In: 0, Out: 1}, {In: 2, Out: 3}, {In: 4, Out: 1},
		{In: 2, Off: true}} {
		l.accepted(1, &southbound.Change{Connect: []southbound.CrossConnect{x}})
	}
	want("circuits", Holding{Held{3, 0}, Held{3, 1}, Held{3, 0}})
	l.accepted(1, &southbound.Change{Replace: true, Rules: []southbound.Rule{rule(9, 1)}})
	want("replaced", Holding{Held{3, 0}, Held{1, 0}, Held{3, 0}})
	off := &holdings{by: accounts(false)}
	off.claimed(1, &southbound.Seen{})
	off.asked(1, c)
	if off.of(1) != nil || l.of(7) != nil {
		t.Error("of what is not kept there is a holding")
	}
}
