package leader

import (
	"context"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
)

// Grant changes what a certificate's name is granted and returns once that is in the log. A nil Leader
// returns ErrVacant.
func (l *Leader) Grant(ctx context.Context, g controller.Grant) error {
	w := watcher{func(s *state.State) bool { return s.Access(g.Name) == g.Access }, make(chan error, 1)}
	return l.await(ctx, w, func(in *loop.Inputs) {
		in.Grants = append(in.Grants, loop.GrantRequest{Grant: g, Refused: w.answer})
	})
}
