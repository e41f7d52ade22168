package api

import (
	"slices"
	"testing"

	"connectrpc.com/connect"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/southbound/pki"
)

// TestWiringFor: a tenant wires under its own name and takes nothing over; an operator speaks for others.
func TestWiringFor(t *testing.T) {
	court := newCourt(t)
	for name, tt := range map[string]struct {
		who  string
		r    *apiv1.WiringRequest
		says []string // on whose behalf, and who holds the lease
		code Code
	}{
		"tenant":                 {"tenant", &apiv1.WiringRequest{What: WireApply}, []string{"client/tenant", "tenant"}, ""},
		"tenant by name":         {"tenant", &apiv1.WiringRequest{What: WireRelease, Holder: "tenant"}, []string{"client/tenant", "tenant"}, ""},
		"tenant for another":     {"tenant", &apiv1.WiringRequest{What: WireApply, Holder: "other"}, nil, Denied},
		"tenant takes over":      {"tenant", &apiv1.WiringRequest{What: WireApply, TakeOver: true}, nil, Denied},
		"operator for another":   {"operator", &apiv1.WiringRequest{What: WireExtend, Holder: "other"}, []string{"client/operator", "other"}, ""},
		"operator takes over":    {"operator", &apiv1.WiringRequest{What: WireApply, TakeOver: true}, []string{"client/operator", "operator"}, ""},
		"nothing is said":        {"admin", &apiv1.WiringRequest{}, nil, Invalid},
		"a plan changes nothing": {"admin", &apiv1.WiringRequest{What: WirePlan}, nil, Invalid},
		"it ends in the past":    {"admin", &apiv1.WiringRequest{What: WireApply, LifeNs: -1}, nil, Invalid},
		"too much":               {"admin", &apiv1.WiringRequest{What: WireApply, Links: string(make([]byte, maxLinksText+1))}, nil, TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			c := court.caller(t, party{name: tt.who, tls: court.issue(t, pki.Client, tt.who).Client("", pki.Controller)}, 0)
			got, err := c.Wire(t.Context(), connect.NewRequest(tt.r))
			if err != nil {
				if code := CodeOf(decode(err)); code != tt.code {
					t.Errorf("%s: %v, want %q", code, err, tt.code)
				}
				return
			}
			if tt.code != "" || !slices.Equal(got.Msg.Strays, tt.says) {
				t.Errorf("%v, want %v or %q", got.Msg.Strays, tt.says, tt.code)
			}
		})
	}
}
