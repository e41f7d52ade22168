package schedule

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lightloom/southbound"
)

// random draws a matrix: some are dense, some sparse, some of equal parts, some with giants.
func random(rng *rand.Rand, n int) Matrix {
	m := New(n)
	fill, kind := rng.Float64(), rng.IntN(3)
	for i := range m {
		for j := range m[i] {
			switch {
			case i == j || rng.Float64() > fill:
			case kind == 0:
				m[i][j] = 5 * time.Millisecond
			case kind == 1:
				m[i][j] = 1 + time.Duration(rng.Int64N(int64(100*time.Millisecond)))
			default:
				m[i][j] = 1 << rng.IntN(40)
			}
		}
	}
	return m
}

func litAtRandom(rng *rand.Rand, n int) []southbound.Port {
	if rng.IntN(2) == 0 {
		return nil
	}
	lit := make([]southbound.Port, n)
	for i, j := range rng.Perm(n) {
		if lit[i] = southbound.Port(j); i == j || rng.IntN(3) == 0 {
			lit[i] = southbound.NoPort
		}
	}
	return lit
}

// TestSchedulesMeetDemand: on thousands of matrices each algorithm's schedule lights no port twice,
// gives each new circuit its reconfiguration delay, and carries everything; and it keeps what is proven
// of it.
func TestSchedulesMeetDemand(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 2 + rng.IntN(6)
		m, lit, delta := random(rng, n), litAtRandom(rng,
			n), time.Duration(rng.Int64N(int64(20*time.Millisecond)))
		before := fmt.Sprint(m)
		for _, a := range []struct {
			name string
			s    Schedule
		}{
			{"bvn", BvN(m, lit, delta)},
			{"solstice", Solstice(m, lit, delta, 0)},
			{"eclipse", Eclipse(m, lit, delta, 0)},
			{"edmonds", Edmonds(m, lit, delta, delta+50*time.Millisecond+m.Largest()/20, 0)},
		} {
			if err := a.s.Check(m, delta); err != nil {
				t.Fatalf("seed %d: %s: %v\n%v\n%v", seed, a.name, err, m, &a.s)
			}
			if most := m.Largest(); a.s.Long() < most && lit == nil && delta == 0 {
				t.Errorf("seed %d: %s takes %v, below the largest sum %v", seed, a.name, a.s.Long(), most)
			}
		}
		if fmt.Sprint(m) != before {
			t.Fatalf("seed %d: a demand was written to", seed)
		}
	}
}

// TestClearance is Inukai's theorem: without reconfiguration delays the schedule is as long as the
// largest sum, and it has no more than n²−2n+2 slots.
func TestClearance(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		n := 2 + rng.IntN(7)
		m := random(rng, n)
		s := BvN(m, nil, 0)
		if got, want := s.Long(), m.Largest(); got != want {
			t.Errorf("seed %d: takes %v, want %v", seed, got, want)
		}
		if len(s.Slots) > n*n-2*n+2 {
			t.Errorf("seed %d: %d slots for %d ports", seed, len(s.Slots), n)
		}
	}
}

// TestCheck: the checker finds what it is there for.
func TestCheck(t *testing.T) {
	m := New(3)
	m[0][1], m[1][2] = 10, 10
	none := southbound.NoPort
	for _, tc := range []struct {
		name string
		s    Schedule
		err  string
	}{
		{"well", Schedule{Slots: []Slot{{15, []southbound.Port{1, 2, none}}}}, ""},
		{"lit before", Schedule{Lit: []southbound.Port{1, none, none},
			Slots: []Slot{{10, []southbound.Port{1, none, none}},
				{15, []southbound.Port{none, 2, none}}}}, ""},
		{"in two slots", Schedule{Slots: []Slot{{8, []southbound.Port{1, 2, none}},
			{7, []southbound.Port{1, 2, none}}}}, ""},
		{"no reconfiguration delay", Schedule{Slots: []Slot{{10, []southbound.Port{1, 2, none}}}},
			"demand 0→1 of 10ns: 5ns are carried"},
		{"interrupted", Schedule{Slots: []Slot{{10, []southbound.Port{1, 2, none}},
			{9, []southbound.Port{2, none, none}},
			{9, []southbound.Port{1, 2, none}}}}, "demand 0→1 of 10ns: 9ns"},
		{"dark for all its time", Schedule{Slots: []Slot{{15, []southbound.Port{1, 2, none}},
			{5, []southbound.Port{2, none, none}}}}, "circuit 0→2 from 15ns to 20ns: it ends within its reconfiguration delay"},
		{"output twice", Schedule{Slots: []Slot{{15, []southbound.Port{2, 2, none}}}},
			"slot 0: output 2 is lit by inputs 0 and 1"},
		{"to itself", Schedule{Slots: []Slot{{15, []southbound.Port{0, 2, none}}}}, "slot 0: circuit 0→0"},
		{"outside", Schedule{Slots: []Slot{{15, []southbound.Port{3, 2, none}}}}, "slot 0: circuit 0→3"},
		{"no time", Schedule{Slots: []Slot{{0, []southbound.Port{1, 2, none}}}}, "slot 0: lasts 0s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.s.Check(m, 5)
			if (err == nil) != (tc.err == "") || err != nil && !strings.HasPrefix(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}

// TestCharacter: what makes each different, on one matrix. One giant and small change, δ 10 ms:
// eclipse, which weighs what a slot carries against its reconfiguration delay, and solstice, which
// takes the long ones first, have fewer slots than bvn; edmonds pads the small ones to its slot.
func TestCharacter(t *testing.T) {
	const ms = time.Millisecond
	m := New(4)
	m[0][1] = 400 * ms
	for i := range 4 {
		for j := range 4 {
			if i != j && m[i][j] == 0 {
				m[i][j] = time.Duration(3+i+2*j) * ms
			}
		}
	}
	long := map[string]time.Duration{}
	for name, s := range map[string]Schedule{"bvn": BvN(m, nil, 10*ms), "solstice": Solstice(m, nil, 10*ms, 0),
		"eclipse": Eclipse(m, nil, 10*ms, 0), "edmonds": Edmonds(m, nil, 10*ms, 100*ms, 0)} {
		long[name] = s.Long()
		t.Logf("%s: %d slots, %v, T(C) %v", name, len(s.Slots), s.Long(), m.Bound(10*ms))
	}
	if max(long["eclipse"], long["solstice"]) >= long["bvn"] || long["edmonds"] <= long["bvn"] {
		t.Errorf("lengths %v", long)
	}
}

// TestSolsticeLeavesThePacketsTheirPart: with a packet network it ends sooner, and no port has more
// left than packets carry meanwhile.
func TestSolsticeLeavesThePacketsTheirPart(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 3))
		m, delta := random(rng, 5), 3*time.Millisecond
		s, all := Solstice(m, nil, delta, 0.1), Solstice(m, nil, delta, 0)
		left := m.Clone()
		for _, c := range s.Circuits(delta) {
			left[c.In][c.Out] = max(left[c.In][c.Out]-c.Carry, 0)
		}
		if s.Long() > all.Long() || left.Largest() > s.Long()/10 {
			t.Errorf("seed %d: %v of %v, %v left for packets", seed, s.Long(), all.Long(), left.Largest())
		}
	}
}

// carries is how much of a demand a schedule carries.
func carries(s *Schedule, m Matrix, delta time.Duration) (sum time.Duration) {
	got := New(len(m))
	for _, c := range s.Circuits(delta) {
		got[c.In][c.Out] += max(c.Carry, 0)
	}
	for i := range m {
		for j, d := range m[i] {
			sum += min(d, got[i][j])
		}
	}
	return sum
}

// matchings returns all that join every input to an output, or with partial leave some dark as well.
func matchings(n int, partial bool) (all [][]southbound.Port) {
	var grow func(out []southbound.Port, used int)
	grow = func(out []southbound.Port, used int) {
		if len(out) == n {
			all = append(all, append([]southbound.Port(nil), out...))
			return
		}
		if partial {
			grow(append(out, southbound.NoPort), used)
		}
		for j := range n {
			if j != len(out) && used>>j&1 == 0 {
				grow(append(out, southbound.Port(j)), used|1<<j)
			}
		}
	}
	grow(nil, 0)
	return all
}

// best is the most that any two slots of whole units carry in a window, by enumeration: with four ports
// and few units that is near what any schedule carries.
func best(m Matrix, delta, window, unit time.Duration) (most time.Duration) {
	all := matchings(len(m), false)
	for _, a := range all {
		for _, b := range all {
			for first := delta + unit; first <= window; first += unit {
				s := Schedule{Slots: []Slot{{first, a}}}
				if rest := window - first; rest > delta {
					s.Slots = append(s.Slots, Slot{rest, b})
				}
				most = max(most, carries(&s, m, delta))
			}
		}
	}
	return most
}

// TestEclipseBound is its theorem: within a window it carries at least 1−1/e of the best, the slot that
// crosses the end counted whole.
func TestEclipseBound(t *testing.T) {
	const unit, delta, window = 10 * time.Millisecond, 10 * time.Millisecond, 120 * time.Millisecond
	worst := 1.0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 4))
		m := New(4)
		for range 1 + rng.IntN(10) {
			if i, j := rng.IntN(4), rng.IntN(4); i != j {
				m[i][j] = time.Duration(1+rng.IntN(12)) * unit
			}
		}
		if m.Empty() {
			continue
		}
		s := Eclipse(m, nil, delta, window)
		if s.Long() > window {
			t.Errorf("seed %d: lasts %v of a window of %v", seed, s.Long(), window)
		}
		got, most := carries(&s, m, delta), best(m, delta, window, unit)
		worst = min(worst, float64(got)/float64(most))
		if float64(got) < (1-1/math.E)*float64(most) {
			t.Errorf("seed %d: carries %v, the best two slots %v\n%v", seed, got, most, m)
		}
	}
	t.Logf("worst over the best two slots: %.3f", worst)
}

// TestStaticAndEdmondsBound: no algorithm's matching carries more than static's, and no slot more than
// edmonds' first.
func TestStaticAndEdmondsBound(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 6))
		m := random(rng, 4)
		for i := range m {
			for j := range m {
				m[i][j] = min(m[i][j], 80*time.Millisecond)
			}
		}
		one := Schedule{Slots: []Slot{{time.Second, Static(m)}}}
		e := Edmonds(m, nil, 0, 100*time.Millisecond, 1)
		got := carries(&one, m, 0)
		if len(e.Slots) > 0 && carries(&e, m, 0) != got {
			t.Fatalf("seed %d: edmonds carries %v, static %v", seed, carries(&e, m, 0), got)
		}
		most := time.Duration(0)
		for _, out := range matchings(len(m), true) {
			most = max(most, carries(&Schedule{Slots: []Slot{{time.Second, out}}}, m, 0))
		}
		if got != most {
			t.Fatalf("seed %d: static carries %v, the best matching %v\n%v", seed, got, most, m)
		}
	}
}
