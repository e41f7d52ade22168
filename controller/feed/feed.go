// Package feed is what a replica tells of its jobs: one of them, pages of them, those that change, and
// the events of its log. It reads the replicated state and the history, and decides nothing.
package feed

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/history"
	"lightloom/controller/state"
)

// Config configures a Feed.
type Config struct {
	State   *state.State
	History *history.Store
	View    func(fn func(index uint64)) // calls fn between two entries, with the index of the last one
	Epoch   time.Time                   // when the run began, unless the log says so
}

// Feed tells of one replica's jobs. Its methods can be called by several goroutines, those but Run and
// Restored only after New's config can be used.
type Feed struct {
	*api.Hub // of events
	cfg      Config
	journal  journal
	watchers atomic.Int64

	// Within View, or while an entry is applied:
	changed map[controller.JobID]bool // since the last message of the journal
	gap     bool                      // nobody here knows all that has changed since then
	blocked []controller.JobID        // the state's, when a job last came or ended
	events  eventCount
	wake    chan struct{}
}

// kept are how many events, and changes of jobs, those who come back find.
const (
	keptEvents  = 1 << 12
	keptChanges = 1 << 13
)

// New returns a feed that is told of the state's entries from now on.
func New(cfg Config) *Feed {
	f := &Feed{Hub: api.NewHub(keptEvents), cfg: cfg, changed: map[controller.JobID]bool{},
		wake: make(chan struct{}, 1)}
	f.journal.moved = make(chan struct{})
	cfg.State.Observe(f.note)
	return f
}

// Restored says that the state was replaced by a snapshot's.
func (f *Feed) Restored() {
	f.gap, f.blocked = true, slices.Clone(f.cfg.State.Blocked())
	f.Hub.Forget((f.cfg.State.Live().Applied + 1) << eventBits)
	f.rouse()
}

// Watchers returns how many streams of jobs are open.
func (f *Feed) Watchers() int { return int(f.watchers.Load()) }

func (f *Feed) rouse() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Pauses between two messages about jobs: of a replica with few watchers, and for each of many.
const (
	pause      = 50 * time.Millisecond
	perWatcher = 2 * time.Millisecond
)

// Run adds to the journal what has changed, until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		}
		f.publish()
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(pause, time.Duration(f.watchers.Load())*perWatcher)):
		}
	}
}
