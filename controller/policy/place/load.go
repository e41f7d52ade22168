package place

import (
	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
)

// Load is the share of the racks' links to the packet network that is used, both directions together:
// what the switches' port counters say, or, on a fabric whose switches do not count, what max-min fair
// sharing gives the host flows that are under way.
func Load(v *controller.View) float64 {
	up := uplinks(v)
	used, capacity, counted := pathmap.BitsPerSecond(0), pathmap.BitsPerSecond(0), false
	for _, links := range up {
		for _, l := range links {
			for _, id := range []pathmap.LinkID{l, pathmap.Reverse(l)} {
				capacity += v.Fabric.Topology.Link(id).Capacity
				if int(id) < len(v.Links) && v.Links[id].Span > 0 {
					used, counted = used+v.Links[id].Rate, true
				}
			}
		}
	}
	if capacity == 0 {
		return 0
	}
	if !counted {
		used = fluid(v, up)
	}
	return float64(used) / float64(capacity)
}

// uplinks returns, by rack, the links from its switch to the packet network that are up.
func uplinks(v *controller.View) [][]pathmap.LinkID {
	f := v.Fabric
	out := make([][]pathmap.LinkID, f.Racks)
	for r := range out {
		for _, l := range f.Topology.Out(f.ToRNode[r]) {
			to := f.Topology.Link(l).To
			if !f.IsOCS(to) && f.Topology.Node(to).Role != pathmap.Host && (v.Down == nil || !v.Down[l]) {
				out[r] = append(out[r], l)
			}
		}
	}
	return out
}

// fluid is what both directions of all uplinks carry if each rack's were one link.
func fluid(v *controller.View, up [][]pathmap.LinkID) pathmap.BitsPerSecond {
	racks := len(up)
	capacity := make([]float64, 2*racks) // as senders, then as receivers
	for r, links := range up {
		for _, l := range links {
			capacity[r] += float64(v.Fabric.Topology.Link(l).Capacity)
			capacity[racks+r] += float64(v.Fabric.Topology.Link(l).Capacity)
		}
	}
	flows := make([]float64, racks*racks)
	for i := range v.Coflows {
		c := &v.Coflows[i]
		for r := range c.Src {
			a, b := int(v.HostRack(c.Src[r])), int(v.HostRack(c.Dst[r]))
			if c.Started && !c.Ended[r] && a != b {
				flows[a*racks+b]++
			}
		}
	}
	var classes []maxmin.Class
	for k, n := range flows {
		if n > 0 {
			classes = append(classes, maxmin.Class{Flows: n,
				Links: []pathmap.LinkID{pathmap.LinkID(k / racks), pathmap.LinkID(racks + k%racks)}})
		}
	}
	rate := make([]float64, len(classes))
	new(maxmin.Solver).Solve(capacity, classes, rate)
	sum := 0.0
	for i := range classes {
		sum += 2 * classes[i].Flows * rate[i]
	}
	return pathmap.BitsPerSecond(sum)
}
