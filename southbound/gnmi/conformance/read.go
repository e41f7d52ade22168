package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/proto/gnmi_ext"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/gnmi/schema"
)

// wantCode checks an answer that must be an error.
func wantCode(err error, want ...codes.Code) error {
	if got := status.Code(err); !slices.Contains(want, got) {
		return fmt.Errorf("the answer is %v (%v), want %v", got, err, want)
	}
	return nil
}

func capabilities(ctx context.Context, b *bench) error {
	caps, err := b.c.Capabilities(ctx, &gpb.CapabilityRequest{})
	switch {
	case err != nil:
		return err
	case !slices.Contains(caps.GetSupportedEncodings(), gpb.Encoding_JSON_IETF):
		return fmt.Errorf("the encodings are %v", caps.GetSupportedEncodings())
	case caps.GetGNMIVersion() == "":
		return errors.New("no gNMI version is named")
	}
	return b.profile.Check(caps)
}

func getTyped(ctx context.Context, b *bench) error {
	_, err := probe.Read(ctx, b.c, b.profile)
	return err
}

func nowhere() *gpb.Path { return schema.Path(nil).With("no-such-thing").Proto() }

func getUnknown(ctx context.Context, b *bench) error {
	_, err := b.c.Get(ctx, &gpb.GetRequest{Path: []*gpb.Path{nowhere()}, Encoding: gpb.Encoding_JSON_IETF})
	return wantCode(err, codes.Unimplemented)
}

// someState is a request for state that the profile reads.
func (b *bench) someState() *gpb.GetRequest {
	return &gpb.GetRequest{Path: []*gpb.Path{b.model.Proto(b.profile.WatchPaths()[0])},
		Encoding: gpb.Encoding_JSON_IETF}
}

func getLabel(ctx context.Context, b *bench) error {
	const label = "lightloom-check"
	req := b.someState()
	req.Prefix = &gpb.Path{Target: label}
	resp, err := b.c.Get(ctx, req)
	if status.Code(err) == codes.NotFound {
		return fmt.Errorf("%w: nothing stands at %v", errSkip, req.GetPath())
	}
	if err != nil {
		return err
	}
	for _, n := range resp.GetNotification() {
		if got := n.GetPrefix().GetTarget(); got != label {
			return fmt.Errorf("the answer is for target %q, %q was asked", got, label)
		}
	}
	return nil
}

func getOrigin(ctx context.Context, b *bench) error {
	req := b.someState()
	if req.GetPath()[0].GetOrigin() == schema.SONiCOrigin {
		return fmt.Errorf("%w: the profile's paths are of another origin", errSkip)
	}
	req.Path[0].Origin = schema.DefaultOrigin
	if _, err := b.c.Get(ctx, req); err != nil && status.Code(err) != codes.NotFound {
		return err
	}
	return nil
}

func getWildcard(ctx context.Context, b *bench) error {
	count := func(req *gpb.GetRequest) (n int, err error) {
		resp, err := b.c.Get(ctx, req)
		for _, x := range resp.GetNotification() {
			n += len(x.GetUpdate())
		}
		return n, err
	}
	plain, err := count(b.someState())
	if status.Code(err) == codes.NotFound || err == nil && plain == 0 {
		return fmt.Errorf("%w: nothing stands at %v", errSkip, b.someState().GetPath())
	}
	if err != nil {
		return err
	}
	for _, wild := range []string{schema.Any, schema.Levels} {
		req := b.someState()
		req.Path[0].Elem[0] = &gpb.PathElem{Name: wild}
		got, err := count(req)
		if err != nil {
			return fmt.Errorf("with %q: %w", wild, err)
		}
		if got < plain {
			return fmt.Errorf("with %q as the first element: %d updates, without %d", wild, got, plain)
		}
	}
	return nil
}

func getVersion(ctx context.Context, b *bench) error {
	caps, err := b.c.Capabilities(ctx, &gpb.CapabilityRequest{})
	if err != nil {
		return err
	}
	if len(caps.GetSupportedModels()) == 0 {
		return errors.New("no models are named")
	}
	req := b.someState()
	req.UseModels = []*gpb.ModelData{{Name: caps.GetSupportedModels()[0].GetName(), Version: "0.0.0-none"}}
	_, err = b.c.Get(ctx, req)
	return wantCode(err, codes.Unimplemented)
}

func subscribeUnknown(ctx context.Context, b *bench) error {
	req := b.subscription(gpb.SubscriptionList_ONCE, gpb.SubscriptionMode_TARGET_DEFINED, 0)
	req.GetSubscribe().Subscription = []*gpb.Subscription{{Path: nowhere()}}
	s, err := b.subscribe(ctx, req)
	if err == nil {
		_, err = s.Recv()
	}
	return wantCode(err, codes.Unimplemented)
}

func subscribeHistory(ctx context.Context, b *bench) error {
	req := b.subscription(gpb.SubscriptionList_ONCE, gpb.SubscriptionMode_TARGET_DEFINED, 0)
	req.Extension = []*gnmi_ext.Extension{{Ext: &gnmi_ext.Extension_History{History: &gnmi_ext.History{
		Request: &gnmi_ext.History_SnapshotTime{SnapshotTime: 1}}}}}
	s, err := b.subscribe(ctx, req)
	if err == nil {
		_, err = s.Recv()
	}
	if err == nil {
		return errors.New("the present state was sent as that of 1970")
	}
	return wantCode(err, codes.Unimplemented, codes.InvalidArgument, codes.NotFound, codes.OutOfRange)
}

func getEncoding(ctx context.Context, b *bench) error {
	caps, err := b.c.Capabilities(ctx, &gpb.CapabilityRequest{})
	if err != nil {
		return err
	}
	if slices.Contains(caps.GetSupportedEncodings(), gpb.Encoding_BYTES) {
		return fmt.Errorf("%w: the target offers every encoding that there is", errSkip)
	}
	_, err = b.c.Get(ctx, &gpb.GetRequest{Path: []*gpb.Path{b.model.Proto(b.profile.StatePaths()[0])},
		Encoding: gpb.Encoding_BYTES})
	return wantCode(err, codes.Unimplemented)
}

// subscription is a list of all that the profile reads.
func (b *bench) subscription(mode gpb.SubscriptionList_Mode, sub gpb.SubscriptionMode,
	every time.Duration) *gpb.SubscribeRequest {
	list := &gpb.SubscriptionList{Mode: mode, Encoding: gpb.Encoding_JSON_IETF}
	for _, p := range b.profile.WatchPaths() {
		list.Subscription = append(list.Subscription, &gpb.Subscription{Path: b.model.Proto(p), Mode: sub,
			SampleInterval: uint64(every)})
	}
	return &gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: list}}
}

// subscribe opens a stream; the caller cancels ctx.
func (b *bench) subscribe(ctx context.Context, req *gpb.SubscribeRequest) (gpb.GNMI_SubscribeClient, error) {
	s, err := b.c.Subscribe(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.Send(req); err != nil && !errors.Is(err, io.EOF) { // at its end Recv says why
		return nil, err
	}
	return s, nil
}

// untilSync takes messages up to a sync_response. What they hold must be of the model.
func (b *bench) untilSync(s gpb.GNMI_SubscribeClient) error {
	for {
		m, err := s.Recv()
		if err != nil {
			return fmt.Errorf("before sync_response: %w", err)
		}
		if m.GetSyncResponse() {
			return nil
		}
		if _, err := probe.Leaves(b.model, []*gpb.Notification{m.GetUpdate()}); err != nil {
			return err
		}
	}
}

func once(ctx context.Context, b *bench) error {
	s, err := b.subscribe(ctx, b.subscription(gpb.SubscriptionList_ONCE,
		gpb.SubscriptionMode_TARGET_DEFINED, 0))
	if err != nil {
		return err
	}
	if err := b.untilSync(s); err != nil {
		return err
	}
	if m, err := s.Recv(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("after sync_response came %v, %v, want the end", m, err)
	}
	return nil
}

func poll(ctx context.Context, b *bench) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := b.subscribe(ctx, b.subscription(gpb.SubscriptionList_POLL,
		gpb.SubscriptionMode_TARGET_DEFINED, 0))
	if err != nil {
		return err
	}
	for range 3 {
		if err := ask(s); err != nil {
			return err
		}
		if err := b.untilSync(s); err != nil {
			return err
		}
	}
	return nil
}

// ask polls; at the stream's end Recv says why.
func ask(s gpb.GNMI_SubscribeClient) error {
	err := s.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Poll{Poll: &gpb.Poll{}}})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func pollClose(ctx context.Context, b *bench) error {
	s, err := b.subscribe(ctx, b.subscription(gpb.SubscriptionList_POLL,
		gpb.SubscriptionMode_TARGET_DEFINED, 0))
	if err != nil {
		return err
	}
	const polls = 2
	for range polls {
		if err := ask(s); err != nil {
			return err
		}
	}
	if err := s.CloseSend(); err != nil {
		return err
	}
	for n := range polls {
		if err := b.untilSync(s); err != nil {
			return fmt.Errorf("poll %d of %d, then the client closed its half: %w", n+1, polls, err)
		}
	}
	if m, err := s.Recv(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("after the last sync_response came %v, %v, want the end", m, err)
	}
	return nil
}

func pollUpdatesOnly(ctx context.Context, b *bench) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req := b.subscription(gpb.SubscriptionList_POLL, gpb.SubscriptionMode_TARGET_DEFINED, 0)
	req.GetSubscribe().UpdatesOnly = true
	s, err := b.subscribe(ctx, req)
	if err != nil {
		return err
	}
	for n := range 2 {
		if err := ask(s); err != nil {
			return err
		}
		m, err := s.Recv()
		if err != nil {
			return fmt.Errorf("before sync_response: %w", err)
		}
		if !m.GetSyncResponse() {
			return fmt.Errorf("poll %d is answered by %d updates before sync_response", n+1,
				len(m.GetUpdate().GetUpdate()))
		}
	}
	return nil
}

func stream(ctx context.Context, b *bench) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := b.subscribe(ctx, b.subscription(gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_ON_CHANGE, 0))
	if err != nil {
		return err
	}
	return b.untilSync(s)
}

func sample(ctx context.Context, b *bench) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := b.subscribe(ctx, b.subscription(gpb.SubscriptionList_STREAM,
		gpb.SubscriptionMode_SAMPLE, b.sample))
	if err != nil {
		return err
	}
	if err := b.untilSync(s); err != nil {
		return err
	}
	seen, err := probe.Read(ctx, b.c, b.profile)
	if err != nil {
		return err
	}
	if b.optical() && len(seen.Connections) == 0 {
		return fmt.Errorf("%w: no circuit stands, so there is nothing to sample", errSkip)
	}
	begin := time.Now()
	for range 2 {
		if _, err := s.Recv(); err != nil {
			return fmt.Errorf("after %v: %w", time.Since(begin), err)
		}
	}
	if took := time.Since(begin); took > 5*b.sample {
		return fmt.Errorf("two samples came after %v, %v were asked for", took, b.sample)
	}
	return nil
}
