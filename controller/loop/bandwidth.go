package loop

import (
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Pair is two hosts.
type Pair struct{ Src, Dst southbound.HostID }

// Bandwidth is what a fabric has to give between two hosts, on the best of the paths between them. Both
// are at layer 2.
type Bandwidth struct {
	Pair
	Unreserved pathmap.BitsPerSecond // what could be reserved now
	Fair       pathmap.BitsPerSecond // what one connection more would have at least beside the host flows that send now
	Paths      int                   // with light
}

// MaxPairs bounds the pairs of one question.
const MaxPairs = 1 << 16

// Bandwidths answers for pairs of hosts, in their order.
func Bandwidths(s *state.State, m *pathmap.Map, pairs []Pair) ([]Bandwidth, error) {
	f := s.Fabric()
	if len(pairs) > MaxPairs {
		return nil, fmt.Errorf("tell bandwidth: %d pairs: ask for at most %d at once", len(pairs), MaxPairs)
	}
	for _, p := range pairs {
		if p.Src < 0 || int(p.Src) >= f.Hosts() || p.Dst < 0 || int(p.Dst) >= f.Hosts() || p.Src == p.Dst {
			return nil, fmt.Errorf("tell bandwidth from host %d to %d: take two of the hosts 0 to %d",
				p.Src, p.Dst, f.Hosts()-1)
		}
	}
	var v controller.View
	s.FillDown(&v)
	busy := sending(s, m)
	out := make([]Bandwidth, len(pairs))
	for i, p := range pairs {
		b := Bandwidth{Pair: p}
		eachPath(f, m, p.Src, p.Dst, func(_ southbound.Tag, links []pathmap.LinkID) {
			u := unreserved(s, links, v.Down, nil)
			if u < 0 {
				return
			}
			fair := pathmap.BitsPerSecond(1) << 62
			for _, l := range links {
				fair = min(fair, (f.Topology.Link(l).Capacity-s.ReservedBandwidth(l))/(busy[l]+1))
			}
			b.Unreserved, b.Fair = max(b.Unreserved, u), max(b.Fair, fair)
			b.Paths++
		})
		out[i] = b
	}
	return out, nil
}

// sending counts the host flows that send on each link over packets.
func sending(s *state.State, m *pathmap.Map) []pathmap.BitsPerSecond {
	f := s.Fabric()
	on := make([]pathmap.BitsPerSecond, len(f.Topology.Links()))
	over := southbound.CircuitTags(f)
	var tags []southbound.Tag
	var buf []pathmap.LinkID
	for _, id := range s.Active() {
		c := s.Coflow(id)
		if c.Started == state.Unset {
			continue
		}
		tags = s.AppendTags(tags[:0], id)
		for r, tag := range tags {
			if c.Done[r] || slices.Contains(over, tag) || tag == southbound.TagHold {
				continue
			}
			src, dst := c.Columns.Src[r], c.Columns.Dst[r]
			up, down := f.Topology.Out(f.HostNode[src])[0], pathmap.Reverse(f.Topology.Out(f.HostNode[dst])[0])
			buf = append(buf[:0], up, down)
			a, b := int(s.RackOf(src)), int(s.RackOf(dst))
			if n := m.Paths(a, b); a != b && n > 0 {
				i, _ := tag.Path()
				if i >= n {
					i = 0 // switches send what they do not know by the default way
				}
				buf = m.AppendPath(buf, a, b, i)
			}
			for _, l := range buf {
				on[l]++
			}
		}
	}
	return on
}
