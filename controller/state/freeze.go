package state

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"lightloom/controller"
)

// Frozen is the state as it stood when Freeze was called. It never changes, so that any goroutine can
// read it while entries are applied.
type Frozen struct {
	d        Data
	requests [2]setDigest // of d.Requests and d.BandwidthRequests
}

// Data returns what was replicated. It is borrowed: callers must not write to it.
func (f *Frozen) Data() *Data { return &f.d }

// Snapshot returns the state in a form that Restore reads.
func (f *Frozen) Snapshot() ([]byte, error) { return f.d.snapshot() }

// sharing is what the state and Frozens of it hold together.
type sharing struct {
	frozen                   uint64 // how often Freeze was called
	sharedTasks, sharedMoves bool   // they are copied before they are changed
}

// Freeze returns the state as it stands. It copies no job: Apply copies those that it changes
// afterwards. Like all methods it must not be called while an entry is applied; what it returns can be
// used at any time.
func (s *State) Freeze() *Frozen {
	s.write()
	if s.frozen++; s.frozen == 1 {
		for _, j := range s.d.Jobs {
			j.sum = new(sum)
		}
	}
	s.sharedTasks, s.sharedMoves = true, true
	d := s.d
	d.Jobs, d.Coflows = slices.Clone(d.Jobs), slices.Clone(d.Coflows)
	d.Ledger, d.Circuits = slices.Clone(d.Ledger), slices.Clone(d.Circuits)
	d.Down, d.Lost = slices.Clone(d.Down), slices.Clone(d.Lost)
	d.BandwidthReservations = slices.Clone(d.BandwidthReservations)
	d.Grants = slices.Clone(d.Grants)
	if d.Migrated != nil {
		m := *d.Migrated
		d.Migrated = &m
	}
	if d.Cluster != nil {
		c := *d.Cluster
		c.Members = slices.Clone(c.Members)
		d.Cluster = &c
	}
	return &Frozen{d, [2]setDigest{s.requests.tally, s.bandwidthRequests.tally}}
}

// copyOnWrite has the jobs that an entry can change be the state's own, in place of copies that a Frozen shares.
func (s *State) copyOnWrite(e *Entry) {
	if s.frozen == 0 {
		return
	}
	if j := s.jobOf(e); j != nil {
		s.own(j.ID)
	}
	switch e.Kind {
	case HostSeen:
		for _, j := range s.d.Jobs {
			if j.Ended == Unset {
				s.own(j.ID)
			}
		}
	case CircuitReservationBegun, CircuitIntended, CircuitSettled, CircuitDropped:
		if s.sharedMoves {
			s.d.Moves, s.sharedMoves = slices.Clone(s.d.Moves), false
		}
	}
}

// jobOf returns the one job whose tasks and coflows an entry can change; nil where there is none, or are many.
func (s *State) jobOf(e *Entry) (j *Job) {
	coflow := e.Coflow
	switch e.Kind {
	case Placed:
		return s.Job(e.Placement.Job)
	case StageStarted, JobCancelled:
		return s.Job(e.JobID)
	case TaskResized:
		j, _ = s.Task(e.Resize.Task)
		return j
	case TaskEnded:
		j, _ = s.Task(e.Task)
		return j
	case Routed:
		coflow = e.Routing.Coflow
	case CoflowStarted, HostFlowEnded, AdmissionDecided:
	default:
		return nil
	}
	if c, err := s.coflow(coflow); err == nil {
		return s.Job(c.Job)
	}
	return nil
}

// own replaces a job that a Frozen shares by a copy, with its tasks and coflows.
func (s *State) own(id controller.JobID) {
	if s.sharedTasks {
		s.d.Tasks, s.sharedTasks = slices.Clone(s.d.Tasks), false
	}
	old := s.Job(id)
	if old == nil || old.frozen == s.frozen {
		return
	}
	j := *old
	j.frozen, j.sum = s.frozen, new(sum)
	j.Hosts, j.Stages, j.Redo = slices.Clone(j.Hosts), slices.Clone(j.Stages), slices.Clone(j.Redo)
	j.Edges, j.Blocks = slices.Clone(j.Edges), slices.Clone(j.Blocks)
	at, _ := s.d.jobAt(id)
	s.d.Jobs[at] = &j
	for _, k := range coflowsOf(&j) {
		at, _ := s.d.coflowAt(k)
		c := *s.d.Coflows[at]
		c.Tag, c.Done, c.Pairs, c.byDst = slices.Clone(c.Tag), slices.Clone(c.Done), slices.Clone(c.Pairs), byDst{}
		s.d.Coflows[at] = &c
	}
}

// sum is the digest of a job that no longer changes, once it has been asked for.
type sum struct {
	once sync.Once
	of   [sha256.Size]byte
}

func (d *Data) snapshot() ([]byte, error) {
	var b text
	if err := json.NewEncoder(&b).Encode(d); err != nil {
		return nil, fmt.Errorf("snapshot state: %w", err)
	}
	return b[:len(b)-1], nil // without a line's end
}

// Digest is equal for two states exactly if they are. It hashes jobs only if they have changed since an
// earlier digest.
func (f *Frozen) Digest() [sha256.Size]byte {
	rest := f.d
	rest.Jobs, rest.Tasks, rest.Coflows, rest.Requests, rest.BandwidthRequests = nil, nil, nil, nil, nil
	h := sha256.New()
	hash(h, &rest, f.requests)
	for _, j := range f.d.Jobs {
		j.sum.once.Do(func() { f.d.sum(j) })
		h.Write(j.sum.of[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// sum hashes a job with its tasks and coflows.
func (d *Data) sum(j *Job) {
	h := sha256.New()
	hash(h, j)
	tasks := d.TasksOf(j)
	for i := range tasks {
		hash(h, &tasks[i])
	}
	for _, id := range coflowsOf(j) {
		hash(h, d.Coflow(id))
	}
	h.Sum(j.sum.of[:0])
}

func hash(to io.Writer, parts ...any) {
	enc := json.NewEncoder(pieces{to})
	for _, p := range parts {
		if err := enc.Encode(p); err != nil {
			panic("state: " + err.Error()) // Data holds nothing that JSON refuses
		}
	}
}

// pieces writes a long text in pieces, for the reason that text has.
type pieces struct{ to io.Writer }

// Write implements io.Writer.
func (p pieces) Write(b []byte) (n int, err error) {
	for c := range slices.Chunk(b, piece) {
		k, err := p.to.Write(c)
		if n += k; err != nil {
			return n, err
		}
	}
	return n, nil
}
