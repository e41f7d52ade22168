package replica

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/southbound/guard"
	"lightloom/southbound/pki"
)

// stream is raft's connection to its peers: mutual TLS, through a guard that reserves slots for every
// peer by its name, so that strangers cannot delay peers. All connections end with the stream.
type stream struct {
	guard  *guard.Guard
	self   address
	client *tls.Config
	allow  func(tls.ConnectionState) error
	names  map[string]string // of peers, by address

	ctx    context.Context
	cancel context.CancelFunc

	mu   sync.Mutex
	sick bool                  // peers are hung up on
	open map[net.Conn]struct{} // nil once closed
}

var _ raft.StreamLayer = (*stream)(nil)

// address is what peers know this node as.
type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// newStream returns a stream in front of a listener. Members have slots besides the peers of the
// configuration, also those that are added while it runs.
func newStream(c *Config, ln net.Listener, members func() []Member, log *slog.Logger) *stream {
	ctx, cancel := context.WithCancel(context.Background())
	peers := map[string]bool{}
	names := map[string]string{}
	for _, p := range c.Peers {
		peers[guard.NameOf(pki.Controller, p.ID)] = true
		names[p.Addr] = p.ID
	}
	reserved := func(name string) bool {
		return peers[name] || slices.ContainsFunc(members(), func(m Member) bool {
			return name == guard.NameOf(pki.Controller, m.ID)
		})
	}
	return &stream{
		guard: guard.New(ln, guard.Config{TLS: modern(c.ServerTLS), Admit: c.Authorize, Reserved: reserved,
			Shared: c.Limits.Conns, Open: c.Limits.Handshakes, Within: c.Timeouts.Handshake, Logger: log}),
		self: address(c.addr(c.ID)), allow: c.Authorize, client: modern(c.ClientTLS),
		names: names,
		ctx:   ctx, cancel: cancel, open: map[net.Conn]struct{}{},
	}
}

func modern(c *tls.Config) *tls.Config {
	c = c.Clone()
	c.MinVersion = tls.VersionTLS13
	return c
}

// greet runs the handshake with a dialled peer and checks that it is the peer that was dialled, and allowed.
func (s *stream) greet(ctx context.Context, c *tls.Conn, to, host string) error {
	if err := c.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	if err := pki.CheckHost(c.ConnectionState(), host); err != nil {
		return err
	}
	want := s.names[to]
	if _, name, err := pki.Peer(c.ConnectionState()); err != nil || want != "" && name != want {
		return errors.Join(fmt.Errorf("its certificate is of %q, not of %q", name, want), err)
	}
	if s.allow == nil {
		return nil
	}
	return s.allow(c.ConnectionState())
}

// Accept implements net.Listener: the next peer whose handshake has succeeded.
func (s *stream) Accept() (net.Conn, error) {
	for {
		c, err := s.guard.Accept()
		if err != nil {
			return nil, err
		}
		if t := (&tracked{c.(*tls.Conn), s}); s.add(t) {
			return t, nil
		}
	}
}

// hangUp ends what peers have opened and takes nothing more from them, until it is called with false:
// they take this node for dead.
func (s *stream) hangUp(sick bool) {
	s.mu.Lock()
	s.sick = sick
	var open []net.Conn
	for c := range s.open {
		open = append(open, c)
	}
	s.mu.Unlock()
	for _, c := range open {
		if sick {
			c.Close()
		}
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
	t := &tracked{tls.Client(c, cfg), s}
	if !s.add(t) {
		return nil, fmt.Errorf("dial replica at %q: %w", to, net.ErrClosed)
	}
	if err := s.greet(ctx, t.Conn, string(to), cfg.ServerName); err != nil {
		t.Close()
		return nil, fmt.Errorf("dial replica at %q: %w", to, err)
	}
	return t, nil
}

// Addr implements net.Listener: the address that peers know, which a wildcard or a forwarded listener
// does not show.
func (s *stream) Addr() net.Addr { return s.self }

// Close implements net.Listener. It ends every connection and handshake.
func (s *stream) Close() error {
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	if open == nil {
		return nil
	}
	s.cancel()
	for c := range open {
		c.Close()
	}
	return s.guard.Close()
}

// add counts a connection in, or closes it if the stream is closed or sick.
func (s *stream) add(t *tracked) bool {
	s.mu.Lock()
	closed := s.open == nil || s.sick
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
	*tls.Conn
	of *stream
}

// Close ends the connection and counts it out. The TCP connection goes first: a TLS farewell to a peer
// that no longer reads would hold the caller for seconds.
func (t *tracked) Close() error {
	t.of.mu.Lock()
	delete(t.of.open, t)
	t.of.mu.Unlock()
	return t.NetConn().Close()
}
