package session

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"testing"

	"connectrpc.com/connect"

	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
)

// behind answers as a replica whose leader has acknowledged the entry of an index; 0: it finds no leader.
type behind struct {
	apiv1connect.UnimplementedControllerHandler
	index uint64
}

func (b *behind) Status(_ context.Context,
	r *connect.Request[apiv1.StatusRequest]) (*connect.Response[apiv1.StatusResponse], error) {
	if !r.Msg.Read.GetLinearizable() || b.index == 0 {
		return nil, connect.NewError(connect.CodePermissionDenied, errors.New("no leader, and no local read"))
	}
	return connect.NewResponse(&apiv1.StatusResponse{Read: &apiv1.ReadAt{Kind: "linearizable", Index: b.index}}), nil
}

// TestAcknowledged: commands that name jobs read up to what the leader has acknowledged, and what there is without one.
func TestAcknowledged(t *testing.T) {
	for _, tt := range []struct{ index, want uint64 }{{7, 7}, {0, 0}} {
		_, h := apiv1connect.NewControllerHandler(&behind{index: tt.index})
		srv := httptest.NewServer(h)
		client := api.DialThrough(func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", srv.Listener.Addr().String())
		})
		if got := acknowledged(t.Context(), client); got.GetMinIndex() != tt.want || got.GetLinearizable() {
			t.Errorf("%d acknowledged: reads %v, want entry %d", tt.index, got, tt.want)
		}
		client.Close()
		srv.Close()
	}
}
