// Package hashtable holds a map from 64-bit keys to small values for tables that change all the time,
// such as rule tables under changing circuits. It is not safe for keys from an attacker, who can make
// them all collide.
package hashtable

import (
	"iter"
	"math/bits"
	"slices"
)

// Map is a map; the zero Map is empty. It takes all keys but the highest, 2⁶⁴-1. It is not safe for
// several goroutines.
type Map[V any] struct {
	cells []cell[V] // a power of two of them, open addressing with linear probing; never full
	shift int       // 64 less the bits of a place
	count int
}

// cell is a key and its value. Tables are many and looked into at random: the less they take, the more
// of them a cache holds.
type cell[V any] struct {
	mark  uint64 // the key and one; 0 where there is none
	value V
}

// least is how many cells the smallest Map that holds anything has.
const least = 8

// Len returns how many keys there are.
func (m *Map[V]) Len() int { return m.count }

// Get returns the value of a key; false where it has none.
func (m *Map[V]) Get(key uint64) (v V, ok bool) {
	if m.count == 0 {
		return v, false
	}
	c := &m.cells[m.find(key)]
	return c.value, c.mark != 0
}

// Foresee prefetches the memory at which Get starts to look for a key, and returns its content. Nothing
// depends on the result, so that the cache misses of several keys overlap.
func (m *Map[V]) Foresee(key uint64) uint64 {
	if len(m.cells) == 0 {
		return 0
	}
	return m.cells[m.home(key)].mark
}

// Set gives a key a value. It panics where that is the highest key.
func (m *Map[V]) Set(key uint64, v V) {
	if key+1 == 0 {
		panic("keyed: set the highest key, which is none")
	}
	if 4*(m.count+1) > 3*len(m.cells) {
		m.grow()
	}
	c := &m.cells[m.find(key)]
	if c.mark == 0 {
		m.count++
	}
	*c = cell[V]{key + 1, v}
}

// Delete removes a key, if it is there.
func (m *Map[V]) Delete(key uint64) {
	if m.count == 0 {
		return
	}
	hole := m.find(key)
	if m.cells[hole].mark == 0 {
		return
	}
	m.count--
	mask := len(m.cells) - 1
	for i := (hole + 1) & mask; m.cells[i].mark != 0; i = (i + 1) & mask {
		if home := m.home(m.cells[i].mark - 1); (i-home)&mask >= (i-hole)&mask { // its way from home leads over the hole
			m.cells[hole], hole = m.cells[i], i
		}
	}
	m.cells[hole] = cell[V]{}
}

// Clear takes all keys out.
func (m *Map[V]) Clear() {
	clear(m.cells)
	m.count = 0
}

// Clone returns a map of the same keys and values.
func (m *Map[V]) Clone() Map[V] {
	return Map[V]{slices.Clone(m.cells), m.shift, m.count}
}

// All goes over keys and values, in an order that follows from the keys and from how they came and
// went. The map must not be changed meanwhile.
func (m *Map[V]) All() iter.Seq2[uint64, V] {
	return func(yield func(uint64, V) bool) {
		for i := range m.cells {
			if c := &m.cells[i]; c.mark != 0 && !yield(c.mark-1, c.value) {
				return
			}
		}
	}
}

// find returns the cell of a key, or the empty one where it would be. There are cells, and some are empty.
func (m *Map[V]) find(key uint64) int {
	i := m.home(key)
	for m.cells[i].mark != 0 && m.cells[i].mark != key+1 {
		i = (i + 1) & (len(m.cells) - 1)
	}
	return i
}

// home is where a key is if nothing else is there: Fibonacci hashing (Knuth, The Art of Computer
// Programming 3, 6.4).
func (m *Map[V]) home(key uint64) int { return int(key * 0x9e3779b97f4a7c15 >> m.shift) }

func (m *Map[V]) grow() {
	old := m.cells
	m.cells = make([]cell[V], max(2*len(old), least))
	m.shift = 64 - bits.TrailingZeros(uint(len(m.cells)))
	for i := range old {
		if old[i].mark != 0 {
			m.cells[m.find(old[i].mark-1)] = old[i]
		}
	}
}
