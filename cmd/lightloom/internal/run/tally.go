package run

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/emulator/netns"
	"lightloom/emulator/target"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// tally is what the ports of an emulated fabric count. One reading serves all switches: it goes through every namespace,
// so that another one is made no sooner than keeps readings to a fiftieth of one processor's time.
type tally struct {
	fabric *pathmap.Topology
	read   func() (netns.Counters, error)
	clock  func() time.Duration

	mu    sync.Mutex
	last  netns.Counters
	next  time.Duration      // when last is too old
	rates []southbound.Rater // by link
}

// DefaultSamplePeriod is how far apart switches tell their counters where nobody says otherwise. It is the same on
// emulated fabrics, whose switches and hosts share the machine's processors.
const DefaultSamplePeriod = time.Second

// Readings are at least tallyGap apart, and tallyShare times as far as one takes.
const (
	tallyGap   = 20 * time.Millisecond
	tallyShare = 50
)

func newTally(t *pathmap.Topology, read func() (netns.Counters, error), clock func() time.Duration) *tally {
	return &tally{fabric: t, read: read, clock: clock, rates: make([]southbound.Rater, len(t.Links()))}
}

// refresh reads anew if it is time to. The lock is held.
func (t *tally) refresh() error {
	began := t.clock()
	if t.last.Links != nil && began < t.next {
		return nil
	}
	c, err := t.read()
	if err != nil {
		return fmt.Errorf("count at ports: %w", err)
	}
	t.last = c
	t.next = began + max(tallyGap, tallyShare*(t.clock()-began))
	for l, n := range c.Links {
		t.rates[l].Add(southbound.PortCounters{At: began, OutOctets: uint64(n.Bytes), OutDiscards: n.QueueDrops})
	}
	return nil
}

// ports returns what has passed the ports of a switch. What comes in is what the other end has sent.
func (t *tally) ports(id southbound.DeviceID) ([]target.PortCount, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(); err != nil {
		return nil, err
	}
	out := make([]target.PortCount, t.fabric.Ports(id))
	for _, l := range t.fabric.Out(id) {
		sent, got := t.last.Links[l], t.last.Links[pathmap.Reverse(l)]
		out[t.fabric.Link(l).FromPort] = target.PortCount{InOctets: uint64(got.Bytes), InPkts: got.Packets,
			OutOctets: uint64(sent.Bytes), OutPkts: sent.Packets, OutDiscards: sent.QueueDrops, Queue: uint64(max(sent.Backlog, 0))}
	}
	return out, nil
}

// LinkStatus is what passed a link lately.
type LinkStatus struct {
	Link     pathmap.LinkID        `json:"link"`
	From     string                `json:"from"`
	To       string                `json:"to"`
	Capacity pathmap.BitsPerSecond `json:"capacity_bits_per_second"`
	Rate     pathmap.BitsPerSecond `json:"rate_bits_per_second"`
	Drops    uint64                `json:"drops_per_second"`
	Span     float64               `json:"span_seconds"` // what rate and drops are the means of; 0: not known yet
}

// links returns every link, by id.
func (t *tally) links() ([]LinkStatus, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(); err != nil {
		return nil, err
	}
	out := make([]LinkStatus, len(t.rates))
	for i, l := range t.fabric.Links() {
		r := t.rates[i].Rate()
		out[i] = LinkStatus{Link: pathmap.LinkID(i), From: t.fabric.Node(l.From).Name, To: t.fabric.Node(l.To).Name, Capacity: l.Capacity,
			Rate: r.Out, Drops: r.Drops, Span: r.Span.Seconds()}
	}
	return out, nil
}

// idleShare is the part of a link's capacity below which it is left out of a table: announcements of neighbours alone.
const idleShare = 1000

// namedLinks gives rates the names of their links; those of which nothing is known are left out.
func namedLinks(t *pathmap.Topology, all []controller.LinkRate) (out []api.Link) {
	for i, r := range all {
		if l := t.Link(pathmap.LinkID(i)); r.Span > 0 {
			out = append(out, api.Link{ID: pathmap.LinkID(i), From: t.Node(l.From).Name, To: t.Node(l.To).Name, LinkRate: r})
		}
	}
	return out
}

// viewWithin bounds how long the leader is asked: while there is none, everything else is shown all the same.
const viewWithin = 2 * time.Second

// view returns what the controller's policies see of links.
func view(ctx context.Context, client *api.Client, t *pathmap.Topology) ([]LinkStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, viewWithin)
	defer cancel()
	links, err := client.Links(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the controller for what passes links: %w", err)
	}
	out := []LinkStatus{}
	for _, l := range links {
		if l.ID >= 0 && int(l.ID) < len(t.Links()) {
			out = append(out, LinkStatus{Link: l.ID, From: l.From, To: l.To, Capacity: t.Link(l.ID).Capacity, Rate: l.Rate, Drops: l.Drops, Span: l.Span.Seconds()})
		}
	}
	return out, nil
}

// printRates shows the links that drop something, or carry a thousandth of what they could, and beside it what the
// controller's policies see of them.
func (s *Status) printRates(w io.Writer) {
	seen := map[pathmap.LinkID]LinkStatus{}
	for _, l := range s.View {
		seen[l.Link] = l
	}
	t := newTable(w, "link", "Mbit/s", "of", "drops/s", "policies see, Mbit/s", "drops/s")
	for _, l := range s.Rates {
		rate, drops := "–", "–"
		v, known := seen[l.Link]
		if known {
			rate, drops = megabits(v.Rate), fmt.Sprint(v.Drops)
		}
		if l.busy() || v.busy() {
			t.AppendRow(table.Row{l.From + "→" + l.To, megabits(l.Rate), l.Capacity, l.Drops, rate, drops})
		}
	}
	t.Render()
}

func (l LinkStatus) busy() bool {
	return l.Span > 0 && l.Rate >= l.Capacity/idleShare || l.Drops > 0
}

func megabits(r pathmap.BitsPerSecond) string { return fmt.Sprintf("%.3f", float64(r)/1e6) }
