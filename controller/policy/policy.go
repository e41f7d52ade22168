// Package policy makes policies out of parts and keeps the one visible list of them. A part answers one
// of four questions: where tasks run, which circuits are set up, which paths host flows take, how fast
// they may send. A joint part answers several at once.
//
// It decides only: what it answers is checked and carried out by others.
package policy

import (
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
)

// Part answers one question: it reads the view and the plan so far and writes its own fields of the plan.
type Part interface {
	// Fill adds the part's answer to p. It does not write to v, nor keep anything of it or of p.
	Fill(v *controller.View, ev []controller.Event, p *controller.Plan)
}

// eventFilter is a Part that names the events which can change its answer; other parts are called at every
// event.
type eventFilter interface {
	Wants() controller.KindSet
}

// Compose returns a policy that calls the parts in this order: place; circuits (and the host flows that
// each carries); route (what is left on packets); share (both). A nil part leaves its question open.
func Compose(where, circuits, route, share Part) controller.Policy {
	return compose([questions]Part{where, circuits, route, share}, new(place.Reads),
		controller.Capabilities{Circuits: circuits != nil})
}

// readsLate reports whether a part reads nothing of what coflows have left before View.ReadRemaining. It goes by the
// type itself, so that no part that embeds one of these passes for it.
func readsLate(p Part) bool {
	switch p.(type) {
	case nil, *place.Packer, route.Shortest, *share.TCP, *share.Priority:
		return true
	}
	return false
}

// compose has reads complete what the part that places has placed; nil leaves it as it is.
func compose(parts [questions]Part, reads Part, can controller.Capabilities) *composed {
	c := &composed{can: can}
	c.can.Late = !slices.ContainsFunc(parts[:], func(p Part) bool { return !readsLate(p) })
	for q, p := range parts {
		if p == nil {
			continue
		}
		c.parts = append(c.parts, p)
		c.wants |= wants(p)
		if Question(q) == Place && reads != nil {
			c.parts = append(c.parts, reads)
		}
	}
	return c
}

// wants are the events at which a part is asked; nil: none.
func wants(p Part) controller.KindSet {
	if p == nil {
		return 0
	}
	if w, ok := p.(eventFilter); ok {
		return w.Wants()
	}
	return ^controller.KindSet(0)
}

// ReadBeside has tasks of a policy of Compose or New read blocks of other racks beside the network.
func ReadBeside(p controller.Policy) {
	c, _ := p.(*composed)
	for i := 0; c != nil && i < len(c.parts); i++ {
		switch part := c.parts[i].(type) {
		case *place.Reads:
			part.Beside = true
		case *place.Packer:
			part.Beside = true
		}
	}
}

type composed struct {
	parts []Part
	can   controller.Capabilities
	wants controller.KindSet
	plan  controller.Plan
}

func (c *composed) Wants() controller.KindSet { return c.wants }

func (c *composed) Capabilities() controller.Capabilities { return c.can }

func (c *composed) Decide(v *controller.View, ev []controller.Event) *controller.Plan {
	c.plan.Reset()
	for _, p := range c.parts {
		p.Fill(v, ev, &c.plan)
	}
	return &c.plan
}
