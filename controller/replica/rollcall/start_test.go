package rollcall

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// starts is a list of starts from the first on, with these nonces.
func starts(nonces ...uint64) (all []Start) {
	for i, n := range nonces {
		all = append(all, Start{uint64(i + 1), n})
	}
	return all
}

// TestBack: which start has gone back, by what a peer has seen of the replica.
func TestBack(t *testing.T) {
	seen := Sighting{Start: Start{2, 22}, Newest: 5, Held: Position{4, 40}}
	for _, tt := range []struct {
		name string
		h    hello
		want string // in why; empty: it has not
	}{
		{"the next start", hello{Own: starts(11, 22, 33), Term: 5, Held: Position{4, 40}}, ""},
		{"the same start", hello{Own: starts(11, 22), Term: 6, Held: Position{5, 3}}, ""},
		{"as many starts, another nonce", hello{Own: starts(11, 23), Term: 5, Held: Position{4, 40}},
			"is another"},
		{"more starts, another nonce between", hello{Own: starts(11, 23, 33), Term: 5,
			Held: Position{4, 40}}, "is another"},
		{"fewer starts", hello{Own: starts(11), Term: 5, Held: Position{4, 40}}, "it starts for time 1"},
		{"an older term", hello{Own: starts(11, 22, 33), Term: 4, Held: Position{4, 40}}, "it is in term 4"},
		{"a shorter log", hello{Own: starts(11, 22, 33), Term: 5, Held: Position{4, 39}},
			"its log ends with entry 39"},
		{"a longer log of an older term", hello{Own: starts(11, 22, 33), Term: 5,
			Held: Position{3, 90}}, "of term 3"},
		{"so many starts that the one is forgotten", hello{Own: []Start{{40, 1}, {41, 2}}, Term: 5,
			Held: Position{4, 40}}, ""},
	} {
		if got := seen.back(&tt.h); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestMeet: whose messages count after a hello.
func TestMeet(t *testing.T) {
	m := &Memory{Peers: map[string]Sighting{"a": {Start: Start{2, 22}}}}
	before := m.Peers
	old := &hello{Own: starts(11, 99)}
	if m.meet("a", old) == "" {
		t.Error("a start that has gone back is taken for the next")
	}
	if s := m.Peers["a"]; s.admits(Start{2, 99}, true) || !s.admits(Start{2, 99}, false) ||
		!s.admits(Start{2, 22}, true) || s.admits(Start{3, 1}, false) {
		t.Errorf("of one that has gone back entries count, and votes do not: %+v", s)
	}
	old.Learned = true
	if why := m.meet("a", old); why != "" {
		t.Errorf("it has learnt: %s", why)
	}
	if s := m.Peers["a"]; !s.admits(Start{2, 99}, true) || s.admits(Start{2, 22}, false) {
		t.Errorf("once it has learnt it counts, and nobody else: %+v", s)
	}
	if m.meet("b", &hello{Own: starts(1)}) != "" || !m.Peers["b"].admits(Start{1, 1}, true) {
		t.Error("one that was never seen does not count")
	}
	if before["a"].Learns != (Start{}) || len(before) != 1 {
		t.Error("what was read before has changed")
	}
}

// TestStarted: starts are counted for ever, and the last ones are kept.
func TestStarted(t *testing.T) {
	var m Memory
	for n := range uint64(100) {
		m.started(1000 + n)
	}
	if len(m.Own) != MaxStarts || m.Now() != (Start{100, 1099}) || m.Own[0].Count != 101-MaxStarts {
		t.Errorf("%d are kept, from %+v to %+v", len(m.Own), m.Own[0], m.Now())
	}
}

// TestRenew: who has learnt counts from above all that was seen of it, so what is remembered of its disk
// from before, however old, says nothing of it. A copy of that disk is older than the one that has learnt.
func TestRenew(t *testing.T) {
	for _, tt := range []struct {
		own        []Start
		seen, want uint64
	}{
		{starts(1), 23, 1000},
		{starts(1), 0, 1000},
		{starts(1), 999, 1000},
		{starts(1), 1000, 2000},
		{[]Start{{1000, 1}, {1001, 2}}, 7, 2000},
		{[]Start{{1001, 2}}, 3001, 4000},
	} {
		m := Memory{Own: tt.own}
		m.renew(tt.seen)
		if last := tt.own[len(tt.own)-1].Nonce; len(m.Own) != 1 || m.Now() != (Start{tt.want, last}) {
			t.Errorf("%v, seen %d: %v, want %d", tt.own, tt.seen, m.Own, tt.want)
		}
		before := Sighting{Start: Start{tt.seen, 99}}
		if why := before.back(&hello{Own: m.Own}); why != "" {
			t.Errorf("%v, seen %d: by what was seen before it has gone back: %s", tt.own, tt.seen, why)
		}
		seen := Sighting{Start: m.Now()}
		if seen.back(&hello{Own: tt.own}) == "" {
			t.Errorf("%v, seen %d: a copy from before has not gone back", tt.own, tt.seen)
		}
		if m.started(5); seen.back(&hello{Own: m.Own}) != "" {
			t.Errorf("%v, seen %d: its next start has gone back", tt.own, tt.seen)
		}
	}
}

// TestEnough: who has to answer before a replica takes part.
func TestEnough(t *testing.T) {
	peers := func(n int) (all []Peer) {
		for i := range n {
			all = append(all, Peer{ID: string(rune('a' + i))})
		}
		return all
	}
	whole, learns := answer{}, answer{Learns: true}
	for _, tt := range []struct {
		name    string
		of      int
		lost    bool
		answers map[string]answer
		want    bool
	}{
		{"alone", 1, false, nil, true},
		{"one of two", 2, false, map[string]answer{"b": whole}, true},
		{"nobody of two", 2, false, nil, false},
		{"one of three", 3, false, map[string]answer{"b": whole}, false},
		{"both of three", 3, false, map[string]answer{"b": whole, "c": whole}, true},
		{"a stranger", 3, false, map[string]answer{"b": whole, "x": whole}, false},
		{"another's disk is lost", 3, false, map[string]answer{"b": learns}, false},
		{"another's disk is lost, the third answers", 3, false,
			map[string]answer{"b": learns, "c": whole}, true},
		{"another's disk is lost, and this one's too", 3, true,
			map[string]answer{"b": learns, "c": whole}, false},
		{"two of five", 5, false, map[string]answer{"b": whole, "c": whole}, false},
		{"three of five", 5, false, map[string]answer{"b": whole, "c": whole, "d": whole}, true},
		{"three of five, one lost", 5, false, map[string]answer{"b": whole, "c": whole, "d": learns}, false},
		{"two of five lost", 5, false, map[string]answer{"b": learns, "c": learns}, false},
		{"two of five lost, one whole", 5, false, map[string]answer{"b": learns, "c": learns, "d": whole}, true},
	} {
		if got := enough("a", tt.lost, tt.answers, peers(tt.of)); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// TestVotesAfterAStart: for whom a replica votes, and whose entries it takes, as far as it takes part.
func TestVotesAfterAStart(t *testing.T) {
	for _, tt := range []struct {
		name           string
		part           part
		term           uint64
		held           Position
		votes, follows bool
	}{
		{"it waits", waits, 9, Position{8, 90}, false, false},
		{"it learns", learns, 9, Position{8, 90}, false, true},
		{"the candidate holds as much as others", careful, 9, Position{7, 70}, true, true},
		{"less", careful, 9, Position{7, 69}, false, true},
		{"it may have voted in that term", careful, 8, Position{8, 90}, false, true},
		{"a leader of the past", careful, 7, Position{8, 90}, false, false},
		{"it holds as much itself: raft compares", votes, 9, Position{1, 1}, true, true},
		{"even so it may have voted", votes, 8, Position{8, 90}, false, true},
	} {
		r := &Rollcall{part: tt.part, bar: bar{term: 8, needs: Position{7, 70}}}
		if got := r.elects(tt.term, tt.held) == nil; got != tt.votes {
			t.Errorf("%s: votes %v", tt.name, got)
		}
		if got := r.follows("b", tt.term, 5) == nil; got != tt.follows {
			t.Errorf("%s: follows %v", tt.name, got)
		}
	}
}

func FuzzDecodeHello(f *testing.F) {
	b, err := json.Marshal(hello{Own: starts(1, 2), Term: 3, Held: Position{2, 9}, Learned: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHello(b)
		if err != nil {
			return
		}
		var m Memory
		m.meet("a", h) // takes whatever is decoded
		if x := h.Own[len(h.Own)-1]; !m.Peers["a"].admits(x, true) {
			t.Errorf("%q: %+v", b, m)
		}
	})
}

func FuzzDecodeAnswer(f *testing.F) {
	b, err := json.Marshal(answer{Back: "why", Term: 3, Held: Position{2, 9}, Voters: []Peer{{"a", "a:1"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := decodeAnswer(b)
		if err != nil {
			return
		}
		again, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := decodeAnswer(again); err != nil || !reflect.DeepEqual(a.Held, c.Held) || a.Term != c.Term {
			t.Errorf("%q is read as %+v, and again as %+v: %v", b, a, c, err)
		}
	})
}

func FuzzCutMark(f *testing.F) {
	f.Add([]byte("r0:1\x00s0123456789abcdef"))
	f.Add(marked([]byte("r0:1"), markStamp, Start{3, 4}.encode()))
	f.Fuzz(func(t *testing.T, b []byte) {
		addr, kind, body := cutMark(b)
		if kind == 0 {
			return
		}
		if got := marked(addr, kind, body); string(got) != string(b) {
			t.Errorf("%q is read as %q, %q, %q", b, addr, kind, body)
		}
		if x, err := decodeIncarnation(body); err == nil && string(x.encode()) != string(body) {
			t.Errorf("%q is read as start %+v", body, x)
		}
	})
}
