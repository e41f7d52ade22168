package rollout

import (
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// writer writes the table of one packet switch.
type writer struct {
	b     *Base
	n     pathmap.NodeID
	rack  int32 // of a ToR, pathmap.None else
	rules []southbound.Rule
	order []hop   // byTag's
	near  []int16 // by port, for the rack that is being written: the distance of the switch behind it, or unreached
}

// table returns the rules for the switch's hops, which come by destination, and of one destination by
// source.
func (w *writer) table(hops []hop) []southbound.Rule {
	w.near = make([]int16, w.b.fabric.Topology.Ports(w.n))
	for d := range southbound.RackID(w.b.fabric.Racks) {
		end := 0
		for end < len(hops) && hops[end].dst == d {
			end++
		}
		if int32(d) != w.rack {
			w.destination(d, w.byTag(hops[:end]))
		}
		hops = hops[end:]
	}
	return w.rules
}

// byTag puts hops of one destination into the order of their tags, and of one tag by source. The result
// is good until the next call.
func (w *writer) byTag(hops []hop) []hop {
	var at [256]int32
	for _, h := range hops {
		at[h.tag]++
	}
	sum := int32(0)
	for tag, n := range at {
		at[tag], sum = sum, sum+n
	}
	w.order = slices.Grow(w.order[:0], len(hops))[:len(hops)]
	for _, h := range hops {
		w.order[at[h.tag]] = h
		at[h.tag]++
	}
	return w.order
}

// destination writes the rules for one rack: what differs from the way down by tag, and the way down
// for every other tag.
func (w *writer) destination(d southbound.RackID, hops []hop) {
	def, own := w.deflt(d, hops)
	if def == southbound.NoPort {
		return
	}
	w.measure(d)
	any := southbound.Rule{Match: southbound.Match{Dst: d, Tag: southbound.AnyTag,
		Src: southbound.AnyRack}, Primary: def}
	any.Backup = w.backup(def, int32(w.b.far[d].up[w.n]), own)
	for len(hops) > 0 {
		end := 1
		for end < len(hops) && hops[end].tag == hops[0].tag {
			end++
		}
		w.tag(any, hops[:end], own)
		hops = hops[end:]
	}
	w.rules = append(w.rules, any)
}

// deflt returns the port that leads down: at a ToR, the first of its own paths to the rack. own are the
// hops of the ToR's own paths, whose ports are the first choice for a backup.
func (w *writer) deflt(d southbound.RackID, hops []hop) (port southbound.Port, own []hop) {
	for _, h := range hops {
		if int32(h.src) == w.rack {
			own = append(own, h)
		}
	}
	if len(own) > 0 {
		return own[0].port, own
	}
	return w.b.descend(w.n, d), nil
}

// tag writes the rules for the hops of one destination and tag, as far as the rule for any tag does not do.
func (w *writer) tag(any southbound.Rule, hops []hop, own []hop) {
	d, tag := hops[0].dst, hops[0].tag
	if one, bound := w.tree(d, hops); one {
		if r := w.rule(southbound.Match{Dst: d, Tag: tag, Src: southbound.AnyRack}, hops[0].port, bound,
			own); !w.does(any, r,
			bound) {
			w.rules = append(w.rules, r)
		}
		return
	}
	for _, h := range hops {
		if r := w.rule(southbound.Match{Dst: d, Tag: tag, Src: h.src}, h.port, h.bound,
			own); !w.does(any, r, h.bound) {
			w.rules = append(w.rules, r)
		}
	}
}

// tree reports whether one rule can serve all sources: all leave by one port, which leads down, so that
// it does no harm to a packet that has left its path, either. At a ToR without transit flows, all are
// the ToR's own.
func (w *writer) tree(d southbound.RackID, hops []hop) (bool, int32) {
	bound := hops[0].bound
	for _, h := range hops {
		if h.port != hops[0].port {
			return false, 0
		}
		bound = min(bound, h.bound)
	}
	if w.rack != pathmap.None && !w.b.transit {
		return true, bound
	}
	return w.near[hops[0].port] < w.b.far[d].up[w.n], bound
}

func (w *writer) rule(m southbound.Match, port southbound.Port, bound int32, own []hop) southbound.Rule {
	return southbound.Rule{Match: m, Primary: port, Backup: w.backup(port, bound, own)}
}

// does reports whether the rule for any tag does what r would: the same port, and a backup that r's
// packets can take.
func (w *writer) does(any, r southbound.Rule, bound int32) bool {
	return any.Primary == r.Primary && (any.Backup == r.Backup || any.Backup == southbound.NoPort ||
		int32(w.near[any.Backup]) < bound)
}

// measure fills near for a rack.
func (w *writer) measure(d southbound.RackID) {
	t := w.b.fabric.Topology
	for p := range w.near {
		w.near[p] = unreached
	}
	for _, l := range t.Out(w.n) {
		w.near[t.Link(l).FromPort] = w.b.behind(l, d)
	}
}

// backup returns a port other than primary behind which there is a switch closer to the rack than
// bound: the first of own that is, else the lowest; NoPort if there is none.
func (w *writer) backup(primary southbound.Port, bound int32, own []hop) southbound.Port {
	for _, h := range own {
		if h.port != primary && int32(w.near[h.port]) < bound {
			return h.port
		}
	}
	for p, dist := range w.near {
		if southbound.Port(p) != primary && int32(dist) < bound && dist != unreached {
			return southbound.Port(p)
		}
	}
	return southbound.NoPort
}
