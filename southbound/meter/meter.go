package meter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lightloom/southbound"
)

// Stages of the delay budget of a circuit, in their order. Commit lasts from its intent until no
// traffic is steered to its ports any more, drain until these are empty. A driver measures rpc, and
// settle, which is apply, dark and lock together, since a device reports no more. A fabric that knows
// these three reports each.
const (
	StageCommit    = "commit"
	StageDrain     = "drain"
	StageRPC       = "rpc"
	StageApply     = "apply"
	StageDark      = "dark"
	StageLock      = "lock"
	StageSettle    = "settle"
	StageInService = "in-service"
)

// Meter holds the metrics. All are labelled with the device's name.
type Meter struct {
	sets     *prometheus.CounterVec
	setTime  *prometheus.HistogramVec
	waiting  *prometheus.GaugeVec
	reads    *prometheus.CounterVec
	streams  *prometheus.GaugeVec
	lost     *prometheus.CounterVec
	events   *prometheus.CounterVec
	circuits *prometheus.GaugeVec
	stages   *prometheus.HistogramVec
	rates    *prometheus.GaugeVec
	drops    *prometheus.GaugeVec
	claims   *prometheus.GaugeVec
	foreign  *prometheus.CounterVec
}

// buckets reach from a loopback Set to a switch that validates for 20 s.
var buckets = []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3, 10, 30}

// New registers the metrics. A nil registerer keeps them to themselves.
func New(reg prometheus.Registerer) (*Meter, error) {
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "lightloom", Name: name,
			Help: help}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "lightloom", Name: name,
			Help: help}, labels)
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "lightloom",
			Name: name, Help: help,
			Buckets: buckets}, labels)
	}
	m := &Meter{
		sets: counter("device_sets_total", "Sets by result: accepted, refused, not_leader or unknown.",
			"device", "result"),
		setTime: histogram("device_set_seconds",
			"From a Set's call to its answer, its wait in the queue included.",
			"device"),
		waiting: gauge("device_sets_waiting", "Sets that have been called and not been answered.", "device"),
		reads:   counter("device_reads_total", "Reads of the whole state, by result.", "device", "result"),
		streams: gauge("device_stream_synced", "1 while a telemetry stream has delivered what stood when it began.",
			"device"),
		lost:     counter("device_streams_lost_total", "Telemetry streams that broke.", "device"),
		events:   counter("device_events_total", "Notifications, by kind.", "device", "kind"),
		circuits: gauge("device_circuits", "Circuits as the stream tells them, by status.", "device", "status"),
		stages: histogram("circuit_stage_seconds", "Stages of the delay budget of circuits.",
			"device", "stage"),
		rates: gauge("port_bits_per_second", "What passes a port at layer 2, between its last two samples.", "device",
			"port", "direction"),
		drops: gauge("port_drops_per_second", "Packets that found a port's queue full, between its last two samples.",
			"device", "port"),
		claims: gauge("device_claim", "1 for how far a leader's claim of a device has come: unclaimed (nothing is written "+
			"to it), fenced (it refuses leaders of the past), or unfenced (it knows no arbitration).", "device", "state"),
		foreign: counter("agent_foreign_events_total",
			"Events of hosts that are not the agent's own: they are dropped.",
			"agent"),
	}
	for _, c := range []prometheus.Collector{m.sets, m.setTime, m.waiting, m.reads, m.streams,
		m.lost, m.events,
		m.circuits, m.stages, m.rates, m.drops, m.claims, m.foreign} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

// Stage notes how long a stage of a circuit of that device has taken.
func (m *Meter) Stage(device, stage string, took time.Duration) {
	m.stages.WithLabelValues(device, stage).Observe(took.Seconds())
}

// Device returns d, metered under that name. clock gives any monotonic time.
func (m *Meter) Device(name string, d southbound.Device, clock func() time.Duration) southbound.Device {
	m.claim(name, "unclaimed")
	return &metered{m: m, name: name, d: d, clock: clock, status: map[pair]southbound.Status{},
		asked: map[pair]time.Duration{}}
}

type pair struct{ in, out southbound.Port }

// metered is a device with its counters.
type metered struct {
	m     *Meter
	name  string
	d     southbound.Device
	clock func() time.Duration

	mu     sync.Mutex
	status map[pair]southbound.Status // as the stream reports
	asked  map[pair]time.Duration     // when a Set of a circuit was accepted that is not connected yet
}

// result returns the outcome of a Set as a metric label.
func result(err error) string {
	switch {
	case err == nil:
		return "accepted"
	case errors.Is(err, southbound.ErrNotLeader):
		return "not_leader"
	case errors.Is(err, southbound.ErrRefused):
		return "refused"
	}
	return "unknown"
}

// Set implements southbound.Device.
func (x *metered) Set(ctx context.Context, c *southbound.Change) error {
	waiting := x.m.waiting.WithLabelValues(x.name)
	waiting.Inc()
	defer waiting.Dec()
	began := x.clock()
	err := x.d.Set(ctx, c)
	ended := x.clock()
	x.m.sets.WithLabelValues(x.name, result(err)).Inc()
	x.m.setTime.WithLabelValues(x.name).Observe((ended - began).Seconds())
	if err == nil && len(c.Connect) > 0 {
		x.m.Stage(x.name, StageRPC, ended-began)
		x.accepted(c, ended)
	}
	return err
}

// accepted notes what the stream will tell of.
func (x *metered) accepted(c *southbound.Change, now time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, cc := range c.Connect {
		p := pair{cc.In, cc.Out}
		for q := range x.asked { // what it displaces never comes
			if q.in == p.in || q.out == p.out && !cc.Off {
				delete(x.asked, q)
			}
		}
		if !cc.Off && x.status[p] != southbound.Connected {
			x.asked[p] = now
		}
	}
}

// Read implements southbound.Device.
func (x *metered) Read(ctx context.Context) (southbound.Seen, error) {
	seen, err := x.d.Read(ctx)
	x.m.reads.WithLabelValues(x.name, result(err)).Inc()
	return seen, err
}

// Watch implements southbound.Device.
func (x *metered) Watch(ctx context.Context, sink func(southbound.DeviceEvent)) error {
	err := x.d.Watch(ctx, func(e southbound.DeviceEvent) {
		x.told(e)
		sink(e)
	})
	x.m.streams.WithLabelValues(x.name).Set(0)
	if err != nil {
		x.m.lost.WithLabelValues(x.name).Inc()
	}
	x.forget()
	return err
}

// kinds are the words for kinds of events.
var kinds = map[southbound.DeviceEventKind]string{southbound.ConnectionStatus: "circuit",
	southbound.PortUp:   "port_up",
	southbound.PortDown: "port_down", southbound.Synced: "synced", southbound.Lost: "lost"}

func (x *metered) told(e southbound.DeviceEvent) {
	x.m.events.WithLabelValues(x.name, kinds[e.Kind]).Inc()
	switch e.Kind {
	case southbound.Synced:
		x.m.streams.WithLabelValues(x.name).Set(1)
	case southbound.ConnectionStatus:
		x.circuit(pair{e.In, e.Out}, e.Status)
	}
}

func (x *metered) circuit(p pair, s southbound.Status) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if old, stands := x.status[p]; stands {
		x.m.circuits.WithLabelValues(x.name, old.String()).Dec()
		delete(x.status, p)
	}
	if s != southbound.Disconnected {
		x.m.circuits.WithLabelValues(x.name, s.String()).Inc()
		x.status[p] = s
	}
	if at, waits := x.asked[p]; waits && s == southbound.Connected {
		delete(x.asked, p)
		x.m.Stage(x.name, StageSettle, x.clock()-at)
	}
}

// forget drops what a stream has reported: the next one begins anew.
func (x *metered) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for p, s := range x.status {
		x.m.circuits.WithLabelValues(x.name, s.String()).Dec()
		delete(x.status, p)
	}
}
