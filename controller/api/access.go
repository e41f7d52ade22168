package api

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
)

var errNoGranter = &Error{Missing, errors.New("this controller grants no access")}

// SetAccess grants here if this replica leads, and forwards to the leader otherwise.
func (s *service) SetAccess(ctx context.Context,
	r *connect.Request[apiv1.SetAccessRequest]) (*connect.Response[apiv1.SetAccessResponse], error) {
	granter := s.cfg.Callers.Granter
	g := controller.Grant{Name: r.Msg.GetGrant().GetName(),
		Access: controller.Access(r.Msg.GetGrant().GetAccess())}
	if err := g.Check(); err != nil {
		return nil, encode(&Error{Invalid, err})
	}
	if granter == nil {
		return nil, encode(errNoGranter)
	}
	err := granter.Grant(ctx, g)
	if errors.Is(err, ErrNotLeader) && r.Header().Get(forwarded) == "" {
		return toLeader(s, ctx, r.Msg, apiv1connect.ControllerClient.SetAccess)
	}
	if err != nil {
		return nil, encode(err)
	}
	return connect.NewResponse(&apiv1.SetAccessResponse{Index: s.applied()}), nil
}

// ListAccess is a linearizable read: who has just granted something wants to see it.
func (s *service) ListAccess(ctx context.Context,
	r *connect.Request[apiv1.ListAccessRequest]) (*connect.Response[apiv1.ListAccessResponse], error) {
	if s.cfg.Callers.Granter == nil {
		return nil, encode(errNoGranter)
	}
	if s.cfg.Indexer != nil {
		if _, err := s.wait(ctx, &apiv1.Read{Linearizable: true}, r.Header().Get(forwarded) != ""); err != nil {
			return nil, encode(err)
		}
	}
	out := &apiv1.ListAccessResponse{}
	for _, g := range s.cfg.Callers.Granter.Grants() {
		out.Grants = append(out.Grants, &apiv1.Grant{Name: g.Name, Access: string(g.Access)})
	}
	return connect.NewResponse(out), nil
}

// SetAccess grants access, or takes it back where g has none, across elections as Submit does.
func (c *Client) SetAccess(ctx context.Context, g controller.Grant) error {
	return c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.SetAccess(ctx, connect.NewRequest(&apiv1.SetAccessRequest{
			Grant: &apiv1.Grant{Name: g.Name, Access: string(g.Access)}}))
		if err == nil {
			c.wrote(r.Msg.Index)
		}
		return err
	})
}

// Access returns all grants, by name.
func (c *Client) Access(ctx context.Context) (out []controller.Grant, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.ListAccess(ctx, connect.NewRequest(&apiv1.ListAccessRequest{}))
		if err != nil {
			return err
		}
		out = out[:0]
		for _, m := range r.Msg.Grants {
			g := controller.Grant{Name: m.Name, Access: controller.Access(m.Access)}
			if err := g.Check(); err != nil {
				return fmt.Errorf("list access: %w", err)
			}
			out = append(out, g)
		}
		return nil
	})
	return out, err
}
