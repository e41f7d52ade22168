package device

import (
	"slices"
	"time"
)

// agenda holds what a device has still to do, by (instant, order added).
type agenda struct {
	items []item
	added uint64
}

type item struct {
	at  time.Duration
	seq uint64
	run func(t time.Duration)
}

func (a *agenda) add(at time.Duration, run func(t time.Duration)) {
	a.added++
	i, _ := slices.BinarySearchFunc(a.items, at, func(x item, at time.Duration) int {
		if x.at <= at {
			return -1
		}
		return 1
	})
	a.items = slices.Insert(a.items, i, item{at, a.added, run})
}

func (a *agenda) next() (time.Duration, bool) {
	if len(a.items) == 0 {
		return 0, false
	}
	return a.items[0].at, true
}

// pop takes the first item that is due.
func (a *agenda) pop(now time.Duration) (item, bool) {
	if len(a.items) == 0 || a.items[0].at > now {
		return item{}, false
	}
	it := a.items[0]
	a.items = slices.Delete(a.items, 0, 1)
	return it, true
}

func (a *agenda) clear() { a.items = a.items[:0] }
