package anneal

import (
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Ground is what does not change during a decision: links, the hosts' own links, and the paths between racks that a tag
// can name. Paths are looked up when first asked for. It is not for use by several goroutines at once.
type Ground struct {
	fabric   *topo.Fabric
	paths    *pathmap.Map
	down     []bool
	capacity []int64
	up, dn   []pathmap.LinkID // by host: into the network, out of it
	between  map[[2]int32][]Way
}

// Way is one path between two racks: its index in the path map and its links. It has no links within a rack.
type Way struct {
	Path  int
	Links []pathmap.LinkID
}

// NewGround returns the ground of a fabric; down, by link, may be nil. All three are borrowed.
func NewGround(f *topo.Fabric, m *pathmap.Map, down []bool) *Ground {
	g := &Ground{fabric: f, paths: m, down: down, between: map[[2]int32][]Way{}}
	for i, l := range f.Topology.Links() {
		c := int64(l.Capacity)
		if down != nil && down[i] {
			c = 0
		}
		g.capacity = append(g.capacity, c)
	}
	for _, h := range f.HostNode {
		up := f.Topology.Out(h)[0]
		g.up, g.dn = append(g.up, up), append(g.dn, pathmap.Reverse(up))
	}
	return g
}

// Ways returns the paths between the racks of two hosts that have light, shortest first; where none has, the first of
// the map alone. Borrowed.
func (g *Ground) Ways(src, dst southbound.HostID) []Way {
	key := [2]int32{g.fabric.RackOf(int32(src)), g.fabric.RackOf(int32(dst))}
	if w, ok := g.between[key]; ok {
		return w
	}
	w := g.find(int(key[0]), int(key[1]))
	g.between[key] = w
	return w
}

func (g *Ground) find(s, d int) []Way {
	if s == d {
		return []Way{{}}
	}
	var all []Way
	for i := range min(g.paths.Paths(s, d), southbound.MaxPaths) {
		links := g.paths.AppendPath(nil, s, d, i)
		if !slices.ContainsFunc(links, func(l pathmap.LinkID) bool { return g.capacity[l] == 0 }) {
			all = append(all, Way{i, links})
		}
	}
	if len(all) == 0 && g.paths.Paths(s, d) > 0 {
		all = append(all, Way{0, g.paths.AppendPath(nil, s, d, 0)})
	}
	if len(all) == 0 {
		all = append(all, Way{}) // apart: nothing to choose, and only its hosts' links to share
	}
	return all
}

// local is the rate of two tasks on one host: its own link's, for nothing faster is promised.
func (g *Ground) local(h southbound.HostID) int64 { return g.capacity[g.dn[h]] }
