package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/rollcall"
)

// Node is one replica. All methods can be called by several goroutines.
type Node struct {
	cfg   Config
	raft  *raft.Raft
	fsm   *fsm
	track *tracker
	times *latencies
	store *store
	net   *bound  // nil with a transport of the caller's
	wire  *stream // nil likewise
	roll  *rollcall.Rollcall
	front *appliedFilter
	lease *lease
	reads reads

	contacts  *contacts
	heartbeat time.Duration // timeout at present; the nurse's

	parting chan struct{} // holds who appends parts

	launched atomic.Bool // raft is set

	nursed chan struct{}  // closed once the nurse has ended
	wg     sync.WaitGroup // appends under way
	mu     sync.Mutex     // guards closed against wg
	closed bool
	done   chan struct{}
}

// New starts a replica: it checks its whole log, restores what it holds and joins the elections. What
// cfg.Start expects of the directory decides how an empty one is taken; a cluster that begins has no
// first node. The listener is the node's from here on, also when New fails. The error wraps ErrDamaged
// or ErrEmpty where the directory is to blame.
func New(cfg Config) (*Node, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, errors.Join(err, closeListener(cfg.Listener))
	}
	log := cfg.Logger.With("replica", cfg.ID)
	n := &Node{
		cfg: cfg, fsm: newFSM(cfg.Machine, cfg.Archive, cfg.Limits.Snapshot, log), track: newTracker(time.Now),
		times: newLatencies(), nursed: make(chan struct{}), done: make(chan struct{}),
		reads: reads{turn: make(chan struct{}, 1)}, parting: make(chan struct{}, 1),
		contacts: newContacts(), heartbeat: cfg.Timeouts.Heartbeat,
	}
	if n.store, err = openStore(&cfg); err != nil {
		return nil, errors.Join(err, closeListener(cfg.Listener))
	}
	n.fsm.die, n.fsm.compare.differs = n.store.health.die, n.apart
	t, err := n.transport()
	if err != nil {
		return nil, errors.Join(err, n.store.close())
	}
	if n.roll, err = rollcall.New(t, n.rollcall()); err != nil {
		return nil, errors.Join(err, n.hangUp(), n.store.close())
	}
	n.front = newAppliedFilter(n.roll)
	n.lease = newLease(n.front, n.contacts, cfg.Timeouts.Lease)
	if err := n.start(n.lease, cfg.raft(log)); err != nil {
		n.front.end()
		err = errors.Join(err, n.hangUp())
		n.roll.Close()
		return nil, errors.Join(err, n.store.close())
	}
	return n, nil
}

func closeListener(ln net.Listener) error {
	if ln == nil {
		return nil
	}
	return ln.Close()
}

// transport returns the caller's transport, or one over TLS.
func (n *Node) transport() (raft.Transport, error) {
	if n.cfg.Transport != nil {
		return n.cfg.Transport, nil
	}
	log := n.cfg.Logger.With("replica", n.cfg.ID, "part", "transport")
	ln := n.cfg.Listener
	if ln == nil {
		var err error
		if ln, err = net.Listen("tcp", n.cfg.Bind); err != nil {
			return nil, fmt.Errorf("listen for replicas on %q: %w", n.cfg.Bind, err)
		}
	}
	n.wire = newStream(&n.cfg, ln, n.membersNow, log)
	n.net = newBound(n.wire, raft.NetworkTransportConfig{
		MaxPool: 3, Timeout: n.cfg.Timeouts.RPC, Logger: bridge(log), ServerAddressProvider: n,
		MaxRPCsInFlight: 1, // no pipelines: see DESIGN.md
	}, log)
	return n.net, nil
}

func (n *Node) rollcall() rollcall.Config {
	c := rollcall.Config{Self: Peer{ID: n.cfg.ID, Addr: n.cfg.addr(n.cfg.ID)}, Peers: n.cfg.Peers,
		Nonce:   rand.Uint64(),
		Trusted: n.cfg.Trusted, Memory: n.store.memory, Reached: n.store.reached, Die: n.store.health.die,
		Logger: n.cfg.Logger}
	if n.cfg.Learner != nil {
		c.Joined = n.cfg.Learner.Done
	}
	return c
}

func (n *Node) start(t raft.Transport, rc *raft.Config) error {
	if err := n.launch(t, rc); err != nil {
		return err
	}
	n.store.begin()
	n.launched.Store(true)
	r := n.raft
	r.RegisterObserver(raft.NewObserver(nil, false, n.track.observe))
	n.track.adopt(r)
	f := r.GetConfiguration()
	err := f.Error()
	if err == nil && n.cfg.Learner == nil { // the snapshot that a newcomer has can be older than its membership
		err = checkMember(&n.cfg, f.Configuration())
	}
	if err != nil {
		n.track.close()
		close(n.store.health.closed)
		return errors.Join(err, r.Shutdown().Error())
	}
	n.roll.Follow(n.Members, r.AppliedIndex)
	go func() {
		defer close(n.nursed)
		n.nurse()
	}()
	return nil
}

// launch starts raft from a goroutine of its own, which ends if the disk does not hold what raft reads.
func (n *Node) launch(t raft.Transport, rc *raft.Config) (err error) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err = n.store.prepare(&n.cfg, rc, t); err == nil {
			logs := tailed{n.store.logs, n.store.health.wipe}
			n.raft, err = raft.NewRaft(rc, n.fsm, logs, n.store.stable, n.store.snaps, t)
		}
	}()
	<-ended
	if _, dead, _ := n.store.health.state(); dead != nil {
		err = dead // raft's own error is less precise
	} else if err != nil && n.fsm.failed != nil {
		err = n.fsm.failed
	}
	if err != nil && n.raft != nil {
		err = errors.Join(err, n.raft.Shutdown().Error())
	}
	if err != nil {
		return fmt.Errorf("start replica %q: %w", n.cfg.ID, err)
	}
	n.front.follow(n.raft.AppliedIndex, n.store.health.answered)
	return nil
}

func configuration(peers []Peer) raft.Configuration {
	var c raft.Configuration
	for _, p := range peers {
		c.Servers = append(c.Servers, raft.Server{ID: raft.ServerID(p.ID), Address: raft.ServerAddress(p.Addr)})
	}
	return c
}

// ID returns the node's own id.
func (n *Node) ID() string { return n.cfg.ID }

// Leader returns the leader's id, its raft address and the term in which it was elected; empty strings
// while none is known. What is known can be out of date.
func (n *Node) Leader() (id, addr string, term uint64) {
	n.track.mu.Lock()
	id, term = n.track.leader, n.track.term
	n.track.mu.Unlock()
	return id, n.Addr(id), term
}

// Digest returns the machine's digest and the index of the last entry it holds. Two replicas that
// answer the same index answer the same digest.
func (n *Node) Digest() (index uint64, digest [32]byte) {
	index, state := n.fsm.freeze()
	return index, state.Digest()
}

// Applied returns the index of the last entry that the machine holds. It waits for nothing.
func (n *Node) Applied() uint64 { return n.fsm.at.Load() }

// Freeze returns the machine's state and the index of the last entry it holds.
func (n *Node) Freeze() (index uint64, state Frozen) { return n.fsm.freeze() }

// View calls fn between two entries; index is that of the last one applied. While fn runs nothing is
// applied, so it can read the machine; it must not wait for the node.
func (n *Node) View(fn func(index uint64)) { n.fsm.view(fn) }

// WaitApplied returns once this replica has applied an entry of at least that index, as Append returned
// it. It fails with what Failed returns once the node has ended by itself.
func (n *Node) WaitApplied(ctx context.Context, index uint64) error {
	err := n.fsm.wait(ctx, n.store.health.died, n.done, index)
	if dead := n.Failed(); err != nil && dead != nil {
		err = dead
	}
	return err
}

// Snapshot writes a snapshot now and forgets the entries it makes superfluous. Without a new entry
// there is nothing to write, and no error.
func (n *Node) Snapshot() error {
	err := n.raft.Snapshot().Error()
	if err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

// Failed returns why the node has ended by itself, an error that wraps ErrDamaged, ErrDisk, ErrTail or
// what the machine said, or nil. Leadership returns it too. The process that holds such a node ends, to
// be started again by its supervisor.
func (n *Node) Failed() error {
	_, dead, _ := n.store.health.state()
	return dead
}

// Close stops the node without handing leadership on, ends what Leadership runs, and waits for all of
// it. Appends under way get their answers first. A second call does nothing but wait for the first.
func (n *Node) Close() error {
	n.mu.Lock()
	first := !n.closed
	n.closed = true
	n.mu.Unlock()
	if !first {
		<-n.done
		return nil
	}
	n.track.close()
	n.roll.Stop()
	n.drain()
	close(n.store.health.closed)
	<-n.nursed
	stopping := n.raft.Shutdown()
	err := n.hangUp() // before waiting: a peer that no longer answers would hold raft for one RPC timeout
	err = errors.Join(err, stopping.Error())
	n.lease.work.Wait()
	n.fsm.compare.work.Wait()
	n.roll.Close()
	close(n.done)
	return errors.Join(err, n.store.close())
}

// drain waits until every append has its answer. Raft forgets the answers it owes when it is shut down;
// while it runs it gives them at the latest when its lease has run out. A machine that hangs in Apply
// is not waited for longer than that.
func (n *Node) drain() {
	answered := make(chan struct{})
	go func() {
		n.wg.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-time.After(4*n.cfg.Timeouts.Lease + time.Second):
		n.cfg.Logger.Error("append has no answer", "replica", n.cfg.ID)
	}
}

// hangUp ends the transport and every connection of it.
func (n *Node) hangUp() error {
	if n.net == nil {
		return nil
	}
	return n.net.Close()
}
