package leader

import (
	"context"

	"lightloom/controller/loop"
	"lightloom/controller/state"
)

// CreateSlice asks for a slice and returns it as it is once that is in the log. Requests need a Request. A nil Leader
// returns ErrVacant.
func (l *Leader) CreateSlice(ctx context.Context, a loop.SliceRequest) (state.Slice, error) {
	got := make(chan state.Slice, 1)
	err := l.requestSlice(ctx, a, func(s *state.State) bool {
		x, ok := s.Slice(a.Name)
		if ok = ok && x.Request == a.Request; ok {
			select {
			case got <- x:
			default:
			}
		}
		return ok
	})
	if err != nil {
		return state.Slice{}, err
	}
	return <-got, nil
}

// DeleteSlice ends a slice and returns once that is in the log. A nil Leader returns ErrVacant.
func (l *Leader) DeleteSlice(ctx context.Context, name string) error {
	return l.requestSlice(ctx, loop.SliceRequest{Name: name, Delete: true}, func(s *state.State) bool {
		_, there := s.Slice(name)
		return !there
	})
}

// requestSlice hands a request over and waits until it is met or refused. met is called inside Log.View.
func (l *Leader) requestSlice(ctx context.Context, a loop.SliceRequest, met func(*state.State) bool) error {
	w := watcher{met, make(chan error, 1)}
	a.Refused = w.answer
	return l.await(ctx, w, func(in *loop.Inputs) { in.Slices = append(in.Slices, a) })
}
