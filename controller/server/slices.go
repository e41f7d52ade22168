package server

import (
	"context"
	"errors"
	"fmt"

	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/southbound"
)

// CreateSlice implements api.Slicer.
func (p *replicaProcess) CreateSlice(ctx context.Context, r api.SliceRequest) (out *apiv1.Slice, err error) {
	hosts, err := p.hostsNamed(r.Hosts)
	if err != nil {
		return nil, err
	}
	x, err := p.current.Leader().CreateSlice(ctx, loop.SliceRequest{Name: r.Name, Shape: r.Shape, Cubes: r.Cubes,
		Hosts: hosts, Owner: r.Owner, Request: r.Request})
	if err := sliceError(ctx, err); err != nil {
		return nil, err
	}
	p.node.View(func(uint64) { out = sliceOf(p.state, &x) })
	return out, nil
}

// hostsNamed returns the numbers of hosts; nil for none.
func (p *replicaProcess) hostsNamed(names []string) (out []int32, err error) {
	for _, name := range names {
		h, err := p.host(name)
		if err != nil {
			return nil, err
		}
		out = append(out, int32(h))
	}
	return out, nil
}

// DeleteSlice implements api.Slicer.
func (p *replicaProcess) DeleteSlice(ctx context.Context, name string) error {
	return sliceError(ctx, p.current.Leader().DeleteSlice(ctx, name))
}

// MakeRoom implements api.Slicer.
func (p *replicaProcess) MakeRoom(ctx context.Context, shape torus.Shape,
	do bool) (*apiv1.DefragmentSlicesResponse, error) {
	plan, err := p.current.Leader().MakeRoom(ctx, shape, do)
	if err := sliceError(ctx, err); err != nil {
		return nil, err
	}
	out := &apiv1.DefragmentSlicesResponse{}
	switch {
	case plan == nil:
		p.node.View(func(uint64) {
			asked := state.Slice{Slice: torus.Slice{Shape: shape, State: torus.Pending}}
			out.Message = "no moves make room; " + p.whySlice(&asked)
		})
		return out, nil
	case len(plan.Moves) == 0:
		out.Message = "there is room"
	}
	out.Fits, out.Nodes, out.Bound, out.Done = true, int32(plan.Nodes), int32(plan.Bound), do
	for _, m := range plan.Moves {
		w := &apiv1.SliceMove{Name: m.Name, Nodes: int32(m.From.Shape.Nodes())}
		for _, c := range m.From.Cubes() {
			w.From = append(w.From, int32(c))
		}
		for _, c := range m.To.Cubes() {
			w.To = append(w.To, int32(c))
		}
		out.Moves = append(out.Moves, w)
	}
	return out, nil
}

// sliceError gives an error of a leadership the form that the northbound knows.
func sliceError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, loop.ErrNoSlice):
		return &api.Error{Code: api.Unknown, Err: err}
	case errors.Is(err, loop.ErrSliceBusy):
		return fmt.Errorf("%w: %w", api.ErrBusy, err)
	case errors.Is(err, loop.ErrSliceShape), errors.Is(err, loop.ErrSliceTaken), errors.Is(err, state.ErrNoPod),
		errors.Is(err, state.ErrNoRings), errors.Is(err, state.ErrSliceName):
		return &api.Error{Code: api.Invalid, Err: err}
	}
	return bandwidthError(ctx, err)
}

// Slice implements api.Slicer.
func (p *replicaProcess) Slice(name string) (out *apiv1.Slice) {
	p.node.View(func(uint64) {
		x, ok := p.state.Slice(name)
		if !ok {
			return
		}
		out = sliceOf(p.state, &x)
		out.Message = p.whySlice(&x)
	})
	return out
}

// whySlice says why a slice is in its state. A replica that does not lead knows of no switches that are silent.
func (p *replicaProcess) whySlice(x *state.Slice) string {
	cubes, switches, known := p.current.Leader().Away()
	if !known {
		cubes = loop.AwayCubes(p.state, func(southbound.DeviceID) bool { return false })
	}
	return p.state.WhySlice(x, cubes, switches...)
}

// Slices implements api.Slicer.
func (p *replicaProcess) Slices(owner string, from, most int) (page []*apiv1.Slice, next int) {
	p.node.View(func(uint64) {
		all := p.state.Slices()
		for i := range all {
			switch {
			case i < from || owner != "" && all[i].Owner != owner:
			case len(page) == most:
				next = i
				return
			default:
				page = append(page, sliceOf(p.state, &all[i]))
			}
		}
	})
	return page, next
}

// SlicesVersion implements api.Slicer.
func (p *replicaProcess) SlicesVersion() (version uint64) {
	p.node.View(func(uint64) { version = p.state.SlicesVersion() })
	return version
}

func sliceOf(s *state.State, x *state.Slice) *apiv1.Slice {
	out := &apiv1.Slice{Name: x.Name, Owner: x.Owner, Shape: x.Shape.String(), State: string(x.State),
		Reason: string(x.Reason), Message: x.Why, Swaps: int32(x.Swaps), AskedNs: int64(x.Asked), SinceNs: int64(x.Since)}
	if x.Readied != state.Unset {
		out.ReadyNs = int64(x.Readied)
	}
	if x.Place != nil {
		for _, c := range x.Place.Cubes() {
			out.Cubes = append(out.Cubes, int32(c))
		}
	}
	if x.Shape.Racks > 0 {
		out.Cubes = append(out.Cubes, x.Ring...)
	}
	for _, h := range x.Hosts {
		out.Hosts = append(out.Hosts, s.Fabric().Topology.Node(s.Fabric().HostNode[h]).Name)
	}
	dark, all := s.SliceDark(x)
	out.Circuits, out.Dark = int32(all), int32(dark)
	if out.Message == "" && dark > 0 {
		out.Message = fmt.Sprintf("%d of %d circuits are dark", dark, all)
	}
	return out
}
