package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"connectrpc.com/connect"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/controller/torus"
)

// SliceRequest asks for a slice of a pod.
type SliceRequest struct {
	Request string // chosen by the caller, new for each slice
	Name    string
	Shape   torus.Shape
	Cubes   []int // where to place it; nil for wherever there is room
	Owner   string
	Hosts   []string // in place of cubes, of a fabric that is no pod: join their racks, without a shape to a ring
}

// Slicer gives slices of a pod.
type Slicer interface {
	// CreateSlice returns the slice once it is in the log; a known Request is answered as the first time. Errors are as
	// those of Submitter.
	CreateSlice(ctx context.Context, r SliceRequest) (*apiv1.Slice, error)
	// DeleteSlice returns once the slice has ended in the log.
	DeleteSlice(ctx context.Context, name string) error
	// MakeRoom says which slices would have to move so that a shape fits, and moves them where do is set, in the log.
	MakeRoom(ctx context.Context, shape torus.Shape, do bool) (*apiv1.DefragmentSlicesResponse, error)
	// Slice returns a slice, with all that this replica can say of why it is so; nil if there is none. Which cubes are
	// silent the leader alone knows.
	Slice(name string) *apiv1.Slice
	// Slices returns those of an owner or with "" of all, from a place on, and the place from which on there may be more;
	// 0: there are none.
	Slices(owner string, from, most int) (page []*apiv1.Slice, next int)
	// SlicesVersion is another one once a slice has changed.
	SlicesVersion() uint64
}

var errNoSlicer = &Error{Missing, errors.New("this controller gives no slices")}

// mostCubes bounds the cubes that a request names.
const mostCubes = 1 << 10

// mostHosts bounds the hosts that a request names.
const mostHosts = 1 << 14

// CreateSlice asks for a slice here if this replica leads, and forwards to the leader otherwise.
func (s *service) CreateSlice(ctx context.Context,
	r *connect.Request[apiv1.CreateSliceRequest]) (*connect.Response[apiv1.CreateSliceResponse], error) {
	w, err := sliceFromWire(r.Msg)
	if err == nil {
		err = s.checkAge(w.Request)
	}
	if err != nil {
		return nil, encode(&Error{Invalid, fmt.Errorf("create slice: %w", err)})
	}
	if s.cfg.Slicer == nil {
		return nil, encode(errNoSlicer)
	}
	got, err := s.cfg.Slicer.CreateSlice(ctx, w)
	if errors.Is(err, ErrNotLeader) && r.Header().Get(forwarded) == "" {
		return toLeader(s, ctx, r.Msg, apiv1connect.ControllerClient.CreateSlice)
	}
	if err != nil {
		return nil, encode(err)
	}
	return connect.NewResponse(&apiv1.CreateSliceResponse{Slice: s.dated(got), Index: s.applied()}), nil
}

func sliceFromWire(m *apiv1.CreateSliceRequest) (w SliceRequest, err error) {
	w = SliceRequest{Request: m.RequestId, Name: m.Name, Owner: m.Owner}
	switch {
	case w.Request == "" || len(w.Request) > MaxRequestSize:
		return w, fmt.Errorf("request id of %d bytes: choose one of 1 to %d that is new for each slice", len(w.Request),
			MaxRequestSize)
	case len(w.Name) > maxName || len(w.Owner) > maxName:
		return w, fmt.Errorf("a name or owner above %d bytes", maxName)
	case len(m.Shape) > maxName:
		return w, fmt.Errorf("a shape of %d bytes: write it as 4x4x8", len(m.Shape))
	case len(m.Cubes) > mostCubes:
		return w, fmt.Errorf("%d cubes: name at most %d", len(m.Cubes), mostCubes)
	}
	for _, c := range m.Cubes {
		w.Cubes = append(w.Cubes, int(c))
	}
	if w.Hosts = m.Hosts; len(m.Hosts) == 0 || m.Shape != "" {
		if w.Shape, err = torus.ParseShape(m.Shape); err != nil {
			return w, err
		}
	}
	return w, hostsOfSlice(m, w.Shape)
}

// hostsOfSlice returns what is wrong with the hosts of a request, or nil.
func hostsOfSlice(m *apiv1.CreateSliceRequest, shape torus.Shape) error {
	if len(m.Hosts) > 0 && (m.Shape != "" && shape.Racks == 0 || len(m.Cubes) > 0) {
		return errors.New("it names hosts, and sides or cubes: name hosts alone, or with a shape such as racks=4,circuits=2")
	}
	if len(m.Hosts) > mostHosts || slices.ContainsFunc(m.Hosts, func(h string) bool { return len(h) > maxName }) {
		return fmt.Errorf("%d hosts: name at most %d, each by at most %d bytes", len(m.Hosts), mostHosts, maxName)
	}
	return nil
}

// dated adds times of the day.
func (s *service) dated(x *apiv1.Slice) *apiv1.Slice {
	x.Asked, x.Since = s.wall(time.Duration(x.AskedNs)), s.wall(time.Duration(x.SinceNs))
	if x.ReadyNs > 0 {
		x.Ready = s.wall(time.Duration(x.ReadyNs))
	}
	return x
}

// DeleteSlice ends a slice here if this replica leads, and forwards to the leader otherwise.
func (s *service) DeleteSlice(ctx context.Context,
	r *connect.Request[apiv1.DeleteSliceRequest]) (*connect.Response[apiv1.DeleteSliceResponse], error) {
	if s.cfg.Slicer == nil {
		return nil, encode(errNoSlicer)
	}
	err := s.cfg.Slicer.DeleteSlice(ctx, r.Msg.Name)
	if errors.Is(err, ErrNotLeader) && r.Header().Get(forwarded) == "" {
		return toLeader(s, ctx, r.Msg, apiv1connect.ControllerClient.DeleteSlice)
	}
	if err != nil {
		return nil, encode(err)
	}
	return connect.NewResponse(&apiv1.DeleteSliceResponse{Index: s.applied()}), nil
}

// DefragmentSlices moves slices here if this replica leads, and forwards to the leader otherwise.
func (s *service) DefragmentSlices(ctx context.Context,
	r *connect.Request[apiv1.DefragmentSlicesRequest]) (*connect.Response[apiv1.DefragmentSlicesResponse], error) {
	if s.cfg.Slicer == nil {
		return nil, encode(errNoSlicer)
	}
	if len(r.Msg.Shape) > maxName {
		return nil, encode(&Error{Invalid, fmt.Errorf("defragment slices: a shape of %d bytes: write it as 4x4x8",
			len(r.Msg.Shape))})
	}
	shape, err := torus.ParseShape(r.Msg.Shape)
	if err != nil {
		return nil, encode(&Error{Invalid, fmt.Errorf("defragment slices: %w", err)})
	}
	out, err := s.cfg.Slicer.MakeRoom(ctx, shape, r.Msg.Apply)
	if errors.Is(err, ErrNotLeader) && r.Header().Get(forwarded) == "" {
		return toLeader(s, ctx, r.Msg, apiv1connect.ControllerClient.DefragmentSlices)
	}
	if err != nil {
		return nil, encode(err)
	}
	out.Index = s.applied()
	return connect.NewResponse(out), nil
}

// GetSlice returns a slice as this replica has it. Why one waits the leader says, as long as it answers.
func (s *service) GetSlice(ctx context.Context,
	r *connect.Request[apiv1.GetSliceRequest]) (*connect.Response[apiv1.GetSliceResponse], error) {
	at, owner, err := s.readSlices(ctx, r.Msg.Read, r.Header().Get(forwarded) != "")
	if err != nil {
		return nil, encode(fmt.Errorf("get slice: %w", err))
	}
	x := s.cfg.Slicer.Slice(r.Msg.Name)
	if x == nil || owner != "" && x.Owner != owner {
		return nil, encode(&Error{Unknown, fmt.Errorf("no slice is called %q", r.Msg.Name)})
	}
	if x.State == string(torus.Pending) && r.Header().Get(forwarded) == "" && !s.leads() {
		soon, cancel := context.WithTimeout(ctx, explains)
		defer cancel()
		if got, err := toLeader(s, soon, r.Msg, apiv1connect.ControllerClient.GetSlice); err == nil {
			return got, nil
		}
	}
	return connect.NewResponse(&apiv1.GetSliceResponse{Slice: s.dated(x), Read: at}), nil
}

// explains is how long the leader has to say why a slice waits, before this replica says what it knows itself.
const explains = time.Second

// leads reports whether this replica leads.
func (s *service) leads() bool {
	id, _, _ := s.cfg.Finder.Leader()
	return id == s.cfg.ID
}

// readSlices waits until this replica can answer, and returns whose slices the caller may read; "" for all.
func (s *service) readSlices(ctx context.Context, r *apiv1.Read,
	asked bool) (at *apiv1.ReadAt, owner string, err error) {
	if s.cfg.Slicer == nil {
		return nil, "", errNoSlicer
	}
	if at, err = s.wait(ctx, r, asked); err != nil {
		return nil, "", err
	}
	owner, err = s.reads(ctx)
	return at, owner, err
}

// ListSlices returns a page of the slices as this replica has them.
func (s *service) ListSlices(ctx context.Context,
	r *connect.Request[apiv1.ListSlicesRequest]) (*connect.Response[apiv1.ListSlicesResponse], error) {
	from, most, err := reservationPage(&apiv1.ListReservationsRequest{PageSize: r.Msg.PageSize,
		PageToken: r.Msg.PageToken})
	if err != nil {
		return nil, encode(fmt.Errorf("list slices: %w", err))
	}
	at, owner, err := s.readSlices(ctx, r.Msg.Read, r.Header().Get(forwarded) != "")
	if err != nil {
		return nil, encode(fmt.Errorf("list slices: %w", err))
	}
	out := &apiv1.ListSlicesResponse{Read: at}
	page, next := s.cfg.Slicer.Slices(owner, int(from), most)
	if next > 0 {
		out.NextPageToken = strconv.Itoa(next)
	}
	for _, x := range page {
		out.Slices = append(out.Slices, s.dated(x))
	}
	return connect.NewResponse(out), nil
}

// WatchSlices sends all slices that the caller may read, and again whenever one has changed.
func (s *service) WatchSlices(ctx context.Context, _ *connect.Request[apiv1.WatchSlicesRequest],
	to *connect.ServerStream[apiv1.SlicesChanged]) error {
	switch {
	case s.cfg.Slicer == nil:
		return encode(errNoSlicer)
	case s.cfg.Indexer == nil:
		return encode(errNoReads)
	}
	who, may := callerOf(ctx), rules()[apiv1connect.ControllerWatchSlicesProcedure].may
	told, begun := uint64(0), false
	for {
		owner, err := s.reads(ctx)
		if err != nil || !slices.Contains(may, s.access(who)) {
			return encode(fmt.Errorf("watch slices: %w", errTakenBack))
		}
		index := s.applied()
		if version := s.cfg.Slicer.SlicesVersion(); !begun || version != told {
			told, begun = version, true
			out := &apiv1.SlicesChanged{Index: index}
			all, _ := s.cfg.Slicer.Slices(owner, 0, 1<<20)
			for _, x := range all {
				out.Slices = append(out.Slices, s.dated(x))
			}
			if err := to.Send(out); err != nil {
				return err
			}
		}
		if err := errors.Join(s.cfg.Indexer.WaitApplied(ctx, index+1), ctx.Err()); err != nil {
			return encode(fmt.Errorf("watch slices: %w", err))
		}
	}
}

// CreateSlice asks for a slice, across elections as Submit does.
func (c *Client) CreateSlice(ctx context.Context, w SliceRequest) (out *apiv1.Slice, err error) {
	m := &apiv1.CreateSliceRequest{RequestId: w.Request, Name: w.Name, Owner: w.Owner, Hosts: w.Hosts}
	if len(w.Hosts) == 0 || w.Shape.Racks > 0 {
		m.Shape = w.Shape.String()
	}
	for _, cube := range w.Cubes {
		m.Cubes = append(m.Cubes, int32(cube))
	}
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.CreateSlice(ctx, connect.NewRequest(m))
		if err == nil {
			out = r.Msg.Slice
			c.wrote(r.Msg.Index)
		}
		return err
	})
	return out, err
}

// DeleteSlice ends a slice.
func (c *Client) DeleteSlice(ctx context.Context, name string) error {
	return c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.DeleteSlice(ctx, connect.NewRequest(&apiv1.DeleteSliceRequest{Name: name}))
		if err == nil {
			c.wrote(r.Msg.Index)
		}
		return err
	})
}

// DefragmentSlices says which slices would have to move so that a shape fits, and with apply moves them.
func (c *Client) DefragmentSlices(ctx context.Context, shape torus.Shape,
	apply bool) (out *apiv1.DefragmentSlicesResponse, err error) {
	m := &apiv1.DefragmentSlicesRequest{Shape: shape.String(), Apply: apply}
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		r, err := to.DefragmentSlices(ctx, connect.NewRequest(m))
		if err == nil {
			out = r.Msg
			c.wrote(r.Msg.Index)
		}
		return err
	})
	return out, err
}

// Slice reads a slice of any replica.
func (c *Client) Slice(ctx context.Context, name string, r Read) (out *apiv1.Slice, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		resp, err := to.GetSlice(ctx, connect.NewRequest(&apiv1.GetSliceRequest{Name: name, Read: r.proto()}))
		if err == nil {
			out = resp.Msg.Slice
		}
		return err
	})
	return out, err
}

// Slices returns all slices that the caller may read.
func (c *Client) Slices(ctx context.Context, r Read) (out []*apiv1.Slice, err error) {
	q := &apiv1.ListSlicesRequest{PageSize: MaxPage, Read: r.proto()}
	for {
		var page *apiv1.ListSlicesResponse
		err := c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
			resp, err := to.ListSlices(ctx, connect.NewRequest(q))
			if err == nil {
				page = resp.Msg
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		out = append(out, page.Slices...)
		if q.PageToken = page.NextPageToken; q.PageToken == "" {
			return out, nil
		}
	}
}

// WatchSlices calls sink with all slices, and again whenever one has changed, until ctx ends (nil), sink fails or no
// replica can be reached for as long as the client's patience.
func (c *Client) WatchSlices(ctx context.Context, sink func(*apiv1.SlicesChanged) error) error {
	return c.follow(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) (moved bool, err error) {
		in, err := to.WatchSlices(ctx, connect.NewRequest(&apiv1.WatchSlicesRequest{}))
		if err != nil {
			return false, err
		}
		defer in.Close()
		for in.Receive() {
			if err := sink(in.Msg()); err != nil {
				return moved, sinkError{err}
			}
			moved = true
		}
		return moved, in.Err()
	})
}

// ownSlices has tenants create and delete slices of their own alone.
type ownSlices struct {
	owning
	Slicer
}

// CreateSlice implements Slicer.
func (o ownSlices) CreateSlice(ctx context.Context, w SliceRequest) (*apiv1.Slice, error) {
	name, tenant := o.tenant(ctx)
	if tenant {
		var err error
		if w.Owner, err = own(name, w.Owner); err != nil {
			return nil, err
		}
	}
	got, err := o.Slicer.CreateSlice(ctx, w)
	if err == nil && tenant && got.Owner != name {
		return nil, &Error{Denied, fmt.Errorf("slice %q is not of %q", w.Name, name)}
	}
	return got, err
}

// DeleteSlice implements Slicer.
func (o ownSlices) DeleteSlice(ctx context.Context, slice string) error {
	if name, tenant := o.tenant(ctx); tenant {
		x := o.Slicer.Slice(slice)
		switch leader, _, _ := o.cfg.Finder.Leader(); {
		case x != nil && x.Owner == name:
		case x == nil && leader != o.cfg.ID: // that one knows
			return fmt.Errorf("slice %q: %w", slice, ErrNotLeader)
		default:
			return &Error{Denied, fmt.Errorf("no slice %q of %q is known", slice, name)}
		}
	}
	return o.Slicer.DeleteSlice(ctx, slice)
}
