package api

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"connectrpc.com/connect"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
)

// What a WiringRequest asks for.
const (
	WirePlan     = "plan"
	WireVerify   = "verify"
	WireApply    = "apply"
	WireRelease  = "release"
	WireExtend   = "extend"
	WireHandOver = "hand-over"
)

// Wirer wires testbeds through optical switches of the lab, beside the controller's own fabric. Every replica can, for
// what is wired is not in the log: the switches know it, and a file of leases.
type Wirer interface {
	// Wiring does what a request asks for, on behalf of a user. Errors that are the request's have the code Invalid, and
	// NoRoom where others have ports.
	Wiring(ctx context.Context, user string, r *apiv1.WiringRequest) (*apiv1.WiringResponse, error)
	// Leases returns all leases.
	Leases() (*apiv1.ListLeasesResponse, error)
}

var errNoWirer = &Error{Missing, errors.New("this controller wires no testbeds: it was started without --lab-switches")}

// maxLinksText bounds the links of a request, in bytes.
const maxLinksText = 4 << 20

// CheckWiring answers itself, leader or not.
func (s *service) CheckWiring(ctx context.Context,
	r *connect.Request[apiv1.WiringRequest]) (*connect.Response[apiv1.WiringResponse], error) {
	return s.wiring(ctx, r.Msg, WirePlan, WireVerify)
}

// Wire wires itself, leader or not.
func (s *service) Wire(ctx context.Context,
	r *connect.Request[apiv1.WiringRequest]) (*connect.Response[apiv1.WiringResponse], error) {
	return s.wiring(ctx, r.Msg, WireApply, WireRelease, WireExtend, WireHandOver)
}

// wiring does what a request asks for, if that is among what the call can do.
func (s *service) wiring(ctx context.Context, r *apiv1.WiringRequest,
	can ...string) (*connect.Response[apiv1.WiringResponse], error) {
	who := callerOf(ctx)
	tenant := !slices.Contains([]controller.Access{controller.Operator, controller.Admin}, s.access(who))
	switch {
	case s.cfg.Wirer == nil:
		return nil, encode(errNoWirer)
	case !slices.Contains(can, r.GetWhat()):
		return nil, encode(&Error{Invalid, fmt.Errorf("what %q: this call can %v", r.GetWhat(), can)})
	case len(r.GetLinks()) > maxLinksText:
		return nil, encode(&Error{TooLarge, fmt.Errorf("links of %d bytes: %d at most", len(r.GetLinks()), maxLinksText)})
	case r.GetLifeNs() < 0:
		return nil, encode(&Error{Invalid, fmt.Errorf("life_ns %d is below zero: the lease would end in the past",
			r.GetLifeNs())})
	case tenant && r.GetTakeOver():
		return nil, encode(&Error{Denied, errors.New("take_over: operators and admins alone remove circuits of others")})
	case r.GetHolder() == "":
		r.Holder = who.Name
	case tenant:
		if _, err := own(who.Name, r.GetHolder()); err != nil {
			return nil, encode(err)
		}
	}
	out, err := s.cfg.Wirer.Wiring(ctx, who.String(), r)
	if err != nil {
		return nil, encode(err)
	}
	return connect.NewResponse(out), nil
}

// ListLeases answers itself, leader or not.
func (s *service) ListLeases(context.Context,
	*connect.Request[apiv1.ListLeasesRequest]) (*connect.Response[apiv1.ListLeasesResponse], error) {
	if s.cfg.Wirer == nil {
		return nil, encode(errNoWirer)
	}
	out, err := s.cfg.Wirer.Leases()
	if err != nil {
		return nil, encode(err)
	}
	return connect.NewResponse(out), nil
}

// Wiring checks or wires a testbed; which of them, What of the request says.
func (c *Client) Wiring(ctx context.Context, r *apiv1.WiringRequest) (out *apiv1.WiringResponse, err error) {
	call := apiv1connect.ControllerClient.Wire
	if r.GetWhat() == WirePlan || r.GetWhat() == WireVerify {
		call = apiv1connect.ControllerClient.CheckWiring
	}
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		resp, err := call(to, ctx, connect.NewRequest(r))
		if err == nil {
			out = resp.Msg
		}
		return err
	})
	return out, err
}

// Leases returns the leases of the lab's optical switches.
func (c *Client) Leases(ctx context.Context) (out *apiv1.ListLeasesResponse, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		resp, err := to.ListLeases(ctx, connect.NewRequest(&apiv1.ListLeasesRequest{}))
		if err == nil {
			out = resp.Msg
		}
		return err
	})
	return out, err
}
