package rollcall

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/raft"
)

// Refused answers a request that must not reach raft. It strips the marks of others.
func (r *Rollcall) Refused(rpc raft.RPC) bool {
	head := headOf(rpc.Command)
	if head == nil {
		return false
	}
	addr, kind, body := cutMark(head.Addr)
	id := string(head.ID)
	head.Addr = addr
	if kind == markHello {
		r.meet(Peer{ID: id, Addr: string(addr)}, rpc, body)
		return true
	}
	x := Start{}
	if kind == markStamp {
		x, _ = decodeIncarnation(body) // what is none is no start that has said hello
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.admit(id, x, kind, rpc.Command)
	if err == nil {
		err = r.allows(rpc.Command)
	}
	if err == nil {
		return false
	}
	if m, ok := rpc.Command.(*raft.InstallSnapshotRequest); ok && m.Size > 0 {
		_, _ = io.Copy(io.Discard, rpc.Reader) // the connection goes on after it
	}
	answer := refusal(rpc.Command)
	if m, ok := rpc.Command.(*raft.RequestPreVoteRequest); ok && errors.Is(err, errVoted) {
		answer, err = r.askLater(m), nil
	}
	rpc.Respond(answer, err)
	return true
}

// askLater answers a question for a vote in a term that is over, so that the candidate asks for a later
// one: nobody else may be able to tell it. The lock is held.
func (r *Rollcall) askLater(ask *raft.RequestPreVoteRequest) *raft.RequestPreVoteResponse {
	head := ask.RPCHeader
	head.ID, head.Addr = []byte(r.cfg.Self.ID), marked([]byte(r.cfg.Self.Addr), markStamp, r.mem.Now().encode())
	return &raft.RequestPreVoteResponse{RPCHeader: head, Term: r.term + 1}
}

// admit returns why a message of a start does not count. The lock is held.
func (r *Rollcall) admit(id string, x Start, kind byte, command any) error {
	_, vote := command.(*raft.RequestVoteRequest)
	_, pre := command.(*raft.RequestPreVoteRequest)
	s, known := r.mem.Peers[id]
	if kind != 0 && !known || r.doubted[id] || kind != 0 && x == (Start{}) || !s.admits(x, vote || pre) {
		return fmt.Errorf("replica %q, start %d: %w", id, x.Count, errStranger)
	}
	return nil
}

// allows returns why a request is not for a node that takes part as this one does. The lock is held.
func (r *Rollcall) allows(command any) error {
	switch m := command.(type) {
	case *raft.AppendEntriesRequest:
		return r.follows(string(m.ID), m.Term, max(m.LeaderCommitIndex, m.PrevLogEntry+uint64(len(m.Entries))))
	case *raft.InstallSnapshotRequest:
		return r.follows(string(m.ID), m.Term, m.LastLogIndex)
	case *raft.RequestVoteRequest:
		return r.elects(m.Term, Position{m.LastLogTerm, m.LastLogIndex})
	case *raft.RequestPreVoteRequest:
		return r.elects(m.Term, Position{m.LastLogTerm, m.LastLogIndex})
	case *raft.TimeoutNowRequest:
		if r.part != votes {
			return errWaits
		}
	}
	return nil
}

// follows decides on what a leader sends, and notes of one that another learns from how far it is.
// Another leader may never have had entries of the one before that were not committed. The lock is
// held.
func (r *Rollcall) follows(leader string, term, index uint64) error {
	if r.part == waits || term < r.term {
		return errWaits
	}
	if r.part == learns {
		if term > r.term || leader != r.leader {
			r.term, r.leader, r.target = term, leader, 0
			if r.answers[leader].Term != term { // it is asked how far its log reaches
				delete(r.greeted, leader)
				r.notify()
			}
		}
		r.target = max(r.target, index)
	}
	return nil
}

// hasReached reports whether a node that learns has applied what its leader held when it answered this
// start: what an earlier start has acknowledged to it is no more than that. Without such an answer it has
// to come as far as the leader has shown, which under load is always a little further. The lock is held.
func (r *Rollcall) hasReached(applied uint64) bool {
	target := r.target
	if a := r.answers[r.leader]; a.Term == r.term && a.Held.Index > 0 {
		target = a.Held.Index
	}
	return r.part == learns && r.target > 0 && applied >= target
}

// elects decides on a request for a vote. The lock is held.
func (r *Rollcall) elects(term uint64, held Position) error {
	switch {
	case r.part < careful:
		return errWaits
	case term <= r.term:
		return errVoted
	case held.before(r.needs) && r.part == careful:
		return errBehind
	}
	return nil
}

// headOf returns the header of a request or an answer, to be changed.
func headOf(m any) *raft.RPCHeader {
	switch m := m.(type) {
	case *raft.AppendEntriesRequest:
		return &m.RPCHeader
	case *raft.InstallSnapshotRequest:
		return &m.RPCHeader
	case *raft.RequestVoteRequest:
		return &m.RPCHeader
	case *raft.RequestPreVoteRequest:
		return &m.RPCHeader
	case *raft.TimeoutNowRequest:
		return &m.RPCHeader
	case *raft.AppendEntriesResponse:
		return &m.RPCHeader
	case *raft.InstallSnapshotResponse:
		return &m.RPCHeader
	case *raft.RequestVoteResponse:
		return &m.RPCHeader
	case *raft.RequestPreVoteResponse:
		return &m.RPCHeader
	case *raft.TimeoutNowResponse:
		return &m.RPCHeader
	}
	return nil
}

// refusal is an empty answer.
func refusal(command any) any {
	switch command.(type) {
	case *raft.AppendEntriesRequest:
		return &raft.AppendEntriesResponse{}
	case *raft.InstallSnapshotRequest:
		return &raft.InstallSnapshotResponse{}
	case *raft.RequestVoteRequest:
		return &raft.RequestVoteResponse{}
	case *raft.TimeoutNowRequest:
		return &raft.TimeoutNowResponse{}
	}
	return &raft.RequestPreVoteResponse{}
}

// stamp marks what this start says.
func (r *Rollcall) stamp(addr []byte) []byte {
	r.mu.Lock()
	x := r.mem.Now()
	r.mu.Unlock()
	return marked(addr, markStamp, x.encode())
}

// Signed returns raft's answer with the stamp of this start.
func (r *Rollcall) Signed(a raft.RPCResponse) raft.RPCResponse {
	if head := headOf(a.Response); head != nil {
		head.Addr = r.stamp(head.Addr)
	}
	return a
}

// SetHeartbeatHandler implements raft.Transport.
func (r *Rollcall) SetHeartbeatHandler(handle func(raft.RPC)) {
	if handle == nil {
		r.Transport.SetHeartbeatHandler(nil)
		return
	}
	r.Transport.SetHeartbeatHandler(func(rpc raft.RPC) {
		if r.Refused(rpc) {
			return
		}
		asker, answer := rpc.RespChan, make(chan raft.RPCResponse, 1)
		rpc.RespChan = answer
		handle(rpc)
		select {
		case a := <-answer:
			asker <- r.Signed(a)
		default: // raft has been shut down
		}
	})
}

// seen is what this node knows of a peer before it asks it something.
func (r *Rollcall) seen(id string) Sighting {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mem.Peers[id]
}

// counts takes an answer apart: whose it is, and why it does not count. One of us does not know the
// other then.
func (r *Rollcall) counts(id string, head *raft.RPCHeader, err error, vote bool) (x Start, why error) {
	defer func() {
		if why != nil && strings.Contains(why.Error(), errStranger.Error()) {
			r.mu.Lock()
			delete(r.greeted, id)
			r.mu.Unlock()
			r.notify()
		}
	}()
	if err != nil {
		return x, err
	}
	addr, kind, body := cutMark(head.Addr)
	head.Addr = addr
	if kind == markStamp {
		x, _ = decodeIncarnation(body)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s, known := r.mem.Peers[id]
	if kind != 0 && (!known || x == (Start{})) || r.doubted[id] || !s.admits(x, vote) {
		return x, fmt.Errorf("answer of replica %q, start %d: %w", id, x.Count, errStranger)
	}
	return x, nil
}

// saw notes what an answer shows of a peer: its term, and where it is not zero the last entry that it
// has acknowledged to this leader. Some of it goes to disk, with the entries: that costs no write of
// its own. last is where its log ended before, if it was told. One that shows less than it did before
// the question has gone back while it ran.
func (r *Rollcall) saw(id string, x Start, before Sighting, term, leads, last uint64, held Position) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, known := r.mem.Peers[id]
	if !known || s.Start != before.Start || s.Start != x {
		return nil
	}
	if term < before.Newest || leads == term && r.led[id] == leads && last > 0 && last < before.Held.Index {
		r.doubted[id] = true
		return fmt.Errorf("answer of replica %q of term %d, log to %d: %w", id, term, last, errStranger)
	}
	if term == s.Newest && held == (Position{}) {
		return nil
	}
	s.Newest = max(s.Newest, term)
	if held != (Position{}) {
		s.Held, r.led[id] = held, leads
	}
	all := make(map[string]Sighting, len(r.mem.Peers))
	for k, v := range r.mem.Peers {
		all[k] = v
	}
	all[id] = s
	r.mem.Peers = all
	if s.Newest != before.Newest || s.Held.Index >= r.noted[id]+noteEvery || s.Held.Index < r.noted[id] {
		r.noted[id] = s.Held.Index
		r.cfg.Memory.Hold(r.mem)
	}
	return nil
}

// AppendEntries implements raft.Transport.
func (r *Rollcall) AppendEntries(id raft.ServerID, to raft.ServerAddress, ask *raft.AppendEntriesRequest,
	resp *raft.AppendEntriesResponse) error {
	before, c := r.seen(string(id)), *ask
	c.Addr = r.stamp(ask.Addr)
	err := r.Transport.AppendEntries(id, to, &c, resp)
	x, err := r.counts(string(id), &resp.RPCHeader, err, false)
	if err != nil {
		return err
	}
	held := Position{ask.PrevLogTerm, ask.PrevLogEntry}
	if n := len(ask.Entries); n > 0 {
		held = Position{ask.Entries[n-1].Term, ask.Entries[n-1].Index}
	}
	if !resp.Success {
		held = Position{}
	}
	return r.saw(string(id), x, before, resp.Term, ask.Term, resp.LastLog, held)
}

// AppendEntriesPipeline implements raft.Transport: there are none.
func (r *Rollcall) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// InstallSnapshot implements raft.Transport.
func (r *Rollcall) InstallSnapshot(id raft.ServerID, to raft.ServerAddress, ask *raft.InstallSnapshotRequest,
	resp *raft.InstallSnapshotResponse, data io.Reader) error {
	before, c := r.seen(string(id)), *ask
	c.Addr = r.stamp(ask.Addr)
	err := r.Transport.InstallSnapshot(id, to, &c, resp, data)
	x, err := r.counts(string(id), &resp.RPCHeader, err, false)
	if err != nil {
		return err
	}
	held := Position{ask.LastLogTerm, ask.LastLogIndex}
	if !resp.Success {
		held = Position{}
	}
	return r.saw(string(id), x, before, resp.Term, ask.Term, 0, held)
}

// TimeoutNow implements raft.Transport.
func (r *Rollcall) TimeoutNow(id raft.ServerID, to raft.ServerAddress, ask *raft.TimeoutNowRequest,
	resp *raft.TimeoutNowResponse) error {
	c := *ask
	c.Addr = r.stamp(ask.Addr)
	_, err := r.counts(string(id), &resp.RPCHeader, r.Transport.TimeoutNow(id, to, &c, resp), false)
	return err
}

// stands returns why the node must not ask for votes of a term, and the newest one in which it may have
// voted.
func (r *Rollcall) stands(term uint64) (voted uint64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.catchUp()
	if r.part != votes {
		return 0, errWaits
	}
	if term <= r.term {
		return r.term, nil
	}
	return 0, nil
}

// RequestVote implements raft.Transport.
func (r *Rollcall) RequestVote(id raft.ServerID, to raft.ServerAddress, ask *raft.RequestVoteRequest,
	resp *raft.RequestVoteResponse) error {
	voted, err := r.stands(ask.Term)
	if err != nil {
		return err
	}
	if voted > 0 {
		return errWaits
	}
	before, c := r.seen(string(id)), *ask
	c.Addr = r.stamp(ask.Addr)
	err = r.Transport.RequestVote(id, to, &c, resp)
	x, err := r.counts(string(id), &resp.RPCHeader, err, true)
	if err != nil {
		return err
	}
	return r.saw(string(id), x, before, resp.Term, 0, 0, Position{})
}

// RequestPreVote implements raft.WithPreVote. A term in which the node may have voted is answered with
// the next, so that raft asks for a later one.
func (r *Rollcall) RequestPreVote(id raft.ServerID, to raft.ServerAddress, ask *raft.RequestPreVoteRequest,
	resp *raft.RequestPreVoteResponse) error {
	voted, err := r.stands(ask.Term)
	if err != nil {
		return err
	}
	if voted > 0 {
		*resp = raft.RequestPreVoteResponse{RPCHeader: ask.RPCHeader, Term: voted + 1}
		return nil
	}
	t, ok := r.Transport.(raft.WithPreVote)
	if !ok {
		return errors.ErrUnsupported
	}
	c := *ask
	c.Addr = r.stamp(ask.Addr)
	_, err = r.counts(string(id), &resp.RPCHeader, t.RequestPreVote(id, to, &c, resp), true)
	return err
}
