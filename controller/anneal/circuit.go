package anneal

import (
	"math"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Optics is the optical circuit switch at one decision. On a network state that has it, two racks with ports have one
// candidate path more: a circuit, which can still be dark. Slices are by rack, or by pair of racks (input times racks
// plus output).
type Optics struct {
	Delta    time.Duration // the reconfiguration delay of a move
	Wire     float64       // bytes that a circuit carries for a byte of payload
	Up, Down []int64       // bits a second of a rack's port, into the switch and out of it; 0: it has none
	Wait     []time.Duration
	// Lit is whether the two are joined already: no reconfiguration delay comes before the first byte.
	Lit []bool
}

// OnCircuit is the Path of a path that is a circuit.
const OnCircuit = -1

// SetOptics gives the network state an optical switch. Flows on existing circuits stay there: a decision's own circuits
// come after the existing ones, and Wait charges them for it. It must be called at most once, before any decision.
func (s *NetworkState) SetOptics(o *Optics) { s.net.addPorts(o) }

// dark is the circuits that flows of a network would go over, and what is lost before their first byte.
//
// Each port is a link that no packet takes: the flows on a circuit share those of both its ends, as if the circuits of
// a port took turns. On top of that a flow waits until the ports are free, and for the reconfiguration delay of every
// circuit that shares the busier of its ports, its own included.
type dark struct {
	*Optics
	first     pathmap.LinkID // racks inputs from here on, then as many outputs
	racks     int32
	head      []int32 // by pair: a flow on it, which knows the next; none
	ins, outs []int32 // by rack: circuits that flows are on
	wait      []float64
	delta     float64 // seconds, both
}

func (n *network) addPorts(o *Optics) {
	racks := len(o.Up)
	n.dark = &dark{Optics: o, first: pathmap.LinkID(len(n.links)), racks: int32(racks), delta: o.Delta.Seconds(),
		head: slices.Repeat([]int32{none}, racks*racks), ins: make([]int32, racks), outs: make([]int32, racks),
		wait: make([]float64, racks*racks)}
	for pair, w := range o.Wait {
		n.dark.wait[pair] = w.Seconds()
	}
	n.addLinks(o.Up)
	n.addLinks(o.Down)
}

func (d *dark) clone() *dark {
	if d == nil {
		return nil
	}
	c := *d
	c.head, c.ins, c.outs = slices.Clone(d.head), slices.Clone(d.ins), slices.Clone(d.outs)
	return &c
}

// circuit returns the circuit from one rack to another; false if there can be none.
func (d *dark) circuit(s, t int32) (Candidate, bool) {
	if s == t || d.Up[s] == 0 || d.Down[t] == 0 {
		return Candidate{}, false
	}
	return Candidate{OnCircuit, []pathmap.LinkID{d.first + pathmap.LinkID(s), d.first + pathmap.LinkID(d.racks+t)}}, true
}

// pairOf returns the pair that links are a circuit of; none where they are a path.
func (d *dark) pairOf(links []pathmap.LinkID) int32 {
	if d == nil || len(links) != 2 || links[0] < d.first {
		return none
	}
	return int32(links[0]-d.first)*d.racks + int32(links[1]-d.first) - d.racks
}

// join notes that a flow that has been put on links is on their circuit, if they are one.
func (n *network) join(f int32, links []pathmap.LinkID) {
	pair := n.dark.pairOf(links)
	if pair == none {
		return
	}
	d, fl := n.dark, &n.flows[f]
	fl.circuit, fl.before, fl.after = pair, none, d.head[pair]
	if d.head[pair] = f; fl.after != none {
		n.flows[fl.after].before = f
		return
	}
	d.ins[pair/d.racks]++
	d.outs[pair%d.racks]++
	if !n.open {
		n.retoll(pair, 1)
	}
}

// part notes that a flow has left its circuit.
func (n *network) part(fl *flow) {
	d, pair := n.dark, fl.circuit
	fl.circuit = none
	if fl.after != none {
		n.flows[fl.after].before = fl.before
	}
	if fl.before != none {
		n.flows[fl.before].after = fl.after
		return
	}
	if d.head[pair] = fl.after; fl.after == none {
		d.ins[pair/d.racks]--
		d.outs[pair%d.racks]--
		if !n.open {
			n.retoll(pair, 0)
		}
	}
}

// retoll re-values what shares a port with a circuit that has come (less 1: ports had one less) or gone (0: one more
// than now). A pair whose other port has more circuits than that pays as before.
func (n *network) retoll(pair, less int32) {
	d := n.dark
	s, t := pair/d.racks, pair%d.racks
	in, out := d.ins[s]-less, d.outs[t]-less // the lesser of before and now
	for x := range d.racks {
		if k := s*d.racks + x; d.head[k] != none && x != t && d.outs[x] <= in {
			n.retollPair(k)
		}
		if k := x*d.racks + t; d.head[k] != none && x != s && d.ins[x] <= out {
			n.retollPair(k)
		}
	}
}

func (n *network) retollPair(pair int32) {
	for f := n.dark.head[pair]; f != none; f = n.flows[f].after {
		n.work++
		n.setRate(f, n.flows[f].rate)
	}
}

// lost returns the seconds before a circuit's first byte, more being how many circuits its ports would get with it.
func (d *dark) lost(pair, more int32) float64 {
	circuits := max(d.ins[pair/d.racks], d.outs[pair%d.racks]) + more
	if d.Lit[pair] {
		circuits--
	}
	return d.wait[pair] + d.delta*float64(circuits)
}

// tolled returns the mean rate from now on of bits that go at rate once seconds have been lost.
func tolled(bits, lost float64, rate int64) int64 {
	if bits <= 0 || rate <= 0 {
		return 0
	}
	return int64(math.Floor(bits / (lost + bits/float64(rate))))
}

// objectiveOf returns what a flow that has a rate on its links makes of it.
func (n *network) objectiveOf(fl *flow, rate int64) int64 {
	if fl.circuit == none || rate == math.MaxInt64 {
		return rate
	}
	return tolled(fl.bits*float64(fl.pairs), n.dark.lost(fl.circuit, 0), rate)
}

// offer returns what a flow that is on neither would get on a path.
func (n *network) offer(f int32, w Candidate) int64 {
	a := n.afford(w.Links)
	if w.Path != OnCircuit {
		return a
	}
	fl, pair, more := &n.flows[f], n.dark.pairOf(w.Links), int32(0)
	if n.dark.head[pair] == none {
		more = 1
	}
	return tolled(fl.bits*float64(fl.pairs), n.dark.lost(pair, more), a)
}

// candidates returns those between two hosts: the topology context's, and after them the circuit, where there can be
// one.
func (s *NetworkState) candidates(src, dst southbound.HostID) []Candidate {
	all := s.topology.Candidates(src, dst)
	d := s.net.dark
	if d == nil {
		return all
	}
	a, b := s.topology.rack[src], s.topology.rack[dst]
	w, ok := d.circuit(a, b)
	if !ok {
		return all
	}
	if s.circuits == nil {
		s.circuits = make([][]Candidate, d.racks*d.racks)
	}
	at := &s.circuits[a*d.racks+b]
	if *at == nil {
		*at = append(slices.Clone(all), w)
	}
	return *at
}

// bits returns, by edge of a graph, what one pair of its tasks has to send, as controller.Expand splits it.
func (s *NetworkState) bits(g *graph) []float64 {
	out := make([]float64, len(g.edges))
	if s.net.dark == nil {
		return out
	}
	for k, e := range g.edges {
		parts := g.size[e.From]
		if e.Kind == controller.ScatterGather || e.Kind == controller.Fields {
			parts *= g.size[e.To]
		}
		out[k] = 8 * s.net.dark.Wire * float64(e.Bytes) / float64(parts)
	}
	return out
}
