package gnmi_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
)

// TestReadOnce: a device that implements no Get is read with one subscription. If the subscription ends
// before sync_response, that is an error: missing state would be taken for absent state.
func TestReadOnce(t *testing.T) {
	connection := func(in, out int) *gpb.SubscribeResponse {
		return &gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_Update{Update: says(
			fmt.Sprintf("/connections/port-connection[name=in%d-out%d]", in, out),
			fmt.Sprintf(`{"name":"in%d-out%d","state":{"status":"CONNECTED"}}`, in, out))}}
	}
	synced := &gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_SyncResponse{SyncResponse: true}}
	odd := &gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_Update{Update: says("/connections", `[]`)}}
	for _, tt := range []struct {
		name  string
		sends []*gpb.SubscribeResponse
		ends  error
		want  int // connections
		says  string
	}{
		{"nothing stands", []*gpb.SubscribeResponse{synced}, nil, 0, ""},
		{"two updates", []*gpb.SubscribeResponse{connection(0, 1), connection(2, 3), synced}, nil, 2, ""},
		{"what follows is not read", []*gpb.SubscribeResponse{connection(0, 1), synced, odd}, nil, 1, ""},
		{"ended without a word", []*gpb.SubscribeResponse{connection(0, 1)}, nil, 0, "before sync_response"},
		{"refused", nil, status.Error(codes.PermissionDenied, "not for you"), 0, "not for you"},
		{"broken off", []*gpb.SubscribeResponse{connection(0, 1)},
			status.Error(codes.Unavailable, "going down"), 0,
			"going down"},
		{"implements neither", nil, status.Error(codes.Unimplemented, "no such call"), 0, "no such call"},
		{"what is no value", []*gpb.SubscribeResponse{connection(0, 1), odd, synced}, nil, 0,
			"want a JSON object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := make(chan *gpb.SubscribeRequest, 1)
			d := dial(t, serve(t, villain{
				get: func(context.Context) (*gpb.GetResponse, error) {
					return nil, status.Error(codes.Unimplemented, "no Get")
				},
				subscribe: func(s gpb.GNMI_SubscribeServer) error {
					req, err := s.Recv()
					if err != nil {
						return err
					}
					asked <- req
					for _, r := range tt.sends {
						if err := s.Send(r); err != nil {
							return err
						}
					}
					return tt.ends
				},
			}), nil)
			seen, err := d.Read(t.Context())
			switch {
			case tt.says == "" && (err != nil || len(seen.Connections) != tt.want):
				t.Errorf("%+v, %v; want %d connections", seen, err, tt.want)
			case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("%+v, %v; want %q", seen, err, tt.says)
			}
			for _, c := range seen.Connections {
				if c.Status != southbound.Connected {
					t.Errorf("%+v", c)
				}
			}
			select {
			case r := <-asked:
				if l := r.GetSubscribe(); l.GetMode() != gpb.SubscriptionList_ONCE || len(l.GetSubscription()) != 1 {
					t.Errorf("it is asked for %v", l)
				}
			default:
				t.Error("the answer did not wait for the device")
			}
		})
	}
}
