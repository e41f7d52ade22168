package rollout

import (
	"lightloom/pathmap"
	"lightloom/southbound"
)

// writer writes the table of one packet switch.
type writer struct {
	b     *Base
	n     pathmap.NodeID
	rack  int32 // of a ToR, pathmap.None else
	rules []southbound.Rule
}

// table returns the rules for the switch's hops, which are sorted by destination, tag and source.
func (w *writer) table(hops []hop) []southbound.Rule {
	for d := range southbound.RackID(w.b.fabric.Racks) {
		end := 0
		for end < len(hops) && hops[end].dst == d {
			end++
		}
		if int32(d) != w.rack {
			w.destination(d, hops[:end])
		}
		hops = hops[end:]
	}
	return w.rules
}

// destination writes the rules for one rack: the way down for every tag, then what differs from it.
func (w *writer) destination(d southbound.RackID, hops []hop) {
	def, own := w.deflt(d, hops)
	if def == southbound.NoPort {
		return
	}
	any := southbound.Rule{Match: southbound.Match{Dst: d, Tag: southbound.AnyTag, Src: southbound.AnyRack}, Primary: def}
	any.Backup = w.backup(d, def, int32(w.b.far[d].up[w.n]), own)
	w.rules = append(w.rules, any)
	for len(hops) > 0 {
		end := 1
		for end < len(hops) && hops[end].tag == hops[0].tag {
			end++
		}
		w.tag(any, hops[:end], own)
		hops = hops[end:]
	}
}

// deflt returns the port that leads down: at a ToR, the first of its own paths to the rack. own are the hops of the
// ToR's own paths, whose ports are the first choice for a backup.
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
		if r := w.rule(southbound.Match{Dst: d, Tag: tag, Src: southbound.AnyRack}, hops[0].port, bound, own); !w.does(any, r, bound) {
			w.rules = append(w.rules, r)
		}
		return
	}
	for _, h := range hops {
		if r := w.rule(southbound.Match{Dst: d, Tag: tag, Src: h.src}, h.port, h.bound, own); !w.does(any, r, h.bound) {
			w.rules = append(w.rules, r)
		}
	}
}

// tree says whether one rule may serve all sources: all leave by one port, which leads down, so that it does no harm to
// a packet that has left its path, either. At a ToR through which nobody passes, all are the ToR's own.
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
	return w.b.closer(w.n, hops[0].port, d) < w.b.far[d].up[w.n], bound
}

func (w *writer) rule(m southbound.Match, port southbound.Port, bound int32, own []hop) southbound.Rule {
	return southbound.Rule{Match: m, Primary: port, Backup: w.backup(m.Dst, port, bound, own)}
}

// does says whether the rule for any tag does what r would: the same port, and a backup that r's packets may take.
func (w *writer) does(any, r southbound.Rule, bound int32) bool {
	return any.Primary == r.Primary && (any.Backup == r.Backup || any.Backup == southbound.NoPort ||
		int32(w.b.closer(w.n, any.Backup, r.Dst)) < bound)
}

// backup returns a port other than primary behind which there is a switch closer to the rack than bound: the first of
// own that is, else the lowest; NoPort if there is none.
func (w *writer) backup(d southbound.RackID, primary southbound.Port, bound int32, own []hop) southbound.Port {
	for _, h := range own {
		if h.port != primary && int32(w.b.closer(w.n, h.port, d)) < bound {
			return h.port
		}
	}
	for _, l := range w.b.fabric.Topology.Out(w.n) {
		port := southbound.Port(w.b.fabric.Topology.Link(l).FromPort)
		if port != primary && !w.b.down(l) && int32(w.b.behind(l, d)) < bound {
			return port
		}
	}
	return southbound.NoPort
}
