package gnmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// Watch implements southbound.Device: it follows the device's ON_CHANGE stream. When the stream breaks,
// sink gets Lost and Watch returns why; to go on, a caller calls it again, which starts with the full
// state.
func (s *Session) Watch(ctx context.Context, sink func(southbound.DeviceEvent)) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream, whatever way Watch returns
	err := s.follow(inner, sink)
	if ctx.Err() != nil {
		return nil
	}
	s.distrust()
	sink(southbound.DeviceEvent{Device: s.cfg.Device, Kind: southbound.Lost, In: southbound.NoPort,
		Out: southbound.NoPort})
	return fmt.Errorf("watch device %q: %w", s.cfg.Name, explain(err))
}

// follow returns why the stream ended; never nil.
func (s *Session) follow(ctx context.Context, sink func(southbound.DeviceEvent)) error {
	paths := s.cfg.Profile.WatchPaths()
	parts := s.databases(paths)
	if s.tables() && len(parts) == 1 {
		return s.followDatabases(ctx, parts, sink)
	}
	err := s.followAll(ctx, paths, sink)
	// One stream has the order of what happened, so it comes first; some servers refuse it (see databases.go).
	if s.tables() && (status.Code(err) == codes.Unimplemented || absent(err)) {
		return s.followDatabases(ctx, parts, sink)
	}
	return err
}

// followAll follows one stream of all paths. It returns why the stream ended; never nil.
func (s *Session) followAll(ctx context.Context, paths []schema.Path,
	sink func(southbound.DeviceEvent)) error {
	stream, err := s.client.Subscribe(ctx)
	if err != nil {
		return err
	}
	if err := stream.Send(s.subscription(paths)); err != nil && !errors.Is(err, io.EOF) {
		return err // at EOF, Recv says why
	}
	decoder := s.cfg.Profile.NewDecoder()
	synced := false
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return errEnded
		}
		if err != nil {
			return err
		}
		switch r := resp.GetResponse().(type) {
		case *gpb.SubscribeResponse_SyncResponse:
			if !synced {
				synced = true
				if err := s.complete(decoder, sink); err != nil {
					return err
				}
				sink(southbound.DeviceEvent{Device: s.cfg.Device, Kind: southbound.Synced, In: southbound.NoPort,
					Out: southbound.NoPort})
			}
		case *gpb.SubscribeResponse_Update:
			if err := s.report(decoder, r.Update, sink); err != nil {
				return err
			}
		}
	}
}

// complete emits the events that follow from what a device has left out.
func (s *Session) complete(d Decoder, sink func(southbound.DeviceEvent)) error {
	c, ok := d.(Completer)
	if !ok {
		return nil
	}
	events, err := c.Complete()
	for _, e := range events {
		e.Device = s.cfg.Device
		sink(e)
	}
	return err
}

func (s *Session) report(d Decoder, n *gpb.Notification, sink func(southbound.DeviceEvent)) error {
	gone, leaves, err := decodeNotification(s.model, n)
	if err != nil {
		return err
	}
	events, err := d.Decode(gone, leaves)
	if err != nil {
		return err
	}
	for _, e := range events {
		e.At, e.Device = s.instant(n.GetTimestamp()), s.cfg.Device
		sink(e)
	}
	return nil
}

// instant puts a device's wall clock on the fabric's scale.
func (s *Session) instant(unixNanos int64) time.Duration {
	if s.cfg.Start.IsZero() {
		return 0
	}
	return max(time.Unix(0, unixNanos).Sub(s.cfg.Start), 0)
}

// tables reports whether the device's model is of tables in databases.
func (s *Session) tables() bool {
	for _, o := range s.model.Origins {
		if o == schema.SONiCOrigin {
			return true
		}
	}
	return false
}

func (s *Session) subscription(paths []schema.Path) *gpb.SubscribeRequest {
	list := &gpb.SubscriptionList{Mode: gpb.SubscriptionList_STREAM, Encoding: gpb.Encoding_JSON_IETF}
	for _, p := range paths {
		list.Subscription = append(list.Subscription,
			&gpb.Subscription{Path: s.model.Proto(p), Mode: gpb.SubscriptionMode_ON_CHANGE})
	}
	return &gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: list}}
}
