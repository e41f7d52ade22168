package southbound

import (
	"context"
	"math"
	"math/bits"
	"time"

	"lightloom/pathmap"
)

// PortCounters is the counters of a port since its device began to count. A device that restarts begins
// at zero.
type PortCounters struct {
	Port Port
	// At is when they were read, by the device's own clock on the fabric's scale. If the fabric's scale is
	// unknown, its zero is arbitrary: only differences count.
	At                  time.Duration
	InOctets, OutOctets uint64 // of layer 2
	OutDiscards         uint64 // packets that found the queue full
}

// Counting is an optional interface of a Device that counts the traffic of its ports.
type Counting interface {
	// Counters calls tell with the newest counters of the ports that have any, about once in every, until
	// ctx ends (nil) or the stream breaks (the error). Ports are sorted, each occurs once, and ports
	// without news are left out. If tell is slow, newer samples replace those not yet taken: the device
	// never waits. The slice is borrowed for the call. A device that counts nothing returns ErrUnsupported
	// at once.
	Counters(ctx context.Context, every time.Duration, tell func([]PortCounters)) error
}

// PortRate is the traffic of a port in a second.
type PortRate struct {
	In, Out pathmap.BitsPerSecond
	Drops   uint64        // packets a second that found the queue full, rounded up
	Span    time.Duration // the time over which it is the mean; 0: unknown
}

// Rater computes rates from the counters of one port. Its zero value has no samples.
type Rater struct {
	last  PortCounters
	begun bool
	early int // samples in a row that were read before the last
	rate  PortRate
}

// minSpan is the least time between two samples that make a rate; maxEarly is how many in a row can be
// older than what is known before the device's clock is believed to have been set back.
const (
	minSpan  = time.Millisecond
	maxEarly = 3
)

// Add takes a sample and returns the rate since the one before. Samples that come twice, late or too
// soon after another are ignored. A counter that goes backwards means that the device has restarted:
// the rate is then unknown until the next sample.
func (r *Rater) Add(c PortCounters) PortRate {
	span := c.At - r.last.At
	if r.begun && span < 0 {
		if r.early++; r.early < maxEarly {
			return r.rate
		}
		r.begun = false
	}
	r.early = 0
	if r.begun && span < minSpan {
		return r.rate
	}
	old := r.last
	fresh := !r.begun || c.InOctets < old.InOctets || c.OutOctets < old.OutOctets ||
		c.OutDiscards < old.OutDiscards
	r.last, r.begun, r.rate = c, true, PortRate{}
	if !fresh {
		r.rate = PortRate{Span: span,
			In:    pathmap.BitsPerSecond(perSecond(c.InOctets-old.InOctets, 8, span, false)),
			Out:   pathmap.BitsPerSecond(perSecond(c.OutOctets-old.OutOctets, 8, span, false)),
			Drops: perSecond(c.OutDiscards-old.OutDiscards, 1, span, true)}
	}
	return r.rate
}

// Rate returns the result of the last Add.
func (r *Rater) Rate() PortRate { return r.rate }

// perSecond returns n times each over a span above zero; math.MaxInt64 where the true number does not fit.
func perSecond(n, each uint64, span time.Duration, up bool) uint64 {
	hi, lo := bits.Mul64(n, each*uint64(time.Second))
	if hi >= uint64(span) {
		return math.MaxInt64
	}
	q, rem := bits.Div64(hi, lo, uint64(span))
	if up && rem > 0 {
		q++
	}
	return min(q, math.MaxInt64)
}
