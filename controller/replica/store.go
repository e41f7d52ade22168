package replica

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Memory keeps a node's log and snapshots in memory. It outlives its node, as a disk does: a new node on the same
// Memory goes on where the old one was stopped. One node at a time.
type Memory struct {
	logs  *raft.InmemStore
	snaps *raft.InmemSnapshotStore
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{logs: raft.NewInmemStore(), snaps: raft.NewInmemSnapshotStore()}
}

// store is where a node keeps what must survive it.
type store struct {
	logs   raft.LogStore
	stable raft.StableStore
	snaps  raft.SnapshotStore
	close  func() error
}

const (
	lockWait    = time.Second // for a predecessor that is just dying
	retainSnaps = 2           // the newest, and one to fall back to
	logCache    = 256         // recent entries kept in memory for followers
)

func openStore(c *Config, log *slog.Logger) (*store, error) {
	if m := c.Memory; m != nil {
		return &store{logs: m.logs, stable: m.logs, snaps: m.snaps, close: func() error { return nil }}, nil
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	path := filepath.Join(c.Dir, "raft.db")
	bolt, err := raftboltdb.New(raftboltdb.Options{
		Path: path, NoSync: c.NoSync, BoltOptions: &bbolt.Options{Timeout: lockWait, NoFreelistSync: true},
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("open log %q: another process holds it: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open log %q: %w", path, err)
	}
	snaps, err := raft.NewFileSnapshotStoreWithLogger(c.Dir, retainSnaps, bridge(log.With("part", "snapshots")))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open snapshots in %q: %w", c.Dir, err), bolt.Close())
	}
	cached, err := raft.NewLogCache(logCache, bolt)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open log %q: %w", path, err), bolt.Close())
	}
	return &store{logs: cached, stable: bolt, snaps: snaps, close: bolt.Close}, nil
}

// bootstrap writes the fixed cluster into an empty store. Every node writes the same, so it does not matter who is
// first. A store that knows another cluster is refused: its log is not this cluster's.
func (s *store) bootstrap(c *Config, rc *raft.Config, t raft.Transport) error {
	known, err := raft.HasExistingState(s.logs, s.stable, s.snaps)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if known {
		return nil
	}
	if err := raft.BootstrapCluster(rc, s.logs, s.stable, s.snaps, t, configuration(c.Peers)); err != nil {
		return fmt.Errorf("bootstrap cluster: %w", err)
	}
	return nil
}

// checkCluster refuses a log whose members are not c's. Addresses may differ: they are looked up in c.
func checkCluster(c *Config, known raft.Configuration) error {
	if len(known.Servers) != len(c.Peers) {
		return fmt.Errorf("open log: it belongs to a cluster of %d, not %d: start with the same peers or an empty directory",
			len(known.Servers), len(c.Peers))
	}
	for _, s := range known.Servers {
		if c.addr(string(s.ID)) == "" {
			return fmt.Errorf("open log: its cluster has a replica %q that is not among the peers: start with the same peers "+
				"or an empty directory", s.ID)
		}
	}
	return nil
}
