package replica

// Machine is the state that is replicated. A Node never calls two of its methods at once.
type Machine interface {
	// Apply applies one committed entry. It is pure: every replica that has applied the same entries holds the same state
	// and returns the same. An error is the entry's refusal, which its appender gets; the state stays usable, unless the
	// error wraps ErrUnable. The entry is borrowed for the call.
	Apply(entry []byte) error
	// Snapshot returns the whole state. The slice is the Node's from then on.
	Snapshot() ([]byte, error)
	// Restore replaces the whole state by that of a snapshot. After an error the state is not used again.
	Restore(snapshot []byte) error
	// Digest is equal on two replicas exactly if their states are.
	Digest() [32]byte
}
