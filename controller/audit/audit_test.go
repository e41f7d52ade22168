package audit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lightloom/controller/audit"
	"lightloom/southbound"
)

func end(rack int) audit.End {
	return audit.End{Chassis: fmt.Sprintf("tor%d", rack), Port: "Ethernet9"}
}

func straight(n int) audit.Map {
	m := audit.NewMap(n)
	for p := range n {
		m.In[p], m.Out[p] = end(p), end(p)
	}
	return m
}

// lab is the true cabling, and which end hears which.
type lab struct {
	truth  audit.Map
	ports  []int // of each switch; nil: there is one
	selfOK bool  // switches report what they hear of themselves
	always []audit.Heard
	misses func(round int, h audit.Heard) bool // who does not hear in time; nil: none
	broken []southbound.CrossConnect           // circuits that cannot be made
}

func (l *lab) hears(lit []southbound.CrossConnect) []audit.Heard {
	heard := slices.Clone(l.always)
	for _, c := range lit {
		from, at := l.truth.In[c.In], l.truth.Out[c.Out]
		if !from.IsZero() && !at.IsZero() && (l.selfOK || from.Chassis != at.Chassis) {
			heard = append(heard, audit.Heard{At: at, From: from})
		}
	}
	return heard
}

// walk goes through it, and holds every round against what an optical switch can do.
func (l *lab) walk(t testing.TB) *audit.Walk {
	t.Helper()
	if l.ports == nil {
		l.ports = []int{l.truth.Ports()}
	}
	w := audit.NewWalk(l.ports...)
	for {
		round, ok := w.Next()
		if !ok {
			return w
		}
		if w.Rounds() > 200*l.truth.Ports()+100 {
			t.Fatal("the walk does not end")
		}
		ins, outs := map[southbound.Port]bool{}, map[southbound.Port]bool{}
		var lit, failed []southbound.CrossConnect
		for _, c := range round {
			if ins[c.In] || outs[c.Out] || c.Off {
				t.Fatalf("round %d uses a port twice: %v", w.Rounds(), round)
			}
			ins[c.In], outs[c.Out] = true, true
			if slices.Contains(l.broken, c) {
				failed = append(failed, c)
			} else {
				lit = append(lit, c)
			}
		}
		w.Hear(failed, slices.DeleteFunc(l.hears(lit), func(h audit.Heard) bool {
			return l.misses != nil && l.misses(w.Rounds(), h)
		}))
	}
}

// plant is one random cabling: fibres exchanged in both directions or one, pulled, and led to strangers.
func plant(r *rand.Rand, n, faults int) (expected, truth audit.Map) {
	expected = straight(n)
	for range r.IntN(3) { // ports that nothing should be at
		p := r.IntN(n)
		expected.In[p], expected.Out[p] = audit.End{}, audit.End{}
	}
	truth = audit.Map{In: slices.Clone(expected.In), Out: slices.Clone(expected.Out)}
	for f := range faults {
		a, b := r.IntN(n), r.IntN(n)
		swap := func(s []audit.End) { s[a], s[b] = s[b], s[a] }
		switch r.IntN(6) {
		case 0, 1:
			swap(truth.In)
			swap(truth.Out)
		case 2:
			swap(truth.In)
		case 3:
			swap(truth.Out)
		case 4:
			truth.In[a] = audit.End{}
			if r.IntN(2) == 0 {
				truth.Out[a] = audit.End{}
			}
		case 5:
			truth.Out[a] = audit.End{Chassis: fmt.Sprintf("stranger%d", f), Port: "eth0"}
		}
	}
	return expected, truth
}

// TestPlanted: in 100 random cablings of 64 ports every fault is found, and nothing else.
func TestPlanted(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 64))
		expected, truth := plant(r, 64, 1+r.IntN(12))
		l := lab{truth: truth, selfOK: seed%2 == 0}
		w := l.walk(t)
		holds(t, fmt.Sprintf("seed %d", seed), expected, truth, w)
		if w.Rounds() > 14 {
			t.Errorf("seed %d took %d rounds", seed, w.Rounds())
		}
	}
}

// TestShuffled: whole permutations, few and many ports, most fibres dead.
func TestShuffled(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := 3 + r.IntN(14)
		expected := straight(n)
		truth := audit.NewMap(n)
		in, out := r.Perm(n), r.Perm(n)
		alive := 0.3 + 0.7*r.Float64()
		for p := range n {
			if r.Float64() < alive {
				truth.In[p] = end(in[p])
			}
			if r.Float64() < alive {
				truth.Out[p] = end(out[p])
			}
		}
		live := func(s []audit.End) int {
			return n - len(slices.DeleteFunc(slices.Clone(s), func(e audit.End) bool { return !e.IsZero() }))
		}
		self := seed%2 == 0
		if live(truth.In) == 0 || live(truth.Out) == 0 || !self && (live(truth.In) < 3 || live(truth.Out) < 3) {
			continue // a fibre cannot be judged without another live input or output
		}
		l := lab{truth: truth, selfOK: self}
		holds(t, fmt.Sprintf("seed %d", seed), expected, truth, l.walk(t))
	}
}

func holds(t *testing.T, name string, expected, truth audit.Map, w *audit.Walk) {
	t.Helper()
	found, direct, doubts := w.Found()
	if !slices.Equal(found.In, truth.In) || !slices.Equal(found.Out, truth.Out) ||
		len(direct)+len(doubts) > 0 {
		t.Errorf("%s: found\n%v, want\n%v; doubts %v", name, found, truth, doubts)
	}
	// A slow reference implementation of Compare: which fibres are not as expected, one by one.
	wrong := map[string]bool{}
	for p := range expected.In {
		if expected.In[p] != truth.In[p] {
			wrong[fmt.Sprint(p, audit.In)] = true
		}
		if expected.Out[p] != truth.Out[p] {
			wrong[fmt.Sprint(p, audit.Out)] = true
		}
	}
	named := map[string]bool{}
	for _, f := range audit.Judge(expected, w) {
		ports := []int{f.Port}
		if f.Kind == audit.Swapped {
			ports = append(ports, f.With)
		}
		for _, p := range ports {
			for _, fibre := range []audit.Fibre{audit.In, audit.Out} {
				if f.Fibre == fibre || f.Fibre == audit.Both {
					named[fmt.Sprint(p, fibre)] = true
				}
			}
		}
	}
	if fmt.Sprint(wrong) != fmt.Sprint(named) {
		t.Errorf("%s: wrong are %v, named are %v", name, wrong, named)
	}
}

// TestMissed: ends of a busy lab do not hear in time in some rounds. A single miss, at any end and in any round,
// changes no finding. Many never make an end be found where it is not.
func TestMissed(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 96))
		pod := lab{ports: slices.Repeat([]int{8}, 12), selfOK: seed%2 == 0}
		expected := audit.NewMap(96) // pairs of ports that follow each other are of one switch
		for p := range 96 {
			expected.In[p] = audit.End{Chassis: fmt.Sprint("cube", p/2%4), Port: fmt.Sprint("Ethernet", p)}
			expected.Out[p] = expected.In[p]
		}
		truth := audit.Map{In: slices.Clone(expected.In), Out: slices.Clone(expected.Out)}
		truth.In[3], truth.In[4] = truth.In[4], truth.In[3]
		truth.Out[50] = audit.End{}
		pod.truth = truth
		late, at := r.IntN(96), 1+r.IntN(14)
		pod.misses = func(round int, h audit.Heard) bool { return round == at && h.At == truth.Out[late] }
		holds(t, fmt.Sprintf("seed %d: port %d misses round %d", seed, late, at), expected, truth, pod.walk(t))

		pod.misses = func(int, audit.Heard) bool { return r.IntN(10) == 0 }
		found, _, _ := pod.walk(t).Found()
		for p := range 96 {
			in, out := found.In[p], found.Out[p]
			if !in.IsZero() && in != truth.In[p] || !out.IsZero() && out != truth.Out[p] {
				t.Errorf("seed %d: found %v and %v at port %d, want %v and %v", seed, in, out, p, truth.In[p],
					truth.Out[p])
			}
		}
	}
}

func TestFindings(t *testing.T) {
	stranger := audit.End{Chassis: "printer", Port: "lpt1"}
	for _, c := range []struct {
		name string
		do   func(expected, truth *audit.Map, l *lab)
		want []string
	}{
		{"as it should be", func(*audit.Map, *audit.Map, *lab) {}, nil},
		{"pair exchanged", func(_, m *audit.Map, _ *lab) {
			m.In[1], m.In[4] = m.In[4], m.In[1]
			m.Out[1], m.Out[4] = m.Out[4], m.Out[1]
		}, []string{"swapped: both fibres of port 1 and port 4 are in each other's place (tor1:9 is found at port 4)"}},
		{"one direction exchanged", func(_, m *audit.Map, _ *lab) { m.Out[2], m.Out[3] = m.Out[3], m.Out[2] },
			[]string{"swapped: the fibre out of port 2 and port 3 are in each other's place (tor2:9 is found at port 3)"}},
		{"three turned round", func(_, m *audit.Map, _ *lab) {
			m.In[0], m.In[1], m.In[2] = m.In[1],
				m.In[2], m.In[0]
		},
			[]string{"misplaced: the fibre into port 0 leads to tor1:9, which belongs to port 1, expected is tor0:9",
				"misplaced: the fibre into port 1 leads to tor2", "misplaced: the fibre into port 2 leads to tor0"}},
		{"pulled", func(_, m *audit.Map, _ *lab) { m.In[5], m.Out[5] = audit.End{}, audit.End{} },
			[]string{"dead: nothing comes through both fibres of port 5, expected is tor5:9"}},
		{"one pulled", func(_, m *audit.Map, _ *lab) { m.In[5] = audit.End{} },
			[]string{"dead: nothing comes through the fibre into port 5"}},
		{"plugged where nothing belongs", func(e, _ *audit.Map, _ *lab) {
			e.Out[0],
				e.In[0] = audit.End{}, audit.End{}
		},
			[]string{"stranger: both fibres of port 0 lead to tor0"}},
		{"second fibre of a known switch", func(e, m *audit.Map, _ *lab) { e.Out[0] = audit.End{} },
			[]string{"unexpected: the fibre out of port 0 leads to tor0:9, expected is nothing"}},
		{"stranger", func(_, m *audit.Map, _ *lab) {
			m.In[3] = stranger
		}, []string{"stranger: the fibre into port 3 leads to printer:lpt1"}},
		{"bypass", func(_, _ *audit.Map, l *lab) {
			l.always = []audit.Heard{{At: end(2), From: end(1)}, {At: stranger, From: end(0)}}
		},
			[]string{"bypass: tor2:9 hears tor1:9 without any circuit"}},
		{"bypass that is not heard in time", func(_, _ *audit.Map, l *lab) {
			l.always = []audit.Heard{{At: end(2), From: end(1)}}
			l.misses = func(round int, _ audit.Heard) bool { return round == 1 }
		},
			[]string{"bypass: tor2:9 hears tor1:9 without any circuit"}},
		{"mirror that sticks", func(_, _ *audit.Map, l *lab) {
			l.broken = []southbound.CrossConnect{{In: 1, Out: 2}}
		},
			[]string{"doubtful: circuit 1→2: the circuit could not be made"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expected, truth := straight(6), straight(6)
			l := &lab{}
			c.do(&expected, &truth, l)
			l.truth = truth
			got := audit.Judge(expected, l.walk(t))
			ok := len(got) == len(c.want)
			for i := range got {
				ok = ok && i < len(c.want) && strings.HasPrefix(got[i].String(), c.want[i])
			}
			if !ok {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// TestLies: whatever switches claim to hear, the walk ends, uses no port twice and panics nowhere.
func TestLies(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := 1 + r.IntN(9)
		w := audit.NewWalk(n)
		for w.Rounds() < 10_000 {
			round, ok := w.Next()
			if !ok {
				break
			}
			var heard []audit.Heard
			for range r.IntN(2 * n) {
				heard = append(heard, audit.Heard{At: end(r.IntN(n)), From: end(r.IntN(n + 1))})
			}
			if len(round) > 0 && r.IntN(3) == 0 {
				w.Hear(round[:1], heard)
			} else {
				w.Hear(nil, heard)
			}
		}
		if _, ok := w.Next(); ok {
			t.Errorf("seed %d: the walk does not end", seed)
		}
		audit.Judge(straight(n), w)
	}
}

// TestDark: without any light the walk gives up after each pairing has been tried once.
func TestDark(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		l := lab{truth: audit.NewMap(n), selfOK: true}
		w := l.walk(t)
		if got := audit.Judge(straight(n), w); len(got) != n || w.Rounds() > n+2 {
			t.Errorf("%d ports: %d rounds, %v", n, w.Rounds(), got)
		}
	}
	l := lab{truth: straight(1), selfOK: true}
	if got := audit.Judge(straight(1), l.walk(t)); len(got) != 0 {
		t.Errorf("one port: %v", got)
	}
	l = lab{truth: straight(2)}
	if got := audit.Judge(straight(2), l.walk(t)); len(got) != 0 {
		t.Errorf("two ports: %v", got)
	}
}

// TestOneSwitchOfSeveral: that circuits of one switch work at a pairing says nothing of another's. In 300 random
// cablings of several switches, where few fibres of some are alive, every fibre is found.
func TestOneSwitchOfSeveral(t *testing.T) {
	expected, truth := straight(8), straight(8)
	for _, cut := range []int{5, 7} { // of the second switch: 0 and 2 are left, which no circuit to the next joins
		truth.In[cut], truth.Out[cut] = audit.End{}, audit.End{}
	}
	l := lab{truth: truth, ports: []int{4, 4}}
	holds(t, "second of two", expected, truth, l.walk(t))

	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 192))
		l := lab{selfOK: true}
		for range 2 + r.IntN(3) {
			l.ports = append(l.ports, 1+r.IntN(9))
		}
		n := 0
		for _, p := range l.ports {
			n += p
		}
		expected := straight(n)
		l.truth = straight(n)
		first := 0
		for _, ports := range l.ports {
			alive, lives := r.Float64(), first+r.IntN(ports) // one is, at least
			for p := first; p < first+ports; p++ {
				if p != lives && r.Float64() > alive {
					l.truth.In[p], l.truth.Out[p] = audit.End{}, audit.End{}
				}
			}
			first += ports
		}
		holds(t, fmt.Sprintf("seed %d: %v", seed, l.ports), expected, l.truth, l.walk(t))
	}
}

// TestDarkBesideLit: a switch without any light is given up, and those beside it are audited all the same.
func TestDarkBesideLit(t *testing.T) {
	expected, truth := straight(12), straight(12)
	for p := 4; p < 9; p++ {
		truth.In[p], truth.Out[p] = audit.End{}, audit.End{}
	}
	l := lab{truth: truth, ports: []int{4, 5, 3}}
	w := l.walk(t)
	holds(t, "dark between two", expected, truth, w)
	if w.Rounds() > 16 { // 12 without it, and 4 more pairings of it
		t.Errorf("%d rounds", w.Rounds())
	}
}

// TestTwoLivePorts: where all other fibres of a switch are dark, those of two ports are found, wherever they are, and
// none of the four counts as dead.
func TestTwoLivePorts(t *testing.T) {
	for n := 2; n <= 9; n++ {
		for a := range n {
			for b := range a {
				truth := audit.NewMap(n)
				for _, p := range [2]int{a, b} {
					truth.In[p], truth.Out[p] = end(p), end(p)
				}
				l := &lab{truth: truth}
				w := l.walk(t)
				m, _, doubts := w.Found()
				if len(doubts) > 0 || !slices.Equal(m.In, truth.In) || !slices.Equal(m.Out, truth.Out) {
					t.Errorf("ports %d and %d of %d alone have light: found %v and %v, doubts %v", b, a, n, m.In, m.Out, doubts)
				}
			}
		}
	}
}
