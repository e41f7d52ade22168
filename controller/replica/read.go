package replica

import (
	"context"
	"fmt"
	"sync"
)

// reads gathers callers of ReadIndex, who share barriers.
type reads struct {
	mu   sync.Mutex
	next *round        // of the barrier that has not begun; nil: nobody waits
	turn chan struct{} // holds one token: the barrier under way
}

// round is one barrier and what it tells those who came before it.
type round struct {
	done  chan struct{}
	index uint64
	err   error
}

// ReadIndex returns an index of the log that covers all that was acknowledged before the call: what any
// replica holds once it has applied that entry is no older. Only the leader can; the error wraps
// ErrNotLeader or ErrUncertain then.
//
// It costs a barrier in the log, which all share who call while another one is under way. Raft's own
// confirmation (VerifyLeader) is cheaper, but takes answers to heartbeats that left before it was
// called, and so lets an old leader speak.
func (n *Node) ReadIndex(ctx context.Context) (uint64, error) {
	r, err := n.nextRound()
	if err != nil {
		return 0, err
	}
	select {
	case <-r.done:
		return r.index, r.err
	case <-ctx.Done():
		return 0, fmt.Errorf("read index: %w: %w", ErrUncertain, context.Cause(ctx))
	}
}

// nextRound returns the barrier that has not begun yet, and sees to it that it will.
func (n *Node) nextRound() (*round, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, fmt.Errorf("read index: %w: %w", ErrNotLeader, ErrClosed)
	}
	n.reads.mu.Lock()
	defer n.reads.mu.Unlock()
	if n.reads.next == nil {
		n.reads.next = &round{done: make(chan struct{})}
		n.wg.Add(1)
		go n.pass(n.reads.next)
	}
	return n.reads.next, nil
}

// pass runs a round after the one before it. It waits for nobody's context: raft answers a barrier at
// the latest when its lease is over.
func (n *Node) pass(r *round) {
	defer n.wg.Done()
	n.reads.turn <- struct{}{}
	n.reads.mu.Lock()
	n.reads.next = nil // who comes now needs the next
	n.reads.mu.Unlock()
	f := n.raft.Barrier(enqueueWait(context.Background()))
	if err := f.Error(); err != nil {
		r.err = fmt.Errorf("read index: %w", appendError(err))
	} else {
		n.fsm.view(func(at uint64) { r.index = at })
	}
	<-n.reads.turn
	close(r.done)
}
