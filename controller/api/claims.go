package api

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
)

// Claim is the state of the leader's claim of a device. Nothing is written to an unclaimed device.
type Claim struct {
	Device string
	State  string // unclaimed, fenced or unfenced
	Error  string // why it is not fenced; "": no error, or not known yet
	Holds  *DeviceHolding
}

// DeviceHolding is what a device was asked for, has accepted, and reported last.
type DeviceHolding struct{ Desired, Accepted, Seen DeviceHolds }

// DeviceHolds is how much a device holds.
type DeviceHolds struct{ Rules, Circuits int }

func (h DeviceHolds) wire() *apiv1.DeviceHolds {
	return &apiv1.DeviceHolds{Rules: int32(h.Rules), Circuits: int32(h.Circuits)}
}

func holdsOf(m *apiv1.DeviceHolds) DeviceHolds {
	return DeviceHolds{int(m.GetRules()), int(m.GetCircuits())}
}

// claims returns how far the leader has come with devices: it is asked, unless this replica leads or has been asked by
// another.
func (s *service) claims(ctx context.Context, leader string, asked bool) (out []*apiv1.DeviceClaim, err error) {
	if leader == s.cfg.ID || asked {
		if s.cfg.Claims != nil {
			for _, c := range s.cfg.Claims() {
				m := &apiv1.DeviceClaim{Device: c.Device, State: c.State, Error: c.Error}
				if c.Holds != nil {
					m.Desired, m.Accepted, m.Seen = c.Holds.Desired.wire(), c.Holds.Accepted.wire(), c.Holds.Seen.wire()
				}
				out = append(out, m)
			}
		}
		return out, nil
	}
	resp, err := s.askLeader(ctx, leader, &apiv1.StatusRequest{Claims: true})
	if err != nil {
		return nil, fmt.Errorf("read claims: %w", err)
	}
	return resp.Claims, nil
}

// askLeader calls another replica, which leads, for its status.
func (s *service) askLeader(ctx context.Context, leader string, m *apiv1.StatusRequest) (*apiv1.StatusResponse, error) {
	peer := s.peer(leader)
	if peer == nil {
		return nil, &Error{NoLeader, errors.New("no leader is known")}
	}
	ask := connect.NewRequest(m)
	ask.Header().Set(forwarded, s.cfg.ID)
	resp, err := peer.Status(ctx, ask)
	if err != nil {
		err = decode(err)
		return nil, &Error{CodeOf(err), fmt.Errorf("ask leader %q: %w", leader, err)}
	}
	return resp.Msg, nil
}

// Claims returns the leader's claim of every device.
func (c *Client) Claims(ctx context.Context) (out []Claim, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.Status(ctx, connect.NewRequest(&apiv1.StatusRequest{Claims: true}))
		if err != nil {
			return err
		}
		out = out[:0]
		for _, m := range r.Msg.Claims {
			x := Claim{Device: m.Device, State: m.State, Error: m.Error}
			if m.Desired != nil {
				x.Holds = &DeviceHolding{holdsOf(m.Desired), holdsOf(m.Accepted), holdsOf(m.Seen)}
			}
			out = append(out, x)
		}
		return nil
	})
	return out, err
}
