package pathmap

import "errors"

// Options say how a Map is built.
type Options struct {
	K     int               // paths kept for each ordered pair of ends
	Seed  uint64            // of the rotation that breaks ties
	Avoid func(NodeID) bool // nodes that no path enters, such as an OCS; nil: none
}

// Map holds the k shortest loopless paths between ends (a fabric's ToRs), by their index in the slice given to Build.
type Map struct{}

// Build computes the map.
func Build(t *Topology, ends []NodeID, opt Options) (*Map, error) {
	return nil, errors.New("build path map: being written")
}

// Paths returns how many paths there are from end s to end d, at most K.
func (m *Map) Paths(s, d int) int { return 0 }

// AppendPath appends the links of path i (0 the default, in order of length) from end s to end d to buf.
func (m *Map) AppendPath(buf []LinkID, s, d, i int) []LinkID { return buf }
