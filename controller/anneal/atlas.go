package anneal

import (
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Atlas remembers the paths of a path map between racks, from one decision to the next: a lookup on an implicit map
// costs microseconds, and an annealer asks hundreds of times. Its zero value is ready. It is not for use by several
// goroutines at once.
type Atlas struct {
	of   *pathmap.Map // immutable; another one empties the atlas
	ways map[[2]int32][]Way
}

// maxAtlas bounds the pairs remembered: with six paths of four links about 20 MB.
const maxAtlas = 1 << 16

// Way is one path between two racks: its index in the path map and its links. It has no links within a rack.
type Way struct {
	Path  int
	Links []pathmap.LinkID
}

// Between returns the paths between two racks that a tag can name, shortest first. Borrowed.
func (a *Atlas) Between(m *pathmap.Map, s, d int32) []Way {
	if a.of != m || len(a.ways) >= maxAtlas {
		a.of, a.ways = m, map[[2]int32][]Way{}
	}
	key := [2]int32{s, d}
	all, ok := a.ways[key]
	if !ok {
		for i := range min(m.Paths(int(s), int(d)), southbound.MaxNamedPaths) {
			all = append(all, Way{i, m.AppendPath(nil, int(s), int(d), i)})
		}
		a.ways[key] = all
	}
	return all
}
