package api

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
)

// GetFabric tells which fabric this replica is for.
func (s *service) GetFabric(context.Context,
	*connect.Request[apiv1.GetFabricRequest]) (*connect.Response[apiv1.Fabric], error) {
	if s.cfg.Fabric == nil {
		return nil, encode(&Error{Missing, errors.New("this controller tells of no fabric")})
	}
	f := s.cfg.Fabric()
	f.Epoch = s.wall(0)
	return connect.NewResponse(f), nil
}

// Fabric reads which fabric the controller is for.
func (c *Client) Fabric(ctx context.Context) (f *apiv1.Fabric, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.GetFabric(ctx, connect.NewRequest(&apiv1.GetFabricRequest{}))
		if err == nil {
			f = r.Msg
		}
		return err
	})
	return f, err
}

// Changer changes the fabric, on the leader. Errors are as those of Submitter.
type Changer interface {
	// ChangeFabric returns once the change is in the log, or for a dry run what it would be.
	ChangeFabric(ctx context.Context, r *apiv1.ApplyFabricRequest) (generation uint64,
		changes []string, err error)
}

// ApplyFabric changes the fabric here if this replica leads, and forwards to the leader otherwise.
func (s *service) ApplyFabric(ctx context.Context,
	r *connect.Request[apiv1.ApplyFabricRequest]) (*connect.Response[apiv1.ApplyFabricResponse], error) {
	if s.cfg.Changer == nil {
		return nil, encode(&Error{Missing, errors.New("this controller's fabric is not changed while it runs")})
	}
	// records name addresses, and the secrets that are sent there
	if f := r.Msg.GetFabric(); len(f.GetDevices())+len(f.GetRacks()) > 0 {
		if err := s.may(ctx, callerOf(ctx), "replace devices and add racks",
			rule{may: []controller.Access{controller.Admin}}); err != nil {
			return nil, encode(err)
		}
	}
	generation, changes, err := s.cfg.Changer.ChangeFabric(ctx, r.Msg)
	if errors.Is(err, ErrNotLeader) && r.Header().Get(forwarded) == "" {
		return toLeader(s, ctx, r.Msg, apiv1connect.ControllerClient.ApplyFabric)
	}
	if err != nil {
		return nil, encode(err)
	}
	return connect.NewResponse(&apiv1.ApplyFabricResponse{Generation: generation, Changes: changes,
		Index: s.applied()}), nil
}

// ApplyFabric changes the fabric, across elections as Submit does: to apply what is so already changes
// nothing.
func (c *Client) ApplyFabric(ctx context.Context,
	ask *apiv1.ApplyFabricRequest) (out *apiv1.ApplyFabricResponse,
	err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.ApplyFabric(ctx, connect.NewRequest(ask))
		if err == nil {
			out = r.Msg
			c.wrote(r.Msg.Index)
		}
		return err
	})
	return out, err
}
