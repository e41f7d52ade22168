package replica

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/rollcall"
)

// Memory keeps a node's log and snapshots in memory. It outlives its node, as a disk does: a new node
// on the same Memory goes on where the old one was stopped. One node at a time.
type Memory struct {
	logs   *raft.InmemStore
	snaps  *raft.InmemSnapshotStore
	starts atomic.Pointer[rollcall.Memory]
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	m := &Memory{logs: raft.NewInmemStore(), snaps: raft.NewInmemSnapshotStore()}
	m.Hold(rollcall.Memory{})
	return m
}

// Recall implements rollcall.Keeper.
func (m *Memory) Recall() rollcall.Memory { return *m.starts.Load() }

// Hold implements rollcall.Keeper.
func (m *Memory) Hold(all rollcall.Memory) { m.starts.Store(&all) }

// Keep implements rollcall.Keeper.
func (m *Memory) Keep(all rollcall.Memory) error {
	m.Hold(all)
	return nil
}

// Start is what a node that is no Learner does with an empty directory. With a used one it continues.
type Start string

// What a node can expect.
const (
	// Existing: the node belongs to a cluster, and has been started before. An empty directory is refused:
	// it has lost what the node has promised.
	Existing Start = ""
	// Bootstrap: the cluster is new, and its whole membership known. Every node begins so, until it holds
	// something.
	Bootstrap Start = "bootstrap"
)

// store is where a node keeps what must survive it.
type store struct {
	logs   raft.LogStore
	stable raft.StableStore
	snaps  raft.SnapshotStore
	memory rollcall.Keeper
	health *health
	probe  func() error // checks whether a sick disk takes writes again
	begin  func()       // raft has been started
	close  func() error
}

const retainSnaps = 2 // the newest, and one to look at

func openStore(c *Config) (*store, error) {
	s := &store{health: newHealth(), probe: func() error { return nil }, begin: func() {},
		close: func() error { return nil }}
	if m := c.Memory; m != nil {
		s.logs, s.stable, s.snaps, s.memory = m.logs, m.logs, m.snaps, m
		return s, nil
	}
	d := &disk{dir: c.Dir, noSync: c.NoSync, health: s.health, fault: c.fault}
	for _, sub := range []string{"log", "snapshots"} {
		if err := os.MkdirAll(filepath.Join(c.Dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("open log: %w", err)
		}
	}
	if err := s.open(d); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// open checks all that a directory holds, whole and against each other.
func (s *store) open(d *disk) error {
	logs, err := d.list(filepath.Join(d.dir, "log"), segmentSuffix)
	if err != nil {
		return err
	}
	snaps, err := d.list(filepath.Join(d.dir, "snapshots"), snapshotSuffix)
	if err != nil {
		return err
	}
	b, err := openBallot(d, len(logs)+len(snaps) == 0)
	if err != nil {
		return err
	}
	s.closeToo(b.close)
	s.stable, s.memory, s.begin = b, b, func() { b.running.Store(true) }
	files := &snapshots{disk: d, ballot: b, dir: filepath.Join(d.dir, "snapshots")}
	newest, err := files.newest()
	if err != nil {
		return err
	}
	w, err := openWAL(d, b)
	if err != nil {
		return err
	}
	s.closeToo(w.close)
	s.logs, s.snaps, s.probe = w, files, d.probe
	reached := uint64(0)
	if newest != nil {
		reached = newest.Index
	}
	switch {
	case len(w.places) > 0 && w.last() < reached: // a crash left entries that a peer's snapshot had replaced
		return w.reset()
	case len(w.places) > 0 && w.first > reached+1:
		return &Damage{File: w.segs[0].f.Name(), Index: reached + 1,
			Cause: fmt.Errorf("entries %d to %d are in neither log nor snapshot", reached+1, w.first-1)}
	}
	return nil
}

// reached returns the term in which a node is by its disk, and the last entry that this holds.
func (s *store) reached() (term uint64, held rollcall.Position, err error) {
	term, err = s.stable.GetUint64([]byte(keyTerm))
	if err != nil && err.Error() != errNotFound.Error() {
		return 0, held, err
	}
	last, err := s.logs.LastIndex()
	if err != nil {
		return 0, held, err
	}
	if last > 0 {
		var l raft.Log
		if err := s.logs.GetLog(last, &l); err != nil {
			return 0, held, err
		}
		return term, rollcall.Position{Term: l.Term, Index: l.Index}, nil
	}
	snaps, err := s.snaps.List()
	if err == nil && len(snaps) > 0 {
		held = rollcall.Position{Term: snaps[0].Term, Index: snaps[0].Index}
	}
	return term, held, err
}

// closeToo has close end f before what is there already.
func (s *store) closeToo(f func() error) {
	before := s.close
	s.close = func() error { return errors.Join(f(), before()) }
}

const keyTerm, keyVote = "CurrentTerm", "LastVoteTerm"

// prepare brings an empty store into the state that start requires, and refuses a store that does not
// fit it.
func (s *store) prepare(c *Config, rc *raft.Config, t raft.Transport) error {
	empty, err := s.empty()
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	switch {
	case c.Learner != nil || !empty:
	case c.Start == Bootstrap:
		if err := raft.BootstrapCluster(rc, s.logs, s.stable, s.snaps, t, configuration(c.Peers)); err != nil {
			return fmt.Errorf("bootstrap cluster: %w", err)
		}
	default:
		return fmt.Errorf("open log: %w, and the replica has been in its cluster before: bring the directory back, or "+
			"have the replica join again", ErrEmpty)
	}
	return nil
}

// empty reports whether a store holds nothing that others rely on. A term alone is left by a bootstrap
// that a crash has cut short.
func (s *store) empty() (bool, error) {
	last, err := s.logs.LastIndex()
	if err != nil {
		return false, err
	}
	snaps, err := s.snaps.List()
	if err != nil {
		return false, err
	}
	vote, err := s.stable.GetUint64([]byte(keyVote))
	if err != nil && err.Error() != errNotFound.Error() {
		return false, err
	}
	return last == 0 && len(snaps) == 0 && vote == 0, nil
}
