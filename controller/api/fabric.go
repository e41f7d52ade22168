package api

import (
	"context"
	"errors"

	"connectrpc.com/connect"

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
