package probe_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/gnmi/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stranger speaks models that are given, and answers each Get with a value at its path.
type stranger struct {
	gpb.UnimplementedGNMIServer
	models []schema.Module
	value  string // JSON; "" means no answer at all
}

func (s stranger) Capabilities(context.Context, *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	c := &gpb.CapabilityResponse{GNMIVersion: "0.10.0"}
	for _, m := range s.models {
		c.SupportedModels = append(c.SupportedModels, &gpb.ModelData{Name: m.Name, Organization: m.Organization,
			Version: m.Version})
	}
	return c, nil
}

func (s stranger) Get(ctx context.Context, req *gpb.GetRequest) (*gpb.GetResponse, error) {
	if s.value == "" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &gpb.GetResponse{Notification: []*gpb.Notification{{Update: []*gpb.Update{{Path: req.GetPath()[0],
		Val: &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(s.value)}}}}}}}, nil
}

// TestStrangers: for a device that fits no profile the report lists what it supports. For one that fits
// and whose state is nonsense, or never comes, the report gives the profile and why its state is
// unknown.
func TestStrangers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		models []schema.Module
		value  string
		best   string // profile
		why    string // of the best, or of there being none
	}{
		{"of no profile", []schema.Module{{Name: "ietf-interfaces"}}, "{}", "",
			"the device speaks ietf-interfaces"},
		{"empty", schema.OpenConfig().Modules, "{}", "openconfig", ""},
		{"nonsense", schema.OpenConfig().Modules, `["x"]`, "openconfig", "its state cannot be read"},
		{"no JSON", schema.OpenConfig().Modules, `{`, "openconfig", "its state cannot be read"},
		{"silent", schema.OpenConfig().Modules, "", "openconfig", "its state cannot be read"},
		{"another version", []schema.Module{{Name: schema.OCPModule, Version: "99"}}, "{}", "",
			schema.OCPModule},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			report, err := probe.Ask(ctx, serve(t, stranger{models: tt.models, value: tt.value}))
			if err != nil {
				t.Fatal(err)
			}
			best, err := report.Best()
			why := best.Why
			if err != nil {
				why = err.Error()
			}
			if best.Profile != tt.best || !strings.Contains(why, tt.why) || tt.why == "" && why != "" {
				t.Errorf("%+v, %v", best, err)
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
