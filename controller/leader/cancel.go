package leader

import (
	"context"
	"fmt"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
)

// Cancel ends a job and returns once that is in the log, or at once if the job has ended. A nil Leader
// returns ErrVacant.
func (l *Leader) Cancel(ctx context.Context, id controller.JobID) error {
	if l == nil {
		return ErrVacant
	}
	ended := func(s *state.State) bool { j := s.Job(id); return j != nil && j.Ended != state.Unset }
	var known, already bool
	l.cfg.Log.View(func(uint64) { known, already = l.cfg.State.Job(id) != nil, ended(l.cfg.State) })
	switch {
	case !known:
		return fmt.Errorf("cancel job %d: %w", id, loop.ErrNoJob)
	case already:
		return nil
	}
	w := watcher{ended, make(chan error, 1)}
	return l.await(ctx, w, func(in *loop.Inputs) {
		in.Cancels = append(in.Cancels, loop.Cancel{Job: id, Refused: w.answer})
	})
}
