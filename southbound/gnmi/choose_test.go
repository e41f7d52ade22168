package gnmi_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
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
