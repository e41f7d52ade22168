package replica

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// Newcomer is a node that takes its place in an existing cluster with an empty log: its disk was lost, or it is a new
// machine under an old name. It does not know what its predecessor acknowledged and whom it voted for. So it neither
// votes nor stands until it holds all that the cluster had committed, and follows no leader before it knows the others'
// terms.
type Newcomer struct {
	// Term requests the terms of other replicas, as many as a majority of the whole cluster has, and returns the newest.
	// It waits for all their answers: one of them knows every leader that the predecessor helped to elect.
	Term func(context.Context) (uint64, error)
	// Done is called once the node holds what it must; if it returns nil the node votes from then on.
	Done func() error
}

var errJoining = errors.New("this replica joins: it has no vote yet")

// joining stands between raft and its transport until the node has joined.
type joining struct {
	raft.Transport
	how   Newcomer
	out   chan raft.RPC
	stop  context.CancelFunc
	ended sync.WaitGroup

	mu     sync.Mutex
	known  bool // term is
	joined bool
	term   uint64 // of the newest leader; older ones are not listened to
	target uint64 // index that it must have applied; 0: no leader has spoken
}

func newJoining(t raft.Transport, how Newcomer) *joining {
	ctx, cancel := context.WithCancel(context.Background())
	j := &joining{Transport: t, how: how, out: make(chan raft.RPC), stop: cancel}
	j.ended.Go(func() { j.forward(ctx) })
	return j
}

// close ends what newJoining and run have begun. A nil joining has begun nothing.
func (j *joining) close() {
	if j == nil {
		return
	}
	j.stop()
	j.ended.Wait()
}

// joinPoll is how far apart a node that joins looks how far it has come.
const joinPoll = 20 * time.Millisecond

// follow waits until the node has joined. applied is the index of the last entry that raft has applied.
func (j *joining) follow(applied func() uint64, warn func(error)) {
	ctx, cancel := context.WithCancel(context.Background())
	stop := j.stop
	j.stop = func() { cancel(); stop() }
	j.ended.Go(func() {
		term, err := j.how.Term(ctx)
		if err != nil {
			return // ctx has ended
		}
		j.mu.Lock()
		j.term, j.known = max(j.term, term), true
		j.mu.Unlock()
		tick := time.NewTicker(joinPoll)
		defer tick.Stop()
		for !j.reached(applied()) {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		if err := j.how.Done(); err != nil {
			warn(err)
			return
		}
		j.mu.Lock()
		j.joined = true
		j.mu.Unlock()
	})
}

func (j *joining) reached(applied uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.target > 0 && applied >= j.target
}

// Consumer implements raft.Transport: what others ask, but for what a node that joins must not answer.
func (j *joining) Consumer() <-chan raft.RPC { return j.out }

func (j *joining) forward(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case rpc := <-j.Transport.Consumer():
			if j.refused(rpc) {
				continue
			}
			select {
			case j.out <- rpc:
			case <-ctx.Done():
				return
			}
		}
	}
}

// SetHeartbeatHandler implements raft.Transport.
func (j *joining) SetHeartbeatHandler(handle func(raft.RPC)) {
	if handle == nil {
		j.Transport.SetHeartbeatHandler(nil)
		return
	}
	j.Transport.SetHeartbeatHandler(func(rpc raft.RPC) {
		if !j.refused(rpc) {
			handle(rpc)
		}
	})
}

// refused answers a request that must not reach raft, and notes of others how far the leader is.
func (j *joining) refused(rpc raft.RPC) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.joined {
		return false
	}
	switch m := rpc.Command.(type) {
	case *raft.AppendEntriesRequest:
		if j.hear(m.Term, max(m.LeaderCommitIndex, m.PrevLogEntry+uint64(len(m.Entries)))) {
			return false
		}
		rpc.Respond(&raft.AppendEntriesResponse{}, errJoining)
	case *raft.InstallSnapshotRequest:
		if j.hear(m.Term, m.LastLogIndex) {
			return false
		}
		_, _ = io.Copy(io.Discard, rpc.Reader) // the connection goes on after it
		rpc.Respond(&raft.InstallSnapshotResponse{}, errJoining)
	case *raft.RequestVoteRequest:
		rpc.Respond(&raft.RequestVoteResponse{}, errJoining)
	case *raft.RequestPreVoteRequest:
		rpc.Respond(&raft.RequestPreVoteResponse{}, errJoining)
	case *raft.TimeoutNowRequest:
		rpc.Respond(&raft.TimeoutNowResponse{}, errJoining)
	default:
		return false
	}
	return true
}

// hear notes that a leader of a term is at an index; false if it is not to be listened to. Another leader may never
// have had entries of the one before that were not committed.
func (j *joining) hear(term, index uint64) bool {
	if !j.known || term < j.term {
		return false
	}
	if term > j.term {
		j.term, j.target = term, 0
	}
	j.target = max(j.target, index)
	return true
}

// standing returns why the node must not stand for election; nil once it can.
func (j *joining) standing() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.joined {
		return errJoining
	}
	return nil
}

// RequestVote implements raft.Transport.
func (j *joining) RequestVote(id raft.ServerID, to raft.ServerAddress, ask *raft.RequestVoteRequest,
	resp *raft.RequestVoteResponse) error {
	if err := j.standing(); err != nil {
		return err
	}
	return j.Transport.RequestVote(id, to, ask, resp)
}

// RequestPreVote implements raft.WithPreVote.
func (j *joining) RequestPreVote(id raft.ServerID, to raft.ServerAddress, ask *raft.RequestPreVoteRequest,
	resp *raft.RequestPreVoteResponse) error {
	if err := j.standing(); err != nil {
		return err
	}
	t, ok := j.Transport.(raft.WithPreVote)
	if !ok {
		return errJoining
	}
	return t.RequestPreVote(id, to, ask, resp)
}
