package target_test

import (
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
)

// TestLogin: a target that asks for a user's name and password answers calls and streams that bring
// both, once each.
func TestLogin(t *testing.T) {
	r := newRig(t, device.Optical, func(_ *device.Config, c *target.Config) {
		c.Login = target.Login{User: "ann", Password: "secret"}
	})
	c := r.raw(t)
	for _, tc := range []struct {
		name string
		md   []string
		ok   bool
	}{
		{"both", []string{"username", "ann", "password", "secret"}, true},
		{"none", nil, false},
		{"no password", []string{"username", "ann"}, false},
		{"no name", []string{"password", "secret"}, false},
		{"another password", []string{"username", "ann", "password", "secret "}, false},
		{"another name", []string{"username", "bob", "password", "secret"}, false},
		{"two passwords", []string{"username", "ann", "password", "secret", "password", "x"}, false},
	} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), tc.md...)
		want := codes.Unauthenticated
		if tc.ok {
			want = codes.OK
		}
		if _, err := c.Capabilities(ctx, &gpb.CapabilityRequest{}); status.Code(err) != want {
			t.Errorf("%s: a call: %v", tc.name, err)
		}
		s, err := c.Subscribe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		once := &gpb.SubscriptionList{Mode: gpb.SubscriptionList_ONCE,
			Subscription: []*gpb.Subscription{{Path: pathOf(t, "/connections")}}}
		// A stream without a login can be refused before it sends; then Recv says why.
		_ = s.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: once}})
		if _, err := s.Recv(); status.Code(err) != want {
			t.Errorf("%s: a stream: %v", tc.name, err)
		}
	}
}
