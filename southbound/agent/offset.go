package agent

import "time"

// clockOffset estimates how far an agent's clock is ahead of the run's, as NTP does: the agent's clock
// is read over a call, and lay somewhere between its beginning and its end; the shortest call says
// most. It holds no clock.
type clockOffset struct {
	known  bool
	offset time.Duration // agent's clock − run's clock
	slack  time.Duration // at most so far off, when it was measured
	at     time.Duration // when that was, by the run's clock
	jumps  int
}

// drift is how fast two clocks may part: 200 parts in a million is twice what crystals of computers do.
const drift = 200e-6

// take takes one reading: the call began at sent and ended at got by the run's clock, and the agent's
// clock read there. It reports whether the agent's clock has jumped by more than drift explains.
func (c *clockOffset) take(sent, got, there time.Duration) (jumped bool) {
	mid, half := sent+(got-sent)/2, (got-sent)/2
	offset := there - mid
	if !c.known {
		*c = clockOffset{known: true, offset: offset, slack: half, at: mid}
		return false
	}
	now := c.slack + time.Duration(float64(mid-c.at)*drift) // how far off it may be by now
	switch apart := max(offset-c.offset, c.offset-offset); {
	case apart > now+half:
		c.offset, c.slack, c.at, c.jumps = offset, half, mid, c.jumps+1
		return true
	case half <= now:
		c.offset, c.slack, c.at = offset, half, mid
	}
	return false
}

// toRun turns an instant of the agent into one of the run; toAgent is its inverse.
func (c *clockOffset) toRun(t time.Duration) time.Duration   { return t - c.offset }
func (c *clockOffset) toAgent(t time.Duration) time.Duration { return t + c.offset }
