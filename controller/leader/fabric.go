package leader

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
)

// ErrPolicy: another policy is to decide. The leadership can begin anew at once, in the same term.
var ErrPolicy = errors.New("the policy has changed")

// Change changes the fabric and returns once that is in the log. A nil Leader returns ErrVacant.
func (l *Leader) Change(ctx context.Context, c controller.FabricChange) error {
	w := watcher{func(s *state.State) bool { return reflect.DeepEqual(s.Change(), c) }, make(chan error, 1)}
	return l.await(ctx, w, func(in *loop.Inputs) {
		in.Changes = append(in.Changes, loop.ChangeRequest{Change: &c, Refused: w.tell})
	})
}

// otherPolicy reports whether entries that have been applied have another policy decide from now on.
func (l *Leader) otherPolicy(entries []state.Entry) (other bool) {
	if !slices.ContainsFunc(entries, func(e state.Entry) bool { return e.Kind == state.FabricChanged }) {
		return false
	}
	l.cfg.Log.View(func(uint64) { other = l.cfg.State.Change().Policy != l.cfg.Policy })
	return other
}
