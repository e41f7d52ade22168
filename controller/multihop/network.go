package multihop

import (
	"errors"
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Network is what paths are made of.
type Network struct {
	Fabric *topo.Fabric
	Paths  *pathmap.Map      // over packets
	Down   []bool            // by link; nil: all are up
	Lit    []southbound.Port // by OCS input: where its circuit leads; southbound.NoPort: nowhere

	first map[[2]southbound.RackID]way              // memory of First
	over  map[[2]southbound.RackID][]pathmap.NodeID // memory of spines
	buf   []pathmap.LinkID
}

type way struct {
	links []pathmap.LinkID
	ok    bool
}

// Supported returns why a fabric has no paths over several circuits, or nil.
func Supported(f *topo.Fabric) error {
	switch {
	case !f.HasOCS():
		return errors.New("the fabric has no optical circuit switch")
	case f.Spec.Pod():
		return errors.New("the circuits of a pod belong to its slices")
	case f.Spec.Kind != topo.Hybrid || f.Transit:
		return errors.New("the fabric is none of racks and spines")
	}
	return nil
}

// First returns the path over packets by which a rack sends what has no other: the first of the map that is up.
func (n *Network) First(s, d southbound.RackID) ([]pathmap.LinkID, bool) {
	key := [2]southbound.RackID{s, d}
	if w, known := n.first[key]; known {
		return w.links, w.ok
	}
	if n.first == nil {
		n.first = map[[2]southbound.RackID]way{}
	}
	var w way
	for i := range min(n.Paths.Paths(int(s), int(d)), southbound.MaxNamedPaths) {
		if n.buf = n.Paths.AppendPath(n.buf[:0], int(s), int(d), i); n.up(n.buf) {
			w = way{slices.Clone(n.buf), true}
			break
		}
	}
	n.first[key] = w
	return w.links, w.ok
}

func (n *Network) up(links []pathmap.LinkID) bool {
	return n.Down == nil || !slices.ContainsFunc(links, func(l pathmap.LinkID) bool { return n.Down[l] })
}

// spine returns the switch that a rack's default way to another leads to.
func (n *Network) spine(s, d southbound.RackID) pathmap.NodeID {
	links, ok := n.First(s, d)
	if !ok {
		return pathmap.None
	}
	return n.Fabric.Topology.Link(links[0]).To
}

// Links returns the links that packets on a path take from one rack to the other.
func (n *Network) Links(p *Path) []pathmap.LinkID {
	f, t := n.Fabric, n.Fabric.Topology
	var links []pathmap.LinkID
	at := p.Src
	for _, c := range p.Circuits {
		from, to := f.ToRNode[f.OCSRack(int32(c.In))], f.ToRNode[f.OCSRack(int32(c.Out))]
		if from != f.ToRNode[at] {
			links = append(links, between(t, f.ToRNode[at], p.Spine), between(t, p.Spine, from))
		}
		links = append(links, t.OutPort(from, f.OCSUplink[c.In]), pathmap.Reverse(t.OutPort(to, f.OCSUplink[c.Out])))
		at = southbound.RackID(f.OCSRack(int32(c.Out)))
	}
	if at != p.Dst {
		behind, _ := n.First(at, p.Dst)
		links = append(links, behind...)
	}
	return links
}

// between returns the first link from one node to another, pathmap.None where there is none.
func between(t *pathmap.Topology, from, to pathmap.NodeID) pathmap.LinkID {
	for _, l := range t.Out(from) {
		if t.Link(l).To == to {
			return l
		}
	}
	return pathmap.None
}

// Between returns the paths from one rack to another, those of fewest legs first: of as many legs those over circuits
// alone, then those with packets behind, then before, then between. The rest is by numbers of ports. There are MaxPaths
// at most, none of them over a single circuit alone, and none meets a rack twice.
//
// The switches of a path can be told in any order that it begins, or that it ends, since what has left it by then
// never comes back: it goes by a rack's default way, over a spine that knows nothing of the path. So a spine that
// packets take first is not on the default way of a rack that they come to later.
func (n *Network) Between(s, d southbound.RackID) []Path {
	w := walk{n: n, s: s, d: d, far: n.hopsTo(d)}
	for legs := 2; legs <= MaxLegs && len(w.found) < MaxPaths; legs++ {
		w.circuits(s, legs, d)
		w.behind(legs - 1)
		w.before(legs - 1)
		if legs == MaxLegs {
			w.between()
		}
	}
	return w.found
}

// joined reports whether a circuit leads from one rack to another.
func (n *Network) joined(s, d southbound.RackID) bool {
	for in := int(s); in < len(n.Lit); in += n.Fabric.Racks {
		if out := n.Lit[in]; out != southbound.NoPort && southbound.RackID(n.Fabric.OCSRack(int32(out))) == d {
			return true
		}
	}
	return false
}

// hopsTo returns how many circuits lead from each rack to one, MaxLegs+1 for more than there may be.
func (n *Network) hopsTo(d southbound.RackID) []int {
	f := n.Fabric
	far := slices.Repeat([]int{MaxLegs + 1}, f.Racks)
	far[d] = 0
	for k := 1; k <= MaxLegs; k++ {
		for in, out := range n.Lit {
			if out != southbound.NoPort && far[f.OCSRack(int32(out))] == k-1 {
				r := f.OCSRack(int32(in))
				far[r] = min(far[r], k)
			}
		}
	}
	return far
}

// walk is a search for the paths of one pair.
type walk struct {
	n     *Network
	s, d  southbound.RackID
	far   []int // by rack: circuits to d
	chain []Circuit
	found []Path
}

// add notes the chain as a path.
func (w *walk) add(spine pathmap.NodeID) {
	if len(w.found) < MaxPaths {
		w.found = append(w.found, Path{Src: w.s, Dst: w.d, Spine: spine, Circuits: slices.Clone(w.chain)})
	}
}

// circuits adds the paths of so many circuits from one rack to another.
func (w *walk) circuits(from southbound.RackID, count int, to southbound.RackID) {
	w.each(from, count, func(at southbound.RackID, left int) bool { return w.far[at] <= left },
		func(at southbound.RackID) {
			if at == to {
				w.add(pathmap.None)
			}
		})
}

// behind adds the paths of so many circuits with packets behind them, but where a circuit leads on to the end: packets
// with the circuit's tag take that.
func (w *walk) behind(count int) {
	w.each(w.s, count, func(at southbound.RackID, _ int) bool { return at != w.d }, func(at southbound.RackID) {
		if _, ok := w.n.First(at, w.d); ok && w.far[at] > 1 {
			w.add(pathmap.None)
		}
	})
}

// before adds the paths of so many circuits with packets before them.
func (w *walk) before(count int) {
	f := w.n.Fabric
	for in, out := range w.n.Lit {
		from := southbound.RackID(f.OCSRack(int32(in)))
		if out == southbound.NoPort || from == w.s || from == w.d || w.far[from] > count {
			continue
		}
		w.over(southbound.Port(in), count-1, func(at southbound.RackID, left int) bool { return w.far[at] <= left },
			func(at southbound.RackID) {
				if at == w.d {
					w.spines(w.s, from, w.chain)
				}
			})
	}
}

// between adds the paths of a circuit, packets, and a circuit.
func (w *walk) between() {
	f := w.n.Fabric
	w.each(w.s, 1, func(at southbound.RackID, _ int) bool { return at != w.d }, func(mid southbound.RackID) {
		for in := range w.n.Lit {
			from := southbound.RackID(f.OCSRack(int32(in)))
			if from == w.s || from == w.d || from == mid || w.far[from] > 1 {
				continue
			}
			w.over(southbound.Port(in), 0, func(at southbound.RackID, _ int) bool { return at == w.d },
				func(southbound.RackID) { w.spines(mid, from, w.chain[1:]) })
		}
	})
}

// spines adds the chain with each spine that may be between a rack and the one where the rest of it begins.
func (w *walk) spines(at, first southbound.RackID, rest []Circuit) {
	for _, spine := range w.n.spines(at, first) {
		if w.n.apart(spine, rest, w.d) {
			w.add(spine)
		}
	}
}

// spines returns the switches by which a rack reaches another over two cables, in the order of the map.
func (n *Network) spines(s, d southbound.RackID) []pathmap.NodeID {
	key := [2]southbound.RackID{s, d}
	all, known := n.over[key]
	if known {
		return all
	}
	for i := range min(n.Paths.Paths(int(s), int(d)), southbound.MaxNamedPaths) {
		n.buf = n.Paths.AppendPath(n.buf[:0], int(s), int(d), i)
		if len(n.buf) == 2 && n.up(n.buf) {
			all = append(all, n.Fabric.Topology.Link(n.buf[0]).To)
		}
	}
	if n.over == nil {
		n.over = map[[2]southbound.RackID][]pathmap.NodeID{}
	}
	n.over[key] = all
	return all
}

// apart reports whether no rack where a circuit begins would send by a spine what finds no circuit there.
func (n *Network) apart(spine pathmap.NodeID, chain []Circuit, d southbound.RackID) bool {
	return !slices.ContainsFunc(chain, func(c Circuit) bool {
		by := n.spine(southbound.RackID(n.Fabric.OCSRack(int32(c.In))), d)
		return by == pathmap.None || by == spine
	})
}

// Stands reports whether packets can take a path: its circuits are lit, and its cables are up.
func (n *Network) Stands(p *Path) bool {
	if slices.ContainsFunc(p.Circuits, func(c Circuit) bool { return n.Lit[c.In] != c.Out }) {
		return false
	}
	if p.Spine != pathmap.None && !n.apart(p.Spine, p.Circuits[p.Hop(n.Fabric):], p.Dst) {
		return false
	}
	last := p.Circuits[len(p.Circuits)-1].Out
	if at := southbound.RackID(n.Fabric.OCSRack(int32(last))); at != p.Dst {
		if _, ok := n.First(at, p.Dst); !ok || n.joined(at, p.Dst) {
			return false
		}
	}
	links := n.Links(p)
	return !slices.Contains(links, pathmap.None) && n.up(links)
}

// each calls end at the end of each chain of so many circuits from a rack which meets no rack twice. may leaves those
// out that can lead nowhere, given where one ends and how many circuits are still to come.
func (w *walk) each(from southbound.RackID, count int, may func(at southbound.RackID, left int) bool,
	end func(at southbound.RackID)) {
	if count == 0 {
		end(from)
		return
	}
	for in := int(from); in < len(w.n.Lit) && len(w.found) < MaxPaths; in += w.n.Fabric.Racks {
		w.over(southbound.Port(in), count-1, may, end)
	}
}

// over goes on over the circuit of an input, where it has one that leads to a rack not met before.
func (w *walk) over(in southbound.Port, left int, may func(at southbound.RackID, left int) bool,
	end func(at southbound.RackID)) {
	f, out := w.n.Fabric, w.n.Lit[in]
	if out == southbound.NoPort {
		return
	}
	to := southbound.RackID(f.OCSRack(int32(out)))
	if to == w.s || to == w.d && left > 0 || !may(to, left) || slices.ContainsFunc(w.chain, func(c Circuit) bool {
		return f.OCSRack(int32(c.In)) == int32(to)
	}) {
		return
	}
	w.chain = append(w.chain, Circuit{in, out})
	w.each(to, left, may, end)
	w.chain = w.chain[:len(w.chain)-1]
}
