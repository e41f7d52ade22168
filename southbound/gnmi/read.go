package gnmi

import (
	"context"
	"errors"
	"fmt"
	"io"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// Read implements southbound.Device.
func (s *Session) Read(ctx context.Context) (southbound.Seen, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	done := s.rules.reading()
	leaves, err := s.get(ctx, s.cfg.Profile.StatePaths(), gpb.GetRequest_ALL)
	if err != nil {
		return southbound.Seen{}, fmt.Errorf("read device %q: %w", s.cfg.Name, explain(err))
	}
	done()
	seen, err := s.cfg.Profile.Seen(leaves)
	if err != nil {
		return southbound.Seen{}, fmt.Errorf("read device %q: %w", s.cfg.Name, err)
	}
	s.compare(seen)
	if err := s.findMisplaced(leaves); err != nil {
		return southbound.Seen{}, fmt.Errorf("read device %q: %w", s.cfg.Name, err)
	}
	return seen, nil
}

// get reads paths in one request, or in one for each database. Devices answer NOT_FOUND for a path that
// holds nothing: then get requests each path alone, and a path that is not found is empty.
func (s *Session) get(ctx context.Context, paths []schema.Path,
	what gpb.GetRequest_DataType) ([]schema.Leaf, error) {
	var out []schema.Leaf
	for _, part := range s.databases(paths) {
		leaves, err := s.getPart(ctx, part, what)
		if err != nil {
			return nil, err
		}
		out = both(out, leaves)
	}
	return out, nil
}

// both returns the leaves of two answers, of which there is one mostly: tables are large.
func both(a, b []schema.Leaf) []schema.Leaf {
	if len(a) == 0 {
		return b
	}
	return append(a, b...)
}

func (s *Session) getPart(ctx context.Context, paths []schema.Path,
	what gpb.GetRequest_DataType) ([]schema.Leaf,
	error) {
	out, err := s.getOnce(ctx, paths, what)
	if status.Code(err) != codes.NotFound {
		return out, err
	}
	for _, p := range paths {
		leaves, err := s.getOnce(ctx, []schema.Path{p}, what)
		if err != nil && status.Code(err) != codes.NotFound {
			return nil, err
		}
		out = append(out, leaves...)
	}
	return out, nil
}

func (s *Session) getOnce(ctx context.Context, paths []schema.Path,
	what gpb.GetRequest_DataType) ([]schema.Leaf,
	error) {
	req := &gpb.GetRequest{Type: what, Encoding: gpb.Encoding_JSON_IETF}
	for _, p := range paths {
		req.Path = append(req.Path, s.model.Proto(p))
	}
	resp, err := s.client.Get(ctx, req)
	if status.Code(err) == codes.Unimplemented {
		return s.once(ctx, paths)
	}
	if err != nil {
		return nil, err
	}
	if proto.Size(resp) > largeAnswer {
		end, err := s.takeTurn(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
	}
	var out []schema.Leaf
	for _, n := range resp.GetNotification() {
		s.rules.look(n)
		_, leaves, err := decodeNotification(s.model, n)
		if err != nil {
			return nil, err
		}
		out = both(out, leaves)
	}
	return out, nil
}

// largeAnswer is from how many bytes on an answer is read in turn with those to other sessions.
const largeAnswer = 32 << 10

// once reads paths with a subscription, for devices that implement no Get. It takes one snapshot: ctx
// bounds it.
func (s *Session) once(ctx context.Context, paths []schema.Path) ([]schema.Leaf, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.client.Subscribe(ctx)
	if err != nil {
		return nil, err
	}
	list := &gpb.SubscriptionList{Mode: gpb.SubscriptionList_ONCE, Encoding: gpb.Encoding_PROTO}
	for _, p := range paths {
		list.Subscription = append(list.Subscription, &gpb.Subscription{Path: s.model.Proto(p)})
	}
	req := &gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: list}}
	if err := stream.Send(req); err != nil && !errors.Is(err, io.EOF) {
		return nil, err // at EOF, Recv says why
	}
	var out []schema.Leaf
	for {
		resp, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF): // what is missing would be taken for absent
			return nil, errors.New("the subscription ended before sync_response")
		case err != nil:
			return nil, err
		case resp.GetSyncResponse():
			return out, nil
		}
		s.rules.look(resp.GetUpdate())
		_, leaves, err := decodeNotification(s.model, resp.GetUpdate())
		if err != nil {
			return nil, err
		}
		if out = append(out, leaves...); len(out) > maxLeaves {
			return nil, fmt.Errorf("the device sends more than %d leaves", maxLeaves)
		}
	}
}

// maxLeaves bounds what a device can make a read hold.
const maxLeaves = 1 << 20

// decodeNotification turns a notification into what is gone and what is new.
func decodeNotification(m *schema.Model, n *gpb.Notification) (gone []schema.Path,
	leaves []schema.Leaf, err error) {
	for _, d := range n.GetDelete() {
		p, err := m.FromProto(n.GetPrefix(), d)
		if err != nil {
			return nil, nil, err
		}
		gone = append(gone, p)
	}
	for _, u := range n.GetUpdate() {
		p, err := m.FromProto(n.GetPrefix(), u.GetPath())
		if err != nil {
			return nil, nil, err
		}
		ls, err := m.DecodeKnown(p, u.GetVal())
		if err != nil {
			return nil, nil, err
		}
		leaves = both(leaves, ls)
	}
	return gone, leaves, nil
}
