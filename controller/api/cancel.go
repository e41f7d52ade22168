package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
)

// Ended is when a job ended, and whether a user or its lifetime ended it.
type Ended struct {
	At        time.Duration `json:"at_ns"` // of the run
	Cancelled bool          `json:"cancelled"`
}

// Canceller ends jobs as they stand.
type Canceller interface {
	// Cancel returns once the job has ended in the log, however it did. Errors are as those of Submitter,
	// or of code Invalid where there is no such job.
	Cancel(ctx context.Context, id controller.JobID) (Ended, error)
}

// Cancel ends a job here if this replica leads, and forwards to the leader otherwise.
func (s *service) Cancel(ctx context.Context,
	r *connect.Request[apiv1.CancelRequest]) (*connect.Response[apiv1.CancelResponse], error) {
	switch {
	case s.cfg.Canceller == nil:
		return nil, encode(&Error{Missing, errors.New("this controller cancels no jobs")})
	case r.Msg.JobId < 0:
		return nil, encode(&Error{Invalid, fmt.Errorf("cancel job %d: ids are from 0", r.Msg.JobId)})
	}
	e, err := s.cfg.Canceller.Cancel(ctx, controller.JobID(r.Msg.JobId))
	if errors.Is(err, ErrNotLeader) && r.Header().Get(forwarded) == "" {
		return toLeader(s, ctx, r.Msg, apiv1connect.ControllerClient.Cancel)
	}
	if err != nil {
		return nil, encode(err)
	}
	return connect.NewResponse(&apiv1.CancelResponse{EndedNs: int64(e.At), Cancelled: e.Cancelled,
		Ended: s.wall(e.At), Index: s.applied()}), nil
}

// Cancel ends a job at once, across elections as Submit does.
func (c *Client) Cancel(ctx context.Context, id controller.JobID) (e Ended, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.Cancel(ctx, connect.NewRequest(&apiv1.CancelRequest{JobId: int32(id)}))
		if err == nil {
			e = Ended{time.Duration(r.Msg.EndedNs), r.Msg.Cancelled}
			c.wrote(r.Msg.Index)
		}
		return err
	})
	return e, err
}
