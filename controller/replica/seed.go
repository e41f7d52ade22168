package replica

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"
)

// Seed makes an empty directory one of a node whose log begins behind a snapshot: the machine's bytes
// and digest after the entry of that index. All nodes of a cluster that begins so are given the same.
// They start as Existing.
func Seed(dir string, peers []Peer, index uint64, digest [32]byte, state []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("seed log: %w", err)
		}
	}()
	for _, sub := range []string{"log", "snapshots"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	d := &disk{dir: dir, health: newHealth()}
	b, err := openBallot(d, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if have := b.known(); have.Last > 0 || have.Snapshot > 0 {
		return fmt.Errorf("%q holds a log", dir)
	}
	const term = 1
	if err := b.SetUint64([]byte(keyTerm), term); err != nil {
		return err
	}
	files := &snapshots{disk: d, ballot: b, dir: filepath.Join(dir, "snapshots")}
	out, err := files.Create(raft.SnapshotVersionMax, index, term, configuration(peers), index, nil)
	if err != nil {
		return err
	}
	return (&captured{of: given{state, digest}, index: index, term: term, limit: math.MaxInt64}).Persist(out)
}

// given is a state that is bytes already.
type given struct {
	state  []byte
	digest [32]byte
}

func (g given) Snapshot() ([]byte, error) { return g.state, nil }
func (g given) Digest() [32]byte          { return g.digest }
