package replica

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// Append adds an entry to the log and returns its index once a majority holds it and this replica has
// applied it. Only the leader can. The entry is borrowed for the call.
//
// The error is the machine's own if it refused the entry (which then holds its index). It wraps
// ErrNotLeader if the entry has no effect, ErrUncertain if the outcome is unknown, and also ErrDisk if
// the disk is the cause.
func (n *Node) Append(ctx context.Context, entry []byte) (index uint64, err error) {
	return n.append(ctx, 0, entry)
}

// AppendIn is Append for an entry that was decided in one term: committed in any other it has no effect
// on any replica, and the error wraps ErrNotLeader. It keeps what an outvoted leader decided from being
// applied on top of entries that it has not seen, also if the same node leads again meanwhile.
func (n *Node) AppendIn(ctx context.Context, term uint64, entry []byte) (index uint64, err error) {
	if term == 0 {
		return 0, fmt.Errorf("append entry: %w: term 0 has no leader", ErrNotLeader)
	}
	return n.append(ctx, term, entry)
}

func (n *Node) append(ctx context.Context, term uint64, entry []byte) (index uint64, err error) {
	if len(entry) > n.cfg.Limits.Entry {
		return 0, fmt.Errorf("append entry: %w: %d bytes, at most %d", ErrTooLarge, len(entry),
			n.cfg.Limits.Entry)
	}
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("append entry: %w (%w)", ErrNotLeader, context.Cause(ctx))
	}
	if sick, dead, _ := n.store.health.state(); sick != nil || dead != nil {
		return 0, fmt.Errorf("append entry: %w: %w", ErrNotLeader, cmp.Or(dead, sick))
	}
	logs := []raft.Log{{Data: entry, Extensions: fence(term)}}
	if len(entry) > n.cfg.Limits.Part && n.cfg.Parts != nil && n.cfg.Parts() {
		logs = partsOf(entry, term, n.cfg.Limits.Part)
	} else {
		logs[0].Data = bytes.Clone(entry) // raft keeps it for followers that lag
	}
	begun := time.Now()
	f, err := inBackground(n, ctx, func() raft.ApplyFuture { return n.apply(ctx, logs) })
	if err != nil {
		return 0, appendError(err)
	}
	index, err = outcome(f, term)
	if err == nil {
		n.times.add(time.Since(begun))
	}
	return index, err
}

// outcome is what became of an entry, by the last of the log that was sent of it.
func outcome(f raft.ApplyFuture, term uint64) (index uint64, err error) {
	a, ok := f.Response().(applied)
	switch {
	case !ok:
		return 0, fmt.Errorf("append entry: %w: raft answered %v", ErrUncertain, f.Response())
	case a.fenced:
		return 0, fmt.Errorf("append entry: %w: term %d is over", ErrNotLeader, term)
	case a.part:
		return 0, fmt.Errorf("append entry: %w: the call has ended before its last part", ErrNotLeader)
	case a.err != nil:
		return f.Index(), fmt.Errorf("apply entry %d: %w", f.Index(), a.err)
	}
	return f.Index(), nil
}

// apply has raft take the entries of the log that make one up, and returns what became of the last.
func (n *Node) apply(ctx context.Context, logs []raft.Log) raft.ApplyFuture {
	if len(logs) == 1 {
		return n.raft.ApplyLog(logs[0], enqueueWait(ctx))
	}
	n.parting <- struct{}{} // parts of one entry stand between those of no other
	defer func() { <-n.parting }()
	var last raft.ApplyFuture
	for some := range slices.Chunk(logs, partsAtOnce) {
		if last != nil && (ctx.Err() != nil || n.ends()) {
			return last
		}
		var under []raft.ApplyFuture
		for _, l := range some {
			under = append(under, n.raft.ApplyLog(l, enqueueWait(ctx)))
		}
		for _, last = range under {
			if last.Error() != nil {
				return last
			}
			if a, _ := last.Response().(applied); a.fenced {
				return last
			}
		}
	}
	return last
}

// ends reports whether Close has been called.
func (n *Node) ends() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed
}

// Barrier returns once this replica, which must lead, has applied every entry that was committed before
// the call.
func (n *Node) Barrier(ctx context.Context) error {
	_, err := inBackground(n, ctx, func() raft.Future { return n.raft.Barrier(enqueueWait(ctx)) })
	if err != nil {
		return fmt.Errorf("pass barrier: %w", appendError(err))
	}
	return nil
}

// enqueueWait bounds how long raft's busy main thread is waited for.
func enqueueWait(ctx context.Context) time.Duration {
	const most = 10 * time.Second
	if until, ok := ctx.Deadline(); ok {
		return min(most, max(time.Until(until), time.Millisecond))
	}
	return most
}

// inBackground waits for one of raft's futures or for ctx, whichever is first. The future is waited for
// in any case, by a goroutine that Close waits for in turn, before it stops raft.
func inBackground[F raft.Future](n *Node, ctx context.Context, begin func() F) (F, error) {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		var none F
		return none, fmt.Errorf("%w: %w", raft.ErrNotLeader, ErrClosed)
	}
	n.wg.Add(1)
	n.mu.Unlock()
	type result struct {
		f   F
		err error
	}
	done := make(chan result, 1)
	go func() {
		defer n.wg.Done()
		f := begin()
		done <- result{f, f.Error()}
	}()
	select {
	case r := <-done:
		return r.f, r.err
	case <-ctx.Done():
		var none F
		return none, context.Cause(ctx)
	}
}

// StepDown hands leadership to the most advanced follower. On a node that does not lead it does nothing.
func (n *Node) StepDown() error {
	err := n.raft.LeadershipTransfer().Error()
	if err == nil || errors.Is(err, raft.ErrNotLeader) || n.raft.State() != raft.Leader {
		return nil
	}
	return fmt.Errorf("hand leadership on: %w", err)
}
