// Package numbers makes single runs of the dissertation's evaluations, on plain numbers: it draws jobs, networks and
// noise as chapters 3 to 5 say, has an algorithm solve them, and returns figures by name. Rows and verdicts are package
// experiment's.
package numbers

import (
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/controller/certified"
	"lightloom/controller/solve"
	"lightloom/lab/experiment"
)

// Figures are the figures of one run, by the name of an algorithm.
type Figures = experiment.Figures

// gaps are the proven gaps of a run's decisions, in percent.
type gaps []float64

// note adds a decision's gap where its answer proves one.
func (g *gaps) note(c *solve.Certificate) {
	if gap := c.Gap(); !math.IsInf(gap, 1) {
		*g = append(*g, 100*gap)
	}
}

// noting has an algorithm's gaps noted, decision by decision.
func (g *gaps) noting(by planner) planner {
	return func(in *certified.Instance, e certified.Effort) (*certified.Plan, error) {
		p, err := by(in, e)
		if err == nil {
			g.note(&p.Certificate)
		}
		return p, err
	}
}

// timed returns how long a call computes, in milliseconds of its thread's processor time, which other work on the
// machine does not change. The call must not start goroutines that it waits for.
func timed(do func() error) (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := computed()
	err := do()
	return float64((computed() - began).Nanoseconds()) / 1e6, err
}

// computed is the processor time of the calling thread.
func computed() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0 // Linux always has this clock
	}
	return time.Duration(t.Nano())
}
