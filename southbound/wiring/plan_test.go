package wiring

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap/tries"
	"lightloom/southbound"
	"lightloom/southbound/circuit"
)

// simple is a switch that does at once what it can: it deletes what it is configured with, and lights what finds its
// ports free of circuits that it is not configured with.
type simple struct {
	conf  map[southbound.CrossConnect]bool
	state map[southbound.CrossConnect]southbound.Status
}

func (s *simple) view() View {
	var v View
	for x := range s.conf {
		v.Configured = append(v.Configured, x)
	}
	for x, st := range s.state {
		v.Seen = append(v.Seen, southbound.Connection{In: x.In, Out: x.Out, Status: st})
	}
	return v
}

func (s *simple) set(t *testing.T, c *southbound.Change) {
	t.Helper()
	same := func(x, n southbound.CrossConnect) bool { return !n.Off && x.In == n.In && x.Out == n.Out }
	for _, n := range c.Connect {
		for x := range s.conf {
			if !same(x, n) && (x.In == n.In || !n.Off && x.Out == n.Out) {
				delete(s.conf, x)
				delete(s.state, x)
			}
		}
	}
	for _, n := range c.Connect {
		if n.Off {
			continue
		}
		if s.conf[n] {
			continue // nothing new
		}
		s.conf[n] = true
		held := false
		for x := range s.state {
			held = held || !s.conf[x] && (x.In == n.In || x.Out == n.Out)
		}
		if _, adopted := s.state[n]; !adopted && !held {
			s.state[n] = southbound.Connected
		}
	}
}

// draw makes a switch of n ports with circuits that are configured, shown, or both.
func draw(r *rand.Rand, n int) *simple {
	s := &simple{map[southbound.CrossConnect]bool{}, map[southbound.CrossConnect]southbound.Status{}}
	ins, outs := r.Perm(n), r.Perm(n)
	for i := range r.IntN(n) {
		x := southbound.CrossConnect{In: southbound.Port(ins[i]), Out: southbound.Port(outs[i])}
		s.conf[x] = true
		switch r.IntN(6) {
		case 0: // configured, and nothing is shown of it
		case 1:
			s.state[x] = southbound.Failed
		case 2:
			s.state[x] = southbound.Invalid
		default:
			s.state[x] = southbound.Connected
		}
	}
	for range r.IntN(3) { // status-only, perhaps at ports of others
		x := southbound.CrossConnect{In: southbound.Port(r.IntN(n)), Out: southbound.Port(r.IntN(n))}
		if !s.conf[x] {
			s.state[x] = southbound.Connected
		}
	}
	return s
}

// goes is the slow reference: whether a circuit that is there must go, or may not stay as it is.
func goes(x southbound.CrossConnect, wanted []southbound.CrossConnect, l circuit.Lease) (bool, bool) {
	holds, own := false, slices.Contains(l.Inputs, x.In) && slices.Contains(l.Outputs, x.Out)
	for _, w := range wanted {
		if w == x {
			return false, own
		}
		holds = holds || w.In == x.In || w.Out == x.Out
	}
	return holds || own, own
}

// TestPlans: for random switches, wirings and leases the steps lead to what the slow reference wants, and every switch
// between them has the circuits of others as before.
func TestPlans(t *testing.T) {
	for seed := range tries.Of[uint64](4000, 100000) {
		r := rand.New(rand.NewPCG(seed, 40))
		n := 2 + r.IntN(7)
		s := draw(r, n)
		ends := r.Perm(n)
		var wanted []southbound.CrossConnect
		w := &Wiring{Testbed: "t0"}
		for i := 0; i+1 < len(ends) && r.IntN(3) > 0; i += 2 {
			a, b := southbound.Port(ends[i]), southbound.Port(ends[i+1])
			w.Links = append(w.Links, Link{A: End{"a", fmt.Sprint(a), []southbound.Port{a}},
				B: End{"b", fmt.Sprint(b), []southbound.Port{b}}, OneWay: r.IntN(3) == 0})
		}
		wanted = w.Circuits()
		l := w.Lease("ocs", "h")
		if r.IntN(2) == 0 { // an earlier wiring of the testbed had another port
			p := southbound.Port(r.IntN(n))
			l.Inputs, l.Outputs = append(l.Inputs, p), append(l.Outputs, p)
			slices.Sort(l.Inputs)
			slices.Sort(l.Outputs)
		}
		takeOver := r.IntN(2) == 0
		conf, state := maps.Clone(s.conf), maps.Clone(s.state)
		foreign, others := false, map[southbound.CrossConnect]bool{}
		for x := range merged(conf, state) {
			go_, own := goes(x, wanted, l)
			foreign = foreign || go_ && !own
			others[x] = !go_ && !slices.Contains(wanted, x)
		}
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d: wanted %v, lease %v, conf %v, state %v: %s", seed, wanted, l.Inputs, conf, state,
				fmt.Sprintf(format, args...))
		}
		for i := 0; ; i++ {
			p, err := Make(s.view(), wanted, l, takeOver)
			if errors.Is(err, ErrForeign) {
				if i > 0 || len(p.Steps) > 0 || !foreign && !shares(others, conf, state) {
					fail("step %d: %v, with %v", i, err, p.Steps)
				}
				break
			}
			if err != nil || foreign && !takeOver {
				fail("%v, foreign: %v", err, foreign)
			}
			if len(p.Steps) == 0 {
				if p.Kept != len(wanted) {
					fail("%d are kept", p.Kept)
				}
				check(s, wanted, l, conf, state, others, fail)
				break
			}
			if i > 8 {
				fail("no end")
			}
			for x := range s.conf { // what is adopted finds its ports free, so that a plan says all that goes
				for _, n := range p.Steps[0].Change.Connect {
					if p.Steps[0].Action == Adopt && (x.In == n.In || x.Out == n.Out) {
						fail("step %d: %v displaces %v", i, p.Steps[0], x)
					}
				}
			}
			s.set(t, &p.Steps[0].Change)
			for x, other := range others {
				if other && (s.conf[x] != conf[x] || s.state[x] != state[x]) {
					fail("step %d, %v, touched %v", i, p.Steps[0], x)
				}
			}
		}
	}
}

func merged(conf map[southbound.CrossConnect]bool,
	state map[southbound.CrossConnect]southbound.Status) map[southbound.CrossConnect]bool {
	all := maps.Clone(conf)
	for x := range state {
		all[x] = true
	}
	return all
}

// shares reports whether one of others that is configured shares a port with a status-only circuit that goes.
func shares(others, conf map[southbound.CrossConnect]bool, state map[southbound.CrossConnect]southbound.Status) bool {
	for o, stays := range others {
		for x := range state {
			if stays && conf[o] && !conf[x] && !others[x] && x != o && (x.In == o.In || x.Out == o.Out) {
				return true
			}
		}
	}
	return false
}

// check holds the end against the reference, and has verify find nothing.
func check(s *simple, wanted []southbound.CrossConnect, l circuit.Lease, conf map[southbound.CrossConnect]bool,
	state map[southbound.CrossConnect]southbound.Status, others map[southbound.CrossConnect]bool,
	fail func(string, ...any)) {
	for _, x := range wanted {
		if !s.conf[x] || s.state[x] != southbound.Connected {
			fail("%v is configured: %v, %v", x, s.conf[x], s.state[x])
		}
	}
	for x := range merged(s.conf, s.state) {
		if !others[x] && !slices.Contains(wanted, x) {
			fail("%v stands", x)
		}
		if gone, _ := goes(x, wanted, l); gone {
			fail("%v stands, and had to go", x)
		}
	}
	w := &Wiring{}
	for _, x := range wanted {
		w.Links = append(w.Links, Link{A: End{Fibres: []southbound.Port{x.In}}, B: End{Fibres: []southbound.Port{x.Out}},
			OneWay: true})
	}
	if f := w.Verify(s.view(), nil); len(f) > 0 {
		fail("verify: %v", f)
	}
}

// TestVerify: each thing that keeps a link from being wired is told with its port, and a circuit of others at a wanted
// port is never passed over, whatever else is right.
func TestVerify(t *testing.T) {
	w, err := ParseFile("t0.yaml", []byte(lab))
	if err != nil {
		t.Fatal(err)
	}
	good := func() View {
		v := View{Configured: w.Circuits()}
		for _, x := range v.Configured {
			v.Seen = append(v.Seen, southbound.Connection{In: x.In, Out: x.Out, Status: southbound.Connected})
		}
		return v
	}
	sides := func() (out []southbound.Side) {
		for _, x := range w.Circuits() {
			out = append(out, southbound.Side{Port: x.In, Input: true, Peer: x.Out, Tuned: true},
				southbound.Side{Port: x.Out, Peer: x.In, Tuned: true})
		}
		return out
	}
	for name, tt := range map[string]struct {
		change func(v *View, s []southbound.Side)
		want   string
	}{
		"all is well": {func(*View, []southbound.Side) {}, "[]"},
		"one circuit is lit twice": {func(v *View, _ []southbound.Side) { // as 1A-6B and 1A-41B
			v.Seen = append(v.Seen, southbound.Connection{In: 0, Out: 40, Status: southbound.Connected})
		}, "[{leaf0 Ethernet0 ↔ tester 1/1 0 5 0 (leaf0 Ethernet0)→40, in the state of the switch only, holds a port of " +
			"it, too; 1 of the link's 2 circuits are up}]"},
		"half a link": {func(v *View, _ []southbound.Side) {
			v.Configured, v.Seen = v.Configured[1:], v.Seen[1:]
		}, "[{leaf0 Ethernet0 ↔ tester 1/1 0 5 there is no such circuit; 1 of the link's 2 circuits are up}]"},
		"dark": {func(v *View, _ []southbound.Side) { v.Seen[1].Status = southbound.Failed },
			"[{leaf0 Ethernet8 → leaf1 Ethernet0 1 3 it is FAILED; 1 of the link's 2 circuits are up}]"},
		"nothing came": {func(v *View, _ []southbound.Side) { v.Seen = v.Seen[1:] },
			"[{leaf0 Ethernet0 ↔ tester 1/1 0 5 the switch is configured with it, and shows nothing of it; 1 of the link's 2 " +
				"circuits are up}]"},
		"state only": {func(v *View, _ []southbound.Side) { v.Configured = v.Configured[1:] },
			"[{leaf0 Ethernet0 ↔ tester 1/1 0 5 it is in the state of the switch only, and gone with its next restart; 1 of " +
				"the link's 2 circuits are up}]"},
		"an end not tuned": {func(_ *View, s []southbound.Side) { s[0].Tuned = false },
			"[{leaf0 Ethernet0 ↔ tester 1/1 0 5 input 0 (leaf0 Ethernet0) is not tuned; 1 of the link's 2 circuits are up}]"},
		"an end elsewhere": {func(_ *View, s []southbound.Side) { s[1].Peer = 7 },
			"[{leaf0 Ethernet0 ↔ tester 1/1 0 5 output 5 (tester 1/1) is joined to port 7; 1 of the link's 2 circuits are up}]"},
	} {
		v, s := good(), sides()
		tt.change(&v, s)
		if got := fmt.Sprint(w.Verify(v, s)); got != tt.want {
			t.Errorf("%s: %s\nwant %s", name, got, tt.want)
		}
	}
}
