package leader

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/southbound"
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

// DeleteSlice ends a slice and returns once that is in the log. One that is not there is loop.ErrNoSlice, also where
// the log grows before the loop can say so. A nil Leader returns ErrVacant.
func (l *Leader) DeleteSlice(ctx context.Context, name string) error {
	if l == nil {
		return ErrVacant
	}
	there := false
	l.cfg.Log.View(func(uint64) { _, there = l.cfg.State.Slice(name) })
	if !there {
		return fmt.Errorf("delete slice %q: %w", name, loop.ErrNoSlice)
	}
	return l.requestSlice(ctx, loop.SliceRequest{Name: name, Delete: true}, func(s *state.State) bool {
		_, there := s.Slice(name)
		return !there
	})
}

// MakeRoom returns the moves of slices after which a shape fits, nil where none are found. With do it returns once
// they are in the log. A nil Leader returns ErrVacant.
func (l *Leader) MakeRoom(ctx context.Context, shape torus.Shape, do bool) (*torus.Defragmentation, error) {
	var plan atomic.Pointer[torus.Defragmentation]
	err := l.requestSlice(ctx, loop.SliceRequest{Shape: shape, MakeRoom: &loop.MakeRoom{Do: do,
		Planned: func(d *torus.Defragmentation) { plan.Store(d) }}}, func(s *state.State) bool {
		d := plan.Load()
		return do && d != nil && len(d.Moves) > 0 && !slices.ContainsFunc(d.Moves, func(m torus.Move) bool {
			x, ok := s.Slice(m.Name)
			return ok && (x.Place == nil || !slices.Equal(x.Place.Parts, m.To.Parts))
		})
	})
	return plan.Load(), err
}

// requestSlice hands a request over and waits until it is met or refused. met is called inside Log.View.
func (l *Leader) requestSlice(ctx context.Context, a loop.SliceRequest, met func(*state.State) bool) error {
	w := watcher{met, make(chan error, 1)}
	a.Refused = w.answer
	return l.await(ctx, w, func(in *loop.Inputs) { in.Slices = append(in.Slices, a) })
}

// away is what slices could not use when they were last settled.
type away struct {
	cubes    []int                 // or racks
	switches []southbound.DeviceID // optical ones
}

// noteAway notes what slices cannot use, for those who ask.
func (l *Leader) noteAway() {
	now := away{l.loop.AwayCubes(), l.loop.AwaySwitches()}
	was := l.away.Load()
	if was == nil && now.cubes != nil ||
		was != nil && !(slices.Equal(was.cubes, now.cubes) && slices.Equal(was.switches, now.switches)) {
		l.away.Store(&now)
	}
}

// Away returns the cubes or racks that slices cannot use, and the optical switches that are silent: which switches are,
// this leadership alone knows. It is false of a nil Leader, and of one that has not settled slices yet. Borrowed.
func (l *Leader) Away() (cubes []int, switches []southbound.DeviceID, known bool) {
	if l == nil {
		return nil, nil, false
	}
	at := l.away.Load()
	if at == nil {
		return nil, nil, false
	}
	return at.cubes, at.switches, true
}
