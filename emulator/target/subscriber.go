package target

import (
	"context"
	"sync"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound/gnmi/schema"
)

// subscriber is the queue between the target and one stream. The target fills it without ever waiting;
// a stream that lags too far behind is cut.
type subscriber struct {
	who      string        // the caller
	onChange []schema.Path // paths that it subscribes to
	depth    int           // levels below them; 0: all
	limit    int

	mu     sync.Mutex
	queue  []*gpb.SubscribeResponse
	leaves int  // in queue
	busy   bool // what was queued is being sent
	done   bool // nothing will be queued any more
	err    error

	encode func(notice) (*gpb.SubscribeResponse, error)
	wake   chan struct{} // one token: there is something in the queue, or never will be
	sent   chan struct{} // one token: the queue has been sent
	ended  chan struct{} // closed once err is set
}

func newSubscriber(limit int, encode func(notice) (*gpb.SubscribeResponse, error)) *subscriber {
	return &subscriber{limit: limit, encode: encode, wake: make(chan struct{}, 1),
		sent:  make(chan struct{}, 1),
		ended: make(chan struct{})}
}

// offer queues what of a notice the subscriber wants.
func (s *subscriber) offer(all notice) {
	n := notice{at: all.at}
	for _, g := range all.gone {
		if s.wants(g) {
			n.gone = append(n.gone, g)
		}
	}
	for _, l := range all.leaves {
		if s.wants(l.Path) {
			n.leaves = append(n.leaves, l)
		}
	}
	if n.size() > 0 {
		s.push(n)
	}
}

func (s *subscriber) wants(p schema.Path) bool {
	for _, pattern := range s.onChange {
		if pattern.Overlaps(p) && (s.depth == 0 || len(p)-len(pattern) <= s.depth) {
			return true
		}
	}
	return false
}

// maxMessage is how many leaves one message holds at most.
const maxMessage = 4096

// push queues a notice of what changed.
func (s *subscriber) push(n notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size := n.size(); s.leaves+size > s.limit {
		s.fail(status.Errorf(codes.ResourceExhausted,
			"the subscriber is %d leaves behind, at most %d are kept", s.leaves+
				size, s.limit))
		return
	}
	s.put(n)
}

// all queues the current state, whatever its size, and then sync_response.
func (s *subscriber) all(ns []notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range ns {
		s.put(n)
	}
	s.add(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_SyncResponse{SyncResponse: true}})
}

// put cuts a notice into messages. The lock is held.
func (s *subscriber) put(n notice) {
	for n.size() > 0 {
		part := notice{at: n.at}
		part.gone, n.gone = split(n.gone, maxMessage)
		part.leaves, n.leaves = split(n.leaves, maxMessage-len(part.gone))
		resp, err := s.encode(part)
		if err != nil {
			s.fail(statusOf(err))
			return
		}
		s.add(resp)
	}
}

func split[T any](all []T, n int) (first, rest []T) {
	n = min(n, len(all))
	return all[:n], all[n:]
}

func (s *subscriber) add(resp *gpb.SubscribeResponse) {
	if s.err != nil {
		return
	}
	s.queue = append(s.queue, resp)
	s.leaves += sizeOf(resp)
	token(s.wake)
}

func token(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// finish has drain's caller end once all is sent.
func (s *subscriber) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	token(s.wake)
}

// finished reports whether all is sent, and nothing more will be queued.
func (s *subscriber) finished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done && len(s.queue) == 0
}

// settle waits until all is sent, so that a client that polls without reading fills no queue.
func (s *subscriber) settle(ctx context.Context) error {
	for {
		s.mu.Lock()
		pending := s.busy || len(s.queue) > 0
		s.mu.Unlock()
		if !pending {
			return nil
		}
		select {
		case <-s.sent:
		case <-s.ended:
			return s.err
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
}

// end ends the stream with err; the first one counts.
func (s *subscriber) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(err)
}

func (s *subscriber) fail(err error) {
	if s.err == nil {
		s.err, s.queue = err, nil
		close(s.ended)
	}
}

// drain sends what is queued, until there is no more. The lock is not held while it sends.
func (s *subscriber) drain(send func(*gpb.SubscribeResponse) error) error {
	for {
		s.mu.Lock()
		batch := s.queue
		s.queue, s.busy = nil, len(batch) > 0
		s.mu.Unlock()
		if len(batch) == 0 {
			token(s.sent)
			return nil
		}
		for _, r := range batch {
			if err := send(r); err != nil {
				return err
			}
			s.mu.Lock()
			s.leaves -= sizeOf(r)
			s.mu.Unlock()
		}
	}
}

func sizeOf(r *gpb.SubscribeResponse) int {
	return len(r.GetUpdate().GetUpdate()) + len(r.GetUpdate().GetDelete())
}
