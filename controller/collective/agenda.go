package collective

import (
	"container/heap"
	"time"
)

// arrival is a chunk that has come over a link.
type arrival struct{ chunk, link int32 }

// instant is what happens at one time.
type instant struct {
	at      time.Duration
	arrived []arrival
	free    []int32 // links that can carry the next chunk
}

// agenda is instants to come. On links that are alike, many events share few instants.
type agenda struct {
	heap  instants
	by    map[time.Duration]*instant
	last  [2]*instant // asked for last: most questions are about one of these
	spare []*instant
}

func newAgenda() *agenda { return &agenda{by: map[time.Duration]*instant{}} }

// at returns the instant of a time.
func (a *agenda) at(t time.Duration) *instant {
	for _, x := range a.last {
		if x != nil && x.at == t {
			return x
		}
	}
	x := a.by[t]
	if x == nil {
		if n := len(a.spare); n > 0 {
			x, a.spare = a.spare[n-1], a.spare[:n-1]
		} else {
			x = &instant{}
		}
		x.at = t
		a.by[t] = x
		heap.Push(&a.heap, x)
	}
	a.last[0], a.last[1] = x, a.last[0]
	return x
}

// next removes the earliest instant and returns it, or nil at the end. Events of the same time that are added while it
// is in use make another one.
func (a *agenda) next() *instant {
	if len(a.heap) == 0 {
		return nil
	}
	x := heap.Pop(&a.heap).(*instant)
	delete(a.by, x.at)
	a.last = [2]*instant{}
	return x
}

// reuse takes an instant back that is dealt with.
func (a *agenda) reuse(x *instant) {
	x.arrived, x.free = x.arrived[:0], x.free[:0]
	a.spare = append(a.spare, x)
}

type instants []*instant

func (h instants) Len() int           { return len(h) }
func (h instants) Less(i, j int) bool { return h[i].at < h[j].at }
func (h instants) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *instants) Push(x any)        { *h = append(*h, x.(*instant)) }

func (h *instants) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
