package mem_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/southbound"
)

var _ device.Plane = (*mem.Plane)(nil)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLookup(t *testing.T) {
	p := mem.New(8, func() time.Duration { return 0 })
	rule := func(dst, src southbound.RackID, tag southbound.Tag, primary, backup southbound.Port) southbound.Rule {
		return southbound.Rule{Match: southbound.Match{Dst: dst, Tag: tag, Src: src}, Primary: primary,
			Backup: backup}
	}
	const none = southbound.NoPort
	must(t, p.SetRules([]southbound.Rule{
		rule(1, southbound.AnyRack, southbound.AnyTag, 0, none),
		rule(1, southbound.AnyRack, 7, 1, 2),
		rule(1, 5, southbound.AnyTag, 3, none),
		rule(1, 5, 7, 4, none),
		rule(2, southbound.AnyRack, 3, 5, none),
	}, nil, true))
	must(t, p.SetLight(1, false))
	must(t, p.SetLight(4, false))
	tests := []struct {
		name     string
		dst, src southbound.RackID
		tag      southbound.Tag
		want     southbound.Port
	}{
		{"default of the destination", 1, 0, 0, 0},
		{"backup while the primary is dark", 1, 0, 7, 2},
		{"source before tag", 1, 5, 2, 3},
		{"source and tag, dark, no backup", 1, 5, 7, none},
		{"tag", 2, 0, 3, 5},
		{"no rule for the tag and no default", 2, 0, 4, none},
		{"no rule at all", 3, 0, 0, none},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := p.Lookup(tt.dst, tt.src, tt.tag); got != tt.want || ok != (tt.want != none) {
				t.Errorf("got %d, %v, want %d", got, ok, tt.want)
			}
		})
	}
	must(t, p.SetLight(2, false))
	if got, ok := p.Lookup(1, 0, 7); ok {
		t.Errorf("both ports are dark, and the packet leaves by %d", got)
	}
}

// TestLookupLikeReference holds lookups against a search of all rules, while rules come, go and are
// replaced.
func TestLookupLikeReference(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := mem.New(8, func() time.Duration { return 0 })
		table := map[southbound.Match]southbound.Port{}
		match := func() southbound.Match {
			m := southbound.Match{Dst: southbound.RackID(r.IntN(3)), Tag: southbound.Tag(r.IntN(2)),
				Src: southbound.AnyRack}
			if r.IntN(3) == 0 {
				m.Tag = southbound.AnyTag
			}
			if r.IntN(3) == 0 {
				m.Src = southbound.RackID(r.IntN(3))
			}
			return m
		}
		for range 60 {
			var set []southbound.Rule
			var drop []southbound.Match
			replace := r.IntN(9) == 0
			if replace {
				clear(table)
			}
			for range r.IntN(4) {
				drop = append(drop, match())
				delete(table, drop[len(drop)-1])
			}
			for range r.IntN(3) {
				set = append(set, southbound.Rule{Match: match(), Primary: southbound.Port(r.IntN(8)),
					Backup: southbound.NoPort})
				table[set[len(set)-1].Match] = set[len(set)-1].Primary
			}
			must(t, p.SetRules(set, drop, replace))
			dst, src, tag := southbound.RackID(r.IntN(3)), southbound.RackID(r.IntN(3)), southbound.Tag(r.IntN(2))
			want := southbound.NoPort
			for _, m := range []southbound.Match{{Dst: dst, Tag: southbound.AnyTag, Src: southbound.AnyRack},
				{Dst: dst, Tag: tag, Src: southbound.AnyRack},
				{Dst: dst, Tag: southbound.AnyTag, Src: src}, {Dst: dst, Tag: tag, Src: src}} {
				if port, ok := table[m]; ok {
					want = port
				}
			}
			if got, ok := p.Lookup(dst, src, tag); got != want || ok != (want != southbound.NoPort) {
				t.Fatalf("seed %d: from %d to %d with tag %d: %d, %v, want %d", seed, src, dst, tag, got, ok, want)
			}
		}
	}
}

func TestMove(t *testing.T) {
	now := 5 * time.Millisecond
	p := mem.New(4, func() time.Duration { return now })
	must(t, p.Move(nil, []southbound.CrossConnect{{In: 0, Out: 1}, {In: 2, Out: 3}}, 10*time.Millisecond))
	at := func(in southbound.Port, t time.Duration) southbound.Port { out, _ := p.Cross(t, in); return out }
	for _, tt := range []struct {
		in   southbound.Port
		at   time.Duration
		want southbound.Port
	}{{0, 15*time.Millisecond - 1, southbound.NoPort}, {0, 15 * time.Millisecond, 1}, {2, time.Second, 3},
		{1, time.Second, southbound.NoPort}, {9, 0, southbound.NoPort}} {
		if got := at(tt.in, tt.at); got != tt.want {
			t.Errorf("input %d at %v: %d, want %d", tt.in, tt.at, got, tt.want)
		}
	}
	now = 20 * time.Millisecond
	gen := p.Generation()
	must(t, p.Move([]southbound.Port{0}, []southbound.CrossConnect{{In: 3, Out: 1}}, time.Millisecond))
	if p.Generation() == gen {
		t.Error("the generation did not change")
	}
	if at(0, now) != southbound.NoPort || at(3, now) != southbound.NoPort || at(3, 21*time.Millisecond) != 1 ||
		at(2, now) != 3 {
		t.Error("the move is wrong, or 2→3 was touched")
	}
	if out, lit, ok := p.LitAfter(3); !ok || out != 1 || lit != 21*time.Millisecond {
		t.Errorf("lit after: %d %v %v", out, lit, ok)
	}
	p.Drop(3)
	if n, err := p.Dropped(); n != 3 || err != nil {
		t.Errorf("dropped %d, %v", n, err)
	}
}

func TestRefusesWhole(t *testing.T) {
	p := mem.New(2, func() time.Duration { return 0 })
	gen := p.Generation()
	bad := []error{
		p.SetRules([]southbound.Rule{{Primary: 0, Backup: southbound.NoPort},
			{Primary: 2, Backup: southbound.NoPort}}, nil,
			true),
		p.SetRules([]southbound.Rule{{Primary: 0, Backup: 7}}, nil, false),
		p.SetLight(2, false),
		p.SetLight(-1, false),
		p.Move([]southbound.Port{5}, nil, 0),
		p.Move([]southbound.Port{0}, []southbound.CrossConnect{{In: 0, Out: 2}}, 0),
	}
	for i, err := range bad {
		if err == nil {
			t.Errorf("call %d was taken", i)
		}
	}
	if p.Generation() != gen {
		t.Error("a refused call changed the plane")
	}
}
