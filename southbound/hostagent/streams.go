package hostagent

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
	"lightloom/southbound/agent/wire"
)

// Bounds of the interval of progress reports.
const (
	leastInterval = 5 * time.Millisecond
	mostInterval  = 10 * time.Second
)

// Watch sends events until the caller leaves, the server ends, or a new leader comes.
func (s *server) Watch(m *agentpb.WatchRequest,
	stream grpc.ServerStreamingServer[agentpb.WatchReply]) error {
	e := wire.ElectionOf(m.GetElection())
	if err := s.admit(m.GetElection()); err != nil {
		return wire.ToStatus(err)
	}
	for from := m.GetFrom(); ; {
		first, events, changed, fenced, err := s.a.batch(e, from)
		if err != nil {
			return wire.ToStatus(err)
		}
		if len(events) > 0 {
			if err := stream.Send(s.a.eventBatch(first, events)); err != nil {
				return err
			}
			from = first + uint64(len(events))
			continue
		}
		select {
		case <-changed:
		case <-fenced:
		case <-s.ctx.Done():
			return wire.ToStatus(wire.ErrUnavailable)
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

func (a *Agent) eventBatch(first uint64, events []southbound.Event) *agentpb.WatchReply {
	out := &agentpb.WatchReply{Incarnation: a.number, First: first,
		Events: make([]*agentpb.Event, len(events))}
	for i, ev := range events {
		out.Events[i] = wire.EventMessage(ev)
	}
	return out
}

// batch returns the next events for a stream, and what to wait for where there are none.
func (a *Agent) batch(e wire.Election, from uint64) (uint64, []southbound.Event, <-chan struct{},
	<-chan struct{},
	error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.fence.holds(e); err != nil {
		return 0, nil, nil, nil, err
	}
	first, events, err := a.events.from(from, wire.EventBatch)
	return first, events, a.events.changed, a.fence.changed, err
}

// Progress sends the remaining bytes: of all host flows first, then of those that have moved, once an
// interval.
func (s *server) Progress(m *agentpb.ProgressRequest,
	stream grpc.ServerStreamingServer[agentpb.ProgressReply]) error {
	e := wire.ElectionOf(m.GetElection())
	if err := s.admit(m.GetElection()); err != nil {
		return wire.ToStatus(err)
	}
	t := time.NewTicker(min(max(time.Duration(m.GetIntervalNs()), leastInterval), mostInterval))
	defer t.Stop()
	for seen := (sight{}); ; {
		msgs, fenced, err := s.a.progress(e, &seen)
		if err != nil {
			return wire.ToStatus(err)
		}
		for _, msg := range msgs {
			if err := stream.Send(msg); err != nil {
				return err
			}
		}
		if err := s.nap(stream.Context(), t.C, fenced); err != nil {
			return err
		}
	}
}

// nap waits for one of its channels; an error ends the stream.
func (s *server) nap(ctx context.Context, tick <-chan time.Time, fenced <-chan struct{}) error {
	select {
	case <-tick:
	case <-fenced:
	case <-s.ctx.Done():
		return wire.ToStatus(wire.ErrUnavailable)
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// sight is how far a progress stream has reported.
type sight struct {
	reading uint64
	ended   int
}

// progress collects what has moved since seen.
func (a *Agent) progress(e wire.Election, seen *sight) ([]*agentpb.ProgressReply, <-chan struct{}, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.fence.holds(e); err != nil {
		return nil, nil, err
	}
	out := replies{at: int64(a.table.readAt)}
	for _, c := range a.table.recent[seen.ended:] {
		out.addEnded(c)
	}
	for _, c := range a.table.order {
		if c.moved < seen.reading {
			continue
		}
		for i := range c.rows {
			if b := &c.rows[i]; b.moved >= seen.reading {
				out.add(c.id, int32(len(c.rows)), int32(i), b.left)
			}
		}
	}
	*seen = sight{reading: a.table.reading, ended: len(a.table.recent)}
	return out.list, a.fence.changed, nil
}

// replies fills messages up to a bounded number of rows each.
type replies struct {
	at   int64
	list []*agentpb.ProgressReply
	room int
}

// rowsPerReply keeps a message below a third of what it can have: a row takes at most 15 bytes, a coflow 20.
const rowsPerReply = 8192

func (r *replies) add(id southbound.CoflowID, rows, row int32, left int64) {
	m := r.message()
	n := len(m.Backlogs)
	if n == 0 || m.Backlogs[n-1].Coflow != int32(id) {
		m.Backlogs = append(m.Backlogs, &agentpb.Backlog{Coflow: int32(id), Rows: rows})
		n++
	}
	b := m.Backlogs[n-1]
	b.Row = append(b.Row, row)
	b.Left = append(b.Left, left)
}

func (r *replies) addEnded(c endedCoflow) {
	m := r.message()
	m.Backlogs = append(m.Backlogs, &agentpb.Backlog{Coflow: int32(c.id), Rows: c.rows, Ended: true})
}

// message returns the message that takes the next row.
func (r *replies) message() *agentpb.ProgressReply {
	if r.room == 0 {
		r.list = append(r.list, &agentpb.ProgressReply{AtNs: r.at})
		r.room = rowsPerReply
	}
	r.room--
	return r.list[len(r.list)-1]
}
