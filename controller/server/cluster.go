package server

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"lightloom/controller/api"
	"lightloom/controller/replica"
	"lightloom/southbound/pki"
)

// Cluster are the processes of the controller. They listen on loopback.
type Cluster struct {
	charge ReplicaConfig // of every one, but for who it is
	issue  func(role pki.Role, name string) (pki.Identity, error)
	stderr io.Writer
	Dir    string
	IDs    []string
	raft   map[string]string
	api    map[string]string

	mu      sync.Mutex
	procs   map[string]*exec.Cmd
	left    map[string]chan struct{} // closed once its last process is gone
	killed  map[string]bool
	ended   chan error // of those that ended by themselves
	waits   sync.WaitGroup
	stopped bool
}

// The ports of replica i of a run, which shares its loopback with nobody, are these plus i.
const (
	raftPort = 7400
	apiPort  = 7420
)

// PrivatePorts are the addresses of replicas in namespaces of their own.
func PrivatePorts(i int) (raft, api string, err error) {
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(raftPort+i)), net.JoinHostPort("127.0.0.1", fmt.Sprint(apiPort+i)), nil
}

// NewCluster makes n replicas that are told c, under identities from issue, at the addresses that ports names, with
// their disks in dir.
func NewCluster(n int, c ReplicaConfig, issue func(pki.Role, string) (pki.Identity, error),
	ports func(i int) (raft, api string, err error), dir string, stderr io.Writer) (*Cluster, error) {
	r := &Cluster{charge: c, issue: issue, stderr: stderr, Dir: dir, raft: map[string]string{}, api: map[string]string{},
		procs: map[string]*exec.Cmd{},
		left:  map[string]chan struct{}{}, killed: map[string]bool{}, ended: make(chan error, 1)}
	for i := range n {
		id := fmt.Sprintf("controller%d", i)
		raft, api, err := ports(i)
		if err != nil {
			return nil, err
		}
		r.IDs, r.raft[id], r.api[id] = append(r.IDs, id), raft, api
	}
	return r, nil
}

// PrivateDir makes a directory for replicas of a run in namespaces of its own. /run is memory of these alone where it
// could be mounted; elsewhere close removes the directory.
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

// Addrs are the northbound addresses of the replicas.
func (r *Cluster) Addrs() []string {
	var out []string
	for _, id := range r.IDs {
		out = append(out, r.api[id])
	}
	return out
}

// Close removes the replicas' directory.
func (r *Cluster) Close() error { return os.RemoveAll(r.Dir) }

// Run starts every replica and waits for them until ctx ends. One that ends without being told to is an error.
func (r *Cluster) Run(ctx context.Context) error {
	var err error
	for _, id := range r.IDs {
		if err = r.begin(id); err != nil {
			break
		}
	}
	if err == nil {
		select {
		case err = <-r.ended:
		case <-ctx.Done():
		}
	}
	return errors.Join(err, r.stop())
}

// begin starts a replica, and a goroutine that waits for its end.
func (r *Cluster) begin(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil
	}
	cmd, err := r.start(id)
	if err != nil {
		return err
	}
	gone := make(chan struct{})
	r.procs[id], r.left[id], r.killed[id] = cmd, gone, false
	r.waits.Go(func() {
		defer close(gone)
		if err := r.wait(id, cmd); err != nil {
			select {
			case r.ended <- err:
			default: // one is enough to end them all
			}
		}
	})
	return nil
}

func (r *Cluster) wait(id string, cmd *exec.Cmd) error {
	err := cmd.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed[id] {
		return nil
	}
	return fmt.Errorf("replica %q has ended by itself: %w", id, errors.Join(err))
}

// stop ends the replicas that run and waits for them; none begins any more.
func (r *Cluster) stop() error {
	r.mu.Lock()
	r.stopped = true
	for id, cmd := range r.procs {
		r.killed[id] = true
		_ = cmd.Process.Kill() // it keeps nothing that the run's end does not take away
	}
	r.mu.Unlock()
	r.waits.Wait()
	return nil
}

// Kill kills a replica's process and waits until it is gone. What its disk holds stays.
func (r *Cluster) Kill(ctx context.Context, id string) error {
	r.mu.Lock()
	cmd, gone := r.procs[id], r.left[id]
	if cmd == nil {
		r.mu.Unlock()
		return fmt.Errorf("kill %s: it has not begun", id)
	}
	r.killed[id] = true
	err := cmd.Process.Signal(syscall.SIGKILL)
	r.mu.Unlock()
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", id, err)
	}
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Revive starts a replica again that has been killed, on what its disk holds.
func (r *Cluster) Revive(id string) error {
	r.mu.Lock()
	dead := r.killed[id]
	r.mu.Unlock()
	if !dead {
		return nil
	}
	return r.begin(id)
}

// Gone says whether no replica runs.
func (r *Cluster) Gone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range r.IDs {
		if r.procs[id] != nil && !r.killed[id] {
			return false
		}
	}
	return true
}

// start starts a replica and gives it its charge.
func (r *Cluster) start(id string) (*exec.Cmd, error) {
	identity, err := r.issue(pki.Controller, id)
	if err != nil {
		return nil, err
	}
	pem, err := identity.MarshalPEM()
	if err != nil {
		return nil, err
	}
	c := r.charge
	c.ID, c.API, c.Dir, c.Identity = id, r.api, filepath.Join(r.Dir, id), pem
	if c.Metrics, err = MetricsAddress(r.charge.Metrics, slices.Index(r.IDs, id)); err != nil {
		return nil, err
	}
	c.Peers = nil
	for _, p := range r.IDs {
		c.Peers = append(c.Peers, replica.Peer{ID: p, Addr: r.raft[p]})
	}
	b, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/proc/self/exe", ReplicaCommand)
	cmd.Stderr = r.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the parent, which ends all in order
	// open as long as this process lives, or the replica: it ends when it is alone
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start replica %q: %w", id, err)
	}
	if _, err := in.Write(b); err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("tell replica %q what it is: %w", id, errors.Join(err, cmd.Wait()))
	}
	return cmd, nil
}

// KillLeader kills the leader's process at once and returns how long it took until another leader had an entry of its
// own in the log.
func (r *Cluster) KillLeader(ctx context.Context, client *api.Client, st api.Status) (time.Duration, error) {
	r.mu.Lock()
	cmd := r.procs[st.Leader]
	if cmd == nil || r.killed[st.Leader] {
		r.mu.Unlock()
		return 0, fmt.Errorf("kill leader %q: it does not run", st.Leader)
	}
	r.killed[st.Leader] = true
	began := time.Now()
	err := cmd.Process.Signal(syscall.SIGKILL)
	r.mu.Unlock()
	if err != nil {
		return 0, fmt.Errorf("kill leader %q: %w", st.Leader, err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		now, err := client.Status(ctx)
		if err != nil {
			return 0, fmt.Errorf("wait for a new leader: %w", err)
		}
		if now.Leader != "" && now.Leader != st.Leader && now.Term > st.Term && now.Index > st.Index {
			return time.Since(began), nil
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// Lead says whether a replica leads and decides on jobs at once. One that does not answer yet does not.
func (r *Cluster) Lead(ctx context.Context, client *api.Client) bool {
	for i := range r.IDs {
		if st, err := client.StatusOf(ctx, i); err == nil && st.Ready {
			return true
		}
	}
	return false
}

// Agree waits until every replica that runs has applied the same entries and checks that their digests are equal.
func (r *Cluster) Agree(ctx context.Context, client *api.Client) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		digest, same, err := r.compare(ctx, client)
		if err != nil || same {
			return digest, err
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("compare replicas: they have not applied the same entries in time: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
}

func (r *Cluster) compare(ctx context.Context, client *api.Client) (digest string, same bool, err error) {
	var first *api.Status
	for i, id := range r.IDs {
		r.mu.Lock()
		dead := r.killed[id]
		r.mu.Unlock()
		if dead {
			continue
		}
		st, err := client.DigestOf(ctx, i)
		if err != nil {
			return "", false, fmt.Errorf("compare replicas: %w", err)
		}
		switch {
		case first == nil:
			first = &st
		case st.Index != first.Index:
			return "", false, nil
		case st.Digest != first.Digest:
			return "", false, fmt.Errorf("replicas %q and %q hold different states after entry %d", first.Replica, st.Replica,
				st.Index)
		}
	}
	if first == nil {
		return "", false, errors.New("compare replicas: none runs")
	}
	return hex.EncodeToString(first.Digest[:]), true, nil
}
