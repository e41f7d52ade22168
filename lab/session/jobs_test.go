package session

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"connectrpc.com/connect"

	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/lab/console"
	"lightloom/southbound/hint"
)

// behind answers as a replica whose leader has acknowledged the entry of an index; 0: it finds no leader.
type behind struct {
	apiv1connect.UnimplementedControllerHandler
	index uint64
	alone bool // it takes itself for the leader, and no majority follows
}

func (b *behind) Status(_ context.Context,
	r *connect.Request[apiv1.StatusRequest]) (*connect.Response[apiv1.StatusResponse], error) {
	if b.alone {
		if r.Msg.Read.GetLinearizable() {
			return nil, connect.NewError(connect.CodeUnavailable, errors.New("no majority"))
		}
		return connect.NewResponse(&apiv1.StatusResponse{Replica: "a", Leader: "a"}), nil
	}
	if !r.Msg.Read.GetLinearizable() || b.index == 0 {
		return nil, connect.NewError(connect.CodePermissionDenied, errors.New("no leader, and no local read"))
	}
	return connect.NewResponse(&apiv1.StatusResponse{Read: &apiv1.ReadAt{Kind: "linearizable",
		Index: b.index}}), nil
}

// TestAcknowledged: commands that name jobs read up to what the leader has acknowledged, and what there
// is without one.
func TestAcknowledged(t *testing.T) {
	for _, tt := range []struct{ index, want uint64 }{{7, 7}, {0, 0}} {
		if got := acknowledged(t.Context(), answering(t,
			&behind{index: tt.index})); got.GetMinIndex() != tt.want ||
			got.GetLinearizable() {
			t.Errorf("%d acknowledged: reads %v, want entry %d", tt.index, got, tt.want)
		}
	}
}

// answering is a client of a replica that answers so.
func answering(t *testing.T, b *behind) *api.Client {
	t.Helper()
	_, h := apiv1connect.NewControllerHandler(b)
	srv := httptest.NewServer(h)
	client := api.DialThrough(func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", srv.Listener.Addr().String())
	})
	t.Cleanup(func() { client.Close(); srv.Close() })
	return client
}

// TestNeedLeader: commands that change something end soon, with status 3, where a leader has lost its
// majority and may not know it yet.
func TestNeedLeader(t *testing.T) {
	for _, tt := range []struct {
		name   string
		b      *behind
		within time.Duration
		status int
	}{
		{"a leader", &behind{index: 7}, time.Minute, 0},
		{"alone", &behind{alone: true}, time.Millisecond, 3},
		{"not allowed to ask", &behind{}, time.Minute, 0}, // the call itself says so
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := needLeader(t.Context(), answering(t, tt.b), "submit jobs", tt.within)
			var exit *console.ExitError
			if errors.As(err, &exit) != (tt.status != 0) || exit != nil &&
				(exit.Code != tt.status || hint.Of(err) == "") {
				t.Errorf("%v, want status %d", err, tt.status)
			}
		})
	}
}
