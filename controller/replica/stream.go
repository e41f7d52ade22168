package replica

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// stream is raft's way to its peers: TLS in both directions. Handshakes run beside Accept, under a deadline, so that a
// stranger who connects and says nothing delays nobody; connections are counted and all end with the stream.
type stream struct {
	ln     net.Listener
	self   address
	server *tls.Config
	client *tls.Config
	allow  func(tls.ConnectionState) error
	within time.Duration // of a handshake
	log    *slog.Logger

	ctx    context.Context
	cancel context.CancelFunc
	ready  chan net.Conn
	slots  chan struct{} // one for each connection taken
	wg     sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]struct{} // nil once closed
}

var _ raft.StreamLayer = (*stream)(nil)

// address is what peers know this node as.
type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

func newStream(c *Config, ln net.Listener, log *slog.Logger) *stream {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stream{
		ln: ln, self: address(c.addr(c.ID)), allow: c.Authorize, within: c.Timeouts.RPC, log: log,
		server: modern(c.ServerTLS), client: modern(c.ClientTLS),
		ctx: ctx, cancel: cancel, ready: make(chan net.Conn), slots: make(chan struct{}, c.Limits.Conns),
		open: map[net.Conn]struct{}{},
	}
	s.wg.Go(s.listen)
	return s
}

func modern(c *tls.Config) *tls.Config {
	c = c.Clone()
	c.MinVersion = tls.VersionTLS13
	return c
}

func (s *stream) listen() {
	const first, last = 5 * time.Millisecond, time.Second // between tries when the machine is out of descriptors
	for pause := first; ; {
		c, err := s.ln.Accept()
		if err == nil {
			pause = first
			s.take(c)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		s.log.Warn("accept connection", "err", err)
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(pause):
			pause = min(2*pause, last)
		}
	}
}

// take starts the handshake of an accepted connection, or drops it if too many stand.
func (s *stream) take(c net.Conn) {
	select {
	case s.slots <- struct{}{}:
	default:
		s.log.Warn("connection dropped: too many stand", "from", c.RemoteAddr(), "limit", cap(s.slots))
		c.Close()
		return
	}
	t := &tracked{Conn: tls.Server(c, s.server), gone: sync.OnceFunc(func() { <-s.slots }), of: s}
	if !s.add(t) {
		return
	}
	s.wg.Go(func() {
		if err := s.greet(s.ctx, t); err != nil {
			s.log.Warn("peer refused", "from", c.RemoteAddr(), "err", err)
			t.Close()
			return
		}
		select {
		case s.ready <- t:
		case <-s.ctx.Done():
			t.Close()
		}
	})
}

// greet runs the handshake and asks whether the peer is welcome.
func (s *stream) greet(ctx context.Context, t *tracked) error {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	c := t.Conn.(*tls.Conn)
	if err := c.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	if s.allow == nil {
		return nil
	}
	return s.allow(c.ConnectionState())
}

// Accept implements net.Listener: the next peer whose handshake has succeeded.
func (s *stream) Accept() (net.Conn, error) {
	select {
	case c := <-s.ready:
		return c, nil
	case <-s.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Dial implements raft.StreamLayer.
func (s *stream) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", string(to))
	if err != nil {
		return nil, fmt.Errorf("dial replica at %q: %w", to, err)
	}
	cfg := s.client
	if cfg.ServerName == "" {
		cfg = cfg.Clone()
		cfg.ServerName, _, _ = net.SplitHostPort(string(to)) // it was dialled, so it splits
	}
	t := &tracked{Conn: tls.Client(c, cfg), gone: func() {}, of: s}
	if !s.add(t) {
		return nil, net.ErrClosed
	}
	if err := s.greet(ctx, t); err != nil {
		t.Close()
		return nil, fmt.Errorf("dial replica at %q: %w", to, err)
	}
	return t, nil
}

// Addr implements net.Listener: the address that peers know, which a wildcard or a forwarded listener does not show.
func (s *stream) Addr() net.Addr { return s.self }

// Close implements net.Listener. It ends every connection and waits for the handshakes.
func (s *stream) Close() error {
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	if open == nil {
		return nil
	}
	s.cancel()
	err := s.ln.Close()
	for c := range open {
		c.Close()
	}
	s.wg.Wait()
	return err
}

// add counts a connection in, or closes it if the stream has been.
func (s *stream) add(t *tracked) bool {
	s.mu.Lock()
	closed := s.open == nil
	if !closed {
		s.open[t] = struct{}{}
	}
	s.mu.Unlock()
	if closed {
		t.Close()
	}
	return !closed
}

// tracked is a connection that its stream knows of.
type tracked struct {
	net.Conn
	gone func()
	of   *stream
}

// Close ends the connection and counts it out. The TCP connection goes first: a TLS farewell to a peer that no longer
// reads would hold the caller for seconds.
func (t *tracked) Close() error {
	t.of.mu.Lock()
	delete(t.of.open, t)
	t.of.mu.Unlock()
	t.gone()
	return t.Conn.(*tls.Conn).NetConn().Close()
}
