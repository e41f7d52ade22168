package replica

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// Errors to tell apart. After ErrNotLeader the entry is certainly not in the log and never will be. After ErrUncertain
// it may be or not: only who can recognise its own entry in the state may append it again.
var (
	// ErrNotLeader: this node does not lead, or not in the term that was asked for.
	ErrNotLeader = errors.New("this replica does not lead")
	// ErrUncertain: leadership, the node or the context ended while the entry was under way.
	ErrUncertain = errors.New("the entry may or may not be committed")
	// ErrTooLarge: the entry is above Limits.Entry.
	ErrTooLarge = errors.New("entry too large")
	// ErrClosed: the node has been closed.
	ErrClosed = errors.New("the replica is closed")
)

// appendError says what became of an entry that raft answered with err.
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
