package meter_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lightloom/southbound"
	"lightloom/southbound/meter"
)

// counting is a device that reports given samples.
type counting struct {
	fake
	samples [][]southbound.PortCounters
}

func (c *counting) Counters(_ context.Context, _ time.Duration, tell func([]southbound.PortCounters)) error {
	for _, s := range c.samples {
		tell(s)
	}
	return c.err
}

// gauges are what a registry shows of ports.
func gauges(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			if f.GetName() == "lightloom_port_bits_per_second" ||
				f.GetName() == "lightloom_port_drops_per_second" {
				out[name] = m.GetGauge().GetValue()
			}
		}
	}
	return out
}

// TestPorts: rates and drops are shown from the second sample on, not after a restart, and no longer
// than the stream.
func TestPorts(t *testing.T) {
	reg := prometheus.NewRegistry()
	m, err := meter.New(reg)
	if err != nil {
		t.Fatal(err)
	}
	at := func(s int, n uint64) []southbound.PortCounters {
		return []southbound.PortCounters{{Port: 3, At: time.Duration(s) * time.Second, InOctets: n,
			OutOctets:   2 * n,
			OutDiscards: n / 10}}
	}
	gone := errors.New("gone")
	d := m.Device("tor", &counting{fake{err: gone}, [][]southbound.PortCounters{at(1, 10), at(2, 30), at(3, 0),
		at(4, 100)}}, func() time.Duration {
		return 0
	})
	both := func(in, out, drops float64) map[string]float64 {
		return map[string]float64{"lightloom_port_bits_per_second tor in 3": in,
			"lightloom_port_bits_per_second tor out 3": out, "lightloom_port_drops_per_second tor 3": drops}
	}
	want := []map[string]float64{{}, both(160, 320, 2), {}, both(800, 1600, 10)}
	n := 0
	err = d.(southbound.Counting).Counters(t.Context(), time.Second, func([]southbound.PortCounters) {
		if got := gauges(t, reg); !maps.Equal(got, want[n]) {
			t.Errorf("after sample %d: %v, want %v", n+1, got, want[n])
		}
		n++
	})
	if !errors.Is(err, gone) || n != len(want) || len(gauges(t, reg)) > 0 {
		t.Errorf("%v after %d samples; then %v", err, n, gauges(t, reg))
	}
	other := m.Device("ocs", &fake{}, func() time.Duration { return 0 })
	if err := other.(southbound.Counting).Counters(t.Context(), time.Second, nil); !errors.Is(err,
		southbound.ErrUnsupported) {
		t.Errorf("a device that counts nothing: %v", err)
	}
}
