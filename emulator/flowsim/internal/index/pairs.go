package index

// Pairs finds routes by source, destination and tag: by a table of all pairs of hosts for each tag in use, or on
// fabrics of many hosts by a map.
type Pairs struct {
	hosts  int
	tables [256][]int32 // by tag, then source and destination: index and one
	sparse map[pair]int32
}

type pair struct {
	src, dst int32
	tag      uint8
}

// None is the index of what is not there.
const None = -1

// denseHosts is up to how many hosts there are tables: they take a megabyte a tag then.
const denseHosts = 512

// NewPairs returns an empty index of pairs of the given number of hosts.
func NewPairs(hosts int) *Pairs {
	x := &Pairs{hosts: hosts}
	if hosts > denseHosts {
		x.sparse = map[pair]int32{}
	}
	return x
}

// Find returns the index of a pair, None where it has none.
func (x *Pairs) Find(src, dst int32, tag uint8) int32 {
	if x.sparse != nil {
		if i, ok := x.sparse[pair{src, dst, tag}]; ok {
			return i
		}
		return None
	}
	if t := x.tables[tag]; t != nil {
		return t[int(src)*x.hosts+int(dst)] - 1
	}
	return None
}

// Set gives a pair an index.
func (x *Pairs) Set(src, dst int32, tag uint8, i int32) {
	if x.sparse != nil {
		x.sparse[pair{src, dst, tag}] = i
		return
	}
	if x.tables[tag] == nil {
		x.tables[tag] = make([]int32, x.hosts*x.hosts)
	}
	x.tables[tag][int(src)*x.hosts+int(dst)] = i + 1
}
