package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lightloom/controller/history"
	"lightloom/controller/replica"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

// State is where the replicas of one machine keep their logs: a state directory for each, named for it,
// in one.
type State struct {
	Dir   string
	Epoch time.Time // instant 0 of the cluster

	cluster string
	size    int // replicas
	fabric  string
	release func() error // nil: no lock to release
	own     bool         // it goes when it is closed
}

// ReplicaNames are the names of n replicas of one machine.
func ReplicaNames(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("controller%d", i))
	}
	return ids
}

// InitState founds a cluster of n replicas of one machine for the fabric of that spec, with their logs
// in dir.
func InitState(dir string, n int, fabric topo.Spec) error {
	old, err := nodesIn(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(old) > 0 {
		return hint.New(fmt.Sprintf("found cluster: %q holds the state of cluster %s already", dir,
			old[0].node.Cluster),
			"name another directory, or type: lightloom cluster destroy "+dir)
	}
	all := newNode(n, fabric)
	for _, id := range ReplicaNames(n) {
		all.Replica = id
		if err := all.Found(filepath.Join(dir, id)); err != nil {
			return fmt.Errorf("found cluster: %w", err)
		}
	}
	return nil
}

// KeptState is where the replicas of a controller keep their logs beside their keys, if no other
// directory is named.
func KeptState(keys string) string { return filepath.Join(keys, "replicas") }

// OpenState opens what InitState made, for as many replicas and the same fabric, and keeps others from it.
func OpenState(dir string, n int, fabric topo.Spec) (s *State, err error) {
	init := fmt.Sprintf("lightloom cluster init %s --fabric %s --replicas %d", dir, fabric, n)
	nodes, err := nodesIn(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(nodes) == 0:
		return nil, hint.New(fmt.Sprintf("open state: %q is of no cluster", dir), "found one: "+init)
	case err != nil:
		return nil, err
	}
	first := nodes[0].node
	if first.Replicas != n {
		return nil, hint.New(fmt.Sprintf("open state: %q is of a cluster of %d replicas, not %d", dir,
			first.Replicas, n),
			fmt.Sprintf("write --replicas %d, or name another directory", first.Replicas))
	}
	s = &State{Dir: dir, Epoch: first.Epoch, size: n, cluster: first.Cluster, fabric: fabricName(fabric)}
	for _, id := range ReplicaNames(n) {
		at := filepath.Join(dir, id)
		i := slices.IndexFunc(nodes, func(x found) bool { return x.dir == at })
		if i < 0 {
			return nil, missing(at, "lightloom cluster join "+at, fs.ErrNotExist)
		}
		if err := nodes[i].node.check(at, Node{Replica: id, Cluster: first.Cluster,
			Fabric: s.fabric}); err != nil {
			return nil, err
		}
	}
	s.release, err = hold(dir, holdTries)
	return s, err
}

// PrivateDir makes a directory for a run in namespaces of its own. If /run could be mounted, it is in
// the memory of these namespaces alone; otherwise the caller removes it.
func PrivateDir() (string, error) {
	dir, err := os.MkdirTemp("/run", "lightloom-")
	if err != nil {
		dir, err = os.MkdirTemp("", "lightloom-")
	}
	if err != nil {
		return "", fmt.Errorf("make directory for replicas: %w", err)
	}
	return dir, nil
}

// PrivateState makes a cluster of n replicas for one run, whose logs go with it, in a new directory
// within the one given. The empty one stands for PrivateDir.
func PrivateState(within string, n int, fabric topo.Spec, epoch time.Time) (*State, error) {
	dir, err := "", error(nil)
	if within == "" {
		dir, err = PrivateDir()
	} else {
		dir, err = os.MkdirTemp(within, "lightloom-")
	}
	if err != nil {
		return nil, fmt.Errorf("make directory for replicas: %w", err)
	}
	s := &State{Dir: dir, Epoch: epoch, size: n, cluster: newClusterID(),
		fabric: fabricName(fabric), own: true}
	for _, id := range ReplicaNames(n) {
		if err := s.node(id).Found(filepath.Join(dir, id)); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

func (s *State) node(id string) Node {
	return Node{Cluster: s.cluster, Replica: id, Replicas: s.size, Fabric: s.fabric, Epoch: s.Epoch}
}

// Close gives the directory back, and removes it if it was for one run. A second call does nothing.
func (s *State) Close() error {
	var err error
	if s.release != nil {
		err = s.release()
		s.release = nil
	}
	if s.own {
		err = errors.Join(err, os.RemoveAll(s.Dir))
	}
	return err
}

// found is a state directory that was found.
type found struct {
	dir  string
	node *Node
}

// nodesIn returns the state directory that dir is, or those that it holds, by name.
func nodesIn(dir string) ([]found, error) {
	if n, err := ReadNode(dir); !errors.Is(err, fs.ErrNotExist) {
		return []found{{dir, n}}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	var all []found
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		n, err := ReadNode(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) || !e.IsDir():
			continue
		case err != nil:
			return nil, err
		}
		all = append(all, found{at, n})
	}
	return all, nil
}

// Destroyed is what DestroyState has deleted, or would.
type Destroyed struct {
	Cluster string
	Dirs    []string // state directories
	Bytes   int64    // of all their files
}

// DestroyState deletes the log of the replica whose state directory dir is, or of all replicas whose
// directories it holds, if really is true, and returns what it deletes. It refuses a directory in use,
// and one that holds anything but a log.
func DestroyState(dir string, really bool) (d Destroyed, err error) {
	fail := func(err error) (Destroyed, error) { return d, fmt.Errorf("destroy state: %w", err) }
	nodes, err := nodesIn(dir)
	if err != nil {
		return fail(err)
	}
	if len(nodes) == 0 {
		return fail(hint.New(fmt.Sprintf("%q is no state directory, and holds none", dir),
			"name the directory of a "+
				"replica's log, or the one that holds those of all"))
	}
	holds := []string{dir}
	for _, n := range nodes {
		d.Cluster = n.node.Cluster
		d.Dirs = append(d.Dirs, n.dir)
		if n.dir != dir {
			holds = append(holds, n.dir)
		}
		size, err := sizeOf(n.dir)
		if err != nil {
			return fail(err)
		}
		d.Bytes += size
	}
	for _, at := range holds {
		release, err := hold(at, 1)
		if err != nil {
			return fail(err)
		}
		defer func() { _ = release() }() // it is closed either way
	}
	if !really {
		return d, nil
	}
	for _, at := range d.Dirs {
		if err := empty(at); err != nil {
			return fail(err)
		}
		if at != dir {
			_ = os.Remove(at) // it is empty; a mount point stays
		}
	}
	return d, nil
}

// empty removes what a directory holds. It stays: its owner may have no right to make it again.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// sizeOf sums the files of a state directory, and refuses one with a file that no replica has written.
func sizeOf(dir string) (sum int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		// the prefix is of what a crash left half written
		if !strings.HasPrefix(e.Name(), "."+nodeFile+".new") && !strings.HasPrefix(e.Name(), auditFile+".") &&
			!slices.Contains(append(replica.Files(), nodeFile, trustFile, historyFile,
				historyFile+history.DamagedSuffix, historyFile+history.OpeningSuffix, SocketFile, auditFile), e.Name()) {
			return 0, hint.New(fmt.Sprintf("%q holds %q, which is no part of a log", dir, e.Name()),
				"move it elsewhere")
		}
	}
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		st, err := e.Info()
		if err == nil {
			sum += st.Size()
		}
		return err
	})
	return sum, err
}
