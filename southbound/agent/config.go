package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"

	"lightloom/southbound/agent/wire"
)

// Config is how to reach an agent, and with which identity.
type Config struct {
	Addr string // host:port of the agent
	// Dialer makes the connection; nil: TCP.
	Dialer func(ctx context.Context, addr string) (net.Conn, error)
	// TLS holds the leader's certificate and the authority that the agent's is checked against. Needed:
	// there is no plaintext. Its ServerName, where set, is the name the agent must have.
	TLS *tls.Config
	// Election returns the leader's election id; it is asked before every call and must not block.
	Election func() (high, low uint64)
	// OnError is called from the queue's own goroutine with the error of every abandoned call; nil ignores
	// them. An error that wraps southbound.ErrNotLeader means that the calls queued behind it were dropped
	// too.
	OnError func(error)
	// Network is the hosts of the fabric, which the agent is told before all else; nil: it knows them.
	Network wire.Network
	// Interval is the time between the agent's progress reports; 0 means 10 ms.
	Interval time.Duration
	// CallTimeout bounds one attempt of one call; 0 means 5 s.
	CallTimeout time.Duration
}

type (
	// Status is how an agent is.
	Status = wire.Status
	// Stats are its counts.
	Stats = wire.Stats
)

// ErrRestarted means that the agent does not have the requested events (any more): it has restarted,
// and every host flow and task it held is void.
var ErrRestarted = wire.ErrRestarted

const (
	defaultInterval    = 10 * time.Millisecond
	defaultCallTimeout = 5 * time.Second
	// keepaliveTime finds a half-open connection; agents allow as little as half of it.
	keepaliveTime = 10 * time.Second
	retryFirst    = 10 * time.Millisecond
	retryMost     = 500 * time.Millisecond
)

func (c *Config) check() error {
	switch {
	case c.Addr == "":
		return errors.New("dial agent: no address")
	case c.TLS == nil:
		return fmt.Errorf("dial agent %q: no TLS configuration: agents speak nothing else", c.Addr)
	case c.Election == nil:
		return fmt.Errorf("dial agent %q: no election id", c.Addr)
	}
	if c.Interval <= 0 {
		c.Interval = defaultInterval
	}
	if c.CallTimeout <= 0 {
		c.CallTimeout = defaultCallTimeout
	}
	if c.OnError == nil {
		c.OnError = func(error) {}
	}
	return nil
}

func (c *Config) dialOptions() []grpc.DialOption {
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(credentials.NewTLS(c.TLS)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(wire.MaxMessage),
			grpc.MaxCallSendMsgSize(wire.MaxMessage)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTime / 2}),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: 2 * time.Second,
			Backoff: backoff.Config{BaseDelay: retryFirst, Multiplier: 1.6, Jitter: 0.2, MaxDelay: retryMost}}),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(),
	}
	if c.Dialer != nil {
		opts = append(opts, grpc.WithContextDialer(c.Dialer))
	}
	return opts
}
