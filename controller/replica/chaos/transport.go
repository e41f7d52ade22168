package chaos

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// Transport is one end of a Network: a raft.Transport that asks for pre-votes and has no pipelines, as
// replica's own.
type Transport struct {
	net   *Network
	addr  raft.ServerAddress
	inbox chan raft.RPC

	mu     sync.Mutex
	beat   func(raft.RPC)
	closed chan struct{}
	once   sync.Once
}

var (
	_ raft.Transport   = (*Transport)(nil)
	_ raft.WithPreVote = (*Transport)(nil)
	_ raft.WithClose   = (*Transport)(nil)
)

// Close ends this end: senders are refused from then on, and what it still sends is lost.
func (t *Transport) Close() error {
	t.once.Do(func() { close(t.closed) })
	return nil
}

func (t *Transport) isClosed() bool {
	select {
	case <-t.closed:
		return true
	default:
		return false
	}
}

// Consumer implements raft.Transport.
func (t *Transport) Consumer() <-chan raft.RPC { return t.inbox }

// LocalAddr implements raft.Transport.
func (t *Transport) LocalAddr() raft.ServerAddress { return t.addr }

// EncodePeer implements raft.Transport.
func (t *Transport) EncodePeer(_ raft.ServerID, a raft.ServerAddress) []byte { return []byte(a) }

// DecodePeer implements raft.Transport.
func (t *Transport) DecodePeer(b []byte) raft.ServerAddress { return raft.ServerAddress(b) }

// SetHeartbeatHandler implements raft.Transport.
func (t *Transport) SetHeartbeatHandler(beat func(raft.RPC)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.beat = beat
}

// AppendEntries implements raft.Transport.
func (t *Transport) AppendEntries(_ raft.ServerID, to raft.ServerAddress, args *raft.AppendEntriesRequest,
	resp *raft.AppendEntriesResponse) error {
	return call(t, to, args, resp, copyAppend)
}

// AppendEntriesPipeline implements raft.Transport.
func (t *Transport) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// RequestVote implements raft.Transport.
func (t *Transport) RequestVote(_ raft.ServerID, to raft.ServerAddress, args *raft.RequestVoteRequest,
	resp *raft.RequestVoteResponse) error {
	return call(t, to, args, resp, shallow)
}

// RequestPreVote implements raft.WithPreVote.
func (t *Transport) RequestPreVote(_ raft.ServerID, to raft.ServerAddress, args *raft.RequestPreVoteRequest,
	resp *raft.RequestPreVoteResponse) error {
	return call(t, to, args, resp, shallow)
}

// TimeoutNow implements raft.Transport.
func (t *Transport) TimeoutNow(_ raft.ServerID, to raft.ServerAddress, args *raft.TimeoutNowRequest,
	resp *raft.TimeoutNowResponse) error {
	return call(t, to, args, resp, shallow)
}

// InstallSnapshot implements raft.Transport. The data is read whole before it is sent.
func (t *Transport) InstallSnapshot(_ raft.ServerID, to raft.ServerAddress,
	args *raft.InstallSnapshotRequest,
	resp *raft.InstallSnapshotResponse, data io.Reader) error {
	all, err := io.ReadAll(data)
	if err != nil {
		return fmt.Errorf("read snapshot: %w", err)
	}
	answer, err := t.send(to, func() raft.RPC {
		a := *args
		return raft.RPC{Command: &a, Reader: bytes.NewReader(all)}
	})
	if err != nil {
		return err
	}
	*resp = *answer.(*raft.InstallSnapshotResponse)
	return nil
}

// call sends copies of args, so that the two ends never share memory, and copies the answer.
func call[A, R any](t *Transport, to raft.ServerAddress, args *A, resp *R, dup func(*A) *A) error {
	answer, err := t.send(to, func() raft.RPC { return raft.RPC{Command: dup(args)} })
	if err != nil {
		return err
	}
	*resp = *answer.(*R)
	return nil
}

func shallow[A any](a *A) *A {
	c := *a
	return &c
}

func copyAppend(a *raft.AppendEntriesRequest) *raft.AppendEntriesRequest {
	c := *a
	c.Entries = make([]*raft.Log, len(a.Entries))
	for i, e := range a.Entries {
		l := *e
		l.Data, l.Extensions = bytes.Clone(e.Data), bytes.Clone(e.Extensions)
		c.Entries[i] = &l
	}
	return &c
}

// send carries one request and its reply, as the network has it.
func (t *Transport) send(to raft.ServerAddress, request func() raft.RPC) (any, error) {
	l := link{t.addr, to}
	f, peer := t.net.draw(l)
	if peer == nil || peer.isClosed() {
		return nil, fmt.Errorf("send to %q: %w", to, ErrRefused)
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.net.timeout)
	defer cancel()
	if f.drop || !t.pass(ctx, f.there) {
		return nil, t.silence(ctx, to)
	}
	if f.double {
		go t.redeliver(peer, request(), f.again)
	}
	rpc, reply := request(), make(chan raft.RPCResponse, 1)
	rpc.RespChan = reply
	if !peer.deliver(ctx, rpc) {
		return nil, t.silence(ctx, to)
	}
	select {
	case r := <-reply:
		if f.dropReply || t.net.severed(l) || !t.pass(ctx, f.back) {
			return nil, t.silence(ctx, to)
		}
		return r.Response, r.Error
	case <-ctx.Done():
	case <-t.closed:
	}
	return nil, t.silence(ctx, to)
}

// pass lets a message be under way for a while. It is false if the sender gives up or ends first.
func (t *Transport) pass(ctx context.Context, d time.Duration) bool {
	under := time.NewTimer(d)
	defer under.Stop()
	select {
	case <-under.C:
		return true
	case <-ctx.Done():
		return false
	case <-t.closed:
		return false
	}
}

// silence is what a sender hears of a lost message: nothing, until it gives up.
func (t *Transport) silence(ctx context.Context, to raft.ServerAddress) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("send to %q: %w", to, ErrTimeout)
	case <-t.closed:
		return raft.ErrTransportShutdown
	}
}

// deliver hands a request to this end's raft. It is false if that does not take it.
func (t *Transport) deliver(ctx context.Context, rpc raft.RPC) bool {
	t.mu.Lock()
	beat := t.beat
	t.mu.Unlock()
	if beat != nil && isHeartbeat(rpc.Command) && !t.isClosed() {
		beat(rpc)
		return true
	}
	select {
	case t.inbox <- rpc:
		return true
	case <-t.closed:
		return false
	case <-ctx.Done():
		return false
	}
}

// redeliver delivers a doubled request for the second time: late, and without an answer to the sender.
func (t *Transport) redeliver(peer *Transport, rpc raft.RPC, after time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), t.net.timeout)
	defer cancel()
	if t.pass(ctx, after) {
		rpc.RespChan = make(chan raft.RPCResponse, 1)
		peer.deliver(ctx, rpc)
	}
}

// isHeartbeat recognises heartbeats as raft's own network transport does.
func isHeartbeat(command any) bool {
	a, ok := command.(*raft.AppendEntriesRequest)
	return ok && a.Term != 0 && len(a.RPCHeader.Addr) > 0 && a.PrevLogEntry == 0 && a.PrevLogTerm == 0 &&
		len(a.Entries) == 0 && a.LeaderCommitIndex == 0
}
