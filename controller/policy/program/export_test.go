package program

import (
	"bytes"
	"encoding/json"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/southbound"
)

// RouteWithin is Route with another Patience.
func RouteWithin(command string, patience time.Duration) Part {
	p := Route(command).(part[*route.Asked])
	p.patience = patience
	return p
}

// Answering returns parts of all questions that are answered by one line.
func Answering(line string) []interface {
	Fill(*controller.View, []controller.Event, *controller.Plan)
} {
	decode := func() (*Answer, error) {
		a := new(Answer)
		d := json.NewDecoder(bytes.NewReader([]byte(line)))
		d.DisallowUnknownFields()
		return a, d.Decode(a)
	}
	return []interface {
		Fill(*controller.View, []controller.Event, *controller.Plan)
	}{
		&place.Asked{Ask: func(*controller.View) ([]controller.Placement, error) {
			a, err := decode()
			return a.Place, err
		}},
		&route.Asked{Ask: func(*controller.View, []route.Choice) ([]int, error) {
			a, err := decode()
			return a.Route, err
		}},
		share.NewAsked(func(*controller.View, []*controller.CoflowView) ([]southbound.CoflowID, error) {
			a, err := decode()
			return a.Order, err
		}),
		&circuits.Asked{Ask: func(*controller.View, []circuits.Demand) (*circuits.AskedPlan, error) {
			a, err := decode()
			return &circuits.AskedPlan{Withdraw: a.Withdraw, Preempt: a.Preempt, Reserve: a.Reserve,
				Wake: a.Wake}, err
		}},
	}
}
