// Package share holds the parts of a policy that decide how fast host flows may send.
//
// It sets no rate itself: hosts pace, and a simulator models them.
package share

import (
	"lightloom/controller"
	"lightloom/southbound"
)

// TCP gives no rates: hosts share by themselves. It plans this once; a new leader's instance plans it again.
type TCP struct{ said bool }

// Wants implements the part's list of events: none.
func (*TCP) Wants() controller.KindSet { return 0 }

// Fill plans, the first time, that hosts share by themselves.
func (t *TCP) Fill(_ *controller.View, _ []controller.Event, p *controller.Plan) {
	if !t.said {
		p.Share = &southbound.Rates{Fair: true}
		t.said = true
	}
}
