package flowsim

import (
	"testing"

	"lightloom/southbound"
)

// TestHeld: a withheld host flow is on no route and in no class, and loses no bytes by it, however
// often it is withheld.
func TestHeld(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{})
	wire(t, s)
	rates(t, s, southbound.Rates{Fair: true})
	start(t, s, 0, row{0, 2, mb, southbound.TagHold}, row{1, 3, mb, 0})
	f := s.fluid
	tags := []southbound.Tag{0, southbound.TagHold, 1, southbound.TagHold, southbound.TagHold}
	for i, tag := range tags {
		before := f.leftOf(0)
		if err := s.Host().Steer([]southbound.Steer{{HostFlowKey: key(0, 0), Tag: tag}}); err != nil {
			t.Fatal(err)
		}
		advance(t, s, s.Now()+ms)
		held := tag == southbound.TagHold
		if after := f.leftOf(0); (after == before) != held || after <= 0 {
			t.Errorf("step %d: %v left of %v, and it is withheld: %v", i, after, before, held)
		}
		if got := f.hostFlows[0].class == onHold; got != held {
			t.Errorf("step %d: its class is %d", i, f.hostFlows[0].class)
		}
		if got := f.routes[f.hostFlows[0].route].live; (got == 0) != held {
			t.Errorf("step %d: %d host flows on its route", i, got)
		}
	}
	left := f.leftOf(0)
	for _, co := range f.coflows {
		for b := co.first; b < co.end; b++ {
			f.account(b)
		}
	}
	if got, want := f.hostFlows[0].counted, f.hostFlows[0].size-ceil(left); got != want {
		t.Errorf("%d bytes counted, want %d", got, want)
	}
}
