package simulated_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/pathmap/tries"
)

// queuedCoflow is a coflow of the reference implementation. At 1 Gb/s a bit takes a nanosecond.
type queuedCoflow struct {
	arrival, end time.Duration
	left         map[[2]int]time.Duration
}

func (c *queuedCoflow) alpha(ports int) (most time.Duration) {
	in, out := make([]time.Duration, ports), make([]time.Duration, ports)
	for l, left := range c.left {
		in[l[0]] += left
		out[l[1]] += left
		most = max(most, in[l[0]], out[l[1]])
	}
	return most
}

func (c *queuedCoflow) pairs() [][2]int {
	var all [][2]int
	for l := range c.left {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0], b[0]),
			cmp.Compare(a[1], b[1]))
	})
	return all
}

// circuitSlot is a circuit from an instant to another.
type circuitSlot struct {
	pair     [2]int
	from, to time.Duration
}

// sunflowReference goes through time event by event and does literally what Sunflow's simulator does:
// which circuits are lit, which are ordered and when they come, and which coflows send.
type sunflowReference struct {
	ports   int
	delta   time.Duration
	coming  []*queuedCoflow
	order   []*queuedCoflow
	lit     map[[2]int]bool
	applies []circuitSlot // lit at to
	plan    []circuitSlot // to be ordered, by beginning
}

func (s *sunflowReference) run() {
	s.lit = map[[2]int]bool{}
	for now := time.Duration(0); len(s.coming)+len(s.order) > 0; {
		next := time.Duration(1 << 62)
		if len(s.coming) > 0 {
			next = s.coming[0].arrival
		}
		for _, a := range s.applies {
			next = min(next, a.to)
		}
		for _, p := range s.plan {
			next = min(next, p.from)
		}
		senders := s.senders()
		for l, c := range senders {
			next = min(next, now+c.left[l])
		}
		for l, c := range senders {
			if c.left[l] -= next - now; c.left[l] == 0 {
				delete(c.left, l)
			}
		}
		now = next
		s.happen(now)
	}
}

// senders returns the coflow that sends over each lit circuit.
func (s *sunflowReference) senders() map[[2]int]*queuedCoflow {
	all := map[[2]int]*queuedCoflow{}
	for l := range s.lit {
		for _, c := range s.order {
			if c.left[l] > 0 {
				all[l] = c
				break
			}
		}
	}
	return all
}

func (s *sunflowReference) happen(now time.Duration) {
	s.applies = slices.DeleteFunc(s.applies, func(a circuitSlot) bool {
		if a.to == now {
			s.lit[a.pair] = true
		}
		return a.to == now
	})
	n := len(s.order)
	s.order = slices.DeleteFunc(s.order, func(c *queuedCoflow) bool {
		if len(c.left) == 0 {
			c.end = now
		}
		return len(c.left) == 0
	})
	anew := n > len(s.order)
	if anew {
		s.sort()
	}
	for ; len(s.coming) > 0 && s.coming[0].arrival == now; s.coming = s.coming[1:] {
		if c := s.coming[0]; len(c.left) > 0 {
			s.order = append(s.order, c)
		} else { // all local: it sorts as that ends, too
			c.end = now
			s.sort()
		}
		s.sort()
		anew = true
	}
	if anew {
		s.applies = nil
		s.reserve(now)
	}
	var due [][2]int
	s.plan = slices.DeleteFunc(s.plan, func(p circuitSlot) bool {
		if p.from == now {
			due = append(due, p.pair)
		}
		return p.from == now
	})
	for l := range s.lit {
		if !slices.Contains(due, l) && slices.ContainsFunc(due,
			func(d [2]int) bool { return d[0] == l[0] || d[1] == l[1] }) {
			delete(s.lit, l)
		}
	}
	for _, d := range due {
		if !s.lit[d] {
			s.applies = append(s.applies, circuitSlot{d, now, now + s.delta})
		}
	}
}

func (s *sunflowReference) sort() {
	slices.Reverse(s.order)
	slices.SortStableFunc(s.order, func(a, b *queuedCoflow) int {
		return cmp.Compare(a.alpha(s.ports), b.alpha(s.ports))
	})
}

// reserve makes the plan anew.
func (s *sunflowReference) reserve(now time.Duration) {
	s.plan = nil
	taken, end := map[[2]int]bool{}, time.Duration(0)
	for i, c := range s.order {
		var todo []circuitSlot // to is what is left
		for _, l := range c.pairs() {
			if !taken[l] {
				taken[l] = true
				todo = append(todo, circuitSlot{pair: l, to: c.left[l]})
			}
		}
		if i == 0 {
			end = s.reserveFirst(now, todo)
			continue
		}
		s.reserveOther(now, end, todo)
	}
}

func (s *sunflowReference) reserveFirst(at time.Duration, todo []circuitSlot) (end time.Duration) {
	var held []circuitSlot
	for {
		var rest []circuitSlot
		for _, x := range todo {
			if slices.ContainsFunc(held, func(h circuitSlot) bool {
				return h.pair[0] == x.pair[0] ||
					h.pair[1] == x.pair[1]
			}) {
				rest = append(rest, x)
				continue
			}
			p := circuitSlot{x.pair, at, at + s.delta + x.to}
			s.plan, held, end = append(s.plan, p), append(held, p), max(end, p.to)
		}
		if todo = rest; len(todo) == 0 {
			return end
		}
		first := 0
		for i := range held {
			if held[i].to < held[first].to {
				first = i
			}
		}
		at = held[first].to
		held = slices.Delete(held, first, first+1)
	}
}

// reserveOther looks at every instant at which something ends.
func (s *sunflowReference) reserveOther(at, end time.Duration, todo []circuitSlot) {
	for {
		for i := range todo {
			x := &todo[i]
			free := end
			for _, p := range s.plan {
				if p.pair[0] == x.pair[0] || p.pair[1] == x.pair[1] {
					if p.from <= at && p.to > at {
						free = 0
					} else if p.from > at {
						free = min(free, p.from)
					}
				}
			}
			to := min(free, at+s.delta+x.to)
			if x.to == 0 || to <= at+s.delta {
				continue
			}
			s.plan = append(s.plan, circuitSlot{x.pair, at, to})
			x.to -= to - at - s.delta
		}
		next := end
		for _, p := range s.plan {
			if p.to > at {
				next = min(next, p.to)
			}
		}
		if at = next; at >= end {
			return
		}
	}
}

// TestSunflowReference compares sunflow in the compatible mode, on the whole controller and fabric,
// with the reference implementation: every coflow of small random traces takes the same time to the
// nanosecond.
func TestSunflowReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(tries.Of(150, 3000)) {
		rng := rand.New(rand.NewPCG(seed, 11))
		ports, n := 3+rng.IntN(4), 2+rng.IntN(6)
		reference := &sunflowReference{ports: ports,
			delta: []time.Duration{7_300_001, 31_000_003, 100_003}[rng.IntN(3)]}
		var b strings.Builder
		fmt.Fprintf(&b, "%d %d\n", ports, n)
		at := 0
		for i := range n {
			c := &queuedCoflow{arrival: time.Duration(at) * time.Millisecond, left: map[[2]int]time.Duration{}}
			from, to := rng.Perm(ports)[:1+rng.IntN(ports)], rng.Perm(ports)[:1+rng.IntN(ports)]
			fmt.Fprintf(&b, "%d %d %d", i+1, at, len(from))
			for _, m := range from {
				fmt.Fprintf(&b, " %d", m)
			}
			fmt.Fprintf(&b, " %d", len(to))
			for _, r := range to {
				mb := 1 + rng.IntN(9)
				fmt.Fprintf(&b, " %d:%d", r, mb*len(from))
				for _, m := range from {
					if m != r {
						c.left[[2]int{m, r}] = time.Duration(mb) * 8 * time.Millisecond
					}
				}
			}
			b.WriteString("\n")
			reference.coming = append(reference.coming, c)
			at += 1 + rng.IntN(100)
		}
		all := slices.Clone(reference.coming)
		reference.run()
		_, _, took := labtest.ReplayText(t, b.String(), scenario.Options{
			Fabric:   fmt.Sprintf("crossbar:ports=%d,rate=1Gbps,dark=%v", ports, reference.delta),
			Policies: []string{"sunflow"}, Rules: scenario.Rules{Compat: scenario.CompatSunflow}})
		for i, c := range all {
			if want := c.end - c.arrival; took[i] != want {
				t.Errorf("seed %d: coflow %d takes %v, the reference's %v\n%s", seed, i+1, took[i], want, b.String())
			}
		}
	}
}
