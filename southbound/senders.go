package southbound

import "math"

// Senders are the hosts that send, each with its rate before and now, in bits a second. A host flow of a
// spread coflow has the smaller rate of its two hosts, so most keep theirs where only the larger one
// changes: senders are compared with a receiver's rate all at once.
type Senders struct {
	changed []uint64 // those with another rate, a set
	low     []int64  // by host, rounded up to whole words: the smaller of its two rates, where they differ
	least   int64    // the least of low, and the most of it where rates differ
	most    int64
	all     []uint64
	set     []uint64
}

// NewSenders returns room for a number of hosts.
func NewSenders(hosts int) Senders {
	words := (hosts + 63) / 64
	s := Senders{changed: make([]uint64, words), low: make([]int64, 64*words), all: make([]uint64, words),
		set: make([]uint64, words)}
	for w := range s.all {
		s.all[w] = math.MaxUint64
	}
	return s
}

// Begin takes over rates by host. It takes no branch, because no processor can guess which ones differ.
func (s *Senders) Begin(before, now []int64) {
	s.least, s.most = math.MaxInt64, 0
	for w := range s.changed {
		first, word := 64*w, uint64(0)
		now := now[first:min(first+64, len(now))]
		before, low := before[first:first+len(now)], s.low[first:first+len(now)]
		least, most := s.least, s.most
		for k, rate := range now {
			lesser := min(before[k], rate)
			differs := (lesser - max(before[k], rate)) >> 63 // all ones, or nothing
			word |= uint64(differs) & (1 << k)
			low[k] = lesser | math.MaxInt64&^differs
			least, most = min(least, low[k]), max(most, lesser&differs)
		}
		s.changed[w], s.least, s.most = word, least, most
	}
}

// All returns all hosts, and perhaps some that there are not. It is borrowed.
func (s *Senders) All() []uint64 { return s.all }

// Keep reports whether all host flows to a host that had one rate and now has another keep their rates.
func (s *Senders) Keep(before, now int64) bool { return before == now && now <= s.least }

// To returns a set that has all senders whose host flow to a host that had one rate and now has another
// has another rate itself; where these two differ, it can have others. It is borrowed until the next call.
func (s *Senders) To(before, now int64) []uint64 {
	switch {
	case before != now:
		return s.all
	case now > s.most:
		return s.changed
	}
	for w := range s.set {
		s.set[w] = below((*[64]int64)(s.low[64*w:]), now)
	}
	return s.set
}

// below returns which rates are below a bound.
func below(of *[64]int64, bound int64) (set uint64) {
	for k := 0; k < 64; k += 8 {
		r := (*[8]int64)(of[k:])
		set |= (uint64(r[0]-bound)>>63 | uint64(r[1]-bound)>>63<<1 |
			uint64(r[2]-bound)>>63<<2 | uint64(r[3]-bound)>>63<<3 |
			uint64(r[4]-bound)>>63<<4 | uint64(r[5]-bound)>>63<<5 |
			uint64(r[6]-bound)>>63<<6 | uint64(r[7]-bound)>>63<<7) << k
	}
	return set
}
