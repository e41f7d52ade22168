package conformance_test

import (
	"context"
	"net"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mute takes every call and answers none.
type mute struct{ gpb.UnimplementedGNMIServer }

func (mute) Capabilities(ctx context.Context, _ *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (mute) Get(ctx context.Context, _ *gpb.GetRequest) (*gpb.GetResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (mute) Set(ctx context.Context, _ *gpb.SetRequest) (*gpb.SetResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (mute) Subscribe(s gpb.GNMI_SubscribeServer) error { <-s.Context().Done(); return nil }

// eager says yes to everything and holds nothing.
type eager struct{ gpb.UnimplementedGNMIServer }

func (eager) Capabilities(context.Context, *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	return &gpb.CapabilityResponse{}, nil
}
func (eager) Get(context.Context, *gpb.GetRequest) (*gpb.GetResponse, error) {
	return &gpb.GetResponse{}, nil
}
func (eager) Set(context.Context, *gpb.SetRequest) (*gpb.SetResponse, error) {
	return &gpb.SetResponse{}, nil
}
func (eager) Subscribe(gpb.GNMI_SubscribeServer) error { return nil }

// TestBadTargets: targets that answer nothing, that offer nothing, and that take anything, break rules;
// none of them holds the kit up for longer than its rules can take, and nothing is left running.
func TestBadTargets(t *testing.T) {
	for _, tt := range []struct {
		name    string
		server  gpb.GNMIServer
		timeout time.Duration
		broken  []string // at least these
	}{
		{"mute", mute{}, 20 * time.Millisecond, []string{"capabilities", "get-typed", "once",
			"poll", "poll-close",
			"poll-updates-only", "stream", "sample", "set-unknown", "arbitration"}},
		{"empty", gpb.UnimplementedGNMIServer{}, 200 * time.Millisecond,
			[]string{"capabilities", "get-typed", "once", "poll",
				"poll-close", "poll-updates-only", "stream", "sample", "set-unknown", "arbitration"}},
		{"eager", eager{}, 200 * time.Millisecond,
			[]string{"capabilities", "get-unknown", "get-encoding", "once", "poll",
				"poll-close", "poll-updates-only", "stream", "sample", "set-unknown", "set-malformed",
				"set-wrapped", "set-read-only", "arbitration"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, p := range []gnmi.Profile{gnmi.OpenConfig{Ports: 4, Racks: 4}, gnmi.OCP{Ports: 4}} {
				findings := conformance.Run(t.Context(), serve(t, tt.server), p, 4,
					conformance.Options{Write: true, Timeout: tt.timeout})
				got := map[string]conformance.Finding{}
				for _, f := range findings {
					got[f.Rule] = f
				}
				for _, name := range tt.broken {
					if f := got[name]; f.Result != conformance.Broken || f.Why == "" {
						t.Errorf("%s, %s: %+v", p.Name(), name, f)
					}
				}
			}
		})
	}
}

func serve(t *testing.T, v gpb.GNMIServer) *grpc.ClientConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	gpb.RegisterGNMIServer(s, v)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	conn, err := grpc.NewClient("passthrough:///"+l.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		s.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return conn
}
