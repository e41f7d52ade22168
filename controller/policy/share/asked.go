package share

import (
	"cmp"
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// Asked is an Ordered whose order comes from a question.
type Asked struct {
	Ordered
	ask func(v *controller.View, started []*controller.CoflowView) ([]southbound.CoflowID, error)
	v   *controller.View
	err error
}

// NewAsked returns the part that serves coflows in the order that ask returns for those that may send.
// Coflows that it leaves out come last, by id.
func NewAsked(ask func(v *controller.View, started []*controller.CoflowView) ([]southbound.CoflowID,
	error)) *Asked {
	a := &Asked{ask: ask}
	a.order = asking{a}
	return a
}

// Fill sets the rates of all coflows.
func (a *Asked) Fill(v *controller.View, ev []controller.Event, p *controller.Plan) {
	a.v, a.err = v, nil
	a.Ordered.Fill(v, ev, p)
	a.v = nil
	if a.err != nil {
		p.Err, p.Share = fmt.Errorf("order coflows: %w", a.err), nil
	}
}

type asking struct{ *Asked }

func (a asking) rank(_ *topologyContext, all []demand) {
	slices.SortFunc(all, func(a, b demand) int { return cmp.Compare(a.c.ID, b.c.ID) })
	started := make([]*controller.CoflowView, len(all))
	for i := range all {
		started[i] = all[i].c
	}
	order, err := a.ask(a.v, started)
	if err != nil {
		a.err = err
		return
	}
	place := make(map[southbound.CoflowID]int, len(order))
	for i, id := range order {
		_, known := slices.BinarySearchFunc(started, id,
			func(c *controller.CoflowView, id southbound.CoflowID) int {
				return cmp.Compare(c.ID, id)
			})
		if _, twice := place[id]; twice || !known {
			a.err = fmt.Errorf("coflow %d is named twice, or does not send", id)
			return
		}
		place[id] = i
	}
	at := func(d *demand) int {
		if i, ok := place[d.c.ID]; ok {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(all, func(a, b demand) int { return cmp.Compare(at(&a), at(&b)) })
}
