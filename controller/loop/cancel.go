package loop

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Cancel is a request to end a job at once. To end one that has ended changes nothing.
type Cancel struct {
	Job controller.JobID
	// Refused gets the reason why the job cannot be cancelled; success shows in the state. Step calls it,
	// so it must not block; nil disables it.
	Refused func(error)
}

// ErrNoJob marks a request about a job that there is not.
var ErrNoJob = errors.New("no such job")

func (l *Loop) cancelled(s *state.State, now time.Duration, c Cancel) {
	if s.Job(c.Job) == nil {
		if c.Refused != nil {
			c.Refused(fmt.Errorf("cancel job %d: %w", c.Job, ErrNoJob))
		}
		return
	}
	l.cancel(s, now, c.Job, false)
}

// cancel ends a job once in a pass. What its coflows have carried is by the hosts' reports; hosts send
// nothing more of them.
func (l *Loop) cancel(s *state.State, now time.Duration, id controller.JobID, expired bool) {
	j := s.Job(id)
	known := l.pass.has(func(e *state.Entry) bool { return e.Kind == state.JobCancelled && e.JobID == id })
	if j.Ended != state.Unset || known {
		return
	}
	e := state.Entry{Kind: state.JobCancelled, At: now, JobID: id, OK: expired}
	for _, c := range s.CoflowsOf(id) {
		cf := s.Coflow(c)
		if cf.Started == state.Unset || cf.Ended != state.Unset {
			continue
		}
		e.Sent = append(e.Sent, s.Sent(c, l.leftOf(c, cf)))
		l.hold(c, cf)
		l.pending.touch(c)
	}
	l.pass.add(e)
	l.reservations.idle.fill()
	l.pending.freed = true
	l.pending.note(controller.FabricChanged, now, id, -1, 0) // others have its bandwidth
}

// leftOf is what a coflow has left by the hosts' reports; all of it if there are none.
func (l *Loop) leftOf(id southbound.CoflowID, c *state.Coflow) *southbound.Remaining {
	if l.pass.left != nil {
		if left, ok := l.pass.left(id); ok && len(left.Base) == len(c.Done) {
			return &left
		}
	}
	left := southbound.Remaining{F: 1, Base: make([]float64, len(c.Done))}
	for r, size := range c.Columns.Size {
		left.Base[r] = float64(size)
	}
	return &left
}

// hold has the rows of a coflow send nothing any more.
func (l *Loop) hold(id southbound.CoflowID, c *state.Coflow) {
	for r := range c.Done {
		l.pass.steer(id, int32(r), southbound.TagHold)
	}
}

// holdCancelled has the host flows of cancelled jobs send nothing: the previous leader may have died
// before it told the hosts, or even before it started the flows.
func (l *Loop) holdCancelled(s *state.State) {
	for _, j := range s.Live().Jobs {
		if !j.Cancelled {
			continue
		}
		for _, id := range s.CoflowsOf(j.ID) {
			c := s.Coflow(id)
			if len(c.Done) == 0 {
				continue
			}
			tags := slices.Repeat([]southbound.Tag{southbound.TagHold}, len(c.Done))
			l.pass.act.Start = append(l.pass.act.Start,
				southbound.Start{Coflow: id, Src: c.Columns.Src, Dst: c.Columns.Dst,
					Size: c.Columns.Size, Tag: tags})
			l.hold(id, c)
		}
	}
}

// caps are what the rows of a stream with a rate send at most, at layer 2; nil for others.
func (l *Loop) caps(s *state.State, c *state.Coflow) []pathmap.BitsPerSecond {
	j := s.Job(c.Job)
	e := j.EdgeOf(c)
	if e.Rate == 0 {
		return nil
	}
	out := make([]pathmap.BitsPerSecond, len(c.Columns.Size))
	for r, size := range c.Columns.Size {
		rate := j.Made(e, size)
		if l.fabric.Spec.Kind != topo.Crossbar { // there rates are counted in payload
			rate = pathmap.BitsPerSecond(controller.Wire(pathmap.Bytes(rate)))
		}
		out[r] = max(rate, 1)
	}
	return out
}
