package target_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// TestSampledCounters: the driver returns what a switch counts at its ports, in each model of packet
// switches, and again after the target was away.
func TestSampledCounters(t *testing.T) {
	for _, p := range []gnmi.Profile{gnmi.OpenConfig{Ports: 8, Racks: 8}, gnmi.SRLinux{Ports: 8, Racks: 8},
		gnmi.SONiC{Ports: 8, Racks: 8}} {
		t.Run(p.Name(), func(t *testing.T) { sampledCounters(t, p) })
	}
}

func sampledCounters(t *testing.T, p gnmi.Profile) {
	var passed atomic.Uint64
	r := newRig(t, device.Packet, func(_ *device.Config, c *target.Config) {
		c.Profile = p.Name()
		c.Counts = func() ([]target.PortCount, error) {
			n := passed.Add(1000)
			return []target.PortCount{{}, {InOctets: n, OutOctets: 2 * n, OutDiscards: 3}}, nil
		}
	})
	cfg := r.config(t)
	cfg.Profile = p
	d := r.dial(t, cfg)
	var counting southbound.Counting = d
	until := func(name string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var rater southbound.Rater
		done := false
		err := counting.Counters(ctx, 20*ms, func(ports []southbound.PortCounters) {
			for _, c := range ports {
				if rate := rater; c.Port == 1 && rater.Add(c).Span > 0 && !done {
					got := rater.Rate()
					if done = true; c.OutDiscards != 3 || got.In <= 0 || got.Out < 2*got.In ||
						got.Out > 2*got.In+2 || got.Drops != 0 {
						t.Errorf("%s: %+v after %+v gives %+v", name, c, rate, got)
					}
					cancel()
				}
			}
		})
		if !done || err != nil {
			t.Fatalf("%s: no rate came: %v", name, err)
		}
	}
	until("at first")
	broken := make(chan error, 1)
	began := make(chan struct{}, 1)
	go func() {
		broken <- counting.Counters(t.Context(), 20*ms, func([]southbound.PortCounters) {
			select {
			case began <- struct{}{}:
			default:
			}
		})
	}()
	<-began
	r.stop()
	if err := <-broken; err == nil || errors.Is(err, southbound.ErrUnsupported) {
		t.Errorf("the target has gone: %v", err)
	}
	r.serve(t)
	deadline, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	again := time.NewTicker(5 * ms)
	defer again.Stop()
	for _, err := d.Read(deadline); err != nil; _, err = d.Read(deadline) { // the connection comes back by itself
		select {
		case <-again.C:
		case <-deadline.Done():
			t.Fatal(err)
		}
	}
	until("after it came back")
}
