package fair

import (
	"errors"
	"sync"
)

// ErrFull says that what there is to share is taken.
var ErrFull = errors.New("what can be held at once is held")

// Budget is an amount that callers hold parts of, such as bytes. Its methods can be called by several
// goroutines.
type Budget struct {
	sure, each, all int

	mu      sync.Mutex
	total   int
	holders map[string]*holder
}

type holder struct {
	n      int
	shares map[*Share]bool
}

// NewBudget returns a budget of all, of which one caller holds each at most, and up to sure whatever
// others hold.
func NewBudget(sure, each, all int) *Budget {
	return &Budget{sure: sure, each: each, all: all, holders: map[string]*holder{}}
}

// Share is what one call holds.
type Share struct {
	b    *Budget
	who  string
	n    int
	stop func() // nil: it is kept until it is closed
}

// Open returns an empty share, to be closed. stop ends the call that holds it: it is called at most
// once, must not block, and may be called until Keep or Close.
func (b *Budget) Open(who string, stop func()) *Share {
	s := &Share{b: b, who: who, stop: stop}
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.holders[who]
	if h == nil {
		h = &holder{shares: map[*Share]bool{}}
		b.holders[who] = h
	}
	h.shares[s] = true
	return s
}

// Grow adds to a share. Where all is held, shares of callers that hold more than this one end for it,
// the largest first.
func (s *Share) Grow(n int) error {
	b := s.b
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.holders[s.who]
	if h == nil || !h.shares[s] { // ended for another
		return ErrFull
	}
	mine := h.n + n
	if mine > b.each {
		return ErrFull
	}
	for mine > b.sure && b.total+n > b.all {
		out := b.largest(mine)
		if out == nil {
			return ErrFull
		}
		out.close()
		out.stop()
	}
	s.n, h.n, b.total = s.n+n, mine, b.total+n
	return nil
}

// largest is the largest share that can end, of the caller that holds most, if that is more than n.
func (b *Budget) largest(n int) (out *Share) {
	most := n
	for _, h := range b.holders { // which of equal ones it is does not matter: nothing is decided by it
		if h.n < most || h.n == n {
			continue
		}
		var one *Share
		for s := range h.shares {
			if s.stop != nil && (one == nil || s.n > one.n) {
				one = s
			}
		}
		if one != nil {
			most, out = h.n, one
		}
	}
	return out
}

// Keep has a share end for no other call from now on.
func (s *Share) Keep() {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.stop = nil
}

// Close gives back what a share holds. A second call does nothing.
func (s *Share) Close() {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.close()
}

func (s *Share) close() {
	h := s.b.holders[s.who]
	if h == nil || !h.shares[s] {
		return
	}
	delete(h.shares, s)
	h.n -= s.n
	s.b.total -= s.n
	if len(h.shares) == 0 {
		delete(s.b.holders, s.who)
	}
}
