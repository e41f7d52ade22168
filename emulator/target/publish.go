package target

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"lightloom/southbound/gnmi/schema"
)

// notice is what happened at one instant: what one subscriber has still to be sent.
type notice struct {
	at     time.Duration
	gone   []schema.Path
	leaves []schema.Leaf
}

func (n *notice) size() int { return len(n.gone) + len(n.leaves) }

// publish takes the edits of the tree and passes them to every subscriber of their paths. The lock is held.
func (t *Target) publish(at time.Duration) {
	all := t.notice(at, t.tree.take(t.followed))
	if all.size() == 0 {
		return
	}
	for _, s := range t.subs {
		s.offer(all)
	}
}

// followed reports whether a stream may follow a part of the tree: rules change by the thousand, and hardly one does.
func (t *Target) followed(top string) bool {
	return slices.ContainsFunc(t.subs, func(s *subscriber) bool {
		return slices.ContainsFunc(s.onChange, func(p schema.Path) bool { return len(p) == 0 || p[0].Name == top })
	})
}

// notice turns edits into what changed. A list entry of which nothing is left is one deletion.
func (t *Target) notice(at time.Duration, edits []edit) notice {
	n := notice{at: at}
	seen := map[string]bool{}
	for _, e := range edits {
		if e.node.Counter {
			continue
		}
		if e.new != nil {
			n.leaves = append(n.leaves, schema.Leaf{Path: e.path, Value: e.new})
			continue
		}
		p := t.highestGone(e.path)
		if text := p.String(); !seen[text] {
			seen[text] = true
			n.gone = append(n.gone, p)
		}
	}
	return n
}

// highestGone returns the outermost list entry around a path that is gone from the tree, or the path.
func (t *Target) highestGone(p schema.Path) schema.Path {
	for i, e := range p {
		if len(e.Keys) > 0 && !t.tree.exists(p[:i+1]) {
			return p[:i+1]
		}
	}
	return p
}

// cut ends every subscription. The lock is held.
func (t *Target) cut(err error) {
	for _, s := range t.subs {
		s.end(err)
	}
	t.subs = nil
}

// Lag returns how many streams are served, and how many leaves are queued for them together.
func (t *Target) Lag() (streams, leaves int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.subs {
		s.mu.Lock()
		leaves += s.leaves
		s.mu.Unlock()
	}
	return len(t.subs), leaves
}

// join adds a subscriber; leave takes it away. Where all streams are taken, the oldest of the caller
// that has most ends for a caller that has fewer.
func (t *Target) join(s *subscriber) error {
	if len(t.subs) >= t.cfg.MaxSubscribers {
		of := map[string]int{}
		for _, o := range t.subs {
			of[o.who]++
		}
		out := t.subs[0]
		for _, o := range t.subs {
			if of[o.who] > of[out.who] {
				out = o
			}
		}
		err := status.Errorf(codes.ResourceExhausted,
			"%d subscribers already, at most %d are served", len(t.subs),
			t.cfg.MaxSubscribers)
		if of[out.who] <= of[s.who]+1 {
			return err
		}
		out.end(err)
		t.subs = slices.DeleteFunc(t.subs, func(o *subscriber) bool { return o == out })
	}
	t.subs = append(t.subs, s)
	return nil
}

// callerName is the name in the certificate of a call's peer; empty if it has shown none.
func callerName(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	if info, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(info.State.PeerCertificates) > 0 {
		return info.State.PeerCertificates[0].Subject.CommonName
	}
	return ""
}

func (t *Target) leave(s *subscriber) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.subs = slices.DeleteFunc(t.subs, func(o *subscriber) bool { return o == s })
}
