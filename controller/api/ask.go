package api

import (
	"context"
	"time"

	"lightloom/controller"
)

// Submitter takes jobs where this replica leads.
type Submitter interface {
	// Submit returns the jobs' ids, in order, once all are in the log. A known Request is not taken twice:
	// it is answered with the id it got. The error wraps ErrNotLeader if nothing was taken because this
	// replica does not lead, ErrTooLarge or ErrBusy if nothing was for these reasons, and ErrUncertain if
	// the outcome is not known.
	Submit(ctx context.Context, offers []controller.Offer) ([]controller.JobID, error)
}

// Counts are figures of the replicated state, as it stood after the entry of Index or a later one.
type Counts struct {
	Index                uint64
	Jobs, JobsEnded      int
	Coflows, CoflowEnded int
}

// Snapshot is the whole replicated state.
type Snapshot struct {
	Index  uint64
	Digest [32]byte
	JSON   []byte
	Read   ReadAt
}

// Stater reads the replicated state as this replica has it, leader or not.
type Stater interface {
	Counts() Counts
	// Digest is the hash of the state after the entry of that index. It costs more the more jobs
	// have changed since the last call.
	Digest() (index uint64, digest [32]byte)
	// State returns the state; if live is set, without jobs that ended some time ago.
	State(ctx context.Context, live bool) (Snapshot, error)
}

// Finder knows who leads; a replica.Node does.
type Finder interface {
	// Leader returns empty strings while no leader is known. addr is not used: northbound addresses are
	// Config's.
	Leader() (id, addr string, term uint64)
}

// Event is something that happened, for a page or a log to show.
type Event struct {
	Seq     uint64        `json:"seq"` // ascending, and the same on every replica
	At      time.Duration `json:"at_ns"`
	Kind    string        `json:"kind"`
	Subject string        `json:"subject,omitempty"` // "job 3", "circuit 2→5"
	Text    string        `json:"text,omitempty"`
}

// Eventer delivers events. A Hub does.
type Eventer interface {
	// Events calls sink with every event above after that is still kept, then with each as it happens, in
	// order, until ctx ends (nil) or sink fails (its error).
	Events(ctx context.Context, after uint64, sink func(Event) error) error
}
