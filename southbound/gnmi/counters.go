package gnmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"golang.org/x/sync/errgroup"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// Counts is an optional interface of a Profile whose devices report port counters.
type Counts interface {
	// CounterPaths are subscribed to with SAMPLE.
	CounterPaths() []schema.Path
	// Count puts a leaf into the counters of its port; false for a leaf that is no counter of a port of
	// the device.
	Count(l schema.Leaf, into func(southbound.Port) *southbound.PortCounters) bool
}

var _ southbound.Counting = (*Session)(nil)

// Counters implements southbound.Counting: one SAMPLE stream, beside that of Watch. A device can send
// one sample in many notifications; those within a quarter of the interval are reported together.
func (s *Session) Counters(ctx context.Context, every time.Duration,
	tell func([]southbound.PortCounters)) error {
	_, ok := Base(s.cfg.Profile).(Counts)
	profile, _ := s.cfg.Profile.(Counts)
	if !ok {
		return fmt.Errorf("count at device %q: profile %q has no counters: %w", s.cfg.Name, s.cfg.Profile.Name(),
			southbound.ErrUnsupported)
	}
	if every <= 0 {
		return fmt.Errorf("count at device %q: every %v: take more than zero", s.cfg.Name, every)
	}
	d := &desk{ports: map[southbound.Port]*southbound.PortCounters{}, fresh: map[southbound.Port]bool{},
		kick: make(chan struct{}, 1)}
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() error { return s.sample(inner, profile, every, d) })
	g.Go(func() error { return d.serve(inner, every/4, tell) })
	err := g.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("count at device %q: %w", s.cfg.Name, explain(err))
}

// sample returns why the stream ended; never nil.
func (s *Session) sample(ctx context.Context, profile Counts, every time.Duration, d *desk) error {
	stream, err := s.client.Subscribe(ctx)
	if err != nil {
		return err
	}
	list := &gpb.SubscriptionList{Mode: gpb.SubscriptionList_STREAM, Encoding: gpb.Encoding_PROTO}
	for _, p := range profile.CounterPaths() {
		list.Subscription = append(list.Subscription, &gpb.Subscription{Path: s.model.Proto(p),
			Mode: gpb.SubscriptionMode_SAMPLE, SampleInterval: uint64(every)})
	}
	req := &gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: list}}
	if err := stream.Send(req); err != nil && !errors.Is(err, io.EOF) {
		return err // at EOF, Recv says why
	}
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return errors.New("the device ended the stream")
		}
		if err != nil {
			return err
		}
		if n := resp.GetUpdate(); n != nil {
			_, leaves, err := decodeNotification(s.model, n)
			if err != nil {
				return err
			}
			d.put(profile, s.sampled(n.GetTimestamp()), leaves)
		}
	}
}

// sampled puts a device's wall clock on the fabric's scale, or on one of its own where there is none.
func (s *Session) sampled(unixNanos int64) time.Duration {
	if s.cfg.Start.IsZero() {
		return time.Duration(unixNanos)
	}
	return time.Unix(0, unixNanos).Sub(s.cfg.Start)
}

// desk holds the newest counters of every port between a stream and its reader. It holds at most one
// entry for each port of the device.
type desk struct {
	mu    sync.Mutex
	ports map[southbound.Port]*southbound.PortCounters
	fresh map[southbound.Port]bool // not reported yet
	kick  chan struct{}            // one token while there is something fresh
}

func (d *desk) put(profile Counts, at time.Duration, leaves []schema.Leaf) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range leaves {
		profile.Count(l, func(p southbound.Port) *southbound.PortCounters {
			c := d.ports[p]
			if c == nil {
				c = &southbound.PortCounters{Port: p}
				d.ports[p] = c
			}
			c.At, d.fresh[p] = at, true
			return c
		})
	}
	if len(d.fresh) > 0 {
		select {
		case d.kick <- struct{}{}:
		default:
		}
	}
}

// serve reports fresh counters until ctx ends. It waits a little after the first of a sample, so that
// the rest has come.
func (d *desk) serve(ctx context.Context, little time.Duration, tell func([]southbound.PortCounters)) error {
	timer := time.NewTimer(little)
	defer timer.Stop()
	var out []southbound.PortCounters
	for {
		select {
		case <-d.kick:
		case <-ctx.Done():
			return nil
		}
		timer.Reset(little)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		if out = d.take(out[:0]); len(out) > 0 {
			tell(out)
		}
	}
}

// take appends what is fresh, by port.
func (d *desk) take(out []southbound.PortCounters) []southbound.PortCounters {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p := range d.fresh { // sorted below
		out = append(out, *d.ports[p])
	}
	clear(d.fresh)
	slices.SortFunc(out, func(a, b southbound.PortCounters) int { return int(a.Port - b.Port) })
	return out
}
