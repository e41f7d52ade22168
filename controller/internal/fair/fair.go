// Package fair shares what a server has among its callers by name, so that none keeps another waiting
// by the number of its calls: slots in turn (Slots), and memory with a claim to as much as anybody else
// (Budget).
//
// It knows nothing of calls or bytes on wires, and limits no rates.
package fair

import (
	"container/list"
	"context"
	"sync"
)

// Slots has slots. Where callers wait, a free one goes to the caller that holds fewest, and among those
// to the one whose last turn is the longest ago, or who came first where none has had one. Its methods can be called by
// several goroutines.
type Slots struct {
	mu    sync.Mutex
	free  int
	each  int
	turns uint64 // given so far
	came  uint64 // callers so far
	lines map[string]*line
}

// line is a caller that holds a slot or waits for one.
type line struct {
	held    int
	last    uint64    // turn
	came    uint64    // as which caller
	waiting list.List // of chan struct{}, in order; one that is closed has its slot
}

// NewSlots returns a gate of that many slots, of which one caller holds some at most.
func NewSlots(slots, each int) *Slots {
	return &Slots{free: slots, each: each, lines: map[string]*line{}}
}

// Try takes a slot for a caller if it can have one at once. leave gives it back and is called once.
func (g *Slots) Try(who string) (leave func(), ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.line(who)
	if !g.may(l) {
		g.forget(who, l)
		return nil, false
	}
	g.give(l)
	return func() { g.leave(who, l) }, true
}

// Enter waits until a caller can have a slot, or ctx ends. leave gives it back and is called once.
func (g *Slots) Enter(ctx context.Context, who string) (leave func(), err error) {
	g.mu.Lock()
	l := g.line(who)
	leave = func() { g.leave(who, l) }
	if g.may(l) {
		g.give(l)
		g.mu.Unlock()
		return leave, nil
	}
	ready := make(chan struct{})
	at := l.waiting.PushBack(ready)
	g.mu.Unlock()
	select {
	case <-ready:
		return leave, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-ready: // meanwhile
		return leave, nil
	default:
	}
	l.waiting.Remove(at)
	g.forget(who, l)
	return nil, ctx.Err()
}

func (g *Slots) line(who string) *line {
	if g.lines[who] == nil {
		g.came++
		g.lines[who] = &line{came: g.came}
	}
	return g.lines[who]
}

// may reports whether a caller can have a slot now. Nobody who can have one waits while some are free.
func (g *Slots) may(l *line) bool { return g.free > 0 && l.held < g.each }

func (g *Slots) give(l *line) {
	g.turns++
	g.free--
	l.held++
	l.last = g.turns
}

func (g *Slots) leave(who string, l *line) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free++
	l.held--
	for next := g.next(); next != nil; next = g.next() {
		g.give(next)
		close(next.waiting.Remove(next.waiting.Front()).(chan struct{}))
	}
	g.forget(who, l)
}

// next is who has the next slot; nil: nobody waits who can have one.
func (g *Slots) next() (best *line) {
	for _, l := range g.lines { // no two came as the same caller
		if l.waiting.Len() == 0 || !g.may(l) {
			continue
		}
		if best == nil || l.held < best.held || l.held == best.held &&
			(l.last < best.last || l.last == best.last && l.came < best.came) {
			best = l
		}
	}
	return best
}

func (g *Slots) forget(who string, l *line) {
	if l.held == 0 && l.waiting.Len() == 0 {
		delete(g.lines, who)
	}
}
