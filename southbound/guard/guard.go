// Package guard lets connections in to a server once their TLS handshake has succeeded, so that
// strangers cost little: handshakes have a deadline and slots apart from those of authenticated peers,
// some named peers have slots that no other peer can take, and among the others none keeps another out
// by the number of its connections.
//
// It opens no listener and speaks no protocol above TLS: it wraps a net.Listener, whose Accept then
// returns connections that have completed their handshake.
package guard

import (
	"container/list"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/southbound/pki"
)

// Config configures a Guard. Zero numbers mean the defaults.
type Config struct {
	TLS      *tls.Config                     // of the server; needed
	Admit    func(tls.ConnectionState) error // can refuse a peer after its handshake; nil admits all
	Reserved func(name string) bool          // peers with slots of their own, as Name writes them; nil: none
	Always   func(name string) bool          // peers with slots of their own once the others share no more; nil: none
	Each     int                             // connections of one peer in slots of its own; one more ends its oldest
	Shared   int                             // connections of all others; one more ends one of the peer that has most
	Most     int                             // of Shared by one named peer; one more ends its oldest
	Open     int                             // handshakes under way; one more ends the oldest silent one
	Within   time.Duration                   // of a handshake
	Again    time.Duration                   // interval at which open connections are checked as in a handshake
	Logger   *slog.Logger                    // nil discards
}

// The defaults; Most is three quarters of Shared. A handshake takes some milliseconds, so 256 slots
// outlast a flood of 10,000 connections a second, also where all of them speak; one under way costs
// some 20 kB.
const (
	DefaultEach   = 16
	DefaultShared = 128
	DefaultOpen   = 256
	DefaultWithin = time.Second
	DefaultAgain  = 2 * time.Second
)

// Name returns the name of a peer's slots: the role and name in its certificate, or "" if it has no
// certificate of ours.
func Name(s tls.ConnectionState) string {
	role, name, err := pki.Peer(s)
	if err != nil {
		return ""
	}
	return NameOf(role, name)
}

// NameOf is Name of the holder of a certificate with that role and name.
func NameOf(role pki.Role, name string) string { return string(role) + "/" + name }

// Guard is a net.Listener whose Accept returns *tls.Conn with the handshake done.
type Guard struct {
	ln     net.Listener
	cfg    Config
	ctx    context.Context // ends with the guard
	cancel context.CancelFunc
	ready  chan *tls.Conn
	wg     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   list.List            // of *conn: handshakes under way, oldest first
	seats  map[slots]*list.List // of *conn: authenticated, oldest first
	taken  int                  // of the shared slots
	lost   int                  // handshakes ended, for others or late, since the last log line
	told   time.Time
}

var _ net.Listener = (*Guard)(nil)

// New returns a guard in front of ln, which is the guard's from then on. It accepts from ln at once.
func New(ln net.Listener, c Config) *Guard {
	c.Each, c.Shared = or(c.Each, DefaultEach), or(c.Shared, DefaultShared)
	c.Most = or(c.Most, max(1, c.Shared*3/4))
	c.Open, c.Within, c.Again = or(c.Open, DefaultOpen), or(c.Within, DefaultWithin), or(c.Again, DefaultAgain)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	g := &Guard{ln: ln, cfg: c, ctx: ctx, cancel: cancel, ready: make(chan *tls.Conn),
		seats: map[slots]*list.List{}}
	g.wg.Go(g.listen)
	if c.TLS.VerifyConnection != nil {
		g.wg.Go(g.checkAgain)
	}
	return g
}

func or[T int | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

func (g *Guard) listen() {
	defer g.cancel()
	const first, last = 5 * time.Millisecond, time.Second // between tries when the machine is out of descriptors
	for pause := first; ; {
		c, err := g.ln.Accept()
		if err == nil {
			pause = first
			g.take(c)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		g.cfg.Logger.Warn("accept connection", "err", err)
		select {
		case <-g.ctx.Done():
			return
		case <-time.After(pause):
			pause = min(2*pause, last)
		}
	}
}

// take starts the handshake of an accepted connection, in the slot of another if none is free.
func (g *Guard) take(c net.Conn) {
	t := &conn{Conn: c, guard: g}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		_ = c.Close() // it has been told nothing yet
		return
	}
	var out *conn
	if g.open.Len() >= g.cfg.Open {
		out = g.loser()
		out.leave()
	}
	t.in, t.at = &g.open, g.open.PushBack(t)
	g.wg.Go(func() { g.greet(t) })
	g.mu.Unlock()
	if out != nil {
		out.abort()
	}
}

// loser is the handshake that ends for another: the oldest that has sent nothing, else the oldest.
func (g *Guard) loser() *conn {
	g.complain()
	for e := g.open.Front(); e != nil; e = e.Next() {
		if t := e.Value.(*conn); !t.spoken.Load() && !t.waiting() {
			return t
		}
	}
	return g.open.Front().Value.(*conn)
}

// complain logs at most once a second how many handshakes failed, so that a flood does not fill the disk.
func (g *Guard) complain() {
	g.lost++
	if now := time.Now(); now.Sub(g.told) >= time.Second {
		g.cfg.Logger.Warn("handshakes ended: they were late, or all slots taken", "ended", g.lost,
			"slots", g.cfg.Open)
		g.told, g.lost = now, 0
	}
}

// greet runs a handshake and hands the connection to Accept.
func (g *Guard) greet(t *conn) {
	c := tls.Server(t, g.cfg.TLS)
	err := g.check(t, c)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		g.mu.Lock()
		g.complain()
		g.mu.Unlock()
		t.abort()
		return
	case err != nil:
		if !t.gone.Load() && g.ctx.Err() == nil {
			g.cfg.Logger.Info("connection refused", "from", t.RemoteAddr(), "err", err)
		}
		_ = t.Close() // why it is refused matters more
		return
	}
	select {
	case g.ready <- c:
	case <-g.ctx.Done():
		_ = t.Close() // the server has stopped
	}
}

func (g *Guard) check(t *conn, c *tls.Conn) error {
	if err := t.SetDeadline(time.Now().Add(g.cfg.Within)); err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	if err := c.HandshakeContext(g.ctx); err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	s := c.ConnectionState()
	if g.cfg.Admit != nil {
		if err := g.cfg.Admit(s); err != nil {
			return err
		}
	}
	t.state = &s
	if err := g.assignSlot(t, Name(s)); err != nil {
		return err
	}
	return t.SetDeadline(time.Time{})
}

// checkAgain ends connections of peers that a handshake would refuse by now, since their certificate
// was revoked or their authority is no longer trusted. One whose certificate has ended since goes on:
// if nobody has renewed the certificates of a cluster, its replicas lose their connections one by one
// and not all at once.
func (g *Guard) checkAgain() {
	tick := time.NewTicker(g.cfg.Again)
	defer tick.Stop()
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-tick.C:
		}
		for _, t := range g.seated() {
			err := g.cfg.TLS.VerifyConnection(*t.state)
			var ended x509.CertificateInvalidError
			if err == nil || errors.As(err, &ended) && ended.Reason == x509.Expired {
				continue
			}
			g.cfg.Logger.Warn("connection ended", "from", t.RemoteAddr(), "err", err)
			t.abort()
		}
	}
}

func (g *Guard) seated() (all []*conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.seats {
		for e := l.Front(); e != nil; e = e.Next() {
			all = append(all, e.Value.(*conn))
		}
	}
	return all
}

// slots are the slots in which a peer has connections: its own, or shared ones.
type slots struct {
	peer   string
	shared bool
}

// assignSlot moves a connection from its handshake's slot to its peer's.
func (g *Guard) assignSlot(t *conn, name string) error {
	reserved, always := has(g.cfg.Reserved, name), has(g.cfg.Always, name)
	g.mu.Lock()
	if g.closed || t.gone.Load() {
		g.mu.Unlock()
		return net.ErrClosed
	}
	to, out, err := g.room(name, reserved, always)
	if err != nil {
		g.mu.Unlock()
		return err
	}
	if out != nil {
		out.leave()
	}
	t.leave()
	t.sit(to)
	g.mu.Unlock()
	if out != nil {
		out.abort()
	}
	return nil
}

func has(class func(string) bool, name string) bool { return name != "" && class != nil && class(name) }

// room returns where a peer's next connection has its slot, and the connection that ends for it, if
// any. What a peer lost when its machine died is its oldest. The guard's lock is held.
func (g *Guard) room(name string, reserved, always bool) (to slots, out *conn, err error) {
	own, shared := slots{peer: name}, slots{name, true}
	mine := g.count(shared)
	over := name != "" && mine >= g.cfg.Most
	switch full := g.taken >= g.cfg.Shared; {
	case reserved, always && (full || over):
		if g.count(own) >= g.cfg.Each {
			out = g.oldest(own)
		}
		return own, out, nil
	case over:
		return shared, g.oldest(shared), nil
	case !full:
		return shared, nil, nil
	}
	if most := g.greatest(); g.count(most) > mine+1 {
		return shared, g.oldest(most), nil
	}
	return shared, nil, fmt.Errorf("all %d connections are taken", g.cfg.Shared)
}

func (g *Guard) count(s slots) int {
	if l := g.seats[s]; l != nil {
		return l.Len()
	}
	return 0
}

func (g *Guard) oldest(s slots) *conn { return g.seats[s].Front().Value.(*conn) }

// greatest is where the most shared connections of one peer are.
func (g *Guard) greatest() (most slots) {
	for s := range g.seats {
		if n, m := g.count(s), g.count(most); s.shared && (n > m || n == m && s.peer < most.peer) {
			most = s
		}
	}
	return most
}

// Accept returns the next connection whose handshake has succeeded, a *tls.Conn.
func (g *Guard) Accept() (net.Conn, error) {
	select {
	case c := <-g.ready:
		return c, nil
	case <-g.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Addr returns the listener's address.
func (g *Guard) Addr() net.Addr { return g.ln.Addr() }

// Close closes the listener and ends every handshake. Connections that Accept has returned stay.
func (g *Guard) Close() error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil
	}
	g.closed = true
	var open []*conn
	for e := g.open.Front(); e != nil; e = e.Next() {
		open = append(open, e.Value.(*conn))
	}
	g.mu.Unlock()
	g.cancel()
	err := g.ln.Close()
	for _, t := range open {
		_ = t.Close() // its handshake fails
	}
	g.wg.Wait()
	return err
}

// conn is a connection below TLS that gives its slot back when it is closed.
type conn struct {
	net.Conn
	guard  *Guard
	spoken atomic.Bool // it has sent something
	gone   atomic.Bool
	state  *tls.ConnectionState // once its handshake is over

	in *list.List // where it holds a slot, at which element; nil: nowhere. Guarded by the guard
	at *list.Element
	of slots // once its handshake is over
}

// waiting reports whether the connection has unread bytes: a busy machine can accept hundreds of
// connections before the handshake of one goes on.
func (t *conn) waiting() (yes bool) {
	c, ok := t.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	if err := raw.Control(func(fd uintptr) {
		n, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		yes = n > 0 && err == nil
	}); err != nil {
		return false
	}
	if yes {
		t.spoken.Store(true)
	}
	return yes
}

// Read implements net.Conn.
func (t *conn) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	if n > 0 && !t.spoken.Load() {
		t.spoken.Store(true)
	}
	return n, err
}

// leave gives the slot back. The guard's lock is held.
func (t *conn) leave() {
	if t.in == nil {
		return
	}
	t.in.Remove(t.at)
	if t.of.shared {
		t.guard.taken--
	}
	if t.guard.seats[t.of] == t.in && t.in.Len() == 0 {
		delete(t.guard.seats, t.of)
	}
	t.in, t.of = nil, slots{}
}

// sit takes a slot. The guard's lock is held.
func (t *conn) sit(to slots) {
	l := t.guard.seats[to]
	if l == nil {
		l = &list.List{}
		t.guard.seats[to] = l
	}
	t.in, t.at, t.of = l, l.PushBack(t), to
	if to.shared {
		t.guard.taken++
	}
}

// abort resets a connection: the kernel keeps no state of it.
func (t *conn) abort() {
	if tcp, ok := t.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // if this fails, Close sends a FIN instead
	}
	_ = t.Close() // its error does not matter
}

// Close implements net.Conn.
func (t *conn) Close() error {
	t.gone.Store(true)
	t.guard.mu.Lock()
	t.leave()
	t.guard.mu.Unlock()
	return t.Conn.Close()
}
