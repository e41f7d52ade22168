package replica

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// lease keeps a leader in its place whose followers answer late because machines are busy. Raft's own
// lease has one length. Where answers come late for some time, a heartbeat that is still under way
// counts as answered, until the last true answer is older than the lease that contacts ask for.
//
// It changes when a leader gives up, and nothing else: entries are committed by true answers alone. What
// raft asks by heartbeats (VerifyLeader) nobody may use; reads pass a barrier.
type lease struct {
	*appliedFilter
	contacts *contacts
	length   time.Duration // of raft's lease

	mu   sync.Mutex
	sent map[raft.ServerID]*heartbeat // under way
	work sync.WaitGroup
}

// heartbeat is one under way, or its answer.
type heartbeat struct {
	term uint64
	done chan struct{} // closed with the answer
	resp raft.AppendEntriesResponse
	err  error
}

func newLease(f *appliedFilter, c *contacts, length time.Duration) *lease {
	return &lease{appliedFilter: f, contacts: c, length: length, sent: map[raft.ServerID]*heartbeat{}}
}

// SetHeartbeatHandler implements raft.Transport.
func (l *lease) SetHeartbeatHandler(handle func(raft.RPC)) {
	if handle == nil {
		l.appliedFilter.SetHeartbeatHandler(nil)
		return
	}
	l.appliedFilter.SetHeartbeatHandler(func(rpc raft.RPC) {
		if m, ok := rpc.Command.(*raft.AppendEntriesRequest); ok {
			l.contacts.heard(string(m.ID), m.Term, time.Now())
		}
		handle(rpc)
	})
}

// AppendEntries implements raft.Transport.
func (l *lease) AppendEntries(id raft.ServerID, to raft.ServerAddress, ask *raft.AppendEntriesRequest,
	resp *raft.AppendEntriesResponse) error {
	if len(ask.Entries) > 0 || ask.PrevLogEntry > 0 || ask.LeaderCommitIndex > 0 { // no heartbeat
		err := l.appliedFilter.AppendEntries(id, to, ask, resp)
		if err == nil {
			l.contacts.heard(string(id), ask.Term, time.Now())
		}
		return err
	}
	h := l.send(id, to, ask)
	late := time.NewTimer(l.length / 8) // so that most of raft's lease is ahead when the process is kept from running
	defer late.Stop()
	select {
	case <-h.done:
	case <-late.C:
		if l.bears(id, ask.Term) {
			*resp = raft.AppendEntriesResponse{RPCHeader: ask.RPCHeader, Term: ask.Term, Success: true}
			return nil
		}
		<-h.done
	}
	*resp = h.resp
	return h.err
}

// send sends a heartbeat, unless one of the term is under way.
func (l *lease) send(id raft.ServerID, to raft.ServerAddress, ask *raft.AppendEntriesRequest) *heartbeat {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.sent[id]; h != nil && h.term == ask.Term {
		return h
	}
	h := &heartbeat{term: ask.Term, done: make(chan struct{})}
	l.sent[id] = h
	c := *ask
	l.work.Go(func() {
		h.err = l.appliedFilter.AppendEntries(id, to, &c, &h.resp)
		if h.err == nil {
			l.contacts.heard(string(id), c.Term, time.Now())
		}
		l.mu.Lock()
		if l.sent[id] == h {
			delete(l.sent, id)
		}
		l.mu.Unlock()
		close(h.done)
	})
	return h
}

// bears reports whether a peer that has not answered yet is to be waited for longer than raft would.
func (l *lease) bears(id raft.ServerID, term uint64) bool {
	silent, known := l.contacts.since(string(id), term, time.Now())
	return known && silent < l.contacts.patience(l.length)-l.length
}
