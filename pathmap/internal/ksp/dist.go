package ksp

// A Row holds the distance of every node to one target, modulo 3, two bits a node: neighbours differ by
// at most one, so that is enough to tell nearer, equal and farther apart. Leaves are passed through
// like any node: a row is then a lower bound of the distance, and still exact about neighbours, which
// is all that the walk needs.
type Row []uint8

// Unreached is the code of a node that no path joins to the target.
const Unreached = 3

// Code returns what is kept of a node's distance.
func (r Row) Code(n int32) uint8 { return r[n>>2] >> (uint(n&3) << 1) & 3 }

// Set changes that.
func (r Row) Set(n int32, code uint8) {
	shift := uint(n&3) << 1
	r[n>>2] = r[n>>2]&^(3<<shift) | code<<shift
}

// NewRow returns a row for the given number of nodes, all at distance 0.
func NewRow(nodes int) Row { return make(Row, (nodes+3)/4) }

// Detour returns what going from a node to its neighbour adds to the length of a way to the target, by
// their codes: 0 to a nearer one, 1 to an equal one, 2 to a farther one.
func Detour(code, neighbour uint8) uint8 { return detours[code<<2|neighbour] }

// detours is detour by code<<2 | neighbour's code.
var detours = [16]uint8{
	0b00_00: 1, 0b00_01: 2, 0b00_10: 0,
	0b01_00: 0, 0b01_01: 1, 0b01_10: 2,
	0b10_00: 2, 0b10_01: 0, 0b10_10: 1,
}

// compare returns, for at most 64 neighbours of a node with that code, a bit each: which are nearer,
// and which are as far.
func (r Row) compare(to []int32, code uint8) (near, same uint64) {
	nearer := (code + 2) % 3
	for i, n := range to {
		c := r.Code(n)
		near |= (uint64(c^nearer) - 1) >> 63 << (i & 63)
		same |= (uint64(c^code) - 1) >> 63 << (i & 63)
	}
	return near, same
}

// among returns which of at most 64 nodes have a code, a bit each.
func (r Row) among(nodes []int32, code uint8) uint64 {
	found := uint64(0)
	for _, n := range nodes {
		found = found>>1 | (uint64(r.Code(n)^code)-1)&(1<<63)
	}
	return found >> (64 - len(nodes))
}

// Fill computes the row of target. queue is scratch with room for every node.
func (r Row) Fill(g *Graph, target int32, queue []int32) {
	for i := range r {
		r[i] = 0xff
	}
	r.Set(target, 0)
	queue = append(queue[:0], target)
	for head := 0; head < len(queue); head++ {
		n := queue[head]
		next := r.Code(n) + 1
		if next == 3 {
			next = 0
		}
		for _, to := range g.To[g.Start[n]:g.Start[n+1]] {
			if r.Code(to) == Unreached {
				r.Set(to, next)
				queue = append(queue, to)
			}
		}
	}
}
