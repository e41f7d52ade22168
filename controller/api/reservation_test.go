package api

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/pathmap"
)

// Bandwidths, Reserve and Release are of a fabric with 10 Gb/s between any two hosts.
func (m *member) Bandwidths(_ context.Context, pairs []HostPair) ([]Bandwidth, error) {
	var out []Bandwidth
	for _, p := range pairs {
		if p.Src == p.Dst {
			return nil, &Error{Invalid, fmt.Errorf("%q twice", p.Src)}
		}
		out = append(out, Bandwidth{p, 9 * pathmap.Gbps, pathmap.Gbps, 4})
	}
	return out, nil
}

func (m *member) Reserve(_ context.Context, w BandwidthRequest) (BandwidthReservation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch id, known := m.taken[w.Request]; {
	case m.leader != m.i:
		return BandwidthReservation{}, fmt.Errorf("replica %d: %w", m.i, ErrNotLeader)
	case known:
		return BandwidthReservation{ID: int64(id)}, nil
	case w.Rate > 9*pathmap.Gbps:
		return BandwidthReservation{}, fmt.Errorf("%v from %s to %s: %w", w.Rate, w.Pair.Src,
			w.Pair.Dst, ErrNoRoom)
	}
	m.taken[w.Request] = controller.JobID(len(m.taken) + 1)
	return BandwidthReservation{ID: int64(m.taken[w.Request]), DSCP: 3,
		Path:  []string{w.Pair.Src, "tor0", w.Pair.Dst},
		Until: w.Lifetime}, nil
}

func (m *member) Release(_ context.Context, id int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leader != m.i {
		return fmt.Errorf("replica %d: %w", m.i, ErrNotLeader)
	}
	if id > int64(len(m.taken)) {
		return &Error{Invalid, fmt.Errorf("no bandwidth reservation %d", id)}
	}
	return nil
}

// Reservations are ids without more: 2,500 of them.
func (m *member) Reservations(_ string, from int64, most int) (page []*apiv1.Reservation, next int64) {
	for id := max(1, from); id <= 2500; id++ {
		if len(page) == most {
			return page, id
		}
		page = append(page, &apiv1.Reservation{Id: id, UntilNs: int64(time.Minute)})
	}
	return page, 0
}

// TestListReservations: a client reads all pages in order; sizes and tokens that are none are refused.
func TestListReservations(t *testing.T) {
	tc := newTestCluster(t, nil)
	ctx := within(t, hanging)
	tc.lead(1)
	for via := range 3 {
		c, seen := tc.dial(t, via), int64(0)
		err := c.Reservations(ctx, Read{}, func(p *apiv1.Reservation, _ time.Duration) {
			if seen++; p.Id != seen || p.UntilNs != int64(time.Minute) {
				t.Errorf("via %d: %v comes as number %d", via, p, seen)
			}
		})
		if err != nil || seen != 2500 {
			t.Errorf("via %d: %d reservations, %v", via, seen, err)
		}
	}
	for name, bad := range map[string]*apiv1.ListReservationsRequest{"too large": {PageSize: MaxPage + 1},
		"negative": {PageSize: -1}, "no number": {PageToken: "x"}, "below zero": {PageToken: "-1"}} {
		if _, _, err := reservationPage(bad); CodeOf(err) != Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReserveThroughAnyReplica: each replica answers what is asked and forwards what is wished;
// refusals keep their code.
func TestReserveThroughAnyReplica(t *testing.T) {
	tc := newTestCluster(t, nil)
	ctx := within(t, hanging)
	tc.lead(1)
	pair := HostPair{"h0-0", "h1-0"}
	for via := range 3 {
		c := tc.dial(t, via)
		b, err := c.Bandwidths(ctx, []HostPair{pair, {"h1-0", "h0-0"}})
		if err != nil || len(b) != 2 || b[1].Src != "h1-0" || b[0].Unreserved != 9*pathmap.Gbps ||
			b[0].Fair != pathmap.Gbps || b[0].Paths != 4 {
			t.Errorf("via %d: %+v, %v", via, b, err)
		}
		w := BandwidthRequest{Request: fmt.Sprint("w", via), Owner: "nimbus", Pair: pair, Rate: pathmap.Gbps,
			Lifetime: time.Minute}
		p, err := c.Reserve(ctx, w)
		if err != nil || p.ID != int64(via+1) || p.DSCP != 3 || len(p.Path) != 3 || p.Until != time.Minute {
			t.Errorf("via %d: %+v, %v", via, p, err)
		}
		if again, err := c.Reserve(ctx, w); err != nil || again.ID != p.ID {
			t.Errorf("via %d: %+v, %v", via, again, err)
		}
		if err := c.Release(ctx, p.ID); err != nil {
			t.Errorf("via %d: %v", via, err)
		}
		for name, bad := range map[string]BandwidthRequest{"rate": {Request: "x", Pair: pair},
			"request":  {Pair: pair, Rate: 1},
			"lifetime": {Request: "x", Pair: pair, Rate: 1, Lifetime: -1},
			"owner":    {Request: "x", Pair: pair, Rate: 1, Owner: strings.Repeat("o", 300)}} {
			if _, err := c.Reserve(ctx, bad); CodeOf(err) != Invalid {
				t.Errorf("via %d: %s: %v", via, name, err)
			}
		}
		w.Request, w.Rate = "much", 10*pathmap.Gbps
		if _, err := c.Reserve(ctx, w); CodeOf(err) != NoRoom || NoRoom.ExitStatus() != 7 {
			t.Errorf("via %d: %v", via, err)
		}
		if err := c.Release(ctx, 99); CodeOf(err) != Invalid {
			t.Errorf("via %d: %v", via, err)
		}
		if _, err := c.Bandwidths(ctx, nil); CodeOf(err) != Invalid {
			t.Errorf("via %d: no pairs: %v", via, err)
		}
	}
}

// TestNoBandwidthReserver: a controller without bandwidth reservations returns an error.
func TestNoBandwidthReserver(t *testing.T) {
	tc := newTestCluster(t, func(_ int, c *Config) { c.BandwidthReserver = nil })
	c, ctx := tc.dial(t, 0), within(t, hanging)
	pair := HostPair{"a", "b"}
	_, err := c.Bandwidths(ctx, []HostPair{pair})
	_, err2 := c.Reserve(ctx, BandwidthRequest{Request: "x", Pair: pair, Rate: 1})
	if err3 := c.Release(ctx, 1); CodeOf(err) != Missing || CodeOf(err2) != Missing ||
		CodeOf(err3) != Missing {
		t.Error(err, err2, err3)
	}
}
