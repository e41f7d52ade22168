package server

import (
	"context"
	"errors"
	"fmt"

	"lightloom/controller"
	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/leader"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/live"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// host returns the host of that name.
func (p *replicaProcess) host(name string) (southbound.HostID, error) {
	f := p.fabric()
	t := f.Topology
	for h, n := range f.HostNode {
		if t.Node(n).Name == name {
			return southbound.HostID(h), nil
		}
	}
	return 0, &api.Error{Code: api.Invalid, Err: fmt.Errorf("no host is called %q: the first is %q, the last %q", name,
		t.Node(f.HostNode[0]).Name, t.Node(f.HostNode[f.Hosts()-1]).Name)}
}

func (p *replicaProcess) pair(h api.HostPair) (src, dst southbound.HostID, err error) {
	if src, err = p.host(h.Src); err != nil {
		return 0, 0, err
	}
	if dst, err = p.host(h.Dst); err != nil {
		return 0, 0, err
	}
	if src == dst {
		return 0, 0, &api.Error{Code: api.Invalid,
			Err: fmt.Errorf("%q and %q are one host: take two", h.Src, h.Dst)}
	}
	return src, dst, nil
}

// Bandwidths implements api.Pledger.
func (p *replicaProcess) Bandwidths(_ context.Context, pairs []api.HostPair) ([]api.Bandwidth, error) {
	m, err := p.paths()
	if err != nil {
		return nil, err
	}
	ask := make([]loop.Pair, len(pairs))
	for i, h := range pairs {
		if ask[i].Src, ask[i].Dst, err = p.pair(h); err != nil {
			return nil, err
		}
	}
	var got []loop.Bandwidth
	p.node.View(func(uint64) { got, err = loop.Bandwidths(p.state, m.paths, ask) })
	if err != nil {
		return nil, err
	}
	out := make([]api.Bandwidth, len(got))
	for i, b := range got {
		out[i] = api.Bandwidth{HostPair: pairs[i], Unreserved: b.Unreserved, Fair: b.Fair, Paths: b.Paths}
	}
	return out, nil
}

// Reserve implements api.Pledger.
func (p *replicaProcess) Reserve(ctx context.Context,
	w api.BandwidthRequest) (api.BandwidthReservation, error) {
	src, dst, err := p.pair(w.Pair)
	if err != nil {
		return api.BandwidthReservation{}, err
	}
	got, err := p.current.Leader().Reserve(ctx,
		loop.BandwidthRequest{Request: w.Request, Owner: w.Owner, Src: src,
			Dst:      dst,
			Rate:     w.Rate,
			Lifetime: w.Lifetime})
	if err := bandwidthError(ctx, err); err != nil {
		return api.BandwidthReservation{}, fmt.Errorf("reserve %v from %s to %s: %w", w.Rate,
			w.Pair.Src, w.Pair.Dst,
			err)
	}
	out := api.BandwidthReservation{ID: int64(got.ID), DSCP: uint32(got.Tag.DSCP(0))}
	if got.Until != southbound.Never {
		out.Until = got.Until
	}
	out.Path = p.fabric().Topology.NodeNames(got.Links)
	return out, nil
}

// Release implements api.Pledger.
func (p *replicaProcess) Release(ctx context.Context, id int64) error {
	return bandwidthError(ctx, p.current.Leader().Release(ctx, controller.BandwidthReservationID(id)))
}

// Reservations implements api.BandwidthReserver.
func (p *replicaProcess) Reservations(owner string, from int64,
	most int) (page []*apiv1.Reservation, next int64) {
	p.node.View(func(uint64) {
		page, next = reservations(p.fabric(), p.state.BandwidthReservations(), owner, from, most)
	})
	return page, next
}

// reservations is a page of all, which are by id.
func reservations(f *topo.Fabric, all []controller.BandwidthReservation, owner string, from int64,
	most int) (page []*apiv1.Reservation, next int64) {
	for i := range all {
		r := &all[i]
		switch {
		case int64(r.ID) < from || owner != "" && r.Owner != owner:
		case len(page) == most:
			return page, int64(r.ID)
		default:
			page = append(page, reservation(f, r))
		}
	}
	return page, 0
}

func reservation(f *topo.Fabric, r *controller.BandwidthReservation) *apiv1.Reservation {
	name := func(h southbound.HostID) string { return f.Topology.Node(f.HostNode[h]).Name }
	out := &apiv1.Reservation{Id: int64(r.ID), Owner: r.Owner, Rate: int64(r.Rate),
		Pair: &apiv1.HostPair{Src: name(r.Src), Dst: name(r.Dst)},
		Dscp: uint32(r.Tag.DSCP(0)), Path: f.Topology.NodeNames(r.Links)}
	if r.Until != southbound.Never {
		out.UntilNs = int64(r.Until)
	}
	return out
}

// bandwidthError gives an error of a leadership the form that the northbound knows.
func bandwidthError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, leader.ErrVacant):
		return fmt.Errorf("%w: %w", api.ErrNotLeader, err)
	case errors.Is(err, leader.ErrBusy):
		return fmt.Errorf("%w: %w", api.ErrBusy, err)
	case errors.Is(err, leader.ErrStopped), ctx.Err() != nil:
		return fmt.Errorf("%w: %w", api.ErrUncertain, errors.Join(err, ctx.Err()))
	case errors.Is(err, state.ErrNoRoom):
		return &api.Error{Code: api.NoRoom, Err: err}
	case errors.Is(err, loop.ErrNoBandwidthReservation):
		return &api.Error{Code: api.Invalid, Err: err}
	}
	return err
}

// routes are the paths of a fabric.
type routes struct {
	of    *topo.Fabric
	paths *pathmap.Map
	index *live.Paths
}

// paths returns the path map of the fabric, which every replica makes alike, and anew once its cables
// have changed.
func (p *replicaProcess) paths() (routes, error) {
	p.mapping.Lock()
	defer p.mapping.Unlock()
	if f := p.fabric(); f != p.routes.of {
		m, index, err := f.Indexed(p.config.Spec.PathsKept(), p.config.Seed)
		if err != nil {
			return routes{}, err
		}
		p.routes = routes{f, m, index}
	}
	return p.routes, nil
}
