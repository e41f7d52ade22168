package southbound

import "math"

// Senders are the hosts that send, each with its rate before and now, in bits a second. A host flow of a
// spread coflow has the smaller rate of its two hosts, so most keep theirs where only the larger one
// changes: senders are compared with a receiver's rate all at once.
type Senders struct {
	changed []uint64 // those with another rate, a set
	low     []int64  // by host, rounded up to whole words: the smaller of two rates that differ
	minus   []int64  // by host: the larger one, below zero
	least   int64    // the least and the most of low where rates differ
	top     int64
	most    int64 // of all, the larger one
	all     []uint64
	set     []uint64
}

// NewSenders returns room for a number of hosts.
func NewSenders(hosts int) Senders {
	words := (hosts + 63) / 64
	s := Senders{changed: make([]uint64, words), low: make([]int64, 64*words), minus: make([]int64, 64*words),
		all: make([]uint64, words), set: make([]uint64, words)}
	for w := range s.all {
		s.all[w] = math.MaxUint64
	}
	return s
}

// Begin takes over rates by host. It takes no branch, because no processor can guess which ones differ.
func (s *Senders) Begin(before, now []int64) {
	clear(s.changed)
	least, top, most := int64(math.MaxInt64), int64(0), int64(0)
	before, low, minus := before[:len(now)], s.low[:len(now)], s.minus[:len(now)]
	for h, rate := range now {
		lesser, larger := min(before[h], rate), max(before[h], rate)
		differs := (lesser - larger) >> 63 // all ones, or nothing
		s.changed[h/64] |= uint64(differs) & (1 << (h % 64))
		low[h], minus[h] = lesser&differs|math.MaxInt64&^differs, -larger
		least, top, most = min(least, low[h]), max(top, lesser&differs), max(most, larger)
	}
	s.least, s.top, s.most = least, top, most
}

// All returns all hosts, and perhaps some that there are not. It is borrowed.
func (s *Senders) All() []uint64 { return s.all }

// Keep reports whether all host flows to a host that had one rate and now has another keep their rates.
func (s *Senders) Keep(before, now int64) bool { return before == now && now <= s.least }

// To returns a set that has all senders whose host flow to a host that had one rate and now has another
// has another rate itself; the set can have hosts that both sides' changes leave as they were. It is
// borrowed until the next call.
func (s *Senders) To(before, now int64) []uint64 {
	bound := min(before, now)
	switch {
	case before != now && bound >= s.most, before == now && bound > s.top:
		return s.changed
	case before == now:
		below(s.set, s.low, bound)
		return s.set
	}
	below(s.set, s.minus, -bound)
	for w, changed := range s.changed {
		s.set[w] |= changed
	}
	return s.set
}

// below writes down which hosts have less than a bound.
func below(set []uint64, of []int64, bound int64) {
	for w := range set {
		word := uint64(0)
		for k := 0; k < 64; k += 8 {
			r := (*[8]int64)(of[64*w+k:])
			word |= (uint64(r[0]-bound)>>63 | uint64(r[1]-bound)>>63<<1 |
				uint64(r[2]-bound)>>63<<2 | uint64(r[3]-bound)>>63<<3 |
				uint64(r[4]-bound)>>63<<4 | uint64(r[5]-bound)>>63<<5 |
				uint64(r[6]-bound)>>63<<6 | uint64(r[7]-bound)>>63<<7) << k
		}
		set[w] = word
	}
}
