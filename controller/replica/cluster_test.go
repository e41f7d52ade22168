package replica

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/chaos"
)

// cluster is three replicas in one process on a chaos network, with memories that outlive them.
type cluster struct {
	t     *testing.T
	net   *chaos.Network
	peers []Peer
	disks []*Memory
	nodes []*Node // nil while killed
	begun map[int]bool
	dir   string // of directories by id, instead of disks
	limit Limits
	// changes the configuration of every node; nil: it stays
	config func(*Config)
	moved  func() // if not nil: called when nodes have been replaced

	restarts int        // by supervise
	joining  func()     // starts the last node, which joins; nil if none does
	mu       sync.Mutex // held to change nodes, and by other goroutines than the test's own to read them
}

func (c *cluster) set(i int, n *Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[i] = n
}

// snapshot returns the nodes of this instant, for other goroutines than the test's own.
func (c *cluster) snapshot() []*Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.nodes)
}

func newCluster(t *testing.T, seed uint64, limit Limits) *cluster {
	t.Helper()
	return newClusterOn(t, chaos.NewNetwork(seed, 100*time.Millisecond), limit)
}

func newClusterOn(t *testing.T, net *chaos.Network, limit Limits) *cluster {
	t.Helper()
	c := &cluster{t: t, net: net, limit: limit, begun: map[int]bool{}}
	for i := range 3 {
		id := fmt.Sprintf("r%d", i)
		c.peers = append(c.peers, Peer{ID: id, Addr: id + ":1"})
		c.disks = append(c.disks, NewMemory())
		c.nodes = append(c.nodes, nil)
	}
	for i := range c.nodes {
		c.start(i)
	}
	return c
}

func (c *cluster) start(i int) {
	c.t.Helper()
	as := Existing
	if !c.begun[i] {
		as = Bootstrap
	}
	c.startAs(i, as)
}

func (c *cluster) startAs(i int, as Start) {
	c.t.Helper()
	n, err := c.tryStart(i, as, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.set(i, n)
}

// tryStart starts a node on what its disk holds. change, if not nil, changes its configuration.
func (c *cluster) tryStart(i int, as Start, change func(*Config)) (*Node, error) {
	c.begun[i] = true
	dir := ""
	if c.disks[i] == nil {
		dir = filepath.Join(c.dir, c.peers[i].ID)
	}
	t := c.net.Transport(raft.ServerAddress(c.peers[i].Addr))
	cfg := Config{ID: c.peers[i].ID, Start: as, Peers: c.peers, Memory: c.disks[i], Dir: dir,
		Machine: &ledger{},
		Limits:  c.limit, Transport: t, Parts: func() bool { return c.limit.Part > 0 }}
	for _, f := range []func(*Config){c.config, change} {
		if f != nil {
			f(&cfg)
		}
	}
	n, err := New(cfg)
	if err != nil {
		err = errors.Join(err, t.Close())
	}
	return n, err
}

// kill ends a node as a crash does: first it is heard no more, so that what it has under way stays
// undecided.
func (c *cluster) kill(i int) {
	c.t.Helper()
	n := c.nodes[i]
	n.cfg.Transport.(*chaos.Transport).Close()
	if err := n.Close(); err != nil {
		c.t.Fatal(err)
	}
	c.set(i, nil)
}

func (c *cluster) close() {
	c.t.Helper()
	for i, n := range c.nodes {
		if n != nil {
			c.kill(i)
		}
	}
}

// leader waits until a living node leads and has passed its barrier.
func (c *cluster) leader(ctx context.Context) int {
	c.t.Helper()
	for {
		c.supervise()
		for i, n := range c.nodes {
			if n != nil && n.raft.State() == raft.Leader && n.Barrier(ctx) == nil {
				return i
			}
		}
		select {
		case <-ctx.Done():
			c.t.Fatal("no leader in time")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// supervise starts nodes again that have ended for that, as their supervisors do.
func (c *cluster) supervise() {
	c.t.Helper()
	for i, n := range c.nodes {
		if n == nil || !errors.Is(n.Failed(), ErrTail) && !errors.Is(n.Failed(), ErrBack) {
			continue
		}
		c.kill(i)
		if c.joining != nil && i == len(c.nodes)-1 {
			c.joining()
		} else {
			c.start(i)
		}
		c.restarts++
		if c.moved != nil {
			c.moved()
		}
	}
}

// agree waits until all nodes hold what the leader holds and nothing has followed for a second, for what a
// client gave up on may still be on its way into the log. It fails unless their digests are equal.
func (c *cluster) agree(ctx context.Context) {
	c.t.Helper()
	for before := uint64(0); ; {
		at, equal := c.equal(ctx)
		if equal && at == before {
			return
		}
		before = at
		if !pass(ctx, time.Second) {
			c.t.Fatal("the log does not come to rest in time")
		}
	}
}

// equal reports how much the leader had applied, and whether every replica has applied as much; those
// that have must have the same state.
func (c *cluster) equal(ctx context.Context) (at uint64, equal bool) {
	c.t.Helper()
	at, want := c.nodes[c.leader(ctx)].Digest()
	for _, n := range c.nodes {
		if n == nil {
			continue
		}
		if err := n.WaitApplied(ctx, at); errors.Is(err, ErrTail) || errors.Is(err, ErrBack) {
			return at, false
		} else if err != nil {
			c.t.Fatal(err)
		}
		got, digest := n.Digest()
		if got > at {
			return at, false
		}
		if digest != want {
			c.t.Fatalf("replica %s: digest %x at %d, leader has %x at %d", n.ID(), digest[:4], got, want[:4], at)
		}
	}
	return at, true
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}
