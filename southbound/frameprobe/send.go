package frameprobe

import (
	"slices"
	"sync/atomic"
	"time"
)

// Every is how often Send can send where a time is to be measured.
const Every = 8 * time.Microsecond

// held is two gaps at 100,000 a second: a prober that waited longer beside an edge saw nothing.
const held = 20 * time.Microsecond

// Send sends a probe into t at such intervals until the time comes (of the wall, in nanoseconds; 0: it is not known
// yet), and returns when each was sent, in buf's room. It keeps its processor busy.
func Send(t *Tap, buf []time.Time, every time.Duration, until *atomic.Int64) (sent []time.Time, err error) {
	sent = buf[:0]
	began := time.Now()
	giveUp := began.Add(20 * time.Second)
	for next := began; ; {
		now := time.Now()
		if now.Before(next) {
			continue
		}
		// A prober that is late does not catch up in a burst.
		next = now.Add(every)
		if end := until.Load(); end != 0 && now.UnixNano() > end || now.After(giveUp) {
			return sent, nil
		}
		sent = append(sent, now)
		if err := t.Send(uint32(len(sent) - 1)); err != nil {
			return sent, err
		}
	}
}

// Held reports whether the prober was kept from sending before probe seq.
func Held(sent []time.Time, seq uint32) bool {
	return seq > 0 && int(seq) < len(sent) && sent[seq].Sub(sent[seq-1]) > held
}

// Gap is the median time between two probes.
func Gap(sent []time.Time) time.Duration {
	gaps := make([]time.Duration, 0, len(sent))
	for i := 1; i < len(sent); i++ {
		gaps = append(gaps, sent[i].Sub(sent[i-1]))
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}
