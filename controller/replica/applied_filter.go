package replica

import (
	"io"
	"sync"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/rollcall"
)

// appliedFilter stands between raft and its transport, so that raft 1.7.3 never goes back behind what it has
// applied. A network can double, delay and lose messages. Where a snapshot comes again, raft would go
// back to its end, delete the entries behind it, and panic ("log not found") when it applies them
// again. Where the answer to the first entries behind a snapshot is lost, raft would refuse them the
// second time, since its log does not hold the snapshot's last entry, and the leader would send the
// snapshot again without end.
//
// What is applied is committed, so every leader holds the same (Ongaro and Ousterhout 2014, section
// 5.4.3). A snapshot that ends there is answered, and of a leader's entries those behind it go to raft.
type appliedFilter struct {
	*rollcall.Rollcall
	out   chan raft.RPC
	ready chan struct{} // closed once raft has been started
	stop  chan struct{}
	once  sync.Once
	ended sync.WaitGroup

	applied  func() uint64
	answered func()
}

// newAppliedFilter begins to take requests. The rollcall answers those that raft must not see.
func newAppliedFilter(r *rollcall.Rollcall) *appliedFilter {
	o := &appliedFilter{Rollcall: r, out: make(chan raft.RPC), ready: make(chan struct{}),
		stop: make(chan struct{})}
	o.ended.Go(o.take)
	return o
}

// follow begins to hand requests to raft, one after the other. applied is the index of the last entry
// that raft has handed to the state machine. answered, called after each request, must not wait.
func (o *appliedFilter) follow(applied func() uint64, answered func()) {
	o.applied, o.answered = applied, answered
	close(o.ready)
}

func (o *appliedFilter) take() {
	for {
		select {
		case <-o.stop:
			return
		case rpc := <-o.Transport.Consumer():
			if o.Refused(rpc) {
				continue
			}
			select {
			case <-o.ready:
			case <-o.stop:
				return
			}
			switch m := rpc.Command.(type) {
			case *raft.InstallSnapshotRequest:
				if m.LastLogIndex <= o.applied() {
					answerAgain(rpc, m)
					continue
				}
			case *raft.AppendEntriesRequest:
				rpc.Command = behind(m, o.applied())
			}
			if !o.hand(rpc) {
				return
			}
		}
	}
}

// hand gives raft a request and passes on its answer. It waits for that, since raft applies entries
// before it answers, and the next request depends on what is applied. It returns false once the
// transport is closed.
func (o *appliedFilter) hand(rpc raft.RPC) bool {
	asker, answer := rpc.RespChan, make(chan raft.RPCResponse, 1)
	rpc.RespChan = answer
	select {
	case o.out <- rpc:
	case <-o.stop:
		return false
	}
	select {
	case a := <-answer:
		o.answered()
		asker <- o.Signed(a) // has room for it, as raft requires
		return true
	case <-o.stop:
		return false
	}
}

// behind returns a request without the entries up to applied. If the entry before them is applied, raft
// does not compare it either: its log may no longer hold it. Raft would commit all that its log holds,
// up to the leader's commit index; it is told to go no further than the request's last entry (figure 2
// of the paper, AppendEntries 5).
func behind(m *raft.AppendEntriesRequest, applied uint64) *raft.AppendEntriesRequest {
	c, last := *m, m.PrevLogEntry // the sender can still hold m
	if n := len(m.Entries); n > 0 {
		last = m.Entries[n-1].Index
	}
	c.LeaderCommitIndex = min(m.LeaderCommitIndex, last)
	if m.PrevLogEntry > applied {
		return &c
	}
	c.PrevLogEntry, c.PrevLogTerm = 0, 0
	for len(c.Entries) > 0 && c.Entries[0].Index <= applied {
		c.Entries = c.Entries[1:]
	}
	return &c
}

// answerAgain answers a snapshot of what is applied.
func answerAgain(rpc raft.RPC, m *raft.InstallSnapshotRequest) {
	_, err := io.Copy(io.Discard, rpc.Reader) // the connection goes on after it
	head := raft.RPCHeader{ProtocolVersion: m.ProtocolVersion}
	rpc.Respond(&raft.InstallSnapshotResponse{RPCHeader: head, Term: m.Term, Success: err == nil}, err)
}

// Consumer implements raft.Transport.
func (o *appliedFilter) Consumer() <-chan raft.RPC { return o.out }

// end takes no more requests.
func (o *appliedFilter) end() {
	o.once.Do(func() { close(o.stop) })
	o.ended.Wait()
}

// Close implements raft.WithClose.
func (o *appliedFilter) Close() error {
	o.end()
	if t, ok := o.Transport.(raft.WithClose); ok {
		return t.Close()
	}
	return nil
}
