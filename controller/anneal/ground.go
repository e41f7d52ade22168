package anneal

import (
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Ground is what does not change during a decision: links, the hosts' own links, and the paths between racks that a tag
// can name. Several goroutines may ask it at once.
type Ground struct {
	fabric   *topo.Fabric
	atlas    *Atlas
	down     bool // some link is
	capacity []int64
	up, dn   []pathmap.LinkID // by host: into the network, out of it
	rack     []int32          // by host
	lit      wayTable         // where links are down: the ways that have light
}

// NewGround returns the ground of a fabric; down, by link, may be nil, and so may the atlas. All are borrowed.
func NewGround(f *topo.Fabric, m *pathmap.Map, down []bool, atlas *Atlas) *Ground {
	if atlas == nil {
		atlas = &Atlas{}
	}
	atlas.about(m, f.Racks)
	g := &Ground{fabric: f, atlas: atlas, down: slices.Contains(down, true)}
	g.capacity = make([]int64, 0, len(f.Topology.Links()))
	for i, l := range f.Topology.Links() {
		c := int64(l.Capacity)
		if down != nil && down[i] {
			c = 0
		}
		g.capacity = append(g.capacity, c)
	}
	for i, h := range f.HostNode {
		up := f.Topology.Out(h)[0]
		g.up, g.dn, g.rack = append(g.up, up), append(g.dn, pathmap.Reverse(up)), append(g.rack, f.RackOf(int32(i)))
	}
	if g.down {
		g.lit.reset(f.Racks)
	}
	return g
}

// Withhold takes from each link what is not for those who are placed and routed. It is called before the ground is used.
func (g *Ground) Withhold(pledged []pathmap.BitsPerSecond) {
	for l, p := range pledged {
		if g.capacity[l] > 0 {
			g.capacity[l] = max(g.capacity[l]-int64(p), 1)
		}
	}
}

// All returns the paths between the racks of two hosts that a tag can name, dark ones too. Borrowed.
func (g *Ground) All(src, dst southbound.HostID) []Way {
	return g.atlas.Between(g.rack[src], g.rack[dst])
}

// within is the one way between two hosts of a rack, and between racks that no path joins.
var within = []Way{{}}

// Ways returns the paths between the racks of two hosts that have light, shortest first; where none has, the first of
// the map alone. There is always one: within a rack, and between racks without any path, it has no links. Borrowed.
func (g *Ground) Ways(src, dst southbound.HostID) []Way {
	s, d := g.rack[src], g.rack[dst]
	if s == d {
		return within
	}
	if g.down {
		if w, ok := g.lit.get(s, d); ok {
			return w
		}
	}
	w := g.find(g.atlas.Between(s, d))
	if g.down {
		g.lit.put(s, d, w)
	}
	return w
}

func (g *Ground) find(all []Way) []Way {
	if len(all) == 0 {
		return within
	}
	if !g.down {
		return all
	}
	dark := func(l pathmap.LinkID) bool { return g.capacity[l] == 0 }
	var lit []Way
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
func (g *Ground) local(h southbound.HostID) int64 { return g.capacity[g.dn[h]] }
