package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"lightloom/controller/replica"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/pki"
)

func TestMetricsAddress(t *testing.T) {
	for _, tt := range []struct {
		addr string
		i    int
		want string
	}{{"", 2, ""}, {"127.0.0.1:9101", 0, "127.0.0.1:9101"}, {"127.0.0.1:9101", 2, "127.0.0.1:9103"},
		{"[::1]:0", 4, "[::1]:0"},
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

func (quiet) Set(context.Context, *southbound.Change) error { return nil }
func (quiet) Read(context.Context) (southbound.Seen,
	error) {
	return southbound.Seen{}, nil
}
func (quiet) Watch(context.Context, func(southbound.DeviceEvent)) (err error) { return nil }

// TestExporter: what a replica's devices do is served; without an address nothing is.
func TestExporter(t *testing.T) {
	if x, err := newExporter("", nil, 0); x != nil || err != nil {
		t.Errorf("%v, %v", x, err)
	}
	ca, err := pki.New(time.Hour)
	must(t, err)
	id, err := ca.Issue(pki.Controller, "c0")
	must(t, err)
	x, err := newExporter("127.0.0.1:0", pki.Static(id), 2)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- x.run(ctx) }()
	x.registry.MustRegister(newFigures(func() *standing {
		return &standing{Stats: replica.Stats{DiskFailing: true, DiskFailures: 3, Leader: "c0"},
			Counts: state.Counts{Jobs: 9, JobsEnded: 4, JobsWaiting: 3}, leads: true, backlogJobs: 7}
	}))
	x.answered()("GetJob", "ok", time.Millisecond)
	x.answered()("WatchJobs", "denied", 0)
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
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		t.Error(err)
	}
	for _, want := range []string{`lightloom_device_sets_total{device="ocs",result="accepted"} 1`,
		"lightloom_replica_restarts_total 2", "lightloom_replica_disk_failing 1", "lightloom_replica_disk_failures_total 3",
		"lightloom_replica_leads 1", "lightloom_replica_ready 0", "lightloom_leader_known 1", "lightloom_backlog_jobs 7",
		`lightloom_jobs{phase="waiting"} 3`, `lightloom_jobs{phase="placed"} 2`, "lightloom_jobs_ended_total 4",
		`lightloom_api_calls_total{call="GetJob",code="ok"} 1`, `lightloom_api_call_seconds_count{call="GetJob"} 1`,
		`lightloom_api_calls_total{call="WatchJobs",code="denied"} 1`, "go_goroutines "} {
		if !strings.Contains(string(text), "\n"+want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), `lightloom_api_call_seconds_count{call="WatchJobs"}`) {
		t.Error("a denied stream has a duration")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestStagesOfMoves: the stages of moves in the log are served as metrics.
func TestStagesOfMoves(t *testing.T) {
	spec, err := topo.ParseSpec("hybrid:racks=4,hosts=1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := pki.New(time.Hour)
	must(t, err)
	id, err := ca.Issue(pki.Controller, "c0")
	must(t, err)
	x, err := newExporter("127.0.0.1:0", pki.Static(id), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer x.ln.Close()
	p := &replicaProcess{state: state.New(f), export: x}
	const ms = time.Millisecond
	b, err := state.Encode([]state.Entry{
		{Kind: state.CircuitIntended, At: 10 * ms, Port: 0, Out: 1},
		{Kind: state.CircuitSettled, At: 40 * ms, Port: 0, Out: 1, OK: true,
			Stages: &state.Stages{Cleared: 12 * ms, Drained: 15 * ms, Accepted: 18 * ms, Connected: 37 * ms}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.machine().Read(b)(); err != nil {
		t.Fatal(err)
	}
	families, err := x.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "lightloom_circuit_stage_seconds" {
				got[m.GetLabel()[1].GetValue()] = m.GetHistogram().GetSampleSum()
			}
		}
	}
	if got["commit"] != .002 || got["drain"] != .003 || got["in-service"] != .003 {
		t.Errorf("%v", got)
	}
}
