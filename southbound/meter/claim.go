package meter

import (
	"context"
	"errors"
	"time"

	"lightloom/southbound"
)

var _ southbound.Claiming = (*metered)(nil)

// SetWithin implements southbound.Slow where the device does.
func (x *metered) SetWithin() time.Duration { return southbound.SetWithin(x.d, 0) }

// Claim implements southbound.Claiming where the device does.
func (x *metered) Claim(ctx context.Context) error {
	err := southbound.Claim(ctx, x.d)
	switch {
	case err == nil:
		x.m.claim(x.name, "fenced")
	case errors.Is(err, southbound.ErrUnfenced):
		x.m.claim(x.name, "unfenced")
	default:
		x.m.claim(x.name, "unclaimed")
	}
	return err
}

// claim shows a device in one state.
func (m *Meter) claim(device, state string) {
	for _, s := range []string{"unclaimed", "fenced", "unfenced"} {
		v := 0.
		if s == state {
			v = 1
		}
		m.claims.WithLabelValues(device, s).Set(v)
	}
}

// Release forgets all claims: the leadership that made them has ended.
func (m *Meter) Release() { m.claims.Reset() }

// Foreign notes an event of a host that is not the agent's own.
func (m *Meter) Foreign(agent string) { m.foreign.WithLabelValues(agent).Inc() }
