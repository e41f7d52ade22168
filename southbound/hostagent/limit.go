package hostagent

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

const (
	callsSaved    = time.Second // of calls that a leader has not made it can make at once
	callsPatience = time.Second // a call waits so long at most: less than its caller does
	maxLeaders    = 64          // names that have a bucket of their own; the others share one
)

// limit bounds the calls a second of each leader. Replicas have names of their own in their
// certificates, so one that floods the agent does not keep out the one that leads.
type limit struct {
	rate int
	mu   sync.Mutex
	of   map[string]*bucket
}

func newLimit(rate int) *limit { return &limit{rate: rate, of: map[string]*bucket{}} }

// admit waits until the caller's call is due. A call that would wait for too long is refused with
// ResourceExhausted, and our leaders retry it later.
func (l *limit) admit(ctx context.Context) error {
	if l.rate == 0 {
		return nil
	}
	name := callerName(ctx)
	wait, ok := l.bucket(name).admit(time.Now(), callsPatience)
	if !ok {
		return status.Errorf(codes.ResourceExhausted,
			"%q makes more than %d calls a second: wait for %v", name, l.rate,
			(wait - callsPatience).Round(time.Millisecond))
	}
	if wait == 0 {
		return nil
	}
	pause(ctx, wait)
	if err := ctx.Err(); err != nil {
		return status.FromContextError(fmt.Errorf("wait for a call's turn: %w", err)).Err()
	}
	return nil
}

func (l *limit) bucket(name string) *bucket {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[name] == nil && len(l.of) >= maxLeaders {
		name = ""
	}
	b := l.of[name]
	if b == nil {
		b = newBucket(float64(l.rate), callsSaved)
		l.of[name] = b
	}
	return b
}

func (l *limit) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo,
	handle grpc.UnaryHandler) (any, error) {
	if err := l.admit(ctx); err != nil {
		return nil, err
	}
	return handle(ctx, req)
}

func (l *limit) stream(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo,
	handle grpc.StreamHandler) error {
	if err := l.admit(s.Context()); err != nil {
		return err
	}
	return handle(srv, s)
}

// callerName is the name in the certificate that the caller has shown; connections without one are not
// let in.
func callerName(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok {
		return ""
	}
	return leafName(info.State)
}

func leafName(s tls.ConnectionState) string {
	if len(s.PeerCertificates) == 0 {
		return ""
	}
	return s.PeerCertificates[0].Subject.CommonName
}
