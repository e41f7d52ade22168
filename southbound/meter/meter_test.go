package meter_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"lightloom/southbound"
	"lightloom/southbound/meter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a device whose answers are given.
type fake struct {
	err    error
	events []southbound.DeviceEvent
}

func (f *fake) Set(context.Context, *southbound.Change) error { return f.err }
func (f *fake) Read(context.Context) (southbound.Seen, error) { return southbound.Seen{}, f.err }
func (f *fake) Watch(ctx context.Context, sink func(southbound.DeviceEvent)) error {
	for _, e := range f.events {
		sink(e)
	}
	<-ctx.Done()
	return f.err
}

// TestMeter: what a device does is counted, under its name, and served.
func TestMeter(t *testing.T) {
	reg := prometheus.NewRegistry()
	m, err := meter.New(reg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := meter.New(reg); err == nil {
		t.Error("the same metrics were registered twice")
	}
	now := time.Duration(0)
	f := &fake{}
	d := m.Device("ocs", f, func() time.Duration { now += time.Millisecond; return now })
	connect := &southbound.Change{Connect: []southbound.CrossConnect{{In: 0, Out: 1}}}
	for _, err := range []error{nil, southbound.ErrRefused, southbound.ErrNotLeader, errors.New("gone")} {
		f.err = err
		if got := d.Set(t.Context(), connect); !errors.Is(got, err) {
			t.Errorf("%v, want %v", got, err)
		}
	}
	f.err = nil
	if _, err := d.Read(t.Context()); err != nil {
		t.Error(err)
	}
	status := func(in, out southbound.Port, s southbound.Status) southbound.DeviceEvent {
		return southbound.DeviceEvent{Kind: southbound.ConnectionStatus, In: in, Out: out, Status: s}
	}
	f.events = []southbound.DeviceEvent{status(2, 2, southbound.Failed), {Kind: southbound.Synced},
		status(0, 1, southbound.PendingConnection), status(0, 1, southbound.Connected)}

	l, err := meter.Listen("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served, watched := make(chan error, 1), make(chan error, 1)
	go func() { served <- meter.Serve(ctx, l, reg) }()
	told := make(chan struct{}, len(f.events))
	go func() { watched <- d.Watch(ctx, func(southbound.DeviceEvent) { told <- struct{}{} }) }()
	for range f.events {
		<-told
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(fmt.Sprintf("http://%s/metrics", l.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`lightloom_device_sets_total{device="ocs",result="accepted"} 1`,
		`lightloom_device_sets_total{device="ocs",result="refused"} 1`,
		`lightloom_device_sets_total{device="ocs",result="not_leader"} 1`,
		`lightloom_device_sets_total{device="ocs",result="unknown"} 1`,
		`lightloom_device_sets_waiting{device="ocs"} 0`,
		`lightloom_device_reads_total{device="ocs",result="accepted"} 1`,
		`lightloom_device_stream_synced{device="ocs"} 1`,
		`lightloom_device_circuits{device="ocs",status="CONNECTED"} 1`,
		`lightloom_device_circuits{device="ocs",status="FAILED"} 1`,
		`lightloom_device_circuits{device="ocs",status="PENDING_CONNECTION"} 0`,
		`lightloom_circuit_stage_seconds_count{device="ocs",stage="rpc"} 1`,
		`lightloom_circuit_stage_seconds_count{device="ocs",stage="settle"} 1`,
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	cancel()
	if err := errors.Join(<-served, <-watched); err != nil {
		t.Error(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, x := range family.GetMetric() {
			if family.GetName() == "lightloom_device_circuits" && x.GetGauge().GetValue() != 0 {
				t.Errorf("after the stream: %v", x)
			}
		}
	}
}

func TestListen(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":9100", "192.0.2.1:9100", "9100", "example.com:9100"} {
		if l, err := meter.Listen(addr, nil); err == nil {
			t.Errorf("%s: plaintext is served there", addr)
			_ = l.Close()
		}
	}
}
