package api

import (
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/southbound/pki"
)

type request = apiv1.WiringRequest

// TestWiringFor: a tenant wires under its own name and takes nothing over; an operator speaks for others.
func TestWiringFor(t *testing.T) {
	court := newCourt(t)
	both := func(caller, holder string) []string { return []string{"client/" + caller, holder} }
	large := strings.Repeat("x", maxLinksText+1)
	for name, tt := range map[string]struct {
		who  string
		r    *request
		says []string // on whose behalf, and who holds the lease
		code Code
	}{
		"tenant":                 {"tenant", &request{What: WireApply}, both("tenant", "tenant"), ""},
		"tenant by name":         {"tenant", &request{What: WireRelease, Holder: "tenant"}, both("tenant", "tenant"), ""},
		"tenant for another":     {"tenant", &request{What: WireApply, Holder: "other"}, nil, Denied},
		"tenant takes over":      {"tenant", &request{What: WireApply, TakeOver: true}, nil, Denied},
		"operator for another":   {"operator", &request{What: WireExtend, Holder: "other"}, both("operator", "other"), ""},
		"operator takes over":    {"operator", &request{What: WireApply, TakeOver: true}, both("operator", "operator"), ""},
		"nothing is said":        {"admin", &request{}, nil, Invalid},
		"a plan changes nothing": {"admin", &request{What: WirePlan}, nil, Invalid},
		"it ends in the past":    {"admin", &request{What: WireApply, LifeNs: -1}, nil, Invalid},
		"too much":               {"admin", &request{What: WireApply, Links: large}, nil, TooLarge},
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
