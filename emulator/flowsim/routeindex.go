package flowsim

import "lightloom/emulator/hashtable"

// routeIndex finds routes by source, destination and tag: by a table of all pairs of hosts for each tag
// in use, or on fabrics of many hosts by a map.
type routeIndex struct {
	hosts  int
	tables [256][]int32 // by tag, then source and destination: index and one
	sparse *hashtable.Map[int32]
}

// denseHosts is up to how many hosts there are tables: they take a megabyte a tag then.
const denseHosts = 512

// newRouteIndex returns an empty index of pairs of the given number of hosts.
func newRouteIndex(hosts int) *routeIndex {
	x := &routeIndex{hosts: hosts}
	if hosts > denseHosts {
		x.sparse = new(hashtable.Map[int32])
	}
	return x
}

// Find returns the index of a pair, none where it has none.
func (x *routeIndex) Find(p pair) int32 {
	if x.sparse != nil {
		if i, ok := x.sparse.Get(p.key()); ok {
			return i
		}
		return none
	}
	if t := x.tables[p.tag]; t != nil {
		return t[int(p.src)*x.hosts+int(p.dst)] - 1
	}
	return none
}

// Set gives a pair an index.
func (x *routeIndex) Set(p pair, i int32) {
	if x.sparse != nil {
		x.sparse.Set(p.key(), i)
		return
	}
	if x.tables[p.tag] == nil {
		x.tables[p.tag] = make([]int32, x.hosts*x.hosts)
	}
	x.tables[p.tag][int(p.src)*x.hosts+int(p.dst)] = i + 1
}

// Drop forgets a pair, where there are no tables.
func (x *routeIndex) Drop(p pair) {
	if x.sparse != nil {
		x.sparse.Delete(p.key())
	}
}

// key returns a number unique to the pair, for hosts below 2²⁸.
func (p *pair) key() uint64 { return uint64(p.src)<<36 | uint64(p.dst)<<8 | uint64(p.tag) }
