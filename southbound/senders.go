package southbound

import "math"

// Senders are the hosts that send, each with its rate before and now, in bits a second. A host flow of a
// spread coflow has the smaller rate of its two hosts, so most keep theirs where only the larger one
// changes: senders are compared with a receiver's rate all at once.
type Senders struct {
	hosts   []int32  // those with another rate
	changed []uint64 // likewise, a set
	low     []int64  // by host, rounded up to whole words: the smaller of its two rates, MaxInt64 if they are one
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
	for h := range s.low {
		s.low[h] = math.MaxInt64
	}
	return s
}

// Begin takes over the rates of hosts that have another rate than before, all by host.
func (s *Senders) Begin(hosts []int32, before, now []int64) {
	for _, h := range s.hosts {
		s.low[h] = math.MaxInt64
	}
	clear(s.changed)
	s.hosts = append(s.hosts[:0], hosts...)
	least, most, w, word := int64(math.MaxInt64), int64(0), int32(0), uint64(0)
	for _, h := range hosts {
		if h/64 != w { // hosts ascend for the most part
			s.changed[w] |= word
			w, word = h/64, 0
		}
		word |= 1 << (h % 64)
		low := min(before[h], now[h])
		s.low[h], least, most = low, min(least, low), max(most, low)
	}
	if len(hosts) > 0 {
		s.changed[w] |= word
	}
	s.least, s.most = least, most
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
