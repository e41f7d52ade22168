package program

import (
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// sharing is what a program that orders coflows has been told: the bytes left of those that send.
type sharing struct {
	*process
	left map[southbound.CoflowID][]pathmap.Bytes
}

func (a *sharing) answer(v *controller.View,
	started []*controller.CoflowView) ([]southbound.CoflowID, error) {
	if len(started) == 0 { // what has ended is told with the next coflow
		return nil, nil
	}
	if a.know(v) {
		a.left = nil
	}
	q := &Question{Now: v.Now}
	now := make(map[southbound.CoflowID][]pathmap.Bytes, len(started))
	for _, c := range started {
		left := make([]pathmap.Bytes, len(c.Src))
		for r := range left {
			left[r] = c.LeftBytes(r)
		}
		now[c.ID] = left
		told, known := a.left[c.ID]
		if !known {
			told = c.Size
			q.Coflows = append(q.Coflows, Coflow{c.ID, c.Job, c.Arrival, c.Weight, c.Deadline, c.Src,
				c.Dst, c.Size})
		}
		if !slices.Equal(told, left) {
			q.Left = append(q.Left, Left{c.ID, left})
		}
	}
	for id := range a.left {
		if now[id] == nil {
			q.Ended = append(q.Ended, id)
		}
	}
	slices.Sort(q.Ended)
	a.left = now
	got, err := a.ask(q)
	if err != nil {
		return nil, err
	}
	return got.Order, nil
}
