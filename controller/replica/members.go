package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/raft"
)

// ErrRemoved says that by the log this replica is no member of its cluster any more.
var ErrRemoved = errors.New("this replica has been taken out of its cluster")

// Members returns the members as far as this replica knows, by id: they can change by an entry that is
// not committed.
func (n *Node) Members() []Member {
	var all []Member
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		all = append(all, Member{Peer: Peer{ID: string(s.ID), Addr: string(s.Address)},
			Voter: s.Suffrage == raft.Voter})
	}
	slices.SortFunc(all, func(a, b Member) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return all
}

// membersNow is Members, also before the log has been read: then nobody is known.
func (n *Node) membersNow() []Member {
	if !n.launched.Load() {
		return nil
	}
	return n.Members()
}

// member returns one of them.
func (n *Node) member(id string) (Member, bool) {
	all := n.Members()
	i := slices.IndexFunc(all, func(m Member) bool { return m.ID == id })
	if i < 0 {
		return Member{}, false
	}
	return all[i], true
}

// AddMember makes a replica one that takes the log and has no vote, and returns once that is committed.
// It starts as a Learner. Only the leader can; the errors are those of Append. For a member nothing
// changes.
func (n *Node) AddMember(ctx context.Context, p Peer) error {
	if m, in := n.member(p.ID); in {
		if m.Addr != p.Addr {
			return fmt.Errorf("add replica %q: it is at %s: remove it first", p.ID, m.Addr)
		}
		return nil
	}
	return n.change(ctx, "add", p.ID, func() raft.IndexFuture {
		return n.raft.AddNonvoter(raft.ServerID(p.ID), raft.ServerAddress(p.Addr), 0, enqueueWait(ctx))
	})
}

// Promote gives a member a vote. Whoever calls knows that it holds about what the leader does, or the
// cluster may have to wait for it.
func (n *Node) Promote(ctx context.Context, id string) error {
	m, in := n.member(id)
	switch {
	case !in:
		return fmt.Errorf("promote replica %q: it is no member", id)
	case m.Voter:
		return nil
	}
	return n.change(ctx, "promote", id, func() raft.IndexFuture {
		return n.raft.AddVoter(raft.ServerID(id), raft.ServerAddress(m.Addr), 0, enqueueWait(ctx))
	})
}

// RemoveMember takes a replica out of the cluster. A leader that is to go hands the place on and
// returns an error that wraps ErrNotLeader: the next one can. The last voter stays.
func (n *Node) RemoveMember(ctx context.Context, id string) error {
	voters := 0
	for _, m := range n.Members() {
		if m.Voter && m.ID != id {
			voters++
		}
	}
	switch _, in := n.member(id); {
	case !in:
		return nil
	case voters == 0:
		return fmt.Errorf("remove replica %q: it is the only one with a vote", id)
	case id == n.cfg.ID && n.raft.State() == raft.Leader:
		if err := n.StepDown(); err != nil { // nobody has taken the place: the caller may try again
			return fmt.Errorf("remove replica %q: %w: %w", id, ErrUncertain, err)
		}
		return fmt.Errorf("remove replica %q: %w: it has handed its place on", id, ErrNotLeader)
	}
	return n.change(ctx, "remove", id, func() raft.IndexFuture {
		return n.raft.RemoveServer(raft.ServerID(id), 0, enqueueWait(ctx))
	})
}

func (n *Node) change(ctx context.Context, verb, id string, begin func() raft.IndexFuture) error {
	if _, err := inBackground(n, ctx, begin); err != nil {
		return fmt.Errorf("%s replica %q: %w", verb, id, appendError(err))
	}
	return nil
}

// checkMember refuses a log that this node is no member of. Addresses are looked up among the peers first.
func checkMember(c *Config, known raft.Configuration) error {
	for _, s := range known.Servers {
		if string(s.ID) == c.ID {
			return nil
		}
	}
	return fmt.Errorf("open log: %q is not among the members %v: %w", c.ID, known.Servers, ErrRemoved)
}

// ServerAddr implements raft.ServerAddressProvider: the address of a peer in this node's configuration,
// so that a cluster can come back on other ports, or for a later member the one that the log has.
func (n *Node) ServerAddr(id raft.ServerID) (raft.ServerAddress, error) {
	if at := n.Addr(string(id)); at != "" {
		return raft.ServerAddress(at), nil
	}
	return "", fmt.Errorf("find replica %q: neither among the peers nor a member", id)
}

// Addr is where a replica's raft transport listens; empty if it is not known.
func (n *Node) Addr(id string) string {
	if at := n.cfg.addr(id); at != "" || !n.launched.Load() {
		return at
	}
	m, _ := n.member(id)
	return m.Addr
}
