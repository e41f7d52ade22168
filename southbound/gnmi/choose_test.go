package gnmi_test

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/pki"
)

// TestChoose: of several profiles a session takes the first that fits what the device speaks, and says
// what that is where none does.
func TestChoose(t *testing.T) {
	addr := serve(t, counter{villain{subscribe: func(gpb.GNMI_SubscribeServer) error { return nil }}})
	srl, plain := gnmi.SRLinux{Ports: 4, Racks: 4}, gnmi.OpenConfig{Ports: 4, Racks: 4}
	base := gnmi.Config{Name: "tor", Addr: addr, Plaintext: true, Timeout: time.Minute}
	for _, tc := range []struct {
		name   string
		change func(*gnmi.Config)
		want   gnmi.Profile
		err    string
	}{
		{"one", func(c *gnmi.Config) { c.Profile = plain }, plain, ""},
		{"the second", func(c *gnmi.Config) { c.Choose = []gnmi.Profile{srl, plain} }, plain, ""},
		{"none of them", func(c *gnmi.Config) { c.Choose = []gnmi.Profile{srl} }, nil,
			"no profile fits: the device speaks openconfig-"},
		{"not that", func(c *gnmi.Config) { c.Profile = srl }, nil, `dial device "tor"`},
		{"nothing", func(*gnmi.Config) {}, nil, "no profile"},
		{"no TLS", func(c *gnmi.Config) { c.Profile, c.Plaintext = plain, false }, nil, "no TLS configuration"},
		{"plaintext far away", func(c *gnmi.Config) { c.Profile, c.Addr = plain, "192.0.2.1:1" }, nil,
			"plaintext to 192.0.2.1:1: it is taken on loopback addresses only"},
	} {
		cfg := base
		tc.change(&cfg)
		s, err := gnmi.Dial(t.Context(), cfg)
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: error %v, want %q", tc.name, err, tc.err)
			}
			if strings.HasPrefix(tc.err, "no profile fits") && !errors.Is(err, southbound.ErrUnsupported) {
				t.Errorf("%s: %v is not marked unsupported", tc.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if s.Profile() != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, s.Profile(), tc.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDialExpired: who has a certificate that has expired learns at once that the device does not take it; a device
// that does not look is reached.
func TestDialExpired(t *testing.T) {
	auth, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	device, err := auth.Issue(pki.Switch, "tor")
	if err != nil {
		t.Fatal(err)
	}
	old, err := auth.IssueUntil(time.Now().Add(-2*time.Hour), time.Hour, pki.Controller, "c")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		client *tls.Config
		looks  bool
	}{
		{"fixed", old.Client("tor", pki.Switch), true},
		{"newest", pki.Static(old).Client("tor", pki.Switch), true},
		{"not looked at", old.Client("tor", pki.Switch), false},
	} {
		server := device.Server(pki.Controller)
		if !tc.looks {
			server.ClientAuth, server.VerifyConnection = tls.RequestClientCert, nil
		}
		addr := serve(t, counter{villain{}}, grpc.Creds(credentials.NewTLS(server)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		s, err := gnmi.Dial(ctx, gnmi.Config{Name: "tor", Addr: addr, TLS: tc.client,
			Profile: gnmi.OpenConfig{Ports: 4, Racks: 4}})
		if tc.looks && (status.Code(err) != codes.Unavailable || ctx.Err() != nil) {
			t.Errorf("%s: %v, %v", tc.name, err, ctx.Err())
		}
		if !tc.looks && err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if s != nil {
			err = s.Close()
		}
		if cancel(); s != nil && err != nil {
			t.Error(err)
		}
	}
}
