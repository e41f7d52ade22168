package gnmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
)

// Watch implements southbound.Device: it follows the device's ON_CHANGE stream. When the stream breaks, sink gets Lost
// and Watch returns why; to go on, a caller calls it again, which starts with the full state.
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
	stream, err := s.client.Subscribe(ctx)
	if err != nil {
		return err
	}
	if err := stream.Send(s.subscription()); err != nil && !errors.Is(err, io.EOF) {
		return err // at EOF, Recv says why
	}
	decoder := s.cfg.Profile.NewDecoder()
	synced := false
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return errors.New("the device ended the stream")
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
			if err := s.tell(decoder, r.Update, sink); err != nil {
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

func (s *Session) tell(d Decoder, n *gpb.Notification, sink func(southbound.DeviceEvent)) error {
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

func (s *Session) subscription() *gpb.SubscribeRequest {
	list := &gpb.SubscriptionList{Mode: gpb.SubscriptionList_STREAM, Encoding: gpb.Encoding_JSON_IETF}
	for _, p := range s.cfg.Profile.WatchPaths() {
		list.Subscription = append(list.Subscription,
			&gpb.Subscription{Path: s.model.Proto(p), Mode: gpb.SubscriptionMode_ON_CHANGE})
	}
	return &gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: list}}
}
