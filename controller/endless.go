package controller

import (
	"cmp"
	"math/bits"
	"time"

	"lightloom/pathmap"
)

// Endless is how long a stream with a rate lasts in a job that has no lifetime and is never cancelled.
// No run is as long.
const Endless = 30 * 24 * time.Hour

// GoesOn reports whether a job has a stream that goes on until the job is cancelled.
func (j *Job) GoesOn() bool {
	for i := range j.Edges {
		if j.Edges[i].Rate > 0 {
			return true
		}
	}
	return false
}

// Volume returns the payload that an edge carries at most: its bytes, or what its rate makes in the
// job's lifetime, and some more, so that no rounding ends it before. Far above what is ever sent it is
// cut to MaxBytes.
func (j *Job) Volume(e *Edge) pathmap.Bytes {
	if e.Rate == 0 {
		return e.Bytes
	}
	life := cmp.Or(j.Lifetime, Endless)
	return max(1, min(e.Rate.In(life+life/16+time.Second), MaxBytes))
}

// Made returns the part of an edge's rate that some of its volume has, in bits a second, rounded up: of
// a host flow, of what stays within hosts.
func (j *Job) Made(e *Edge, part pathmap.Bytes) pathmap.BitsPerSecond {
	if e.Rate == 0 || part <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(e.Rate), uint64(part))
	lo, carry := bits.Add64(lo, uint64(j.Volume(e)-1), 0)
	q, _ := bits.Div64(hi+carry, lo, uint64(j.Volume(e)))
	return pathmap.BitsPerSecond(q)
}
