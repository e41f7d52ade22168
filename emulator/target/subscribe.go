package target

import (
	"context"
	"errors"
	"io"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound/gnmi/schema"
)

// maxSubscriptions bounds one SubscriptionList.
const maxSubscriptions = 256

// Intervals of sampling, in nanoseconds on the wire.
const (
	minSample     = 10 * time.Millisecond
	defaultSample = 100 * time.Millisecond
)

// stream is one Subscribe call.
type stream struct {
	t        *Target
	list     *gpb.SubscriptionList
	depth    int           // levels below what is subscribed to; 0: all
	paths    []schema.Path // all that is subscribed to
	onChange []schema.Path
	samples  []*sampling
	sub      *subscriber
}

// sampling is one subscription that is sent again and again: SAMPLE, or ON_CHANGE with a heartbeat.
type sampling struct {
	path      schema.Path
	every     time.Duration
	counters  bool          // only they: the rest is sent on change
	suppress  bool          // send only what differs from what was sent last
	heartbeat time.Duration // send everything this often all the same; 0 never
	last      map[string]schema.Value
	due, beat time.Time
}

// Subscribe implements gNMI: ONCE, POLL and STREAM.
func (t *Target) Subscribe(srv gpb.GNMI_SubscribeServer) error {
	req, err := srv.Recv()
	if err != nil {
		return err
	}
	list := req.GetSubscribe()
	if list == nil {
		return status.Error(codes.InvalidArgument,
			"the first message of a Subscribe must hold a subscription list")
	}
	if err := historyOf(req.GetExtension()); err != nil {
		return err
	}
	s, err := t.newStream(callerName(srv.Context()), list, depthOf(req.GetExtension()))
	if err != nil {
		return readStatus(err)
	}
	defer t.leave(s.sub)
	// Sending can block for as long as the client likes, so it has a goroutine of its own, which ends with
	// the stream: once this function returns, its context is cancelled and Send fails.
	sent, asked := make(chan error, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(srv.Context())
	defer cancel()
	go func() { sent <- s.run(ctx, srv.Send) }()
	go func() { asked <- s.listen(ctx, srv.Recv) }()
	for {
		select {
		case err := <-sent:
			return err
		case err := <-asked:
			if errors.Is(err, io.EOF) {
				s.sub.finish() // what it polled for before is still sent
			} else if err != nil {
				return err
			}
			asked = nil // the client has ended its side: a stream goes on
		case <-s.sub.ended:
			return s.sub.err
		case <-srv.Context().Done():
			return status.FromContextError(srv.Context().Err()).Err()
		}
	}
}

// newStream checks a subscription list and joins the subscribers, with the current state already queued.
func (t *Target) newStream(who string, list *gpb.SubscriptionList, depth int) (*stream, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp()
	if t.down {
		return nil, errDown()
	}
	s := &stream{t: t, list: list, depth: depth}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.sub = newSubscriber(t.cfg.MaxQueue, s.response)
	s.sub.who, s.sub.onChange, s.sub.depth = who, s.onChange, depth
	if err := t.join(s.sub); err != nil {
		return nil, err
	}
	if list.GetMode() != gpb.SubscriptionList_POLL {
		s.sendAll(list.GetUpdatesOnly())
	}
	return s, nil
}

func (s *stream) check() error {
	list := s.list
	switch {
	case len(list.GetSubscription()) == 0:
		return status.Error(codes.InvalidArgument, "a subscription list without subscriptions")
	case len(list.GetSubscription()) > maxSubscriptions:
		return status.Errorf(codes.ResourceExhausted, "more than %d subscriptions in one list", maxSubscriptions)
	}
	if err := checkEncoding(list.GetEncoding()); err != nil {
		return err
	}
	if err := s.t.knowsModels(list.GetUseModels()); err != nil {
		return err
	}
	var paths []*gpb.Path
	for _, sub := range list.GetSubscription() {
		paths = append(paths, sub.GetPath())
	}
	if err := s.t.like.oneDatabase(list.GetPrefix(), paths...); err != nil {
		return err
	}
	for _, sub := range list.GetSubscription() {
		all, err := s.t.readPaths(list.GetPrefix(), sub.GetPath())
		if err != nil {
			return err
		}
		for _, p := range all {
			if err := s.subscribe(p, sub); err != nil {
				return err
			}
		}
	}
	return nil
}

// subscribe takes one path of a subscription.
func (s *stream) subscribe(p schema.Path, sub *gpb.Subscription) error {
	if err := s.t.like.subscribable(s.t.tree, p); err != nil {
		return err
	}
	s.paths = append(s.paths, p)
	n, err := s.t.tree.model.Lookup(p, false)
	if err != nil || s.list.GetMode() != gpb.SubscriptionList_STREAM {
		return err
	}
	return s.add(p, n, sub)
}

// add takes one subscription of a stream.
func (s *stream) add(p schema.Path, n *schema.Node, sub *gpb.Subscription) error {
	mode := sub.GetMode()
	if mode == gpb.SubscriptionMode_TARGET_DEFINED { // each leaf in its own way
		mode = gpb.SubscriptionMode_ON_CHANGE
		if n.Counter {
			mode = gpb.SubscriptionMode_SAMPLE
		} else if !n.Leaf {
			s.samples = append(s.samples, &sampling{path: p, every: defaultSample, counters: true,
				last: map[string]schema.Value{}})
		}
	}
	every, beat := time.Duration(sub.GetSampleInterval()), time.Duration(sub.GetHeartbeatInterval())
	switch {
	case every < 0 || beat < 0 || every > 0 && every < minSample || beat > 0 && beat < minSample:
		return status.Errorf(codes.InvalidArgument, "subscribe %q: intervals are at least %v",
			p.String(), minSample)
	case mode == gpb.SubscriptionMode_ON_CHANGE && n.Counter:
		return status.Errorf(codes.InvalidArgument,
			"subscribe %q: a counter is not sent on change: use SAMPLE", p.String())
	case mode == gpb.SubscriptionMode_ON_CHANGE:
		s.onChange = append(s.onChange, p)
		if beat > 0 {
			s.samples = append(s.samples, &sampling{path: p, every: beat})
		}
	case mode == gpb.SubscriptionMode_SAMPLE:
		if every == 0 {
			every = defaultSample
		}
		s.samples = append(s.samples, &sampling{path: p, every: every,
			suppress: sub.GetSuppressRedundant(), heartbeat: beat,
			last: map[string]schema.Value{}})
	default:
		return status.Errorf(codes.InvalidArgument, "subscribe %q: mode %v is unknown", p.String(), mode)
	}
	return nil
}

// sendAll queues everything that is subscribed to, unless only updates are wanted, and then
// sync_response. The target's lock is held.
func (s *stream) sendAll(updatesOnly bool) {
	now := s.t.refresh()
	var all []notice
	if !updatesOnly {
		for _, p := range s.paths {
			n := notice{at: now, leaves: shallow(s.t.tree.under(p, isAny), len(p), s.depth)}
			for _, x := range s.samples {
				if x.suppress && x.path.String() == p.String() {
					x.differing(n.leaves)
				}
			}
			all = append(all, n)
		}
	}
	s.sub.all(all)
}

// differing returns the leaves that differ from what was sent last, and remembers them as sent.
func (x *sampling) differing(leaves []schema.Leaf) []schema.Leaf {
	var out []schema.Leaf
	for _, l := range leaves {
		text := l.Path.String()
		if old, ok := x.last[text]; !ok || !schema.Equal(old, l.Value) {
			out = append(out, l)
			x.last[text] = l.Value
		}
	}
	return out
}

// response encodes a notice for this stream.
func (s *stream) response(n notice) (*gpb.SubscribeResponse, error) {
	out := &gpb.Notification{Timestamp: int64(s.t.wall.nanos(n.at)), Prefix: echo(s.list.GetPrefix())}
	for _, g := range n.gone {
		out.Delete = append(out.Delete, s.t.tree.model.Proto(s.t.like.gone(s.t.tree.model, g)))
	}
	for _, l := range n.leaves {
		u, err := s.t.update(l, s.list.GetEncoding())
		if err != nil {
			return nil, err
		}
		out.Update = append(out.Update, u)
	}
	return &gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_Update{Update: out}}, nil
}

// run sends what is queued and samples, until ctx ends. ONCE ends by itself.
func (s *stream) run(ctx context.Context, send func(*gpb.SubscribeResponse) error) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if err := s.sub.drain(send); err != nil {
			return err
		}
		if s.list.GetMode() == gpb.SubscriptionList_ONCE || s.sub.finished() {
			return nil
		}
		if wait, ok := s.sample(time.Now()); ok {
			timer.Reset(wait)
		} else {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		case <-s.sub.wake:
		case <-timer.C:
		}
	}
}

// sample queues the samplings that are due and returns how long it is until the next one is.
func (s *stream) sample(now time.Time) (time.Duration, bool) {
	if len(s.samples) == 0 {
		return 0, false
	}
	var due []*sampling
	next := now.Add(time.Hour)
	for _, x := range s.samples {
		if x.due.IsZero() {
			x.due, x.beat = now.Add(x.every), now.Add(x.heartbeat)
		}
		if !now.Before(x.due) {
			due = append(due, x)
			for x.due = x.due.Add(x.every); !now.Before(x.due); {
				x.due = now.Add(x.every) // late by more than one interval: the lost samples stay lost
			}
		}
		if x.due.Before(next) {
			next = x.due
		}
	}
	if len(due) > 0 {
		s.takeSamples(due, now)
	}
	return time.Until(next), true
}

func (s *stream) takeSamples(due []*sampling, wall time.Time) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	if s.t.down {
		return
	}
	now := s.t.refresh()
	for _, x := range due {
		keep := isAny
		if x.counters {
			keep = isCounter
		}
		leaves := shallow(s.t.tree.under(x.path, keep), len(x.path), s.depth)
		switch {
		case !x.suppress:
		case x.heartbeat > 0 && !wall.Before(x.beat):
			x.beat = wall.Add(x.heartbeat)
			x.differing(leaves)
		default:
			leaves = x.differing(leaves)
		}
		if len(leaves) > 0 {
			s.sub.push(notice{at: now, leaves: leaves})
		}
	}
}

// listen takes what the client sends after its list: polls, where that is the mode. Once the client has
// ended its side it returns io.EOF where nothing more can come of it (POLL), else nil.
func (s *stream) listen(ctx context.Context, recv func() (*gpb.SubscribeRequest, error)) error {
	for {
		req, err := recv()
		mode := s.list.GetMode()
		switch {
		case errors.Is(err, io.EOF) && mode == gpb.SubscriptionList_POLL:
			return io.EOF
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case req.GetPoll() == nil || mode != gpb.SubscriptionList_POLL:
			return status.Error(codes.InvalidArgument,
				"after its subscription list a client may send polls only, and only in "+
					"mode POLL")
		}
		if err := s.sub.settle(ctx); err != nil {
			return err
		}
		s.t.mu.Lock()
		s.t.catchUp()
		s.sendAll(s.list.GetUpdatesOnly())
		s.t.mu.Unlock()
	}
}
