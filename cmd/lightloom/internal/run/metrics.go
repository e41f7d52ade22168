package run

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	metering "lightloom/southbound/meter"
	"lightloom/southbound/pki"
)

// MetricsAddress is where replica i of a controller serves its metrics: the port that was named, and those after it.
// Port 0 stays 0.
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
	meter    *metering.Meter
	registry *prometheus.Registry
	ln       net.Listener
}

// newExporter opens the address: in plaintext on loopback, and for clients of the run's authority elsewhere.
func newExporter(addr string, id pki.Identity) (*exporter, error) {
	if addr == "" {
		return nil, nil
	}
	x := &exporter{registry: prometheus.NewRegistry()}
	var err error
	if x.meter, err = metering.New(x.registry); err != nil {
		return nil, err
	}
	x.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	host, _, _ := net.SplitHostPort(addr)
	var config *tls.Config
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		config = id.Server(pki.Client, pki.Controller)
	}
	x.ln, err = metering.Listen(addr, config)
	return x, err
}

func (x *exporter) run(ctx context.Context) error {
	if x == nil {
		return nil
	}
	return metering.Serve(ctx, x.ln, x.registry)
}
