package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lightloom/southbound"
)

// outbox numbers the events of all members in one row and remembers whose they are until they are
// acknowledged.
type outbox struct {
	mu    sync.Mutex
	sink  func(num uint64, e southbound.Event)
	last  time.Duration
	next  uint64 // number of the next; the first is 1
	sent  []origin
	first uint64 // number of sent[0]
}

type origin struct {
	member int
	num    uint64 // 0: the fleet's own
}

// emit numbers an event and sends it. It makes instants rise strictly, since members have different clocks.
func (f *Fleet) emit(m *member, num uint64, e southbound.Event) {
	o := &f.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sink == nil {
		return
	}
	now := f.cfg.Clock()
	e.At = max(min(e.At, now), o.last+1)
	o.last = e.At
	o.sent = append(o.sent, origin{m.index, num})
	o.next++
	o.sink(o.next-1, e)
}

// Events calls sink with every event of every agent, in an order in which none comes before what it
// depends on, until ctx ends (nil). Numbers are of this call: from must be 0. Nothing that agents do
// ends it.
func (f *Fleet) Events(ctx context.Context, from uint64, sink func(num uint64, e southbound.Event)) error {
	if from != 0 {
		return fmt.Errorf("watch events of agents from number %d: only all of them can be watched: %w", from,
			southbound.ErrUnsupported)
	}
	f.out.mu.Lock()
	f.out.sink, f.out.first, f.out.next, f.out.sent = sink, 1, 1, nil
	f.out.mu.Unlock()
	defer func() {
		f.out.mu.Lock()
		f.out.sink = nil
		f.out.mu.Unlock()
	}()
	now := f.cfg.Clock()
	var wg sync.WaitGroup
	for _, m := range f.members {
		m.mu.Lock()
		m.heardAt = now
		m.mu.Unlock()
		wg.Go(func() { m.run(ctx) })
	}
	wg.Wait()
	return nil
}

// Ack lets every agent forget its events up to that number of the row.
func (f *Fleet) Ack(through uint64) error {
	o := &f.out
	o.mu.Lock()
	if through >= o.next {
		o.mu.Unlock()
		return fmt.Errorf("acknowledge event %d: %d is the next: %w", through, o.next, southbound.ErrRefused)
	}
	reached := make([]uint64, len(f.members))
	for ; o.first <= through; o.first++ {
		x := o.sent[0]
		o.sent = o.sent[1:]
		reached[x.member] = max(reached[x.member], x.num)
	}
	o.sent = slices.Clip(o.sent)
	o.mu.Unlock()
	var errs []error
	for i, num := range reached {
		if num > 0 && !f.members[i].isLost() {
			errs = append(errs, f.members[i].client.Ack(num))
		}
	}
	return errors.Join(errs...)
}

// regard reports to all members but one that its hosts have failed, or are back. It skips a member that
// does not answer: that one is lost itself, or will be.
func (f *Fleet) regard(m *member, up bool) {
	for _, o := range f.members {
		if o == m || o.isLost() {
			continue
		}
		hosts := m.hosts
		if err := o.client.enqueue("regard hosts", func(ctx context.Context) error {
			return o.client.Regard(ctx, hosts, up)
		}); err != nil {
			f.cfg.OnError(err)
		}
	}
}
