package loop

import (
	"time"

	"lightloom/controller/rollout"
	"lightloom/southbound"
)

// fastReroute knows the Sets that packets wait for: until the switches have answered them, neither the
// policy is asked nor switches are read back, which would take the processors, the log and the hosts'
// agent from what is urgent. A flow whose path has gone takes, by the tables, the first that is whole;
// that the policy may know a better one can wait.
type fastReroute struct {
	waits map[uint64]bool // by token
	until time.Duration   // no longer: a switch may not answer
}

// longestReroute is how long a decision waits at most for Sets: what answering takes on a machine with
// other work.
const longestReroute = 20 * time.Millisecond

// begin notes Sets that leave now.
func (h *fastReroute) begin(now time.Duration, sets []rollout.Set) {
	if len(sets) == 0 {
		return
	}
	if h.waits == nil {
		h.waits = map[uint64]bool{}
	}
	for i := range sets {
		h.waits[sets[i].Token] = true
	}
	h.until = now + longestReroute
}

// done notes that a Set has its answer, and reports whether it was one of them.
func (h *fastReroute) done(token uint64) bool {
	was := h.waits[token]
	delete(h.waits, token)
	return was
}

// after is when something may be done that is due at an instant, and not urgent.
func (h *fastReroute) after(now, due time.Duration) time.Duration {
	if len(h.waits) == 0 || now >= h.until || due == southbound.Never {
		return due
	}
	return max(due, h.until)
}
