package replica

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// leadershipTerm is one uninterrupted time of leading.
type leadershipTerm struct {
	term   uint64
	ctx    context.Context // ends with it
	cancel context.CancelFunc
}

// tracker follows the current leader. Raft calls observe from its own threads in the order of events,
// before it goes on.
type tracker struct {
	now func() time.Time

	mu      sync.Mutex
	cur     *leadershipTerm // nil while this node does not lead
	closed  error           // why nothing is followed any more
	changed chan struct{}   // closed and replaced at every change

	leader  string // empty while unknown
	term    uint64 // in which leader became known
	changes int
	since   time.Time // while unknown after a leader was known: last heard of it
	longest time.Duration
	total   time.Duration
}

func newTracker(now func() time.Time) *tracker {
	return &tracker{now: now, changed: make(chan struct{})}
}

// observe is a raft.FilterFn that keeps every observation to itself: unlike a channel it misses none.
func (t *tracker) observe(o *raft.Observation) bool {
	switch d := o.Data.(type) {
	case raft.RaftState:
		t.lead(d == raft.Leader, o.Raft.CurrentTerm())
	case raft.LeaderObservation:
		t.heard(string(d.LeaderID), o.Raft.CurrentTerm(), o.Raft.LastContact())
	}
	return false
}

// adopt takes over what happened before observe was registered. Raft changes its state before it
// notifies observers, so that the end of the state read here is always observed.
func (t *tracker) adopt(r interface {
	State() raft.RaftState
	CurrentTerm() uint64
	LeaderWithID() (raft.ServerAddress, raft.ServerID)
}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.State() == raft.Leader {
		t.leadLocked(true, r.CurrentTerm())
	}
	if _, id := r.LeaderWithID(); id != "" && t.leader == "" {
		t.heardLocked(string(id), r.CurrentTerm(), t.now())
	}
}

func (t *tracker) lead(yes bool, term uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leadLocked(yes, term)
}

func (t *tracker) leadLocked(yes bool, term uint64) {
	if t.closed != nil || yes && t.cur != nil && t.cur.term == term {
		return
	}
	if t.cur != nil {
		t.cur.cancel()
		t.cur = nil
	}
	if yes {
		ctx, cancel := context.WithCancel(context.Background())
		t.cur = &leadershipTerm{term: term, ctx: ctx, cancel: cancel}
	}
	t.broadcast()
}

func (t *tracker) heard(leader string, term uint64, contact time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heardLocked(leader, term, contact)
}

func (t *tracker) heardLocked(leader string, term uint64, contact time.Time) {
	if t.closed != nil || leader == t.leader && (leader == "" || term == t.term) {
		return
	}
	switch {
	case leader == "":
		t.since = t.now()
		if !contact.IsZero() && contact.Before(t.since) && t.cur == nil {
			t.since = contact // a follower notices late
		}
	case !t.since.IsZero():
		gap := t.now().Sub(t.since)
		t.total += gap
		t.longest = max(t.longest, gap)
		t.since = time.Time{}
	}
	if leader != "" {
		if t.term != 0 {
			t.changes++
		}
		t.term = term
	}
	t.leader = leader
	t.broadcast()
}

func (t *tracker) broadcast() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// close ends the term and ignores all that comes after.
func (t *tracker) close() { t.fail(ErrClosed) }

// fail closes the tracker with an error, which all waiting callers get.
func (t *tracker) fail(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed != nil {
		return
	}
	t.leadLocked(false, 0)
	t.closed = why
	t.leader = ""
	t.broadcast()
}

// next waits for a leadership term above after.
func (t *tracker) next(ctx context.Context, after uint64) (*leadershipTerm, error) {
	for {
		t.mu.Lock()
		cur, changed, closed := t.cur, t.changed, t.closed
		t.mu.Unlock()
		switch {
		case closed != nil:
			return nil, closed
		case cur != nil && cur.term > after:
			return cur, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
