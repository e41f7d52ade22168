package emulated

import (
	"fmt"
	"sync"
	"time"

	"lightloom/emulator/netns"
	"lightloom/emulator/target"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// PortCounters holds the counters of an emulated fabric's ports. One reading serves all switches. It
// visits every namespace, so readings are spaced to take at most a fiftieth of one processor's time.
type PortCounters struct {
	fabric *pathmap.Topology
	read   func() (netns.Counters, error)
	clock  func() time.Duration

	mu    sync.Mutex
	last  netns.Counters
	next  time.Duration      // when last is too old
	rated time.Duration      // when rates were given their last counters
	rates []southbound.Rater // by link
}

// Readings are at least readGap apart, and at least readShare times the duration of one.
const (
	readGap   = 20 * time.Millisecond
	readShare = 50
)

// rateSpan is the least time that a shown rate is the mean of: over a few milliseconds a full link can
// have sent nothing, and an idle one a burst.
const rateSpan = 500 * time.Millisecond

func newPortCounters(t *pathmap.Topology, read func() (netns.Counters, error),
	clock func() time.Duration) *PortCounters {
	return &PortCounters{fabric: t, read: read, clock: clock, rates: make([]southbound.Rater, len(t.Links()))}
}

// refresh reads the counters again if the last reading is too old. The lock is held.
func (t *PortCounters) refresh() error {
	began := t.clock()
	if t.last.Links != nil && began < t.next {
		return nil
	}
	c, err := t.read()
	if err != nil {
		return fmt.Errorf("count at ports: %w", err)
	}
	first := t.last.Links == nil
	t.last = c
	t.next = began + max(readGap, readShare*(t.clock()-began))
	if !first && began < t.rated+rateSpan {
		return nil
	}
	t.rated = began
	for l, n := range c.Links {
		t.rates[l].Add(southbound.PortCounters{At: began, OutOctets: uint64(n.Bytes), OutDiscards: n.QueueDrops})
	}
	return nil
}

// ports returns the counters of a switch's ports. A port's received bytes are those that the other end
// has sent.
func (t *PortCounters) ports(id southbound.DeviceID) ([]target.PortCount, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(); err != nil {
		return nil, err
	}
	out := make([]target.PortCount, t.fabric.Ports(id))
	for _, l := range t.fabric.Out(id) {
		sent, got := t.last.Links[l], t.last.Links[pathmap.Reverse(l)]
		out[t.fabric.Link(l).FromPort] = target.PortCount{InOctets: uint64(got.Bytes), InPkts: got.Packets,
			OutOctets: uint64(sent.Bytes), OutPkts: sent.Packets, OutDiscards: sent.QueueDrops,
			Queue: uint64(max(sent.Backlog, 0))}
	}
	return out, nil
}

// Links returns every link, by id.
func (t *PortCounters) Links() ([]LinkStatus, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(); err != nil {
		return nil, err
	}
	out := make([]LinkStatus, len(t.rates))
	for i, l := range t.fabric.Links() {
		r := t.rates[i].Rate()
		out[i] = LinkStatus{Link: pathmap.LinkID(i), From: t.fabric.Node(l.From).Name,
			To:       t.fabric.Node(l.To).Name,
			Capacity: l.Capacity,
			Rate:     r.Out, Drops: r.Drops, Span: r.Span.Seconds(), Age: (t.clock() - t.rated).Seconds()}
	}
	return out, nil
}
