package agent

import (
	"sync"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
	"lightloom/southbound/agent/wire"
)

// backlog is what is known to be left, by coflow.
type backlog struct {
	mu      sync.Mutex
	coflows map[southbound.CoflowID]*remains
}

// remains is what is left of one coflow. Reports write told; callers of left borrow shown.
type remains struct {
	told  []int64
	shown []float64
	fresh bool // shown is as told
	at    time.Duration
}

func newBacklog() *backlog { return &backlog{coflows: map[southbound.CoflowID]*remains{}} }

// start records the sizes of coflows that are not known yet.
func (b *backlog) start(starts []southbound.Start) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range starts {
		s := &starts[i]
		if b.coflows[s.Coflow] != nil {
			continue
		}
		r := &remains{told: make([]int64, len(s.Size))}
		for row, size := range s.Size {
			r.told[row] = int64(size)
		}
		b.coflows[s.Coflow] = r
	}
}

// started empties the coflows whose host flows have ended before this leader came.
func (b *backlog) started(req *agentpb.StartRequest, reply *agentpb.StartReply) {
	if len(reply.GetStatus()) != len(req.GetChunks()) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, c := range req.GetChunks() {
		if r := b.coflows[southbound.CoflowID(c.GetCoflow())]; r != nil &&
			reply.Status[i] == agentpb.StartStatus_START_STATUS_ENDED {
			clear(r.told)
			r.fresh = false
		}
	}
}

// mergeReport merges a report. It ignores rows that a coflow does not have.
func (b *backlog) mergeReport(m *agentpb.ProgressReply) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, log := range m.GetBacklogs() {
		b.merge(log, time.Duration(m.GetAtNs()))
	}
}

func (b *backlog) merge(log *agentpb.Backlog, at time.Duration) {
	rows := log.GetRows()
	if rows <= 0 || rows > wire.MaxRows || len(log.GetRow()) != len(log.GetLeft()) {
		return
	}
	id := southbound.CoflowID(log.GetCoflow())
	r := b.coflows[id]
	switch {
	case r == nil && log.GetEnded():
		return // the coflow has ended before it was started here
	case r == nil:
		r = &remains{told: make([]int64, rows)}
		b.coflows[id] = r
	case log.GetEnded():
		clear(r.told)
	}
	for i, row := range log.Row {
		if row >= 0 && int(row) < len(r.told) {
			r.told[row] = max(log.Left[i], 0)
		}
	}
	r.at, r.fresh = at, false
}

func (b *backlog) left(id southbound.CoflowID) (southbound.Remaining, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.coflows[id]
	if r == nil {
		return southbound.Remaining{}, false
	}
	if !r.fresh {
		if r.shown == nil {
			r.shown = make([]float64, len(r.told))
		}
		for i, v := range r.told {
			r.shown[i] = float64(v)
		}
		r.fresh = true
	}
	return southbound.Remaining{F: 1, Base: r.shown, At: r.at}, true
}
