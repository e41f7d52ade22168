package anneal

import (
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TopologyContext is what does not change during a decision: links, the hosts' own links, and the paths
// between racks that a tag can name. Several goroutines can ask it at once.
type TopologyContext struct {
	fabric   *topo.Fabric
	cache    *PathCache
	down     bool // some link is
	capacity []int64
	hostLinks
	lit candidateTable // where links are down: the paths that have light
}

// hostLinks are where hosts are.
type hostLinks struct {
	up, dn []pathmap.LinkID // by host: into the network, out of it
	rack   []int32          // by host
}

// NewTopologyContext returns the topology context of a fabric. down (by link) and cache can be nil. All
// arguments are borrowed.
func NewTopologyContext(f *topo.Fabric, m *pathmap.Map, down []bool, cache *PathCache) *TopologyContext {
	if cache == nil {
		cache = &PathCache{}
	}
	cache.about(m, f)
	g := &TopologyContext{fabric: f, cache: cache, down: slices.Contains(down, true), hostLinks: cache.hosts,
		capacity: cache.capacity}
	if g.down {
		g.capacity = slices.Clone(g.capacity)
		for l, dark := range down {
			if dark {
				g.capacity[l] = 0
			}
		}
		g.lit.reset(f.Racks)
	}
	return g
}

// Withhold takes from each link what is not for those who are placed and routed. It is called before
// the topology context is used.
func (g *TopologyContext) Withhold(reservedBandwidth []pathmap.BitsPerSecond) {
	if len(reservedBandwidth) == 0 {
		return
	}
	g.capacity = slices.Clone(g.capacity)
	for l, p := range reservedBandwidth {
		if g.capacity[l] > 0 {
			g.capacity[l] = max(g.capacity[l]-int64(p), 1)
		}
	}
}

// All returns the paths between the racks of two hosts that a tag can name, dark ones too. Borrowed.
func (g *TopologyContext) All(src, dst southbound.HostID) []Candidate {
	return g.cache.Between(g.rack[src], g.rack[dst])
}

// within is the one path between two hosts of a rack, and between racks that no path joins.
var within = []Candidate{{}}

// Candidates returns the paths between the racks of two hosts that have light, shortest first; where
// none has, the first of the map alone. There is always one: within a rack, and between racks without
// any path, it has no links. Borrowed.
func (g *TopologyContext) Candidates(src, dst southbound.HostID) []Candidate {
	s, d := g.rack[src], g.rack[dst]
	if s == d {
		return within
	}
	if g.down {
		if w, ok := g.lit.get(s, d); ok {
			return w
		}
	}
	w := g.find(g.cache.Between(s, d))
	if g.down {
		g.lit.put(s, d, w)
	}
	return w
}

func (g *TopologyContext) find(all []Candidate) []Candidate {
	if len(all) == 0 {
		return within
	}
	if !g.down {
		return all
	}
	dark := func(l pathmap.LinkID) bool { return g.capacity[l] == 0 }
	var lit []Candidate
	for _, w := range all {
		if !slices.ContainsFunc(w.Links, dark) {
			lit = append(lit, w)
		}
	}
	if len(lit) == 0 {
		return all[:1]
	}
	return lit
}

// local is the rate of two tasks on one host: its own link's, for nothing faster is promised.
func (g *TopologyContext) local(h southbound.HostID) int64 { return g.capacity[g.dn[h]] }
