// Package noise reports to a test that measures time whether the machine disturbed it: how long a
// prober of its own was kept from its processor meanwhile, and how much of the machine others used. A
// disturbed measurement is repeated, with that reason in the log; any other counts.
//
// It is for tests only. It says nothing of the product: a bound that must hold however late everything
// is, such as "never early", is no business of it.
package noise

import (
	"fmt"
	"testing"
	"time"
)

// How a span is watched, and from when on it was disturbed. On a quiet machine of two processors a
// prober loses less than a hundredth of its time; beside one process that is always busy, a tenth.
const (
	probeEvery = time.Millisecond
	punctual   = 3 * time.Millisecond // after so long a probe is late: a timer may take a millisecond more than asked
	mostLost   = 0.05                 // of the time
	mostGap    = 25 * time.Millisecond
	mostOthers = 0.3 // of a core
)

// Span is what the machine did while a test measured.
type Span struct {
	Wall   time.Duration
	Lost   time.Duration // the sum of what probes were late
	Gap    time.Duration // the longest time between two probes
	Others float64       // cores that others used; 0 where the kernel does not say
}

// Disturbed reports whether times within the span may be others'.
func (s Span) Disturbed() bool {
	return s.Lost.Seconds() > mostLost*s.Wall.Seconds() || s.Gap > mostGap || s.Others > mostOthers
}

// String is one line with the figures.
func (s Span) String() string {
	return fmt.Sprintf("of %v the prober lost %v, %v at once; others used %.1f cores",
		s.Wall.Round(time.Millisecond), s.Lost.Round(time.Millisecond), s.Gap.Round(time.Millisecond), s.Others)
}

// Watch begins a span; the function that it returns ends it, and may be called once.
func Watch() (end func() Span) {
	began, before, known := time.Now(), others(), make(chan Span)
	stop := make(chan struct{})
	go func() { known <- probe(stop) }()
	return func() Span {
		close(stop)
		s := <-known
		s.Wall = time.Since(began)
		s.Others = max(0, (others()-before).Seconds()/s.Wall.Seconds())
		return s
	}
}

// probe looks at the clock each millisecond until stop is closed.
func probe(stop <-chan struct{}) (s Span) {
	timer := time.NewTimer(probeEvery)
	defer timer.Stop()
	for last := time.Now(); ; {
		ended := false
		select {
		case <-timer.C:
		case <-stop:
			ended = true
		}
		now := time.Now()
		gap := now.Sub(last)
		s.Gap = max(s.Gap, gap)
		if gap > punctual {
			s.Lost += gap - probeEvery
		}
		if last = now; ended {
			return s
		}
		timer.Reset(probeEvery)
	}
}

// Measure takes a measurement, whose error reports the bound that it missed. A disturbed measurement
// that missed a bound is repeated, up to the given number of times in all, and the log gives the
// reason; the last one counts even if it was disturbed.
func Measure(t testing.TB, times int, measure func() error) {
	t.Helper()
	measureWith(t, times, Watch, measure)
}

func measureWith(t testing.TB, times int, watch func() func() Span, measure func() error) {
	t.Helper()
	for n := 1; ; n++ {
		span, err := measured(watch, measure)
		switch {
		case err == nil:
			return
		case span.Disturbed() && n < times && !t.Failed():
			t.Logf("measured again, for others disturbed it (%v): %v", span, err)
		default:
			t.Errorf("%v (measured %d times; %v)", err, n, span)
			return
		}
	}
}

// measured ends the span even where the measurement ends its test.
func measured(watch func() func() Span, measure func() error) (s Span, err error) {
	end := watch()
	defer func() { s = end() }()
	return s, measure()
}
