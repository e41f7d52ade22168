package server

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/controller/api"
	"lightloom/controller/replica"
	"lightloom/southbound/pki"
)

// Cluster is the processes of a controller's replicas on this machine, which listen on loopback. A
// process that exits is restarted, and the others go on.
type Cluster struct {
	config  ReplicaConfig // of every one, but for who it is
	issue   func(role pki.Role, name string) (pki.Identity, error)
	keys    func(name string) pki.Paths // where keys are that replicas read themselves; nil: issue has them
	stderr  io.Writer
	State   *State
	IDs     []string
	raft    map[string]string
	api     map[string]string
	replica map[string]*supervisor
}

// The ports of replica i are these plus i, in a run whose loopback is its own.
const (
	raftPort = 7400
	apiPort  = 7420
)

// PrivatePorts are the addresses of replicas in namespaces of their own.
func PrivatePorts(i int) (raft, api string, err error) {
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(raftPort+i)), net.JoinHostPort("127.0.0.1",
		fmt.Sprint(apiPort+i)), nil
}

// NewCluster makes n replicas with configuration c, identities from issue and the addresses that ports
// returns. Their logs are in st, which the cluster closes.
func NewCluster(n int, c ReplicaConfig, issue func(pki.Role, string) (pki.Identity, error),
	ports func(i int) (raft, api string, err error), st *State, stderr io.Writer) (*Cluster, error) {
	r := &Cluster{config: c, issue: issue, stderr: stderr, State: st, IDs: ReplicaNames(n),
		raft: map[string]string{},
		api:  map[string]string{}, replica: map[string]*supervisor{}}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	for i, id := range r.IDs {
		raft, api, err := ports(i)
		if err != nil {
			return nil, errors.Join(err, st.Close())
		}
		r.raft[id], r.api[id] = raft, api
		r.replica[id] = newSupervisor(id, uint64(i), log, func(restarts int) (*exec.Cmd, error) {
			return r.start(id, restarts)
		})
	}
	return r, nil
}

// Addrs are the northbound addresses of the replicas.
func (r *Cluster) Addrs() []string {
	var out []string
	for _, id := range r.IDs {
		out = append(out, r.api[id])
	}
	return out
}

// Close gives back what the logs are kept in.
func (r *Cluster) Close() error { return r.State.Close() }

// Run keeps every replica running until ctx ends. It returns an error only if a replica cannot be
// started at all.
func (r *Cluster) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, id := range r.IDs {
		g.Go(func() error { return r.replica[id].run(ctx) })
	}
	return g.Wait()
}

// Kill kills a replica's process and waits until it is gone. It stays dead until it is revived, and
// what its disk holds stays.
func (r *Cluster) Kill(ctx context.Context, id string) error {
	gone, err := r.replica[id].kill()
	if err != nil {
		return err
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
	r.replica[id].revive()
	return nil
}

// Restarts returns how often a replica has exited by itself and was restarted.
func (r *Cluster) Restarts(id string) int { return r.replica[id].count() }

// Gone reports whether every replica has been killed.
func (r *Cluster) Gone() bool {
	return !slices.ContainsFunc(r.IDs, func(id string) bool { return !r.replica[id].isDead() })
}

// start starts a replica and gives it its configuration.
func (r *Cluster) start(id string, restarts int) (*exec.Cmd, error) {
	identity, err := r.issue(pki.Controller, id)
	if err != nil {
		return nil, err
	}
	c := r.config
	if r.keys != nil {
		c.Identity.Files = r.keys(id)
	} else if c.Identity.PEM, err = identity.MarshalPEM(); err != nil {
		return nil, err
	}
	c.ID, c.API, c.Restarts = id, r.api, restarts
	c.Dir, c.Cluster, c.Epoch = filepath.Join(r.State.Dir, id), r.State.cluster, r.State.Epoch
	if c.Metrics, err = MetricsAddress(r.config.Metrics, slices.Index(r.IDs, id)); err != nil {
		return nil, err
	}
	c.Peers, c.OwnLogs = nil, r.State.own
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

// KillLeader kills the leader's process at once, for good, and returns how long it took until another
// leader had an entry of its own in the log.
func (r *Cluster) KillLeader(ctx context.Context, client *api.Client, st api.Status) (time.Duration, error) {
	leader := r.replica[st.Leader]
	if leader == nil || leader.pid() == 0 {
		return 0, fmt.Errorf("kill leader %q: it does not run", st.Leader)
	}
	began := time.Now()
	if _, err := leader.kill(); err != nil {
		return 0, err
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

// Lead reports whether a replica leads and decides on jobs at once. A replica that does not answer yet
// does not.
func (r *Cluster) Lead(ctx context.Context, client *api.Client) bool {
	for i := range r.IDs {
		if st, err := client.StatusOf(ctx, i); err == nil && st.Ready {
			return true
		}
	}
	return false
}

// Agree waits until every replica that runs has applied the same entries and checks that their digests
// are equal.
func (r *Cluster) Agree(ctx context.Context, client *api.Client) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		digest, same, err := r.compare(ctx, client)
		if errors.Is(err, errDiffer) || same {
			return digest, err
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("compare replicas: they have not applied the same entries in time: %w",
				errors.Join(context.Cause(ctx), err))
		case <-tick.C:
		}
	}
}

var errDiffer = errors.New("they hold different states after the same entry")

// compare calls every replica that was not killed. A replica that does not answer can be restarting.
func (r *Cluster) compare(ctx context.Context, client *api.Client) (digest string, same bool, err error) {
	var first *api.Status
	for i, id := range r.IDs {
		if r.replica[id].isDead() {
			continue
		}
		st, err := client.DigestOf(ctx, i)
		if err != nil {
			return "", false, err
		}
		switch {
		case first == nil:
			first = &st
		case st.Index != first.Index:
			return "", false, nil
		case st.Digest != first.Digest:
			return "", false, fmt.Errorf("compare replicas %q and %q at entry %d: %w", first.Replica,
				st.Replica, st.Index,
				errDiffer)
		}
	}
	if first == nil {
		return "", false, errors.New("compare replicas: none runs")
	}
	return hex.EncodeToString(first.Digest[:]), true, nil
}
