package agent

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// TestAttempts: a call to an agent that cannot be reached is made again after pauses that double up to
// a bound; an error that would come again is returned at once, and the end of the client ends the
// attempts.
func TestAttempts(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name  string
		fails int // times
		with  error
		ends  time.Duration // of the client, 0: never
		want  []time.Duration
		err   error
	}{
		{"answered", 0, nil, 0, []time.Duration{0}, nil},
		{"out of reach", 9, wire.ErrUnavailable, 0,
			[]time.Duration{0, 10 * ms, 30 * ms, 70 * ms, 150 * ms, 310 * ms,
				630 * ms, 1130 * ms, 1630 * ms, 2130 * ms}, nil},
		{"refused", 1, southbound.ErrRefused, 0, []time.Duration{0}, southbound.ErrRefused},
		{"another leads", 1, southbound.ErrNotLeader, 0, []time.Duration{0}, southbound.ErrNotLeader},
		{"the client ends", 100, wire.ErrUnavailable, 40 * ms, []time.Duration{0, 10 * ms, 30 * ms, 40 * ms},
			wire.ErrUnavailable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.ends > 0 {
					time.AfterFunc(tc.ends, cancel)
				}
				c, began := &Client{ctx: ctx, cfg: Config{CallTimeout: time.Second}}, time.Now()
				var at []time.Duration
				err := c.attempt(call{name: "run", do: func(context.Context) error {
					if at = append(at, time.Since(began)); len(at) > tc.fails {
						return nil
					}
					return wire.ToStatus(tc.with)
				}})
				if !errors.Is(err, tc.err) || err == nil != (tc.err == nil) || !slices.Equal(at, tc.want) {
					t.Errorf("called at %v, then %v; want %v, %v", at, err, tc.want, tc.err)
				}
			})
		})
	}
}
