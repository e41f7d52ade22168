package southbound

import "math"

// Senders are the hosts that send, each with its rate before and now, in whole bits a second. A host flow
// of a spread coflow has the smaller rate of its two hosts, so most keep theirs where only the larger one
// changes: senders are compared with a receiver's rate all at once, and once only for receivers of the same
// rate.
type Senders struct {
	words   int
	changed []uint64 // those with another rate, a set
	low     []int64  // by host, rounded up to whole words: the smaller of its two rates
	minus   []int64  // by host: the larger one, below zero
	least   int64    // low of those that changed
	most    int64    // of all, the larger one
	all     []uint64

	keys  [comparisons]int64 // a rate; below zero where that is of receivers that changed
	made  [comparisons]bool  // since Begin
	store []uint64           // their sets
}

// comparisons is how many are remembered.
const comparisons = 32

// NewSenders returns room for a number of hosts.
func NewSenders(hosts int) Senders {
	words := (hosts + 63) / 64
	s := Senders{words: words, changed: make([]uint64, words), low: make([]int64, 64*words),
		minus: make([]int64, 64*words), all: make([]uint64, words), store: make([]uint64, comparisons*words)}
	for w := range s.all {
		s.all[w] = math.MaxUint64
	}
	return s
}

// Begin takes over rates by host.
func (s *Senders) Begin(before, now []float64) {
	clear(s.changed)
	clear(s.made[:])
	s.least, s.most = math.MaxInt64, 0
	for h, rate := range now {
		low, high := int64(before[h]), int64(rate)
		if low != high {
			s.changed[h/64] |= 1 << (h % 64)
			if low > high {
				low, high = high, low
			}
			s.least = min(s.least, low)
		}
		s.low[h], s.minus[h], s.most = low, -high, max(s.most, high)
	}
}

// All returns all hosts, and perhaps some that there are not. It is borrowed.
func (s *Senders) All() []uint64 { return s.all }

// To returns a set that has all senders whose host flow to a host that had one rate and now has another
// has another rate itself; the set can have hosts that both sides' changes leave as they were. It is
// nil where there are none, and borrowed until Begin.
func (s *Senders) To(before, now float64) []uint64 {
	if before == now {
		bound := int64(now)
		if bound <= s.least {
			return nil
		}
		set, made := s.stored(bound)
		if !made {
			below(set, s.low, bound)
			for w := range set {
				set[w] &= s.changed[w]
			}
		}
		return set
	}
	bound := int64(min(before, now))
	if bound >= s.most {
		return s.changed
	}
	set, made := s.stored(-bound - 1)
	if !made {
		below(set, s.minus, -bound)
		for w := range set {
			set[w] |= s.changed[w]
		}
	}
	return set
}

// stored returns the set of a comparison, and whether it has been made.
func (s *Senders) stored(key int64) (set []uint64, made bool) {
	at := int(uint64(key) * 0x9e3779b97f4a7c15 >> 59)
	made = s.made[at] && s.keys[at] == key
	s.made[at], s.keys[at] = true, key
	return s.store[at*s.words : (at+1)*s.words], made
}

// below writes down which hosts have less than a bound.
func below(set []uint64, of []int64, bound int64) {
	for w := range set {
		word := uint64(0)
		for _, rate := range of[64*w : 64*w+64] {
			word = word>>1 | uint64(rate-bound)&(1<<63)
		}
		set[w] = word
	}
}
