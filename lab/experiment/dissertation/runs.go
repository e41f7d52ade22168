package dissertation

import (
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/controller/certified"
)

// gaps are the proven gaps of a run's decisions, in percent.
type gaps []float64

// noted notes the gap of a decision where its answer proves one.
func noted[P interface{ Gap() float64 }](g *gaps, answer P, err error) (P, error) {
	if err == nil {
		if gap := answer.Gap(); !math.IsInf(gap, 1) {
			*g = append(*g, 100*gap)
		}
	}
	return answer, err
}

// noting has an algorithm's gaps noted, decision by decision.
func (g *gaps) noting(by planner) planner {
	return func(in *certified.Instance, e certified.Effort) (*certified.Plan, error) {
		p, err := by(in, e)
		return noted(g, p, err)
	}
}

// timed also returns how long a call computes, in milliseconds of its thread's processor time, which
// other work on the machine does not change. The call must not start goroutines that it waits for.
func timed[T any](do func() (T, error)) (T, float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := computed()
	out, err := do()
	return out, float64((computed() - began).Nanoseconds()) / 1e6, err
}

// computed is the processor time of the calling thread.
func computed() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0 // Linux always has this clock
	}
	return time.Duration(t.Nano())
}
