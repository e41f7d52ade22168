package maxmin

import (
	"math"
	"math/bits"
)

// queue is the links to review, those first whose key is lowest, but for an eighth.
type queue struct {
	last [buckets]int32       // by bucket: the link that came last
	some [buckets / 64]uint64 // bits of the buckets that are not empty
	next []int32              // by link in a bucket: the one that came before
	len  int
}

const (
	perOctave = 3 // buckets of keys between powers of two: 1<<perOctave
	buckets   = 64 << perOctave
)

// bucketOf returns the exponent of a key and the first bits of its mantissa.
func bucketOf(key int64) int {
	return max(int(math.Float64bits(float64(key))>>(52-perOctave))-1023<<perOctave, 0)
}

// push puts a link into the queue.
func (s *Levels) push(l int32, key int64) {
	q, b := &s.queue, bucketOf(key)
	s.links[l].queued = true
	if q.next[l] = q.last[b]; q.some[b>>6]&(1<<(b&63)) == 0 {
		q.next[l] = none
		q.some[b>>6] |= 1 << (b & 63)
	}
	q.last[b] = l
	q.len++
}

// pop takes the first link out of a queue that is not empty.
func (s *Levels) pop() int32 {
	q, w := &s.queue, 0
	for q.some[w] == 0 {
		w++
	}
	b := w<<6 | bits.TrailingZeros64(q.some[w])
	l := q.last[b]
	if q.last[b] = q.next[l]; q.last[b] == none {
		q.some[w] &= q.some[w] - 1
	}
	s.links[l].queued = false
	q.len--
	return l
}
