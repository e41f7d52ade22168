package run

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/pki"
)

func TestMetricsAddress(t *testing.T) {
	for _, tt := range []struct {
		addr string
		i    int
		want string
	}{{"", 2, ""}, {"127.0.0.1:9101", 0, "127.0.0.1:9101"}, {"127.0.0.1:9101", 2, "127.0.0.1:9103"}, {"[::1]:0", 4, "[::1]:0"},
		{"9101", 0, "!"}, {"127.0.0.1:65535", 1, "!"}, {"127.0.0.1:http", 0, "!"}} {
		got, err := MetricsAddress(tt.addr, tt.i)
		if err != nil {
			got = "!"
		}
		if got != tt.want {
			t.Errorf("%q, %d: %q, want %q", tt.addr, tt.i, got, tt.want)
		}
	}
}

// quiet is a device that takes everything.
type quiet struct{}

func (quiet) Set(context.Context, *southbound.Change) error                   { return nil }
func (quiet) Read(context.Context) (southbound.Seen, error)                   { return southbound.Seen{}, nil }
func (quiet) Watch(context.Context, func(southbound.DeviceEvent)) (err error) { return nil }

// TestExporter: what a replica's devices do is served; without an address nothing is.
func TestExporter(t *testing.T) {
	if x, err := newExporter("", pki.Identity{}); x != nil || err != nil {
		t.Errorf("%v, %v", x, err)
	}
	x, err := newExporter("127.0.0.1:0", pki.Identity{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- x.run(ctx) }()
	began := time.Now()
	d := x.meter.Device("ocs", quiet{}, func() time.Duration { return time.Since(began) })
	if err := d.Set(ctx, &southbound.Change{}); err != nil {
		t.Error(err)
	}
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get("http://" + x.ln.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil || !strings.Contains(string(text), `lightloom_device_sets_total{device="ocs",result="accepted"} 1`) || !strings.Contains(string(text), "go_goroutines") {
		t.Errorf("%v\n%s", err, text)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
