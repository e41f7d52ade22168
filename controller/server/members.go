package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lightloom/controller/api"
	"lightloom/controller/replica"
	"lightloom/controller/state"
	"lightloom/southbound/hint"
	"lightloom/southbound/pki"
)

// address is where a replica's northbound is that has introduced itself.
func (p *replicaProcess) address(id string) (at string) {
	p.node.View(func(uint64) {
		m, _ := p.state.Member(id)
		at = m.API
	})
	return at
}

// Members implements api.Membership.
func (p *replicaProcess) Members() (all api.Members) {
	p.node.View(func(uint64) {
		all.Level = uint32(p.state.Level())
		for _, m := range p.node.Members() {
			s, _ := p.state.Member(m.ID)
			all.Members = append(all.Members, api.Member{ID: m.ID, Raft: m.Addr, Voter: m.Voter, API: s.API,
				Level: uint32(s.Level)})
		}
	})
	return all
}

// Change implements api.Membership.
func (p *replicaProcess) Change(ctx context.Context, change api.MemberChange, m api.Member) error {
	leader, _, term := p.node.Leader()
	if leader != p.config.ID {
		return fmt.Errorf("change members: %w", api.ErrNotLeader)
	}
	switch err := p.change(ctx, term, change, m); {
	case err == nil:
		return nil
	case errors.Is(err, replica.ErrNotLeader):
		return fmt.Errorf("%w: %w", api.ErrNotLeader, err)
	case errors.Is(err, replica.ErrUncertain):
		return fmt.Errorf("%w: %w", api.ErrUncertain, err)
	case ctx.Err() != nil:
		return err
	default:
		return &api.Error{Code: api.Invalid, Err: err}
	}
}

func (p *replicaProcess) change(ctx context.Context, term uint64, change api.MemberChange,
	m api.Member) error {
	all := p.Members()
	known, in := api.Member{}, false
	for _, x := range all.Members {
		if x.ID == m.ID {
			known, in = x, true
		}
	}
	switch change {
	case api.AddMember:
		if err := checkAddress(m.Raft); err != nil {
			return fmt.Errorf("add replica %q: %w", m.ID, err)
		}
		return p.node.AddMember(ctx, replica.Peer{ID: m.ID, Addr: m.Raft})
	case api.RemoveMember:
		if err := p.node.RemoveMember(ctx, m.ID); err != nil ||
			all.Level < uint32(state.MembersForgotten.Level()) {
			return err
		}
		return p.append(ctx, term, state.Entry{Kind: state.MembersForgotten,
			Cluster: &state.Cluster{Members: []state.Member{{ID: m.ID}}}})
	case api.Promote:
		if in && known.Level < all.Level {
			return fmt.Errorf("promote replica %q: it knows feature level %d, and the cluster has %d",
				m.ID, known.Level,
				all.Level)
		}
		return p.node.Promote(ctx, m.ID)
	case api.Introduce:
		if !in {
			return fmt.Errorf("introduce replica %q: it is no member: add it first", m.ID)
		}
		return p.append(ctx, term, state.Entry{Kind: state.MembersSeen, Cluster: &state.Cluster{
			Members: []state.Member{{ID: m.ID, API: m.API, Level: state.Level(m.Level)}}}})
	case api.RaiseLevel:
		return p.raiseLevel(ctx, term, all, m.Level)
	}
	return fmt.Errorf("change members: %v is unknown", change)
}

// raiseLevel raises the feature level if all members know it.
func (p *replicaProcess) raiseLevel(ctx context.Context, term uint64, all api.Members, to uint32) error {
	var old []string
	for _, m := range all.Members {
		if m.Level < to {
			old = append(old, m.ID)
		}
	}
	if len(old) > 0 {
		return fmt.Errorf("raise level to %d: not known to %s: start newer versions there", to,
			strings.Join(old, ", "))
	}
	return p.append(ctx, term, state.Entry{Kind: state.LevelRaised,
		Cluster: &state.Cluster{Level: state.Level(to)}})
}

// Times of attend.
const (
	attendEvery = 250 * time.Millisecond
	attendCall  = 2 * time.Second
	lonely      = time.Second // without a leader: perhaps the others have taken this one out
)

// attend has the cluster know this replica's address and version, gives it a vote once it has joined, and
// looks whether its state directory is still there: open files outlive it. It returns ErrRemoved if the
// replica is no member any more, or nil when ctx ends.
func (p *replicaProcess) attend(ctx context.Context) error {
	client, err := api.Dial([]string{p.config.API[p.config.ID]}, p.keys.Client("", pki.Controller))
	if err != nil {
		return err
	}
	defer client.Close()
	tick := time.NewTicker(attendEvery)
	defer tick.Stop()
	told, heard := "", time.Now()
	said, since := "", time.Now()
	for {
		if err := p.heedTrust(); err != nil {
			p.log.Warn("trust disk", "error", err)
		}
		said, since = p.logStanding(said, since)
		if err := p.home.wiped(); err != nil && ctx.Err() == nil {
			return err
		}
		if p.removed() {
			return p.leave()
		}
		if leader, _, _ := p.node.Leader(); leader != "" {
			heard = time.Now()
			if err := p.due(ctx, client); err != nil && err.Error() != told {
				told = err.Error()
				p.log.Warn("change members", "error", err)
			}
		} else if time.Since(heard) > lonely {
			heard = time.Now()
			if p.othersRemoved(ctx) {
				return p.leave()
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// due asks the leader for what this replica lacks.
func (p *replicaProcess) due(ctx context.Context, client *api.Client) error {
	change, founded := api.MemberChange(0), false
	p.node.View(func(uint64) { _, founded = p.state.Epoch() })
	if !founded {
		return nil // the log begins with the epoch: before it nobody can be introduced
	}
	m := api.Member{ID: p.config.ID, API: p.config.API[p.config.ID], Level: uint32(p.state.Knows())}
	for _, x := range p.Members().Members {
		switch {
		case x.ID != m.ID:
		case x.API != m.API || x.Level != m.Level:
			change = api.Introduce
		case !x.Voter && !p.learns():
			change = api.Promote
		}
	}
	if change == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, attendCall)
	defer cancel()
	return client.ChangeMembers(ctx, change, m)
}

// removed reports whether this replica's log says that it is no member. While it joins, its log is of
// the past.
func (p *replicaProcess) removed() bool {
	all := p.node.Members()
	for _, m := range all {
		if m.ID == p.config.ID {
			return false
		}
	}
	return len(all) > 0 && !p.learns()
}

// othersRemoved reports whether another replica knows for sure that this one is no member.
func (p *replicaProcess) othersRemoved(ctx context.Context) bool {
	var others []string
	for id, at := range p.config.API {
		if id != p.config.ID {
			others = append(others, at)
		}
	}
	if len(others) == 0 || p.learns() {
		return false
	}
	client, err := api.Dial(others, p.keys.Client("", pki.Controller))
	if err != nil {
		return false
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, attendCall)
	defer cancel()
	all, err := client.Members(ctx, api.Read{Linearizable: true})
	for _, m := range all.Members {
		if m.ID == p.config.ID {
			return false
		}
	}
	return err == nil
}

// leave notes in the state directory that it is of a replica that was removed.
func (p *replicaProcess) leave() error {
	return errors.Join(removedError(p.config.Dir, p.config.ID),
		p.home.note(func(n *Node) { n.Removed = true }))
}

func removedError(dir, id string) error {
	return hint.Wrap(fmt.Errorf("replica %q: %w", id, replica.ErrRemoved),
		"if it is to come back, type: lightloom "+
			"cluster destroy "+dir+" --yes, then: lightloom cluster join, and have it added")
}

// dial returns a client of all replicas that a configuration names, with the replica's own certificate.
func (c *ReplicaConfig) dial() (*api.Client, error) {
	keys, err := c.Identity.open(c.ID)
	if err != nil {
		return nil, err
	}
	var at []string
	for _, p := range c.Peers {
		at = append(at, c.API[p.ID])
	}
	return api.Dial(at, keys.Client("", pki.Controller))
}
