package replica

import (
	"errors"
	"io"
	"sync"

	"github.com/hashicorp/raft"
)

// onward stands between raft and its transport, and keeps snapshots from raft that come again once raft has gone on
// from their end: a network can double and delay messages. Raft 1.7.3 would go back to such a snapshot, delete the
// entries behind it, and panic ("log not found") when it applies them again. A leader's first snapshot always reaches
// raft, also one that ends before what is applied: it replaces entries of older leaders.
type onward struct {
	raft.Transport
	out   chan raft.RPC
	stop  chan struct{}
	once  sync.Once
	ended sync.WaitGroup
}

func newOnward(t raft.Transport) *onward {
	return &onward{Transport: t, out: make(chan raft.RPC), stop: make(chan struct{})}
}

// follow begins to hand requests to raft. applied is the index of the last entry that raft has handed to the state
// machine.
func (o *onward) follow(applied func() uint64) {
	o.ended.Go(func() {
		var term, end uint64 // of the newest leader's snapshots that raft was handed
		for {
			select {
			case <-o.stop:
				return
			case rpc := <-o.Transport.Consumer():
				if m, ok := rpc.Command.(*raft.InstallSnapshotRequest); ok {
					switch {
					case m.Term == term && m.LastLogIndex <= end && m.LastLogIndex < applied():
						answerAgain(rpc, m)
						continue
					case m.Term > term:
						term, end = m.Term, m.LastLogIndex
					case m.Term == term:
						end = max(end, m.LastLogIndex)
					}
				}
				select {
				case o.out <- rpc:
				case <-o.stop:
					return
				}
			}
		}
	})
}

// answerAgain answers a snapshot that was installed before.
func answerAgain(rpc raft.RPC, m *raft.InstallSnapshotRequest) {
	_, err := io.Copy(io.Discard, rpc.Reader) // the connection goes on after it
	head := raft.RPCHeader{ProtocolVersion: m.ProtocolVersion}
	rpc.Respond(&raft.InstallSnapshotResponse{RPCHeader: head, Term: m.Term, Success: err == nil}, err)
}

// Consumer implements raft.Transport.
func (o *onward) Consumer() <-chan raft.RPC { return o.out }

// RequestPreVote implements raft.WithPreVote.
func (o *onward) RequestPreVote(id raft.ServerID, to raft.ServerAddress, ask *raft.RequestPreVoteRequest,
	resp *raft.RequestPreVoteResponse) error {
	t, ok := o.Transport.(raft.WithPreVote)
	if !ok {
		return errors.ErrUnsupported
	}
	return t.RequestPreVote(id, to, ask, resp)
}

// Close implements raft.WithClose.
func (o *onward) Close() error {
	o.once.Do(func() { close(o.stop) })
	o.ended.Wait()
	if t, ok := o.Transport.(raft.WithClose); ok {
		return t.Close()
	}
	return nil
}
