package pathmap

import "fmt"

// Bandwidth is the capacity of the links of a topology and how much of it is taken. It never changes
// which paths a map has. Links are directed: each direction of a cable has its own.
//
// A Bandwidth belongs to one goroutine.
type Bandwidth struct {
	capacity []BitsPerSecond // by LinkID
	taken    []BitsPerSecond
}

// NewBandwidth returns the capacities of t, with nothing taken.
func NewBandwidth(t *Topology) *Bandwidth {
	b := &Bandwidth{capacity: make([]BitsPerSecond, len(t.links)), taken: make([]BitsPerSecond, len(t.links))}
	for l := range t.links {
		b.capacity[l] = t.links[l].Capacity
	}
	return b
}

// Capacity returns what link l carries.
func (b *Bandwidth) Capacity(l LinkID) BitsPerSecond { return b.capacity[l] }

// SetCapacity sets the capacity of link l; what is taken stays taken.
func (b *Bandwidth) SetCapacity(l LinkID, c BitsPerSecond) { b.capacity[l] = c }

// Available returns what is left of link l. It is negative if more is taken than the link carries after
// its capacity was lowered.
func (b *Bandwidth) Available(l LinkID) BitsPerSecond { return b.capacity[l] - b.taken[l] }

// Least returns the least that is left on a path's links: what a further flow can have. It returns
// false for an empty path, which has no limit.
func (b *Bandwidth) Least(path []LinkID) (BitsPerSecond, bool) {
	if len(path) == 0 {
		return 0, false
	}
	least := b.Available(path[0])
	for _, l := range path[1:] {
		least = min(least, b.Available(l))
	}
	return least, true
}

// Take takes r, not below zero, of every link of a path, or of none: the error names the first link
// with less left.
func (b *Bandwidth) Take(path []LinkID, r BitsPerSecond) error {
	if r < 0 {
		return fmt.Errorf("take %v: a rate is not below zero", r)
	}
	for _, l := range path {
		if left := b.Available(l); left < r {
			return fmt.Errorf("take %v: link %d has %v left of %v", r, l, left, b.capacity[l])
		}
	}
	for _, l := range path {
		b.taken[l] += r
	}
	return nil
}

// Give gives back r on every link of a path. It panics if less than r was taken.
func (b *Bandwidth) Give(path []LinkID, r BitsPerSecond) {
	for _, l := range path {
		if r < 0 || b.taken[l] < r {
			panic(fmt.Sprintf("pathmap: give %v of link %d back, of which %v is taken", r, l, b.taken[l]))
		}
		b.taken[l] -= r
	}
}
