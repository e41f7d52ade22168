package replica

import "io"

// Machine is the state that is replicated. A Node never calls two of its methods at once, but Read.
type Machine interface {
	// Read reads one committed entry, which can take long, while others read the state: it uses nothing of
	// that. What it returns applies the entry, and is called before the next Read. It is pure: every replica
	// that has applied the same entries holds the same state and returns the same. An error is the entry's
	// refusal, which its appender gets; the state stays usable, unless the error wraps ErrUnable. The entry
	// is borrowed until it is applied.
	Read(entry []byte) (apply func() error)
	// Freeze returns the state as it stands, which later entries do not change. It is quick: no entry is
	// applied meanwhile.
	Freeze() Frozen
	// Restore replaces the whole state by that of a snapshot. After an error the state is not used again.
	Restore(snapshot []byte) error
}

// Archive is what a Machine has let go. It belongs to no state and no digest, but snapshots carry it
// behind the state.
type Archive interface {
	// Save writes all that the Machine has let go so far, and keeps it on disk before it returns.
	Save(w io.Writer) error
	// Load adds what Save wrote, up to the end of the stream. The same can come again.
	Load(r io.Reader) error
}

// Frozen is the state of a Machine at one index. Any goroutine can read it while the Machine goes on.
type Frozen = interface {
	// Snapshot returns the whole state. The slice is the caller's.
	Snapshot() ([]byte, error)
	// Digest is equal on two replicas exactly if their states are.
	Digest() [32]byte
}
