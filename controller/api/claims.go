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

// Claim is the state of the leader's claim of a device. Nothing is written to an unclaimed device.
type Claim struct {
	Device string
	State  string // unclaimed, fenced or unfenced
	Error  string // why it is not fenced; "": no error, or not known yet
	Holds  *DeviceHolding
	// Refused is why it refused the last change that it was sent; "": it took that one, or was sent none.
	Refused string
}

// Agent is how an agent of hosts is.
type Agent struct {
	Address string
	Hosts   []string // that it serves
	Lost    bool     // its hosts count as failed
	Error   string   // why it is lost, or what it did not do of what it was last asked; "": it does all
}

// Silent is tasks of a job without a sign of life: they were to end long ago.
type Silent struct {
	Job     controller.JobID
	Name    string
	Tasks   int
	Longest time.Duration // that one of them has run
	Host    string        // where
}

// Health is what the leader tells of all that it works with.
type Health struct {
	Claims []Claim
	Agents []Agent
	Silent []Silent
}

// DeviceHolding is what a device was asked for, has accepted, and reported last.
type DeviceHolding struct{ Desired, Accepted, Seen DeviceHolds }

// DeviceHolds is how much a device holds.
type DeviceHolds struct{ Rules, Circuits int }

func (h DeviceHolds) proto() *apiv1.DeviceHolds {
	return &apiv1.DeviceHolds{Rules: int32(h.Rules), Circuits: int32(h.Circuits)}
}

func holdsOf(m *apiv1.DeviceHolds) DeviceHolds {
	return DeviceHolds{int(m.GetRules()), int(m.GetCircuits())}
}

// health adds what the leader tells of devices, agents and tasks: it is asked, unless this replica
// leads or has been asked by another.
func (s *service) health(ctx context.Context, leader string, asked bool, out *apiv1.StatusResponse) error {
	if leader == s.cfg.ID || asked {
		s.ownHealth(out)
		return nil
	}
	resp, err := s.askLeader(ctx, leader, &apiv1.StatusRequest{Claims: true})
	if err != nil {
		return fmt.Errorf("read claims: %w", err)
	}
	out.Claims, out.Agents, out.Silent = resp.Claims, resp.Agents, resp.Silent
	return nil
}

func (s *service) ownHealth(out *apiv1.StatusResponse) {
	if s.cfg.Claims != nil {
		for _, c := range s.cfg.Claims() {
			m := &apiv1.DeviceClaim{Device: c.Device, State: c.State, Error: c.Error, Refused: c.Refused}
			if c.Holds != nil {
				m.Desired, m.Accepted, m.Seen = c.Holds.Desired.proto(), c.Holds.Accepted.proto(), c.Holds.Seen.proto()
			}
			out.Claims = append(out.Claims, m)
		}
	}
	if s.cfg.Agents != nil {
		for _, a := range s.cfg.Agents() {
			out.Agents = append(out.Agents, &apiv1.AgentState{Address: a.Address, Hosts: a.Hosts,
				Lost: a.Lost, Error: a.Error})
		}
	}
	if s.cfg.Silent != nil {
		for _, x := range s.cfg.Silent() {
			out.Silent = append(out.Silent, &apiv1.SilentTasks{JobId: int32(x.Job), Name: x.Name,
				Tasks:     int32(x.Tasks),
				LongestNs: int64(x.Longest), Host: x.Host})
		}
	}
}

// askLeader calls another replica, which leads, for its status.
func (s *service) askLeader(ctx context.Context, leader string,
	m *apiv1.StatusRequest) (*apiv1.StatusResponse, error) {
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
func (c *Client) Claims(ctx context.Context) ([]Claim, error) {
	h, err := c.Health(ctx)
	return h.Claims, err
}

// Health returns what the leader tells of devices, agents and tasks.
func (c *Client) Health(ctx context.Context) (out Health, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.Status(ctx, connect.NewRequest(&apiv1.StatusRequest{Claims: true}))
		if err == nil {
			out = healthOf(r.Msg)
		}
		return err
	})
	return out, err
}

func healthOf(m *apiv1.StatusResponse) (out Health) {
	for _, m := range m.Claims {
		x := Claim{Device: m.Device, State: m.State, Error: m.Error, Refused: m.Refused}
		if m.Desired != nil {
			x.Holds = &DeviceHolding{holdsOf(m.Desired), holdsOf(m.Accepted), holdsOf(m.Seen)}
		}
		out.Claims = append(out.Claims, x)
	}
	for _, a := range m.Agents {
		out.Agents = append(out.Agents, Agent{Address: a.Address, Hosts: a.Hosts, Lost: a.Lost, Error: a.Error})
	}
	for _, x := range m.Silent {
		out.Silent = append(out.Silent, Silent{Job: controller.JobID(x.JobId), Name: x.Name, Tasks: int(x.Tasks),
			Longest: time.Duration(x.LongestNs), Host: x.Host})
	}
	return out
}
