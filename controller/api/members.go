package api

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
)

// Member is a replica of the cluster.
type Member struct {
	ID    string `json:"id"`
	Raft  string `json:"raft"`            // where its peers reach it
	API   string `json:"api,omitempty"`   // where its northbound is; empty until it has introduced itself
	Level uint32 `json:"level,omitempty"` // that its version knows; 0 likewise
	Voter bool   `json:"voter"`           // it counts for majorities and can lead
}

// Members is the replicas of a cluster, by id, and its feature level.
type Members struct {
	Members []Member `json:"members"`
	Level   uint32   `json:"level"`
	Read    ReadAt   `json:"read"`
}

// MemberChange is what happens to a member.
type MemberChange = apiv1.MemberChange

// The changes; api.proto says what each needs.
const (
	AddMember    = apiv1.MemberChange_MEMBER_CHANGE_ADD
	RemoveMember = apiv1.MemberChange_MEMBER_CHANGE_REMOVE
	Promote      = apiv1.MemberChange_MEMBER_CHANGE_PROMOTE
	Introduce    = apiv1.MemberChange_MEMBER_CHANGE_INTRODUCE
	RaiseLevel   = apiv1.MemberChange_MEMBER_CHANGE_RAISE_LEVEL
)

// Membership is the replicas of the cluster.
type Membership interface {
	// Members returns them as this replica knows them.
	Members() Members
	// Change returns once a change is in the log. Errors are as those of Submitter, or of code Invalid. For RaiseLevel m
	// has the level alone.
	Change(ctx context.Context, change MemberChange, m Member) error
}

var errNoMembership = &Error{Missing, errors.New("the replicas of this controller stay what they are")}

// Members returns the replicas of the cluster.
func (s *service) Members(ctx context.Context,
	r *connect.Request[apiv1.MembersRequest]) (*connect.Response[apiv1.MembersResponse], error) {
	if s.cfg.Membership == nil {
		return nil, encode(errNoMembership)
	}
	at, err := s.wait(ctx, r.Msg.Read, r.Header().Get(forwarded) != "")
	if err != nil {
		return nil, encode(err)
	}
	all := s.cfg.Membership.Members()
	out := &apiv1.MembersResponse{Level: all.Level, Read: at}
	for _, m := range all.Members {
		out.Members = append(out.Members, m.proto())
	}
	return connect.NewResponse(out), nil
}

// ChangeMembers changes members here if this replica leads, and forwards to the leader otherwise.
func (s *service) ChangeMembers(ctx context.Context,
	r *connect.Request[apiv1.ChangeMembersRequest]) (*connect.Response[apiv1.ChangeMembersResponse], error) {
	if s.cfg.Membership == nil {
		return nil, encode(errNoMembership)
	}
	asked := r.Header().Get(forwarded) != ""
	m := memberFromWire(r.Msg.Member)
	if err := allowChange(ctx, r.Msg.Change, m.ID, asked); err != nil {
		return nil, encode(err)
	}
	if r.Msg.Change == RaiseLevel {
		m = Member{Level: r.Msg.Level}
	}
	err := s.cfg.Membership.Change(ctx, r.Msg.Change, m)
	if errors.Is(err, ErrNotLeader) && !asked {
		return toLeader(s, ctx, r.Msg, apiv1connect.ControllerClient.ChangeMembers)
	}
	if err != nil {
		return nil, encode(err)
	}
	return connect.NewResponse(&apiv1.ChangeMembersResponse{Index: s.applied()}), nil
}

// allowChange has each replica introduce and promote itself alone. The replica that forwards a call has checked it.
func allowChange(ctx context.Context, change MemberChange, id string, asked bool) error {
	who := callerOf(ctx)
	own := change == Promote || change == Introduce
	switch {
	case own && !asked && (who.Kind != byReplica || who.Name != id):
		return &Error{Denied, fmt.Errorf("change members: %s %q may not speak for %q", who.Kind, who.Name, id)}
	case change != RaiseLevel && (id == "" || len(id) > maxName):
		return &Error{Invalid, fmt.Errorf("change members: a name has 1 to %d bytes", maxName)}
	}
	return nil
}

func (m Member) proto() *apiv1.Member {
	return &apiv1.Member{Id: m.ID, Raft: m.Raft, Api: m.API, Level: m.Level, Voter: m.Voter}
}

func memberFromWire(m *apiv1.Member) Member {
	return Member{ID: m.GetId(), Raft: m.GetRaft(), API: m.GetApi(), Level: m.GetLevel(), Voter: m.GetVoter()}
}

// Members returns the replicas of the cluster, by a read of that kind.
func (c *Client) Members(ctx context.Context, read Read) (all Members, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.Members(ctx, connect.NewRequest(&apiv1.MembersRequest{Read: read.proto()}))
		if err != nil {
			return err
		}
		all = Members{Level: r.Msg.Level, Read: readAt(r.Msg.Read)}
		for _, m := range r.Msg.Members {
			all.Members = append(all.Members, memberFromWire(m))
		}
		return nil
	})
	return all, err
}

// ChangeMembers changes a member, or for RaiseLevel the cluster's level to m's, across elections.
func (c *Client) ChangeMembers(ctx context.Context, change MemberChange, m Member) error {
	ask := &apiv1.ChangeMembersRequest{Change: change, Member: m.proto(), Level: m.Level}
	return c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.ChangeMembers(ctx, connect.NewRequest(ask))
		if err == nil {
			c.wrote(r.Msg.Index)
		}
		return err
	})
}
