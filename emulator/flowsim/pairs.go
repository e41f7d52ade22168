package flowsim

// pairIndex finds routes by pair: by a table of all pairs of hosts for each tag in use, or on fabrics of many hosts by a
// map.
type pairIndex struct {
	hosts  int
	tables [256][]int32 // by tag, then source and destination: index and one
	sparse map[pair]int32
}

// denseHosts is up to how many hosts there are tables: they take a megabyte a tag then.
const denseHosts = 512

func newPairIndex(hosts int) *pairIndex {
	x := &pairIndex{hosts: hosts}
	if hosts > denseHosts {
		x.sparse = map[pair]int32{}
	}
	return x
}

// find returns the index of a pair, none where it has none.
func (x *pairIndex) find(p pair) int32 {
	if x.sparse != nil {
		if i, ok := x.sparse[p]; ok {
			return i
		}
		return none
	}
	if t := x.tables[p.tag]; t != nil {
		return t[x.at(p)] - 1
	}
	return none
}

func (x *pairIndex) set(p pair, i int32) {
	if x.sparse != nil {
		x.sparse[p] = i
		return
	}
	if x.tables[p.tag] == nil {
		x.tables[p.tag] = make([]int32, x.hosts*x.hosts)
	}
	x.tables[p.tag][x.at(p)] = i + 1
}

func (x *pairIndex) at(p pair) int { return int(p.src)*x.hosts + int(p.dst) }
