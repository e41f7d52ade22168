package guard_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"lightloom/southbound/guard"
	"lightloom/southbound/pki"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hanging is how long these tests wait for what must come; nothing takes a tenth of it.
const hanging = time.Minute

// rig is a guard on loopback whose callers are echoed.
type rig struct {
	*testing.T
	*guard.Guard
	ca *pki.Authority
}

func newRig(t *testing.T, c guard.Config) rig {
	t.Helper()
	return newRigBehind(t, c, func(l net.Listener) net.Listener { return l })
}

func newRigBehind(t *testing.T, c guard.Config, wrap func(net.Listener) net.Listener) rig {
	t.Helper()
	ca, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := rig{T: t, ca: ca}
	if c.TLS == nil {
		c.TLS = r.identity(pki.Controller, "server").Server(pki.Controller, pki.Client)
	}
	r.Guard = guard.New(wrap(ln), c)
	served := make(chan struct{})
	var held []net.Conn
	go func() {
		defer close(served)
		for {
			c, err := r.Accept()
			if err != nil {
				return
			}
			held = append(held, c)
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c) // until either side ends
			}()
		}
	}()
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		<-served
		for _, c := range held {
			c.Close()
		}
	})
	return r
}

func (r rig) identity(role pki.Role, name string) pki.Identity {
	r.Helper()
	id, err := r.ca.Issue(role, name)
	if err != nil {
		r.Fatal(err)
	}
	return id
}

// silent connects and says nothing.
func (r rig) silent() net.Conn {
	r.Helper()
	c, err := net.Dial("tcp", r.Addr().String())
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(hanging))
	return c
}

// call connects with an identity and waits for an echo.
func (r rig) call(id pki.Identity) (net.Conn, error) {
	c, err := tls.Dial("tcp", r.Addr().String(), id.Client("localhost", pki.Controller))
	if err != nil {
		return nil, err
	}
	r.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(hanging))
	return c, echo(c)
}

func echo(c net.Conn) error {
	if _, err := c.Write([]byte("x")); err != nil {
		return err
	}
	_, err := io.ReadFull(c, make([]byte, 1))
	return err
}

// gone waits for the end of a connection; false if it is still there.
func gone(c net.Conn) bool {
	_, err := c.Read(make([]byte, 1))
	var late net.Error
	return err != nil && !(errors.As(err, &late) && late.Timeout())
}

// TestHonestAmongSilent: a peer that completes its handshake gets in, however many others hold silent
// connections open.
func TestHonestAmongSilent(t *testing.T) {
	r := newRig(t, guard.Config{Open: 16, Within: hanging})
	who := r.identity(pki.Client, "honest")
	var all []net.Conn
	for i := range 600 {
		all = append(all, r.silent())
		if i%60 == 59 {
			begun := time.Now()
			if _, err := r.call(who); err != nil {
				t.Fatalf("behind %d silent connections: %v", i+1, err)
			}
			t.Logf("behind %d silent connections: %v", i+1, time.Since(begun))
		}
	}
	for i, c := range all[:600-16] {
		if !gone(c) {
			t.Fatalf("silent connection %d has a slot still", i)
		}
	}
}

// TestOldestSilentLosesFirst: a connection that has sent bytes outlasts silent ones, older and younger;
// among those that have, the oldest goes first.
func TestOldestSilentLosesFirst(t *testing.T) {
	r := newRig(t, guard.Config{Open: 3, Within: hanging})
	half := func() net.Conn {
		c := r.silent()
		cfg := r.identity(pki.Client, "a").Client("localhost", pki.Controller)
		if err := tls.Client(mute{c}, cfg).Handshake(); !errors.Is(err, errMute) {
			t.Fatal(err)
		}
		return c
	}
	spoken := half()
	for i := range 20 {
		if c := r.silent(); i < 18 && !gone2(c, func() { r.silent() }) {
			t.Fatalf("silent connection %d outlasts those after it", i)
		}
	}
	spoken.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if rest(spoken) {
		t.Error("one that has spoken went before silent ones")
	}
	spoken.SetReadDeadline(time.Now().Add(hanging))
	for range 3 {
		half()
	}
	if !rest(spoken) {
		t.Error("the oldest of those that have spoken has its slot still")
	}
}

// mute reads the answer to its hello and then stays silent.
type mute struct{ net.Conn }

var errMute = errors.New("says no more")

func (m mute) Read(b []byte) (int, error) {
	if _, err := m.Conn.Read(b[:1]); err != nil {
		return 0, err
	}
	return 0, errMute
}

// rest is gone for a connection that has something to read first.
func rest(c net.Conn) bool {
	_, err := io.Copy(io.Discard, c)
	var late net.Error
	return !(errors.As(err, &late) && late.Timeout())
}

// gone2 is gone, with more callers until it is so.
func gone2(c net.Conn, more func()) bool {
	for range 10 {
		more()
		c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if gone(c) {
			return true
		}
	}
	return false
}

// busy is a listener that delays reads of its first connection until the test allows them.
type busy struct {
	net.Listener
	let   chan struct{}
	taken bool
}

func (b *busy) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	if err != nil || b.taken {
		return c, err
	}
	b.taken = true
	return late{c.(*net.TCPConn), b.let}, nil
}

type late struct {
	*net.TCPConn
	let chan struct{}
}

func (l late) Read(b []byte) (int, error) {
	<-l.let
	return l.TCPConn.Read(b)
}

// told signals each write.
type told struct {
	net.Conn
	wrote chan struct{}
}

func (c told) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.wrote <- struct{}{}
	return n, err
}

// TestUnreadWordsCount: on a busy machine a peer whose bytes have not been read yet does not count as
// silent.
func TestUnreadWordsCount(t *testing.T) {
	b := &busy{let: make(chan struct{})}
	r := newRigBehind(t, guard.Config{Open: 3, Within: hanging}, func(l net.Listener) net.Listener {
		b.Listener = l
		return b
	})
	c := told{r.silent(), make(chan struct{}, 10)}
	honest := tls.Client(c, r.identity(pki.Client, "a").Client("localhost", pki.Controller))
	said := make(chan error, 1)
	go func() { said <- echo(honest) }()
	<-c.wrote
	for i := range 20 {
		if c := r.silent(); i < 16 && !gone2(c, func() { r.silent() }) {
			t.Fatalf("silent connection %d outlasts those after it", i)
		}
	}
	close(b.let)
	if err := <-said; err != nil {
		t.Errorf("one that had spoken: %v", err)
	}
}

// TestDeadline: a handshake that does not end is ended.
func TestDeadline(t *testing.T) {
	r := newRig(t, guard.Config{Within: 20 * time.Millisecond})
	if !gone(r.silent()) {
		t.Error("a silent connection outlasts the deadline")
	}
	c, err := r.call(r.identity(pki.Client, "a"))
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(60 * time.Millisecond) // thrice as long
	if err := echo(c); err != nil {
		t.Errorf("an authenticated connection, idle for longer than a handshake may take: %v", err)
	}
}

// TestReserved: strangers and other peers cannot take what is reserved; a peer that comes once too
// often loses its oldest connection, which is the one that may be dead.
func TestReserved(t *testing.T) {
	var later atomic.Bool
	r := newRig(t, guard.Config{Reserved: func(name string) bool {
		return name == guard.NameOf(pki.Controller, "r1") ||
			name == guard.NameOf(pki.Controller, "r2") && later.Load()
	}, Each: 2, Shared: 3})
	for i := range 3 {
		if _, err := r.call(r.identity(pki.Client, fmt.Sprint("r", i))); err != nil { // the name alone is not enough
			t.Fatal(err)
		}
	}
	if _, err := r.call(r.identity(pki.Client, "r3")); err == nil {
		t.Error("a fourth of three shared connections was let in")
	}
	r.keepsNewest(r.identity(pki.Controller, "r1"), 2)
	newcomer := r.identity(pki.Controller, "r2")
	if _, err := r.call(newcomer); err == nil {
		t.Error("a stranger was let in where all shared connections are taken")
	}
	later.Store(true)
	if _, err := r.call(newcomer); err != nil {
		t.Errorf("one that has become a peer since: %v", err)
	}
}

// keepsNewest calls thrice too often and checks which of a peer's connections are ended.
func (r rig) keepsNewest(peer pki.Identity, most int) {
	r.Helper()
	var held []net.Conn
	for range most + 3 {
		c, err := r.call(peer)
		if err != nil {
			r.Fatalf("a peer that has room: %v", err)
		}
		held = append(held, c)
	}
	for i, c := range held {
		if ended := i < 3; ended && !gone(c) {
			r.Errorf("connection %d of a peer with %d slots is there still", i, most)
		} else if !ended && echo(c) != nil {
			r.Errorf("connection %d of a peer with %d slots was ended", i, most)
		}
	}
	held[len(held)-1].Close()
	if _, err := r.call(peer); err != nil {
		r.Fatal(err)
	}
}

// TestMostGivesWay: a peer has a bound of its own, and where all shared connections are taken, others
// come in for the oldest of the peer that has most, until all have as many.
func TestMostGivesWay(t *testing.T) {
	r := newRig(t, guard.Config{Shared: 6, Most: 4})
	greedy := r.identity(pki.Client, "greedy")
	r.keepsNewest(greedy, 4)
	var held []net.Conn
	for i := range 6 { // 4+2 are taken; then 3+3, 2+4, 1+5
		c, err := r.call(r.identity(pki.Client, fmt.Sprint("honest", i)))
		if err != nil && i < 5 {
			t.Fatalf("caller %d, among four connections of one peer: %v", i, err)
		}
		if err == nil && i == 5 {
			t.Error("a seventh peer was let in where six have one of six connections each")
		}
		held = append(held, c)
	}
	for i, c := range held[:5] {
		if err := echo(c); err != nil {
			t.Errorf("caller %d, with one connection, was ended: %v", i, err)
		}
	}
	if _, err := r.call(greedy); err == nil {
		t.Error("a second connection of one peer was let in, and no other has two")
	}
}

// TestMostByDefault: no peer holds more than three quarters of the slots, and each can have one.
func TestMostByDefault(t *testing.T) {
	for shared, most := range map[int]int{8: 6, 4: 3, 1: 1} {
		r := newRig(t, guard.Config{Shared: shared})
		r.keepsNewest(r.identity(pki.Client, "greedy"), most)
	}
}

// TestResets: a handshake that is ended in favour of others leaves nothing in the kernel: it is reset.
func TestResets(t *testing.T) {
	r := newRig(t, guard.Config{Within: 20 * time.Millisecond})
	if _, err := r.silent().Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a silent peer reads %v, want that it was reset", err)
	}
}

// flood is a listener of peers that say nothing, and go at once.
type flood struct {
	net.Listener
	errs, left atomic.Int64
	closed     chan struct{}
}

func (f *flood) Accept() (net.Conn, error) {
	switch {
	case f.left.Add(-1) >= 0:
		here, _ := net.Pipe()
		return here, nil
	case f.errs.Load() >= 0:
		f.errs.Add(1)
		return nil, syscall.EMFILE
	}
	<-f.closed
	return nil, net.ErrClosed
}

func (f *flood) Close() error { close(f.closed); return nil }

// TestFloods: handshakes that fail by the thousand are logged once a second, with their number, and a
// machine without descriptors is asked for connections less and less often, once a second at last.
func TestFloods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		f := &flood{closed: make(chan struct{})}
		f.left.Store(5000)
		ca, err := pki.New(time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		id, err := ca.Issue(pki.Controller, "server")
		if err != nil {
			t.Fatal(err)
		}
		g := guard.New(f, guard.Config{Open: 1, TLS: id.Server(pki.Client),
			Logger: slog.New(slog.NewTextHandler(&said, nil))})
		time.Sleep(10 * time.Second)
		f.errs.Store(-1 << 20)
		synctest.Wait()
		failed, refused := strings.Count(said.String(),
			"handshakes ended"), strings.Count(said.String(), "accept connection")
		if failed < 1 || failed > 12 {
			t.Errorf("5,000 handshakes that failed at once are logged %d times", failed)
		}
		if refused < 10 || refused > 20 { // 5, 10, 20 ms and so on to 1 s: 8 times, then once a second
			t.Errorf("10 s without descriptors are logged %d times", refused)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAlways: a peer that always finds room has slots of its own beside those that all others hold.
func TestAlways(t *testing.T) {
	r := newRig(t, guard.Config{Shared: 2, Each: 3, Always: func(name string) bool {
		return name == guard.NameOf(pki.Client, "admin")
	}})
	for i := range 2 {
		if _, err := r.call(r.identity(pki.Client, fmt.Sprint("other", i))); err != nil {
			t.Fatal(err)
		}
	}
	r.keepsNewest(r.identity(pki.Client, "admin"), 3)
}

// TestSlotsComeBack: every connection that ends gives its slot back, whichever side ends it.
func TestSlotsComeBack(t *testing.T) {
	r := newRig(t, guard.Config{Shared: 1})
	for i := range 20 {
		who, deadline := r.identity(pki.Client, fmt.Sprint(i)), time.Now().Add(hanging)
		for { // until the server has noticed that the one before has gone
			c, err := r.call(who)
			if err == nil {
				c.Close()
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("round %d: %v", i, err)
			}
		}
	}
}

// TestRefusals: a peer that is not admitted after its handshake is refused; before that, a TLS alert
// gives the reason.
func TestRefusals(t *testing.T) {
	r := newRig(t, guard.Config{Admit: func(s tls.ConnectionState) error {
		if strings.HasSuffix(guard.Name(s), "/impostor") {
			return errors.New("not one of us")
		}
		return nil
	}})
	if _, err := r.call(r.identity(pki.Client, "impostor")); err == nil {
		t.Error("who is not admitted was let in")
	}
	if _, err := r.call(r.identity(pki.Agent, "a")); err == nil ||
		!strings.Contains(err.Error(), "bad certificate") {
		t.Errorf("an agent: %v, want to be told of its certificate", err)
	}
	if _, err := r.call(r.identity(pki.Client, "a")); err != nil {
		t.Error(err)
	}
}

// TestClose: handshakes end, connections that were let in stay, and Accept says why there are no more.
func TestClose(t *testing.T) {
	r := newRig(t, guard.Config{Within: hanging})
	in, err := r.call(r.identity(pki.Client, "a"))
	if err != nil {
		t.Fatal(err)
	}
	idle := r.silent()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if !gone(idle) {
		t.Error("a handshake outlives the guard")
	}
	if err := echo(in); err != nil {
		t.Errorf("who was let in: %v", err)
	}
	if _, err := r.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after close: %v", err)
	}
}

// TestChecksAgain: the connection of a peer whose certificate is refused by now ends, that of one whose
// certificate has ended goes on, and so do all others.
func TestChecksAgain(t *testing.T) {
	ca, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	r := rig{T: t, ca: ca}
	c := r.identity(pki.Controller, "server").Server(pki.Controller, pki.Client)
	var later atomic.Bool
	c.VerifyConnection = func(s tls.ConnectionState) error {
		_, name, _ := pki.Peer(s)
		switch {
		case later.Load() && name == "revoked":
			return pki.ErrRevoked
		case later.Load() && name == "ended":
			return fmt.Errorf("check peer: %w", x509.CertificateInvalidError{Reason: x509.Expired})
		}
		return nil
	}
	r.Guard = newRig(t, guard.Config{TLS: c, Again: time.Millisecond}).Guard
	open := map[string]net.Conn{}
	for _, name := range []string{"revoked", "ended", "good"} {
		if open[name], err = r.call(r.identity(pki.Client, name)); err != nil {
			t.Fatal(err)
		}
	}
	later.Store(true)
	if !gone(open["revoked"]) {
		t.Error("a revoked peer stays connected")
	}
	for _, name := range []string{"ended", "good"} {
		for range 20 {
			if err := echo(open[name]); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// TestGRPC: what a gRPC server needs of TLS is added to a copy, and once.
func TestGRPC(t *testing.T) {
	was := &tls.Config{NextProtos: []string{"other"}}
	got := guard.GRPC(guard.GRPC(was))
	if !slices.Equal(got.NextProtos, []string{"other", "h2"}) ||
		!slices.Equal(was.NextProtos, []string{"other"}) {
		t.Errorf("protocols %q, before %q", got.NextProtos, was.NextProtos)
	}
}
