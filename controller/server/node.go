package server

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/controller/replica"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/southbound/durable"
	"lightloom/southbound/hint"
)

// Node is the owner of a replica's state directory, in node.json beside the log. Only cluster init and cluster join
// write it. A replica does not start on a directory without it, because a replica whose disk was emptied has forgotten
// what it acknowledged and whom it voted for.
type Node struct {
	Format   int       `json:"format"`
	Cluster  string    `json:"cluster"` // drawn when the cluster was founded
	Replica  string    `json:"replica"`
	Replicas int       `json:"replicas"` // of the cluster
	Fabric   string    `json:"fabric"`   // spec: the log's numbers are those of its hosts, links and ports
	Epoch    time.Time `json:"epoch"`    // instant 0 of the log, which its first leader writes there
	// feature level that the log begins with; 0: that of the first leader's version
	Level   state.Level `json:"level,omitempty"`
	Begun   bool        `json:"begun"`             // it has a log, which must be there from now on
	Joining bool        `json:"joining,omitempty"` // it has no vote before it holds what the others do
	Removed bool        `json:"removed,omitempty"` // it was taken out of the cluster
	Apart   string      `json:"apart,omitempty"`   // why its state is another than the leader's was
}

// What a state directory holds beside the log.
const (
	nodeFile   = "node.json"
	nodeFormat = 1
)

// maxNode bounds node.json, in bytes.
const maxNode = 64 << 10

// newNode is what the n replicas of a cluster that is founded now have in common.
func newNode(n int, fabric topo.Spec) Node {
	return Node{Cluster: newClusterID(), Replicas: n, Fabric: fabricName(fabric),
		Epoch: time.Now().UTC().Truncate(time.Second), Level: state.Newest}
}

// fabricName is what a fabric is called in a state directory: of one from a file the path is each machine's own.
func fabricName(spec topo.Spec) string {
	if spec.File != "" {
		spec.File = filepath.Base(spec.File)
	}
	return spec.String()
}

// newClusterID draws the id of a cluster.
func newClusterID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// ReadNode reads which node owns a state directory. The error wraps fs.ErrNotExist if the directory has no owner.
func ReadNode(dir string) (*Node, error) {
	path := filepath.Join(dir, nodeFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read state directory: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxNode+1))
	if err != nil {
		return nil, fmt.Errorf("read state directory: %w", err)
	}
	n, err := parseNode(data)
	if err != nil {
		return nil, fmt.Errorf("read state directory: %q: %w", path, err)
	}
	return n, nil
}

func parseNode(data []byte) (*Node, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	n := &Node{}
	switch err := d.Decode(n); {
	case len(data) > maxNode:
		return nil, fmt.Errorf("longer than %d bytes", maxNode)
	case err != nil:
		return nil, err
	case d.More():
		return nil, errors.New("more than one JSON object")
	case n.Format != nodeFormat:
		return nil, fmt.Errorf("format %d: this version reads format %d", n.Format, nodeFormat)
	case n.Level > state.Newest:
		return nil, fmt.Errorf("feature level %d, this version knows %d: %w", n.Level, state.Newest,
			state.ErrNewer)
	case n.Cluster == "" || n.Replica == "" || n.Replicas < 1 || n.Fabric == "" || n.Epoch.IsZero():
		return nil, errors.New("cluster, replica, replicas, fabric and epoch are not all there")
	}
	return n, nil
}

// write makes a directory n's, durably: after a crash it holds the old content of node.json or the new.
func (n *Node) write(dir string) error {
	text, err := json.MarshalIndent(n, "", "  ")
	if err == nil {
		err = durable.Replace(filepath.Join(dir, nodeFile), append(text, '\n'), true)
	}
	if err != nil {
		return fmt.Errorf("write state directory: %w", err)
	}
	return nil
}

// Found makes a directory the state directory of a new cluster's replica. It refuses a directory that is not empty.
func (n Node) Found(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write state directory: %w", err)
	}
	if err := ownersAlone(dir); err != nil {
		return err
	}
	old, err := os.ReadDir(dir)
	switch {
	case err != nil:
		return fmt.Errorf("write state directory: %w", err)
	case len(old) > 0:
		return hint.New(fmt.Sprintf("write state directory: %q is not empty: it has %q", dir, old[0].Name()),
			"name another directory, or type: lightloom cluster destroy "+dir)
	}
	n.Format = nodeFormat
	return n.write(dir)
}

// check returns why a replica must not start on the directory that is n's. Empty fields of want are not compared.
func (n *Node) check(dir string, want Node) error {
	switch {
	case n.Replica != want.Replica:
		return hint.New(fmt.Sprintf("the state directory %q is replica %q's, not %q's", dir, n.Replica,
			want.Replica),
			"name the directory of "+want.Replica)
	case want.Cluster != "" && n.Cluster != want.Cluster:
		return hint.New(fmt.Sprintf("the state directory %q is of cluster %s, not %s", dir, n.Cluster,
			want.Cluster),
			"name the directory of this cluster")
	case want.Fabric != "" && n.Fabric != want.Fabric:
		return hint.New(fmt.Sprintf("the state directory %q is of the fabric %s, not %s", dir,
			n.Fabric, want.Fabric),
			"name that fabric, or another directory")
	}
	if err := ownersAlone(dir); err != nil {
		return err
	}
	if n.Removed {
		return removedError(dir, n.Replica)
	}
	if n.Apart != "" {
		return apartError(dir, n.Replica, errors.New(n.Apart))
	}
	if !n.Begun {
		return nil
	}
	return hasLog(dir)
}

// ownersAlone refuses a state directory in which everybody can write: a link of theirs in the place of a
// file would lead elsewhere what a replica writes.
func ownersAlone(dir string) error {
	st, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("check state directory: %w", err)
	}
	if st.Mode().Perm()&0o002 != 0 {
		return hint.New(fmt.Sprintf("everybody can write to the state directory %q", dir),
			"type: chmod 700 "+dir)
	}
	return nil
}

// hasLog returns why a state directory, which has had a log, has none.
func hasLog(dir string) error {
	if st, err := os.Stat(filepath.Join(dir, replica.VoteFile)); err != nil || st.Size() == 0 {
		return hint.New(fmt.Sprintf("the state directory %q has lost its log: to begin anew would forget what the replica "+
			"has acknowledged", dir), "put it back; or type: lightloom cluster destroy "+dir+
			" --yes, and then: lightloom cluster join "+dir)
	}
	return nil
}

// home is the state directory of a replica that runs.
type home struct {
	dir string

	mu   sync.Mutex
	node Node
}

// wiped returns why the log that the replica writes to is not in its directory any more, or nil.
func (h *home) wiped() error { return hasLog(h.dir) }

// note changes the directory's node.json.
func (h *home) note(change func(*Node)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.node)
	return h.node.write(h.dir)
}

// joining reports whether the replica has not joined yet.
func (h *home) joining() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.node.Joining
}

// start is what the replica can expect of its log.
func (h *home) start() replica.Start {
	if h.node.Begun {
		return replica.Existing
	}
	return replica.Bootstrap
}

// missing returns an error that names the command for a state directory without an owner.
func missing(dir, what string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return hint.New(fmt.Sprintf("the state directory %q is of no cluster: it has no %s", dir,
			nodeFile), what)
	}
	return err
}

// holdPause is the interval between the attempts of hold, and holdTries their number at the start on a directory: a
// predecessor that was killed, or whose parent was, ends in a moment.
const (
	holdPause = 50 * time.Millisecond
	holdTries = 60
)

// hold keeps other processes from using a directory, until release or the end of this process. It tries so often.
func hold(dir string, tries int) (release func() error, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("hold directory: %w", err)
	}
	for try := 1; ; try++ {
		switch err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return f.Close, nil
		case !errors.Is(err, unix.EWOULDBLOCK) || try == tries:
			return nil, errors.Join(hint.Wrap(fmt.Errorf("hold directory %q: another process uses it: %w", dir, err),
				"end the controller that runs there"), f.Close())
		}
		time.Sleep(holdPause)
	}
}
