package hostagent

import (
	"math"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sendLimits is how a sender's loop writes: derived from what is wanted, read without a lock.
type sendLimits struct {
	open   bool
	pacing float64 // payload bytes a second, for the kernel
	unsent int     // bytes that can wait in the socket unsent
	chunk  int     // bytes of one write
	gap    bool    // slower than the kernel paces well: the loop waits between writes
	rate   float64 // of a loop with gaps
}

// The kernel sends at least two segments at a time and then waits for as long as they take, whatever is
// set meanwhile: at 80 kb/s a third of a second. So slower senders than this are paced by their own
// loop, and a new rate works at once.
const slowest = 4e6 / 8 // payload bytes a second

const (
	holdTime   = 12 * time.Millisecond // what waits unsent lasts at most so long, besides one chunk
	chunkTime  = 4 * time.Millisecond
	gapTime    = 10 * time.Millisecond
	leastFair  = 32 << 10 // a fair sender's rate is not known beforehand
	mostUnsent = 1 << 20
)

func sendLimitsFor(w want, measured float64) sendLimits {
	switch {
	case w.rate <= 0:
		return sendLimits{}
	case w.fair:
		r := max(1.5*measured, leastFair/holdTime.Seconds())
		return sized(sendLimits{open: true, pacing: w.rate}, min(r, w.rate))
	case w.rate < slowest:
		n := clamp(w.rate*gapTime.Seconds(), framePayload, maxChunk)
		return sendLimits{open: true, pacing: slowest, unsent: 2 * n, chunk: n, gap: true, rate: w.rate}
	}
	return sized(sendLimits{open: true, pacing: w.rate}, w.rate)
}

func sized(g sendLimits, rate float64) sendLimits {
	g.unsent = clamp(rate*holdTime.Seconds(), 2*framePayload, mostUnsent)
	g.chunk = clamp(rate*chunkTime.Seconds(), framePayload, maxChunk)
	return g
}

func clamp(v float64, low, high int) int {
	return int(math.Min(math.Max(v, float64(low)), float64(high)))
}

// near reports whether two gates differ too little to be worth a change.
func (g sendLimits) near(o sendLimits) bool {
	return g.open == o.open && g.pacing == o.pacing &&
		math.Abs(float64(g.unsent-o.unsent)) < 0.25*float64(o.unsent)
}

// pump writes until the host flow's last byte is in the socket.
func (s *sender) pump(raw syscall.RawConn) error {
	var due time.Time             // of the next write, where the loop paces
	turn := s.a.bounds.sum.paid() // what all have written is paid for then, if their sum is bounded
	for s.written.Load() < s.b.size {
		g := s.gate.Load()
		switch {
		case !g.open:
			if err := s.await(nil); err != nil {
				return err
			}
			due = time.Time{}
			continue
		case s.a.bounds.sum != nil && time.Until(turn) > 0:
			if err := s.awaitUntil(turn); err != nil {
				return err
			}
			continue
		case g.gap:
			if wait := time.Until(due); wait > 0 {
				next, err := s.awaitGap(g.rate, wait)
				if err != nil {
					return err
				}
				due = next
				continue
			}
			due = laterOf(due, time.Now().Add(-gapTime)).Add(time.Duration(float64(g.chunk) / g.rate * 1e9))
		}
		before := s.written.Load()
		if err := s.write(raw, g.gap || s.a.bounds.sum != nil); err != nil {
			return err
		}
		turn = s.a.bounds.sum.spend(float64(s.written.Load()-before), time.Now())
	}
	return nil
}

// write writes once, or as long as the sender may send and bytes are left. It waits for the socket to take any.
func (s *sender) write(raw syscall.RawConn, once bool) error {
	var err error
	waitErr := raw.Write(func(fd uintptr) bool {
		for {
			g := s.gate.Load()
			o := s.written.Load()
			if !g.open || o == s.b.size || g.gap && !once {
				return true
			}
			var n int
			n, err = unix.Write(int(fd), s.a.pattern.at(s.salt, o, int(min(int64(g.chunk), s.b.size-o))))
			switch {
			case err == unix.EAGAIN:
				err = nil
				return false
			case err == unix.EINTR:
				continue
			case err != nil:
				return true
			}
			s.written.Add(int64(n))
			if once {
				return true
			}
		}
	})
	if waitErr != nil {
		return waitErr
	}
	return err
}

// await waits for a change of the limits, the timer or the agent's end.
func (s *sender) await(timer <-chan time.Time) error {
	select {
	case <-s.wake:
	case <-timer:
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	return nil
}

// awaitUntil waits for an instant, or less if the limits change.
func (s *sender) awaitUntil(at time.Time) error {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	return s.await(t.C)
}

// awaitGap waits for the next write that the loop paces, and returns when it is due: a change of the
// rate meanwhile stretches or shortens what was left of the wait.
func (s *sender) awaitGap(rate float64, wait time.Duration) (time.Time, error) {
	t := time.NewTimer(wait)
	defer t.Stop()
	due := time.Now().Add(wait)
	if err := s.await(t.C); err != nil {
		return due, err
	}
	if g, rest := s.gate.Load(), time.Until(due); g.gap && g.rate != rate && rest > 0 {
		due = time.Now().Add(time.Duration(float64(rest) * rate / g.rate))
	}
	return due, nil
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
