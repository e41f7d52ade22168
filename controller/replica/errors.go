package replica

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// Errors for callers to distinguish. After ErrNotLeader the entry is certainly not in the log and never
// will be. After ErrUncertain it can be in the log or not: a caller must only append it again if it can
// recognise its own entry in the state.
var (
	// ErrNotLeader: this node does not lead, or not in the term that was asked for.
	ErrNotLeader = errors.New("this replica does not lead")
	// ErrUncertain: leadership, the node or the context ended while the entry was under way.
	ErrUncertain = errors.New("the entry may or may not be committed")
	// ErrTooLarge: the entry is above Limits.Entry.
	ErrTooLarge = errors.New("entry too large")
	// ErrClosed: the node has been closed.
	ErrClosed = errors.New("the replica is closed")
	// ErrDisk: the node's disk is full, or a write or fsync has failed. The node has stepped down, and
	// comes back when the disk takes something again.
	ErrDisk = errors.New("the disk of this replica takes nothing")
	// ErrDamaged: what the disk holds is not what was written. The process must end; its errors are Damage.
	ErrDamaged = errors.New("the log on disk is damaged")
	// ErrTail: entries that nobody else holds have given way to a peer's snapshot. The process must start
	// again.
	ErrTail = errors.New("the replica must start again")
	// ErrApart: after the same entry the state is another than the leader's. The replica ends.
	ErrApart = errors.New("the state of this replica is another than the leader's")
	// ErrUnable is what a Machine's error wraps if it cannot apply an entry that others can: the node ends.
	ErrUnable = errors.New("this replica cannot apply the entry")
	// ErrEmpty: a replica of a cluster that exists has an empty directory.
	ErrEmpty = errors.New("its directory holds nothing")
)

// Damage is a place on disk that does not hold what was written there.
type Damage struct {
	File   string
	Offset int64  // in bytes
	Index  uint64 // of the log's entry; 0: it is none
	Cause  error
}

func (d *Damage) Error() string {
	entry := ""
	if d.Index > 0 {
		entry = fmt.Sprintf(", entry %d", d.Index)
	}
	return fmt.Sprintf("read %q at offset %d%s: %v: %v: move the replica's directory away and have it join again; "+
		"the other replicas hold its entries", d.File, d.Offset, entry, ErrDamaged, d.Cause)
}

// Is lets errors.Is find ErrDamaged.
func (d *Damage) Is(err error) bool { return err == ErrDamaged }

// Unwrap returns the cause.
func (d *Damage) Unwrap() error { return d.Cause }

// appendError translates the error with which raft answered an entry.
func appendError(err error) error {
	switch {
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress),
		errors.Is(err, raft.ErrEnqueueTimeout):
		return fmt.Errorf("append entry: %w (%w)", ErrNotLeader, err)
	case errors.Is(err, raft.ErrRaftShutdown):
		return fmt.Errorf("append entry: %w: %w", ErrUncertain, ErrClosed)
	}
	return fmt.Errorf("append entry: %w: %w", ErrUncertain, err)
}
