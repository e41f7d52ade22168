package api

import (
	"context"
	"fmt"
	"sync"
)

// Hub keeps the last events and sends them to any number of listeners. A slow listener delays no other:
// it gets a gap event for what it misses.
type Hub struct {
	keep int

	mu      sync.Mutex
	events  []Event       // ascending by Seq, at most keep of them after trimming
	dropped uint64        // Seq of the newest event that is no longer kept
	changed chan struct{} // closed and replaced at every event
}

// Gap is the kind of the event that stands for events no longer kept.
const Gap = "gap"

// NewHub returns a hub that keeps that many events, at least one.
func NewHub(keep int) *Hub {
	return &Hub{keep: max(keep, 1), changed: make(chan struct{})}
}

// Publish adds an event. It ignores an event whose Seq is not above all earlier ones, so that a log can
// be applied again.
func (h *Hub) Publish(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Seq <= h.last() {
		return
	}
	h.events = append(h.events, e)
	if len(h.events) >= 2*h.keep { // trimmed in halves: each event is moved at most once
		cut := len(h.events) - h.keep
		h.dropped = h.events[cut-1].Seq
		h.events = append(make([]Event, 0, 2*h.keep), h.events[cut:]...)
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// Forget makes listeners before a number know that there were events of which nobody here has heard.
func (h *Hub) Forget(upTo uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if upTo > h.last() {
		h.events, h.dropped = nil, upTo
		close(h.changed)
		h.changed = make(chan struct{})
	}
}

// Last is the number of the newest event.
func (h *Hub) Last() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last()
}

func (h *Hub) last() uint64 {
	if n := len(h.events); n > 0 {
		return h.events[n-1].Seq
	}
	return h.dropped
}

// Events implements Eventer.
func (h *Hub) Events(ctx context.Context, after uint64, sink func(Event) error) error {
	for {
		batch, changed := h.above(after)
		for _, e := range batch {
			if ctx.Err() != nil {
				return nil
			}
			if err := sink(e); err != nil {
				return err
			}
			after = e.Seq
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// batchSize bounds what is copied for a listener at once.
const batchSize = 256

// above returns the next events after a number, and a channel that signals more.
func (h *Hub) above(after uint64) ([]Event, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []Event
	if after < h.dropped {
		out = append(out, Event{Seq: h.dropped, Kind: Gap,
			Text: fmt.Sprintf("events up to %d are no longer kept",
				h.dropped)})
	}
	lo, hi := 0, len(h.events)
	for lo < hi { // first event above after
		if mid := (lo + hi) / 2; h.events[mid].Seq > after {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return append(out, h.events[lo:min(lo+batchSize, len(h.events))]...), h.changed
}
