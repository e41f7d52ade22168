package circuit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/southbound"
)

func ports(n int) []southbound.Port {
	out := make([]southbound.Port, n)
	for i := range out {
		out[i] = southbound.Port(i)
	}
	return out
}

func leaseOf(in, out []southbound.Port) Lease {
	return Lease{Device: "ocs", Group: "g", Holder: "h", Inputs: in, Outputs: out, Until: time.Unix(1<<40, 0)}
}

func connected(pairs ...southbound.Port) []southbound.Connection {
	var out []southbound.Connection
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, southbound.Connection{In: pairs[i], Out: pairs[i+1], Status: southbound.Connected})
	}
	return out
}

func want(pairs ...southbound.Port) []southbound.CrossConnect {
	var out []southbound.CrossConnect
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, southbound.CrossConnect{In: pairs[i], Out: pairs[i+1]})
	}
	return out
}

var allCaps = []Caps{{}, {Single: true}, {CreateFirst: true}, {CreateFirst: true, Single: true}}

// strict applies a plan to a device that does exactly what a change requests, in the order that it can,
// and refuses the rest.
func strict(t *testing.T, p *Plan, caps Caps, have map[southbound.Port]southbound.Port) {
	t.Helper()
	holder := func(out southbound.Port) (southbound.Port, bool) {
		for in, o := range have {
			if o == out {
				return in, true
			}
		}
		return 0, false
	}
	for i, s := range p.Steps {
		if caps.Single && len(s.Change.Connect) != 1 {
			t.Fatalf("step %d holds %d circuits", i+1, len(s.Change.Connect))
		}
		if !caps.CreateFirst {
			for _, x := range s.Change.Connect {
				delete(have, x.In)
				if in, held := holder(x.Out); held && !x.Off {
					delete(have, in)
				}
			}
		}
		for _, x := range s.Change.Connect {
			if x.Off {
				continue
			}
			_, inBusy := have[x.In]
			if _, outBusy := holder(x.Out); inBusy || outBusy {
				t.Fatalf("step %d: %+v finds a port busy", i+1, x)
			}
			have[x.In] = x.Out
		}
		for _, x := range s.Change.Connect {
			if x.Off && caps.CreateFirst {
				delete(have, x.In)
			}
		}
	}
}

// TestPlans: for seeded switches, leases, wishes and device capabilities, the plan's own check holds, a
// strict device ends with the wanted circuits, circuits of others stay, and no step names a circuit
// that stays.
func TestPlans(t *testing.T) {
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 5))
		n := 2 + r.IntN(7)
		in, out := r.Perm(n), r.Perm(n)
		have := map[southbound.Port]southbound.Port{}
		var seen []southbound.Connection
		for i := range r.IntN(n + 1) {
			have[southbound.Port(in[i])] = southbound.Port(out[i])
			seen = append(seen, southbound.Connection{In: southbound.Port(in[i]), Out: southbound.Port(out[i]),
				Status: southbound.Connected})
		}
		l := leaseOf(ports(1+r.IntN(n)), ports(1+r.IntN(n)))
		win, wout := r.Perm(len(l.Inputs)), r.Perm(len(l.Outputs))
		var wanted []southbound.CrossConnect
		for i := range r.IntN(min(len(win), len(wout)) + 1) {
			wanted = append(wanted, southbound.CrossConnect{In: southbound.Port(win[i]),
				Out: southbound.Port(wout[i])})
		}
		caps := allCaps[seed%4]
		p, err := Make(seen, wanted, l, caps)
		if err != nil {
			if !errors.Is(err, ErrNotOurs) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			continue
		}
		if !caps.Single && !caps.CreateFirst && len(p.Steps) > 1 {
			t.Fatalf("seed %d: %d changes", seed, len(p.Steps))
		}
		strict(t, p, caps, have)
		expect := map[southbound.Port]southbound.Port{}
		for _, x := range append(slices.Clone(wanted), p.Others...) {
			expect[x.In] = x.Out
		}
		if len(have) != len(expect) {
			t.Fatalf("seed %d: %v, want %v", seed, have, expect)
		}
		for i, o := range expect {
			if have[i] != o {
				t.Fatalf("seed %d: %v, want %v", seed, have, expect)
			}
		}
		for _, s := range p.Steps {
			for _, x := range s.Change.Connect {
				if slices.Contains(p.Before, x) && slices.Contains(p.After, x) {
					t.Fatalf("seed %d: %+v stays, and is named", seed, x)
				}
			}
		}
		again, err := Make(connectedMap(have), wanted, l, caps)
		if err != nil || len(again.Steps) != 0 {
			t.Fatalf("seed %d: once more: %+v, %v", seed, again, err)
		}
	}
}

func connectedMap(have map[southbound.Port]southbound.Port) []southbound.Connection {
	var out []southbound.Connection
	for in, o := range have {
		out = append(out, southbound.Connection{In: in, Out: o, Status: southbound.Connected})
	}
	return out
}

func TestPlanRefuses(t *testing.T) {
	l := leaseOf(ports(4), ports(4))
	for _, tt := range []struct {
		name   string
		seen   []southbound.Connection
		wanted []southbound.CrossConnect
		says   string
	}{
		{"foreign input", nil, want(4, 0), "has not both its ports"},
		{"foreign output", nil, want(0, 4), "has not both its ports"},
		{"our input held by a foreign circuit", connected(0, 7), want(0, 1), "whose output is another's"},
		{"our output held by a foreign circuit", connected(7, 1), want(0, 1), "whose input is another's"},
		{"input twice", nil, want(0, 1, 0, 2), "twice"},
		{"output twice", nil, want(0, 1, 2, 1), "twice"},
		{"off", nil, []southbound.CrossConnect{{In: 0, Off: true}}, "leave out"},
	} {
		if _, err := Make(tt.seen, tt.wanted, l, Caps{}); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.says)
		}
	}
	p, err := Make(append(connected(6, 6, 7, 7),
		southbound.Connection{In: 0, Out: 1, Status: southbound.Invalid}),
		want(0, 1), l, Caps{})
	if err != nil || len(p.Steps) != 1 || len(p.Others) != 2 {
		t.Errorf("an invalid one is made again: %+v, %v", p, err)
	}
}

// TestCheckFinds: the check finds what a wrong plan would do.
func TestCheckFinds(t *testing.T) {
	l := leaseOf(ports(4), ports(4))
	good := func() *Plan {
		p, err := Make(connected(0, 1, 6, 6), want(0, 2, 3, 1), l, Caps{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, spoil := range map[string]func(*Plan){
		"not drained":                 func(p *Plan) { p.Steps[0].Drain = nil },
		"not verified":                func(p *Plan) { p.Steps[0].Verify = p.Steps[0].Verify[:1] },
		"replaces":                    func(p *Plan) { p.Steps[0].Change.Replace = true },
		"sets a rule":                 func(p *Plan) { p.Steps[0].Change.Rules = make([]southbound.Rule, 1) },
		"drops a rule":                func(p *Plan) { p.Steps[0].Change.Drop = make([]southbound.Match, 1) },
		"takes an output":             func(p *Plan) { p.Steps[0].Change.Connect[0].Out = 6 },
		"touches others":              func(p *Plan) { p.Steps[0].Change.Connect[0].In = 6 },
		"an input beyond the lease":   func(p *Plan) { p.Lease.Inputs = p.Lease.Inputs[1:] },
		"an output beyond the lease":  func(p *Plan) { p.Lease.Outputs = p.Lease.Outputs[:2] },
		"an input of others, leased":  func(p *Plan) { p.Others = want(0, 6) },
		"an output of others, leased": func(p *Plan) { p.Others = want(6, 2) },
		"a port twice":                func(p *Plan) { p.Steps[0].Change.Connect[1].Out = p.Steps[0].Change.Connect[0].Out },
		"ends elsewhere":              func(p *Plan) { p.After = want(0, 2) },
		"steers too soon": func(p *Plan) {
			p.Steps[0].Verify = append(p.Steps[0].Verify,
				want(2, 3)...)
		},
	} {
		p := good()
		spoil(p)
		err := p.Check()
		if err == nil {
			t.Errorf("%s: not found", name)
		}
		if whole := name == "ends elsewhere" || name == "not verified"; !whole &&
			!strings.Contains(fmt.Sprint(err),
				"step 1:") {
			t.Errorf("%s: %v, want it to name step 1", name, err)
		}
	}
}

// TestPlansNameInputsOnce: in one change an input is named once, by the circuit that comes. A device
// that takes what goes after what comes would else be left dark.
func TestPlansNameInputsOnce(t *testing.T) {
	l := leaseOf(ports(6), ports(6))
	off := func(in, out southbound.Port) southbound.CrossConnect {
		return southbound.CrossConnect{In: in, Out: out, Off: true}
	}
	broken := southbound.Connection{In: 5, Out: 5, Status: southbound.Failed}
	for _, tt := range []struct {
		name   string
		seen   []southbound.Connection
		wanted []southbound.CrossConnect
		change []southbound.CrossConnect
	}{
		{"made again", connected(0, 1), want(0, 2), want(0, 2)},
		{"gone", connected(0, 1), nil, []southbound.CrossConnect{off(0, 1)}},
		{"made again and gone", connected(0, 1, 1, 2, 3, 3), want(0, 2, 3, 3),
			[]southbound.CrossConnect{want(0, 2)[0], off(1, 2)}},
		{"swapped", connected(0, 1, 1, 0), want(0, 0, 1, 1), want(0, 0, 1, 1)},
		{"broken", []southbound.Connection{broken}, want(5, 5), want(5, 5)},
	} {
		p, err := Make(tt.seen, tt.wanted, l, Caps{})
		if err != nil || len(p.Steps) != 1 || !slices.Equal(p.Steps[0].Change.Connect, tt.change) {
			t.Errorf("%s: %+v, %v; want one change %v", tt.name, p, err, tt.change)
		}
	}
}

func BenchmarkPlan320(b *testing.B) {
	l := leaseOf(ports(320), ports(320))
	r := rand.New(rand.NewPCG(1, 1))
	from, to := r.Perm(320), r.Perm(320)
	var seen []southbound.Connection
	var wanted []southbound.CrossConnect
	for i := range 320 {
		seen = append(seen, southbound.Connection{In: southbound.Port(i), Out: southbound.Port(from[i]),
			Status: southbound.Connected})
		wanted = append(wanted, southbound.CrossConnect{In: southbound.Port(i), Out: southbound.Port(to[i])})
	}
	for b.Loop() {
		p, err := Make(seen, wanted, l, Caps{})
		if err != nil || len(p.Steps) != 1 {
			b.Fatal(len(p.Steps), err)
		}
	}
}
