package replica

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/southbound/guard"
	"lightloom/southbound/pki"
)

// Timeouts set how soon a dead leader is noticed. Zero fields take the defaults of DefaultTimeouts.
type Timeouts struct {
	Heartbeat time.Duration // silence of the leader after which a follower stands for election, to twice this
	Election  time.Duration // a candidate tries again after this, to twice this; at least Heartbeat
	Lease     time.Duration // a leader without a majority steps down after this; at most Heartbeat
	Commit    time.Duration // an idle leader sends followers its commit index after this, to twice this
	RPC       time.Duration // deadline of one message to a peer
	Handshake time.Duration // of a TLS handshake with a peer
}

// DefaultTimeouts are those of the controller. They suit a LAN, and replicas that share two cores with
// an emulated fabric: a leader may be off the processor for 0.3 s without giving up or being voted out. One that
// dies is replaced after 400–800 ms of silence and a round of votes, seldom two.
func DefaultTimeouts() Timeouts {
	return Timeouts{
		Heartbeat: 400 * time.Millisecond,
		Election:  400 * time.Millisecond,
		Lease:     400 * time.Millisecond,
		Commit:    20 * time.Millisecond,
		RPC:       5 * time.Second,
		Handshake: guard.DefaultWithin,
	}
}

// Limits bound memory, disk and messages. Zero fields take the defaults of DefaultLimits.
type Limits struct {
	Entry         int    // bytes of one entry
	Part          int    // bytes of one part of an entry that goes in parts
	Snapshot      int64  // bytes of one snapshot, its own header included
	SnapshotEvery uint64 // entries between snapshots
	Trailing      uint64 // entries kept behind a snapshot for followers that lag
	Conns         int    // connections at once of those who are no peers by name, once they are authenticated
	Handshakes    int    // TLS handshakes under way at once
}

// DefaultLimits hold the largest job that is accepted (2^20 flows) in one entry.
func DefaultLimits() Limits {
	return Limits{Entry: 64 << 20, Part: partBytes, Snapshot: 1 << 30, SnapshotEvery: 4096,
		Trailing: 1024, Conns: 64,
		Handshakes: guard.DefaultOpen}
}

// appendBatch is how many entries one message to a follower can hold: with Limits.Entry it bounds the
// message.
const appendBatch = 4

// Config configures a Node.
type Config struct {
	ID string
	// Peers are this node and others. All nodes that found the cluster name all of them, in any order;
	// later the log says who is a member, and Peers where some are.
	Peers []Peer

	Start  Start   // what is expected of Dir or Memory
	Dir    string  // where log and snapshots are kept; created if missing. Its caller keeps other processes from it.
	NoSync bool    // no fsync: survives the death of the process, not of the machine
	Memory *Memory // keeps them in memory instead of Dir

	Listener  net.Listener                    // taken over and closed by the node; nil: listen on Bind
	Bind      string                          // host:port; empty: this node's address among Peers
	ServerTLS *tls.Config                     // must demand and verify client certificates
	ClientTLS *tls.Config                     // must carry a certificate and verify the server's
	Authorize func(tls.ConnectionState) error // can refuse a peer after its handshake; nil: accept all verified peers
	Transport raft.Transport                  // replaces all of the above in tests

	Learner *Learner // the log is empty, and the cluster has begun long ago; nil: the node founds it, or has its log
	Trusted bool     // the disk cannot have gone back in time: the node takes part at once

	Parts func() bool // large entries can go in parts, which earlier versions cannot read; nil: none does

	Machine  Machine
	Archive  Archive // what the machine has let go; nil: it lets nothing go
	Timeouts Timeouts
	Limits   Limits
	Logger   *slog.Logger // nil discards

	fault func(op string) error // tests only: see disk
}

// complete checks c and fills in defaults.
func (c Config) complete() (Config, error) {
	fail := func(format string, args ...any) (Config, error) {
		return c, fmt.Errorf("configure replica %q: %w", c.ID, fmt.Errorf(format, args...))
	}
	if err := checkPeers(c.ID, c.Peers); err != nil {
		return fail("%w", err)
	}
	c.Timeouts.fill()
	c.Limits.fill()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case c.Machine == nil:
		return fail("has no machine")
	case c.Start != Existing && c.Start != Bootstrap:
		return fail("starts %q: known are %q and %q (a directory that exists)", c.Start, Bootstrap, Existing)
	case c.Memory == nil && c.Dir == "":
		return fail("has neither a directory nor a memory to keep its log in")
	case c.Memory != nil && c.Dir != "":
		return fail("has both a directory and a memory to keep its log in")
	case c.Timeouts.Lease > c.Timeouts.Heartbeat:
		return fail("lease %v is longer than heartbeat %v", c.Timeouts.Lease, c.Timeouts.Heartbeat)
	case c.Timeouts.Election < c.Timeouts.Heartbeat:
		return fail("election timeout %v is shorter than heartbeat %v", c.Timeouts.Election,
			c.Timeouts.Heartbeat)
	}
	if c.Transport != nil {
		return c, nil
	}
	if err := checkTLS(c.ServerTLS, c.ClientTLS); err != nil {
		return fail("%w", err)
	}
	if c.Bind == "" {
		c.Bind = c.addr(c.ID)
	}
	return c, nil
}

func checkPeers(id string, peers []Peer) error {
	if id == "" {
		return errors.New("has no id")
	}
	ids, addrs := map[string]bool{}, map[string]bool{}
	for _, p := range peers {
		switch {
		case p.ID == "" || p.Addr == "":
			return fmt.Errorf("peer %q at %q: both id and address are needed", p.ID, p.Addr)
		case ids[p.ID]:
			return fmt.Errorf("peer id %q is used twice", p.ID)
		case addrs[p.Addr]:
			return fmt.Errorf("peer address %q is used twice", p.Addr)
		}
		ids[p.ID], addrs[p.Addr] = true, true
	}
	if !ids[id] {
		return errors.New("is not among its peers")
	}
	return nil
}

// checkTLS refuses configurations that would let a stranger into the cluster.
func checkTLS(server, client *tls.Config) error {
	switch {
	case server == nil || client == nil:
		return errors.New("needs TLS for both directions")
	case pki.CheckServer(server) != nil:
		return pki.CheckServer(server)
	case client.InsecureSkipVerify && client.VerifyConnection == nil && client.VerifyPeerCertificate == nil:
		return errors.New("client TLS does not verify the server")
	}
	return nil
}

func (c *Config) addr(id string) string {
	for _, p := range c.Peers {
		if p.ID == id {
			return p.Addr
		}
	}
	return ""
}

func (t *Timeouts) fill() {
	d := DefaultTimeouts()
	t.Heartbeat = or(t.Heartbeat, d.Heartbeat)
	t.Election = or(t.Election, max(d.Election, t.Heartbeat))
	t.Lease = or(t.Lease, min(d.Lease, t.Heartbeat))
	t.Commit = or(t.Commit, d.Commit)
	t.RPC = or(t.RPC, d.RPC)
	t.Handshake = or(t.Handshake, d.Handshake)
}

func (l *Limits) fill() {
	d := DefaultLimits()
	l.Entry = or(l.Entry, d.Entry)
	l.Part = or(l.Part, d.Part)
	l.Snapshot = or(l.Snapshot, d.Snapshot)
	l.SnapshotEvery = or(l.SnapshotEvery, d.SnapshotEvery)
	l.Trailing = or(l.Trailing, d.Trailing)
	l.Conns = or(l.Conns, d.Conns)
	l.Handshakes = or(l.Handshakes, d.Handshakes)
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func (c *Config) raft(log *slog.Logger) *raft.Config {
	rc := raft.DefaultConfig()
	rc.LocalID = raft.ServerID(c.ID)
	rc.HeartbeatTimeout = c.Timeouts.Heartbeat
	rc.ElectionTimeout = c.Timeouts.Election
	rc.LeaderLeaseTimeout = c.Timeouts.Lease
	rc.CommitTimeout = c.Timeouts.Commit
	rc.MaxAppendEntries = appendBatch
	rc.SnapshotThreshold = c.Limits.SnapshotEvery
	rc.SnapshotInterval = snapshotInterval
	rc.TrailingLogs = c.Limits.Trailing
	rc.NoLegacyTelemetry = true
	rc.ShutdownOnRemove = false // Close ends raft
	rc.Logger = bridge(log.With("part", "raft"))
	return rc
}

// snapshotInterval is how often raft looks whether SnapshotEvery has been reached, to twice this.
const snapshotInterval = 5 * time.Second
