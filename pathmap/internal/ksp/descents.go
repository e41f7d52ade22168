package ksp

// A Descents is what Build knows of one target beside the row of distances: from each node that has few, the
// entries that lead nearer. With no slack left a walk needs no others, and so need not look through all
// the links of a switch to find the one that goes down.
type Descents struct {
	row   Row
	level []int32 // distance, -1 unreached
	count []uint8 // entries that lead nearer, few+1 standing for more
	near  []int32 // few for each node
	same  bool    // somewhere, two neighbours are as far as each other
	queue []int32
}

// few is how many entries a fan keeps for a node.
const few = 4

// NewDescents returns an empty fan for the given number of nodes.
func NewDescents(nodes int) *Descents {
	return &Descents{row: NewRow(nodes), level: make([]int32, nodes), count: make([]uint8, nodes),
		near:  make([]int32, few*nodes),
		queue: make([]int32, 0, nodes)}
}

// Fill computes the fan of target; back is the other direction of each entry.
func (f *Descents) Fill(g *Graph, target int32, back []int32) {
	for n := range f.level {
		f.level[n], f.count[n] = -1, 0
	}
	for i := range f.row {
		f.row[i] = 0xff
	}
	f.level[target], f.same = 0, false
	f.queue = append(f.queue[:0], target)
	for head := 0; head < len(f.queue); head++ {
		n := f.queue[head]
		next := f.level[n] + 1
		f.row.Set(n, uint8((next-1)%3))
		if f.same && len(f.queue) == len(f.level) && f.level[f.queue[len(f.queue)-1]] < next {
			continue // all are reached, and these are the farthest: no path gets shorter through them
		}
		for e := g.Start[n]; e < g.Start[n+1]; e++ {
			to := g.To[e]
			level := f.level[to]
			if level < 0 {
				f.level[to], level = next, next
				f.queue = append(f.queue, to)
			}
			switch level {
			case next:
				f.nearer(to, back[e])
			case next - 1:
				f.same = f.same || to != n // a link that is down leads back
			}
		}
	}
}

// nearer records that entry e of n leads closer to the target.
func (f *Descents) nearer(n, e int32) {
	if c := f.count[n]; c < few {
		f.near[few*n+int32(c)] = e
		f.count[n] = c + 1
	} else {
		f.count[n] = few + 1
	}
}

// serves reports whether the entries kept for n are all that a walk without slack needs to look at
// there, the pass after this one being known to have at most so much more slack: those left out have a
// detour of 1 or 2, and would tell nothing new of the slack to come.
func (f *Descents) serves(n, more int32) bool {
	least := int32(2)
	if f.same {
		least = 1
	}
	return f.count[n] <= few && more <= least
}

// Backs returns the other direction of each entry.
func (g *Graph) Backs(links int) []int32 {
	entry := g.Entries(links)
	back := make([]int32, len(g.Link))
	for e, l := range g.Link {
		back[e] = entry[l^1]
	}
	return back
}

// Locals returns each entry's number at its node.
func (g *Graph) Locals() []int32 {
	local := make([]int32, len(g.To))
	for n := range g.id {
		for e := g.Start[n]; e < g.Start[n+1]; e++ {
			local[e] = e - g.Start[n]
		}
	}
	return local
}

// Inverses returns, for each degree that a node has, the inverse of each number modulo its prime.
func (g *Graph) Inverses() [][]uint32 {
	table := make([][]uint32, len(g.Prime))
	for n := range g.id {
		degree := g.Degree(int32(n))
		if table[degree] == nil {
			table[degree] = inverse(g.Prime[degree])
		}
	}
	return table
}

// inverse returns the inverses modulo the prime p of 1 to p−1, by their number.
func inverse(p uint32) []uint32 {
	inv := make([]uint32, p)
	inv[1] = 1
	for i := uint32(2); i < p; i++ {
		inv[i] = uint32(uint64(p-p/i) * uint64(inv[p%i]) % uint64(p))
	}
	return inv
}
