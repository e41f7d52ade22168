package api

import (
	"testing"

	"connectrpc.com/connect"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/southbound/pki"
)

// TestLeaderExplainsSlices: whichever replica is asked why a slice waits, the leader says it; of any other slice each
// says what it knows. Tenants get no word about a slice of another.
func TestLeaderExplainsSlices(t *testing.T) {
	c := newCourt(t)
	for _, tt := range []struct {
		who, slice, want string
	}{
		{"tenant", "waits", "said by r0"}, {"tenant", "t", ""}, {"operator", "waits", "said by r0"},
	} {
		p := party{tls: c.issue(t, pki.Client, tt.who).Client("", pki.Controller)}
		for i := range 2 {
			got, err := c.caller(t, p, i).GetSlice(within(t, hanging),
				connect.NewRequest(&apiv1.GetSliceRequest{Name: tt.slice}))
			if err != nil || got.Msg.Slice.Message != tt.want {
				t.Errorf("%s asks r%d about %s: %v, %v", tt.who, i, tt.slice, got, err)
			}
		}
	}
	other := party{tls: c.issue(t, pki.Client, "other").Client("", pki.Controller)}
	for i := range 2 {
		got, err := c.caller(t, other, i).GetSlice(within(t, hanging),
			connect.NewRequest(&apiv1.GetSliceRequest{Name: "waits"}))
		if err == nil {
			t.Errorf("another tenant reads %v of r%d", got.Msg, i)
		}
	}
}
