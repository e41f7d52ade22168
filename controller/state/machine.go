package state

import "errors"

// Machine is a State as a replicated log drives it: entries come encoded, a batch at a time.
type Machine struct{ *State }

// Apply applies one encoded batch. After an error that wraps ErrNewer the state is not used again.
func (m Machine) Apply(entry []byte) error { return m.Read(entry)() }

// Read reads one encoded batch, and uses nothing of the state. What it returns is Apply's rest.
func (m Machine) Read(entry []byte) (apply func() error) {
	batch, err := Decode(entry)
	return func() error { return m.Take(batch, err) }
}

// Take applies what Decode has returned.
func (m Machine) Take(batch []Entry, err error) error {
	if batch == nil && err != nil {
		return err
	}
	defer m.publish()
	return errors.Join(err, m.ApplyAll(batch))
}

// Restore replaces the state by a snapshot.
func (m Machine) Restore(snapshot []byte) error {
	defer m.publish()
	return m.State.Restore(snapshot)
}

// Freeze returns the state as it stands, for readers in other goroutines.
func (m Machine) Freeze() interface {
	Snapshot() ([]byte, error)
	Digest() [32]byte
} {
	return m.State.Freeze()
}

// Counts are how many jobs and coflows there have been, how many of them have ended, and how many jobs
// wait for places.
type Counts struct {
	Jobs, JobsEnded, Coflows, CoflowsEnded, JobsWaiting int

	Level Level // of the cluster
}

func (m Machine) publish() {
	m.counts.Store(&Counts{int(m.d.Next.Job), m.finished, int(m.d.Next.Coflow), m.ended,
		len(m.waiting) + len(m.blocked),
		m.Level()})
}

// Counts returns the figures after the last entry that a Machine has applied. Any goroutine can call it
// at any time.
func (s *State) Counts() Counts {
	if c := s.counts.Load(); c != nil {
		return *c
	}
	return Counts{}
}
