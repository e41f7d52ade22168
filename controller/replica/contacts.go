package replica

import (
	"slices"
	"sync"
	"time"
)

// contacts is how far apart a node hears from its peers of late. On busy machines heartbeats and their
// answers come late though nobody is dead, so that what silence means is measured, as adaptive failure
// detectors do (Chen, Toueg and Aguilera 2002).
type contacts struct {
	mu   sync.Mutex
	term uint64
	last map[string]time.Time // by peer, in that term
	gaps [contactsKept]time.Duration
	n    int
}

const (
	contactsKept = 64 // of two to four seconds
	// A silence of more than so many usual gaps is none of a busy machine. Of an idle leader, which sends every
	// 40 to 80 ms, that is less than the shortest timeout.
	manyGaps = 5
	// mostPatience is to how many times its length a timeout grows.
	mostPatience = 4
)

func newContacts() *contacts { return &contacts{last: map[string]time.Time{}} }

// heard notes a sign of life. From one leader to the next nothing is usual.
func (c *contacts) heard(peer string, term uint64, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if term != c.term {
		c.term = term
		clear(c.last)
	}
	if was, ok := c.last[peer]; ok {
		c.gaps[c.n%contactsKept] = now.Sub(was)
		c.n++
	}
	c.last[peer] = now
}

// since returns how long a peer has said nothing in a term.
func (c *contacts) since(peer string, term uint64, now time.Time) (silent time.Duration, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, ok := c.last[peer]
	return now.Sub(was), ok && term == c.term
}

// patience returns what a timeout is to be: longer while one gap of four is long. A single pause, as of
// a process that was stopped, changes nothing.
func (c *contacts) patience(timeout time.Duration) time.Duration {
	c.mu.Lock()
	gaps := slices.Clone(c.gaps[:min(c.n, contactsKept)])
	c.mu.Unlock()
	if len(gaps) < contactsKept/4 {
		return timeout
	}
	slices.Sort(gaps)
	return min(max(timeout, manyGaps*gaps[len(gaps)*3/4]), mostPatience*timeout)
}
