package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"lightloom/controller/replica"
	"lightloom/controller/state"
	"lightloom/southbound"
	"lightloom/southbound/meter"
	"lightloom/southbound/pki"
)

// MetricsAddress is where replica i of a controller serves its metrics: the port that was named, and
// those after it. Port 0 stays 0.
func MetricsAddress(addr string, i int) (string, error) {
	if addr == "" {
		return "", nil
	}
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("metrics: %q is no host:port", addr)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port != 0 && port+uint64(i) > 65535 {
		return "", fmt.Errorf("metrics: %q: port %q is not within 0 to 65535 for every replica", addr, text)
	}
	if port != 0 {
		port += uint64(i)
	}
	return net.JoinHostPort(host, strconv.FormatUint(port, 10)), nil
}

// exporter is what a replica serves of what it does; nil serves nothing.
type exporter struct {
	meter    *meter.Meter
	registry *prometheus.Registry
	ln       net.Listener
	calls    *prometheus.CounterVec
	callTime *prometheus.HistogramVec
	moves    *prometheus.CounterVec
}

// newExporter opens the address: in plaintext on loopback, and for clients of the run's authority
// elsewhere. restarts is how often the process of this replica has ended before.
func newExporter(addr string, keys *pki.Source, restarts int) (*exporter, error) {
	if addr == "" {
		return nil, nil
	}
	x := &exporter{registry: prometheus.NewRegistry()}
	var err error
	if x.meter, err = meter.New(x.registry); err != nil {
		return nil, err
	}
	x.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	x.count(x.registry)
	x.registry.MustRegister(life(keys, restarts)...)
	host, _, _ := net.SplitHostPort(addr)
	var config *tls.Config
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		config = keys.Server(pki.Client, pki.Controller)
	}
	x.ln, err = meter.Listen(addr, config)
	return x, err
}

// machine is the replicated state, watched where metrics are served.
func (p *replicaProcess) machine() replica.Machine {
	m := machine{state.Machine{State: p.state}, p.feed}
	if p.export == nil {
		return m
	}
	name := func(in southbound.Port) string {
		f := p.fabric()
		if !f.HasOCS() {
			return "ocs"
		}
		ocs, _ := f.OCSAt(int32(in))
		return f.Topology.Node(ocs).Name
	}
	return watched{m, p.export, name, func() bool { return p.current.Leader() != nil }}
}

// watched notes the stages of the delay budget that only the controller knows: from a circuit's intent,
// by way of the log, to nothing being steered to its ports and these being empty, and from the OCS's
// report to its being steered to. Every replica notes them. It counts moves of circuits where its
// replica leads, so that replicas can be added up.
type watched struct {
	machine
	export *exporter
	ocs    func(in southbound.Port) string // the name of the OCS that has an input
	leads  func() bool
}

// Read implements replica.Machine.
func (w watched) Read(entry []byte) (apply func() error) {
	batch, err := state.Decode(entry)
	return func() error {
		if err := w.take(batch, err); err != nil {
			return err
		}
		w.note(batch)
		return nil
	}
}

// note notes what has been applied.
func (w watched) note(batch []state.Entry) {
	moves := w.Live().Moves
	for _, e := range batch {
		if e.Kind == state.CircuitSettled && w.leads() {
			w.export.moves.WithLabelValues(map[bool]string{true: "connected", false: "failed"}[e.OK]).Inc()
		}
		if e.Kind != state.CircuitSettled || !e.OK || e.Stages == nil || e.Stages.Drained == 0 ||
			e.Stages.Connected == 0 {
			continue
		}
		ocs := w.ocs(e.Port)
		w.export.meter.Stage(ocs, meter.StageInService, max(e.At-e.Stages.Connected, 0))
		for i := len(moves) - 1; i >= 0; i-- {
			if m := &moves[i]; m.In == e.Port && m.Out == e.Out {
				commit, drain := e.Stages.BeforeRPC(m.Intent)
				w.export.meter.Stage(ocs, meter.StageCommit, commit)
				w.export.meter.Stage(ocs, meter.StageDrain, drain)
				break
			}
		}
	}
}

func (x *exporter) run(ctx context.Context) error {
	if x == nil {
		return nil
	}
	return meter.Serve(ctx, x.ln, x.registry)
}
