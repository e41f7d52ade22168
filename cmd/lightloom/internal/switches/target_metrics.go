package switches

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"lightloom/emulator/device"
	"lightloom/emulator/switchd/targetd"
	"lightloom/southbound/meter"
	"lightloom/southbound/pki"
)

// PresetNames lists the presets of --delays.
func PresetNames() string {
	var names []string
	for _, p := range device.Presets() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// serve runs the target on l, and its metrics where they are asked for.
func (f *targetFlags) serve(ctx context.Context, l net.Listener) error {
	if f.metrics == "" {
		return targetd.Run(ctx, l, f.c)
	}
	reg := prometheus.NewRegistry()
	m, err := meter.New(reg)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	var config *tls.Config
	if f.c.Keys != nil {
		config = f.c.Keys.Server(pki.Controller, pki.Client)
	}
	ml, err := meter.Listen(f.metrics, config)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	f.c.OnStage = func(stage string, took time.Duration) { m.Stage(f.c.Name, stage, took) }
	f.c.OnLag = func(lag func() (streams, leaves int)) {
		gauge := func(name, help string, value func() int) {
			reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "lightloom",
				Name: name, Help: help},
				func() float64 {
					return float64(value())
				}))
		}
		gauge("target_streams", "Subscriptions that are served.", func() int { n, _ := lag(); return n })
		gauge("target_stream_queue_leaves", "Leaves that subscribers have still to be sent.", func() int {
			_, n := lag()
			return n
		})
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return targetd.Run(ctx, l, f.c) })
	g.Go(func() error { return meter.Serve(ctx, ml, reg) })
	return g.Wait()
}
