package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/pathmap"
)

// HostPair is two hosts, by the names that topologies have for them.
type HostPair struct {
	Src string `json:"src"`
	Dst string `json:"dst"`
}

// Bandwidth is what a fabric has to give between two hosts, on the best of the paths between them, in bits of layer 2 a
// second.
type Bandwidth struct {
	HostPair
	Unreserved pathmap.BitsPerSecond `json:"unreserved_bits_per_second"` // what could be reserved now
	Fair       pathmap.BitsPerSecond `json:"fair_bits_per_second"`       // what one connection more would have at least
	Paths      int                   `json:"paths"`                      // with light
}

// BandwidthRequest is a request of an outside scheduler for bandwidth, for traffic of its own.
type BandwidthRequest struct {
	Request  string // chosen by the caller, new for each request
	Owner    string
	Pair     HostPair
	Rate     pathmap.BitsPerSecond
	Lifetime time.Duration // 0: until it is released
}

// BandwidthReservation is a request that was granted.
type BandwidthReservation struct {
	ID    int64         `json:"id"`
	DSCP  uint32        `json:"dscp"`     // what the sender is to mark its packets with
	Path  []string      `json:"path"`     // nodes, both hosts included
	Until time.Duration `json:"until_ns"` // of the run; 0: until it is released
}

// ErrNoRoom is what a BandwidthReserver's error wraps where no path has that much left.
var ErrNoRoom = errors.New("no path has that much left")

// BandwidthReserver gives bandwidth to outside schedulers.
type BandwidthReserver interface {
	// Bandwidths answers for pairs of hosts, in order, leader or not.
	Bandwidths(ctx context.Context, pairs []HostPair) ([]Bandwidth, error)
	// Reserve returns once the bandwidth reservation is in the log; a known Request is answered as the first time. Errors
	// are as those of Submitter, or wrap ErrNoRoom.
	Reserve(ctx context.Context, w BandwidthRequest) (BandwidthReservation, error)
	// Release returns once the bandwidth reservation is over.
	Release(ctx context.Context, id int64) error
	// Reservations returns those that stand, by id, of an owner or with "" of all, and the id from which on there may be
	// more; 0: there are none. It answers leader or not.
	Reservations(owner string, from int64, most int) (page []*apiv1.Reservation, next int64)
}

// Limits of one question and request.
const (
	MaxPairs    = 1 << 14
	maxLifetime = 365 * 24 * time.Hour
)

var errNoBandwidthReserver = &Error{Missing, errors.New("this controller gives no bandwidth to others")}

// Bandwidth has the leader answer, who knows of every reservation first, and without one answers from what this replica
// knows.
func (s *service) Bandwidth(ctx context.Context,
	r *connect.Request[apiv1.BandwidthRequest]) (*connect.Response[apiv1.BandwidthResponse], error) {
	pairs := make([]HostPair, 0, len(r.Msg.Pairs))
	switch {
	case s.cfg.BandwidthReserver == nil:
		return nil, encode(errNoBandwidthReserver)
	case len(r.Msg.Pairs) == 0 || len(r.Msg.Pairs) > MaxPairs:
		return nil, encode(&Error{Invalid, fmt.Errorf("tell bandwidth: %d pairs: ask for 1 to %d at once", len(r.Msg.Pairs),
			MaxPairs)})
	}
	if id, _, _ := s.cfg.Finder.Leader(); id != s.cfg.ID && s.peer(id) != nil &&
		r.Header().Get(forwarded) == "" {
		if got, err := toLeader(s, ctx, r.Msg, apiv1connect.ControllerClient.Bandwidth); err == nil ||
			ctx.Err() != nil {
			return got, err
		}
	}
	for _, p := range r.Msg.Pairs {
		pairs = append(pairs, HostPair{p.GetSrc(), p.GetDst()})
	}
	at, err := s.wait(ctx, r.Msg.Read, r.Header().Get(forwarded) != "")
	if err != nil {
		return nil, encode(err)
	}
	all, err := s.cfg.BandwidthReserver.Bandwidths(ctx, pairs)
	if err != nil {
		return nil, encode(err)
	}
	out := &apiv1.BandwidthResponse{Read: at}
	for _, b := range all {
		out.Pairs = append(out.Pairs, &apiv1.Bandwidth{Unreserved: int64(b.Unreserved), Fair: int64(b.Fair),
			Paths: int32(b.Paths)})
	}
	return connect.NewResponse(out), nil
}

// Reserve grants a request here if this replica leads, and forwards it to the leader otherwise.
func (s *service) Reserve(ctx context.Context,
	r *connect.Request[apiv1.ReserveRequest]) (*connect.Response[apiv1.ReserveResponse], error) {
	w, err := requestFromWire(r.Msg)
	if err == nil {
		err = s.checkAge(w.Request)
	}
	if err != nil {
		return nil, encode(&Error{Invalid, fmt.Errorf("reserve bandwidth: %w", err)})
	}
	if s.cfg.BandwidthReserver == nil {
		return nil, encode(errNoBandwidthReserver)
	}
	p, err := s.cfg.BandwidthReserver.Reserve(ctx, w)
	if errors.Is(err, ErrNotLeader) && r.Header().Get(forwarded) == "" {
		return toLeader(s, ctx, r.Msg, apiv1connect.ControllerClient.Reserve)
	}
	if err != nil {
		return nil, encode(err)
	}
	out := &apiv1.ReserveResponse{Id: p.ID, Dscp: p.DSCP, Path: p.Path, UntilNs: int64(p.Until),
		Index: s.applied()}
	if p.Until > 0 {
		out.Until = s.wall(p.Until)
	}
	return connect.NewResponse(out), nil
}

func requestFromWire(m *apiv1.ReserveRequest) (BandwidthRequest, error) {
	w := BandwidthRequest{Request: m.RequestId, Owner: m.Owner,
		Pair: HostPair{m.GetPair().GetSrc(), m.GetPair().GetDst()},
		Rate: pathmap.BitsPerSecond(m.Rate), Lifetime: time.Duration(m.LifetimeNs)}
	switch {
	case w.Request == "" || len(w.Request) > MaxRequestSize:
		return w, fmt.Errorf("request id of %d bytes: choose one of 1 to %d that is new for each reservation", len(w.Request),
			MaxRequestSize)
	case len(w.Owner) > maxName:
		return w, fmt.Errorf("owner above %d bytes", maxName)
	case w.Rate <= 0:
		return w, fmt.Errorf("%d bit/s: take a rate above zero", w.Rate)
	case w.Lifetime < 0 || w.Lifetime > maxLifetime:
		return w, fmt.Errorf("for %v: take 0 (until it is released) to %v", w.Lifetime, maxLifetime)
	}
	return w, nil
}

// Release gives back here if this replica leads, and forwards to the leader otherwise.
func (s *service) Release(ctx context.Context,
	r *connect.Request[apiv1.ReleaseRequest]) (*connect.Response[apiv1.ReleaseResponse], error) {
	switch {
	case s.cfg.BandwidthReserver == nil:
		return nil, encode(errNoBandwidthReserver)
	case r.Msg.Id <= 0:
		return nil, encode(&Error{Invalid, fmt.Errorf("release reservation %d: ids are above zero", r.Msg.Id)})
	}
	err := s.cfg.BandwidthReserver.Release(ctx, r.Msg.Id)
	if errors.Is(err, ErrNotLeader) && r.Header().Get(forwarded) == "" {
		return toLeader(s, ctx, r.Msg, apiv1connect.ControllerClient.Release)
	}
	if err != nil {
		return nil, encode(err)
	}
	return connect.NewResponse(&apiv1.ReleaseResponse{Index: s.applied()}), nil
}

// toLeader hands a call to the leader as this replica knows it.
func toLeader[Q, A any](s *service, ctx context.Context, m *Q,
	call func(apiv1connect.ControllerClient, context.Context, *connect.Request[Q]) (*connect.Response[A],
		error)) (*connect.Response[A], error) {
	id, _, _ := s.cfg.Finder.Leader()
	to := s.peer(id)
	if to == nil { // unknown, or it was this replica a moment ago
		return nil, encode(&Error{NoLeader, errors.New("no leader is known")})
	}
	out := connect.NewRequest(m)
	out.Header().Set(forwarded, s.cfg.ID)
	resp, err := call(to, ctx, out)
	if err != nil {
		return nil, encode(fromLeader(id, err))
	}
	return connect.NewResponse(resp.Msg), nil
}

// Bandwidths returns the bandwidth available between pairs of hosts.
func (c *Client) Bandwidths(ctx context.Context, pairs []HostPair) ([]Bandwidth, error) {
	m := &apiv1.BandwidthRequest{}
	for _, p := range pairs {
		m.Pairs = append(m.Pairs, &apiv1.HostPair{Src: p.Src, Dst: p.Dst})
	}
	var out []Bandwidth
	err := c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.Bandwidth(ctx, connect.NewRequest(m))
		if err != nil {
			return err
		}
		if len(r.Msg.Pairs) != len(pairs) {
			return fmt.Errorf("tell bandwidth: %d answers came back for %d pairs", len(r.Msg.Pairs), len(pairs))
		}
		out = out[:0]
		for i, b := range r.Msg.Pairs {
			out = append(out, Bandwidth{pairs[i], pathmap.BitsPerSecond(b.Unreserved),
				pathmap.BitsPerSecond(b.Fair),
				int(b.Paths)})
		}
		return nil
	})
	return out, err
}

// Reserve requests bandwidth, across elections as Submit does.
func (c *Client) Reserve(ctx context.Context, w BandwidthRequest) (p BandwidthReservation, err error) {
	m := &apiv1.ReserveRequest{RequestId: w.Request, Owner: w.Owner,
		Pair: &apiv1.HostPair{Src: w.Pair.Src, Dst: w.Pair.Dst},
		Rate: int64(w.Rate), LifetimeNs: int64(w.Lifetime)}
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.Reserve(ctx, connect.NewRequest(m))
		if err != nil {
			return err
		}
		c.wrote(r.Msg.Index)
		p = BandwidthReservation{ID: r.Msg.Id, DSCP: r.Msg.Dscp, Path: r.Msg.Path,
			Until: time.Duration(r.Msg.UntilNs)}
		return nil
	})
	return p, err
}

// Release gives bandwidth back.
func (c *Client) Release(ctx context.Context, id int64) error {
	return c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.Release(ctx, connect.NewRequest(&apiv1.ReleaseRequest{Id: id}))
		if err == nil {
			c.wrote(r.Msg.Index)
		}
		return err
	})
}
