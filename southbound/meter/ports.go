package meter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lightloom/southbound"
)

var _ southbound.Counting = (*metered)(nil)

// Counters implements southbound.Counting where the device does. What a port's gauges show goes with
// the stream.
func (x *metered) Counters(ctx context.Context, every time.Duration,
	tell func([]southbound.PortCounters)) error {
	c, ok := x.d.(southbound.Counting)
	if !ok {
		return fmt.Errorf("count at device %q: %w", x.name, southbound.ErrUnsupported)
	}
	defer x.m.rates.DeletePartialMatch(prometheus.Labels{"device": x.name})
	defer x.m.drops.DeletePartialMatch(prometheus.Labels{"device": x.name})
	raters := map[southbound.Port]*southbound.Rater{}
	err := c.Counters(ctx, every, func(ports []southbound.PortCounters) {
		for _, p := range ports {
			r := raters[p.Port]
			if r == nil {
				r = &southbound.Rater{}
				raters[p.Port] = r
			}
			x.port(p.Port, r.Add(p))
		}
		tell(ports)
	})
	if err != nil && !errors.Is(err, southbound.ErrUnsupported) {
		x.m.lost.WithLabelValues(x.name).Inc()
	}
	return err
}

// port shows the rate of a port; while nothing is known of it, it has no gauges.
func (x *metered) port(p southbound.Port, r southbound.PortRate) {
	name := strconv.Itoa(int(p))
	if r.Span == 0 {
		x.m.rates.DeletePartialMatch(prometheus.Labels{"device": x.name, "port": name})
		x.m.drops.DeleteLabelValues(x.name, name)
		return
	}
	x.m.rates.WithLabelValues(x.name, name, "in").Set(float64(r.In))
	x.m.rates.WithLabelValues(x.name, name, "out").Set(float64(r.Out))
	x.m.drops.WithLabelValues(x.name, name).Set(float64(r.Drops))
}
