package replica

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLost is the cause of the end of a leading function's context when leadership is lost.
var ErrLost = errors.New("leadership is lost")

// barrierRetry is the pause after which a leader retries a barrier that was not accepted.
const barrierRetry = 20 * time.Millisecond

// Leadership runs lead whenever this node leads, until ctx ends: after a barrier, so that the machine
// holds everything that was ever committed, with a context that ends when leadership does, and one at a
// time: it waits for lead to return before it runs it for a later term. lead appends with AppendIn and
// its term.
//
// lead returning nil has nothing more to do in its term. An error from lead while it still leads ends
// Leadership, which returns it after handing leadership on: a leader that cannot work must not hold the
// place. ErrDisk is no such error: raft steps down by itself, and the node leads again when its disk is
// well. Leadership returns nil when ctx ends, ErrClosed when the node is closed and Failed when it has
// ended by itself.
func (n *Node) Leadership(ctx context.Context, lead func(ctx context.Context, term uint64) error) error {
	for last := uint64(0); ; {
		t, err := n.track.next(ctx, last)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("lead: %w", err)
		}
		last = t.term
		err = n.reign(ctx, t, lead)
		switch {
		case errors.Is(err, ErrDisk): // raft gives the place up
		case errors.Is(err, ErrNotLeader):
			last-- // the place was being handed on; should that come to nothing, the same term goes on
		case err != nil:
			return errors.Join(fmt.Errorf("lead in term %d: %w", t.term, err), n.StepDown())
		}
	}
}

// reign runs lead for one leadership term.
func (n *Node) reign(ctx context.Context, t *leadershipTerm,
	lead func(context.Context, uint64) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.ctx, func() { cancel(ErrLost) })()
	for n.Barrier(ctx) != nil {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(barrierRetry):
		}
	}
	err := lead(ctx, t.term)
	if ctx.Err() != nil || t.ctx.Err() != nil { // the first follows the second, a moment later
		return nil // whatever lead met on its way out
	}
	return err
}
