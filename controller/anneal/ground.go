package anneal

import (
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Ground is what does not change during a decision: links, the hosts' own links, and the paths between racks that a tag
// can name. It is not for use by several goroutines at once.
type Ground struct {
	fabric   *topo.Fabric
	paths    *pathmap.Map
	atlas    *Atlas
	down     bool // some link is
	capacity []int64
	up, dn   []pathmap.LinkID // by host: into the network, out of it
	lit      map[[2]int32][]Way
}

// NewGround returns the ground of a fabric; down, by link, may be nil, and so may the atlas. All are borrowed.
func NewGround(f *topo.Fabric, m *pathmap.Map, down []bool, atlas *Atlas) *Ground {
	if atlas == nil {
		atlas = &Atlas{}
	}
	g := &Ground{fabric: f, paths: m, atlas: atlas, down: slices.Contains(down, true), lit: map[[2]int32][]Way{}}
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

// All returns the paths between the racks of two hosts that a tag can name, dark ones too. Borrowed.
func (g *Ground) All(src, dst southbound.HostID) []Way {
	return g.atlas.Between(g.paths, g.fabric.RackOf(int32(src)), g.fabric.RackOf(int32(dst)))
}

// Ways returns the paths between the racks of two hosts that have light, shortest first; where none has, the first of
// the map alone. There is always one: within a rack, and between racks without any path, it has no links. Borrowed.
func (g *Ground) Ways(src, dst southbound.HostID) []Way {
	key := [2]int32{g.fabric.RackOf(int32(src)), g.fabric.RackOf(int32(dst))}
	w, ok := g.lit[key]
	if !ok {
		w = g.find(g.All(src, dst), key[0] == key[1])
		g.lit[key] = w
	}
	return w
}

func (g *Ground) find(all []Way, within bool) []Way {
	if within || len(all) == 0 {
		return []Way{{}}
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
