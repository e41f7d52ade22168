package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
)

// section is a part of a look, as it is sent.
type section struct {
	name string
	json []byte
}

// sections are the parts of a look, always in the same order.
func sections(l *Look) []section {
	parts := []struct {
		name string
		of   any
	}{{"head", l.Head}, {"replicas", l.Replicas}, {"doubts", l.Warnings}, {"circuits",
		l.Circuits}, {"moves", l.Moves},
		{"rates", l.Rates}, {"switches", l.Switches}, {"jobs", l.Jobs}, {"demand",
			l.Demand}, {"failed", l.Failed}}
	out := make([]section, 0, len(parts)+1)
	for _, p := range parts {
		b, err := json.Marshal(p.of)
		if err != nil {
			panic("page: a look cannot be encoded: " + err.Error()) // strings and numbers always can
		}
		out = append(out, section{p.name, b})
	}
	return append(out, section{"trouble", []byte(`""`)})
}

// hub looks while somebody watches, and tells every watcher what has changed. A watcher that is slow,
// or asleep, is told what is so when it comes back, not all that was so meanwhile: nothing queues up.
type hub struct {
	source Source
	every  time.Duration

	mu       sync.Mutex
	now      []section // as last seen; nil: nobody has looked yet
	watchers map[*watcher]bool
	come     chan struct{} // holds one while a first watcher may have come
}

// watcher is one page.
type watcher struct {
	stale []bool        // by section: it has to be sent; of the hub's lock
	wake  chan struct{} // holds one while something is stale
}

func newHub(s Source, every time.Duration) *hub {
	return &hub{source: s, every: every, watchers: map[*watcher]bool{}, come: make(chan struct{}, 1)}
}

// run looks until ctx ends.
func (h *hub) run(ctx context.Context) {
	tick := time.NewTicker(h.every)
	defer tick.Stop()
	for {
		if !h.watched() {
			select {
			case <-ctx.Done():
				return
			case <-h.come:
				continue
			}
		}
		l, err := h.source.Look(ctx)
		if ctx.Err() != nil {
			return
		}
		h.publish(l, err)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (h *hub) watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers) > 0
}

// publish notes what has changed. Where the source has failed, what was seen last stays, with the reason.
func (h *hub) publish(l *Look, err error) {
	var next []section
	if err == nil {
		next = sections(l)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil && h.now == nil:
		next = sections(&Look{})
	case err != nil:
		next = slices.Clone(h.now)
	}
	if err != nil {
		text, _ := json.Marshal(err.Error()) // a string always can be
		next[len(next)-1].json = text
	}
	for i := range next {
		if h.now != nil && bytes.Equal(next[i].json, h.now[i].json) {
			continue
		}
		for w := range h.watchers {
			w.mark(i)
		}
	}
	h.now = next
}

// mark has a section sent. The hub's lock is held.
func (w *watcher) mark(i int) {
	w.stale[i] = true
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// join adds a watcher, which is to be sent everything. The caller calls leave.
func (h *hub) join() *watcher {
	w := &watcher{stale: make([]bool, len(sections(&Look{}))), wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.watchers) == 0 {
		h.now = nil // nobody has looked for a while: it is old
	}
	h.watchers[w] = true
	for i := range h.now {
		w.mark(i)
	}
	select {
	case h.come <- struct{}{}:
	default:
	}
	return w
}

func (h *hub) leave(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, w)
}

// take returns what a watcher is to be sent now, as one object; nil: nothing.
func (h *hub) take(w *watcher) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := []byte{'{'}
	for i, s := range h.now {
		if !w.stale[i] {
			continue
		}
		if w.stale[i] = false; len(b) > 1 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%q:%s", s.name, s.json)
	}
	if len(b) == 1 {
		return nil
	}
	return append(b, '}')
}
