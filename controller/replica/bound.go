package replica

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/southbound/pki"
)

// bound is a raft transport over TLS that takes a message of a replica from that replica alone: the
// sender's id in the message must be the name in the certificate of the connection that it came by.
// Raft's transport does not tell by which connection a message came, so each peer that connects gets a
// transport of its own.
type bound struct {
	*raft.NetworkTransport // dials, and hears nobody
	wire                   *stream
	config                 raft.NetworkTransportConfig
	log                    *slog.Logger
	out                    chan raft.RPC
	ctl                    chan struct{} // closed with the transport
	wg                     sync.WaitGroup

	mu    sync.Mutex
	beat  func(raft.RPC)
	peers map[string]*ear // by name
}

var (
	_ raft.Transport   = (*bound)(nil)
	_ raft.WithPreVote = (*bound)(nil)
	_ raft.WithClose   = (*bound)(nil)
	_ raft.StreamLayer = (*ear)(nil)
	_ raft.StreamLayer = mouth{}

	errNotSaid = errors.New("its certificate has another name")
	errTooMany = errors.New("too many peers of different names")
)

// maxNames bounds the names under which peers connect: those of clusters that change their members now
// and then.
const maxNames = 64

func newBound(wire *stream, config raft.NetworkTransportConfig, log *slog.Logger) *bound {
	b := &bound{wire: wire, config: config, log: log, out: make(chan raft.RPC), ctl: make(chan struct{}),
		peers: map[string]*ear{}}
	config.Stream = mouth{wire, b.ctl}
	b.NetworkTransport = raft.NewNetworkTransportWithConfig(&config)
	b.wg.Go(b.accept)
	return b
}

// accept hands connections to the transports of their peers.
func (b *bound) accept() {
	for {
		c, err := b.wire.Accept()
		if err != nil {
			return // closed
		}
		_, name, err := pki.Peer(c.(*tracked).ConnectionState())
		var e *ear
		if err == nil {
			e, err = b.peer(name)
		}
		if err != nil {
			b.log.Warn("connection refused", "from", c.RemoteAddr(), "error", err)
			_ = c.Close() // why matters more
			continue
		}
		select {
		case e.in <- c:
		case <-b.ctl:
			_ = c.Close() // all end
			return
		}
	}
}

// peer returns the transport of a peer's messages.
func (b *bound) peer(name string) (*ear, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.peers[name]; e != nil {
		return e, nil
	}
	if len(b.peers) >= maxNames {
		return nil, errTooMany
	}
	e := &ear{addr: b.wire.Addr(), in: make(chan net.Conn), ctl: b.ctl}
	config := b.config
	config.Stream = e
	e.transport = raft.NewNetworkTransportWithConfig(&config)
	e.transport.SetHeartbeatHandler(func(rpc raft.RPC) { b.heartbeat(name, rpc) })
	b.peers[name] = e
	b.wg.Go(func() { b.forward(name, e) })
	return e, nil
}

// heartbeat hands raft a heartbeat as its transport would.
func (b *bound) heartbeat(name string, rpc raft.RPC) {
	if !b.said(name, rpc) {
		return
	}
	b.mu.Lock()
	beat := b.beat
	b.mu.Unlock()
	if beat != nil {
		beat(rpc)
		return
	}
	b.pass(rpc)
}

func (b *bound) forward(name string, e *ear) {
	for {
		select {
		case rpc := <-e.transport.Consumer():
			if b.said(name, rpc) {
				b.pass(rpc)
			}
		case <-b.ctl:
			return
		}
	}
}

func (b *bound) pass(rpc raft.RPC) {
	select {
	case b.out <- rpc:
	case <-b.ctl:
	}
}

// said reports whether a message is of the peer of that name, and answers one that is not.
func (b *bound) said(name string, rpc raft.RPC) bool {
	id := ""
	if m, ok := rpc.Command.(raft.WithRPCHeader); ok {
		id = string(m.GetRPCHeader().ID)
	}
	if id == name {
		return true
	}
	err := fmt.Errorf("%T of replica %q from %q: %w", rpc.Command, id, name, errNotSaid)
	b.log.Warn("message refused", "error", err)
	rpc.Respond(nil, err)
	return false
}

// Consumer implements raft.Transport.
func (b *bound) Consumer() <-chan raft.RPC { return b.out }

// SetHeartbeatHandler implements raft.Transport.
func (b *bound) SetHeartbeatHandler(f func(raft.RPC)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.beat = f
}

// Close implements raft.WithClose. It ends every connection.
func (b *bound) Close() error {
	b.mu.Lock()
	select {
	case <-b.ctl:
		b.mu.Unlock()
		return nil
	default:
		close(b.ctl)
	}
	all := []*raft.NetworkTransport{b.NetworkTransport}
	for _, e := range b.peers {
		all = append(all, e.transport)
	}
	b.mu.Unlock()
	var errs []error
	for _, t := range all {
		errs = append(errs, t.Close())
		t.CloseStreams()
	}
	errs = append(errs, b.wire.Close())
	b.wg.Wait()
	return errors.Join(errs...)
}

// ear is the raft.StreamLayer of one peer's connections; it dials nobody.
type ear struct {
	transport *raft.NetworkTransport
	addr      net.Addr
	in        chan net.Conn
	ctl       chan struct{}
}

// Accept implements net.Listener.
func (e *ear) Accept() (net.Conn, error) {
	select {
	case c := <-e.in:
		return c, nil
	case <-e.ctl:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener: the transport that hands connections over is closed.
func (e *ear) Close() error { return nil }

// Addr implements net.Listener.
func (e *ear) Addr() net.Addr { return e.addr }

// Dial implements raft.StreamLayer.
func (e *ear) Dial(raft.ServerAddress, time.Duration) (net.Conn, error) { return nil, net.ErrClosed }

// mouth is the raft.StreamLayer that dials, and hears nobody.
type mouth struct {
	*stream
	ctl chan struct{}
}

// Accept implements net.Listener.
func (m mouth) Accept() (net.Conn, error) {
	<-m.ctl
	return nil, net.ErrClosed
}

// Close implements net.Listener: the stream is closed by whom it is of.
func (m mouth) Close() error { return nil }
