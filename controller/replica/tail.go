package replica

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/hashicorp/raft"
)

// tailed is the log as raft has it. Raft removes it when a peer's snapshot has taken its place, but
// goes on counting the entries that it held behind that snapshot: from then on it refuses what the
// leader sends, and the leader sends the snapshot again, without end (hashicorp/raft issue 697, open in
// 1.8.0). Raft reads the right count when it starts, so such a node ends, and its supervisor starts it
// again.
type tailed struct {
	raft.LogStore
	emptied func() // called when the last entry has been removed
}

// IsMonotonic implements raft.MonotonicLogStore: after a peer's snapshot raft removes the whole log.
func (t tailed) IsMonotonic() bool { return true }

// DeleteRange implements raft.LogStore.
func (t tailed) DeleteRange(lo, hi uint64) error {
	if err := t.LogStore.DeleteRange(lo, hi); err != nil {
		return err
	}
	if first, err := t.FirstIndex(); err == nil && first == 0 {
		t.emptied()
	}
	return nil
}

// checkTail ends a node whose raft counts entries that its log does not hold.
func (n *Node) checkTail() error {
	stats := n.raft.Stats() // before the log, which holds an entry before raft counts it
	held, err := n.store.logs.LastIndex()
	if err != nil {
		return err
	}
	number := func(key string) uint64 {
		v, e := strconv.ParseUint(stats[key], 10, 64)
		err = errors.Join(err, e)
		return v
	}
	last, snap := number("last_log_index"), number("last_snapshot_index")
	behind := last > snap || last == snap && number("last_log_term") != number("last_snapshot_term")
	if err == nil && behind && last > held {
		n.store.health.die(fmt.Errorf("replace entries up to %d by a peer's snapshot of %d: %w", last,
			snap, ErrTail))
	}
	return err
}
