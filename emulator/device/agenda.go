package device

import (
	"slices"
	"time"
)

// agenda holds what a device has still to do, by (instant, order added).
type agenda struct {
	items []item
	first int // in items, the first that is still to be done
}

// item is something to do: run, or where that is nil, to see that a circuit is locked, unless it has
// moved again.
type item struct {
	at      time.Duration
	run     func(t time.Duration)
	circuit *circuit
	epoch   uint32
}

// add puts an item behind those of its instant.
func (a *agenda) add(it item) {
	i := len(a.items)
	if i > a.first && a.items[i-1].at > it.at {
		n, _ := slices.BinarySearchFunc(a.items[a.first:], it.at, func(x item, at time.Duration) int {
			if x.at <= at {
				return -1
			}
			return 1
		})
		i = a.first + n
	}
	a.items = slices.Insert(a.items, i, it)
}

func (a *agenda) next() (time.Duration, bool) {
	if a.first == len(a.items) {
		return 0, false
	}
	return a.items[a.first].at, true
}

// due reports whether an item is.
func (a *agenda) due(now time.Duration) bool {
	return a.first < len(a.items) && a.items[a.first].at <= now
}

// pop takes the first item, which there is.
func (a *agenda) pop() item {
	it := a.items[a.first]
	a.items[a.first] = item{} // it can hold memory
	a.first++
	if 2*a.first >= len(a.items) { // as many steps are saved by then as this takes
		n := copy(a.items, a.items[a.first:])
		clear(a.items[n:])
		a.items, a.first = a.items[:n], 0
	}
	return it
}

func (a *agenda) clear() {
	clear(a.items)
	a.items, a.first = a.items[:0], 0
}
