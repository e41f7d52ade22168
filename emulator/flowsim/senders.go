package flowsim

import "slices"

// senders are the hosts of one side, with their rates before and now, in whole bits a second. A host flow
// has the smaller rate of its two hosts, so most keep theirs where only the larger one changes: senders are
// compared with a rate of the other side all at once, and once only for receivers of the same rate.
type senders struct {
	words   int      // of a set of hosts
	changed []uint64 // those with another rate, a set
	low     []int64  // by host, rounded up to whole words: the smaller of its two rates; a large number behind the last
	minus   []int64  // by host: the larger one, below zero; 0 behind the last
	all     []uint64 // every host, and bits behind the last

	keys  [comparisons]int64 // of comparisons made since begin: a rate, below zero where it is of to that changed
	made  [comparisons]bool
	store []uint64 // their sets
}

// comparisons is how many are remembered.
const comparisons = 32

func newSenders(hosts int) senders {
	words := (hosts + 63) / 64
	return senders{words: words, changed: make([]uint64, words), low: slices.Repeat([]int64{1 << 62}, 64*words),
		minus: make([]int64, 64*words), all: slices.Repeat([]uint64{^uint64(0)}, words),
		store: make([]uint64, comparisons*words)}
}

// begin takes over rates by host.
func (s *senders) begin(before, now []float64) {
	clear(s.changed)
	clear(s.made[:])
	for h, rate := range now {
		low, high := int64(before[h]), int64(rate)
		if low != high {
			s.changed[h/64] |= 1 << (h % 64)
		}
		s.low[h], s.minus[h] = min(low, high), -max(low, high)
	}
}

// to returns a set that has at least the senders of the host flows whose rate is another, to a host that
// had one rate and has another, or to any host. Borrowed until begin.
func (s *senders) to(before, now float64, any bool) []uint64 {
	switch {
	case any:
		return s.all
	case before == now:
		return s.compare(s.low, int64(now), int64(now), func(w int, set uint64) uint64 { return set & s.changed[w] })
	}
	least := -int64(min(before, now))
	return s.compare(s.minus, least, least-1, func(w int, set uint64) uint64 { return set | s.changed[w] })
}

// compare returns the hosts that have less than a bound, with more done to their set; key is the
// comparison's.
func (s *senders) compare(of []int64, bound, key int64, more func(w int, set uint64) uint64) []uint64 {
	at := int(uint64(key) * 0x9e3779b97f4a7c15 >> 59)
	set := s.store[at*s.words : (at+1)*s.words]
	if s.made[at] && s.keys[at] == key {
		return set
	}
	s.made[at], s.keys[at] = true, key
	for w := range set {
		word := uint64(0)
		for k, rate := range of[64*w : 64*w+64] {
			word |= uint64(rate-bound) >> 63 << k
		}
		set[w] = more(w, word)
	}
	return set
}
