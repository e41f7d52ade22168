package replica

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/southbound/pki"
)

type wire struct {
	*stream
	ca *pki.Authority
}

func newWire(t *testing.T, change func(*Config)) wire {
	t.Helper()
	ca, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	who, err := ca.Issue(pki.Controller, "r0")
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		ID: "r0", Peers: []Peer{{ID: "r0", Addr: ln.Addr().String()}},
		ServerTLS: who.Server(pki.Controller), ClientTLS: who.Client("", pki.Controller),
	}
	c.Timeouts.fill()
	c.Limits.fill()
	change(&c)
	s := newStream(&c, ln, (&Node{}).membersNow, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { s.Close() })
	return wire{s, ca}
}

func TestStreamCarriesBothWays(t *testing.T) {
	w := newWire(t, func(*Config) {})
	heard := make(chan error, 1)
	go func() {
		c, err := w.Accept()
		if err == nil {
			_, err = io.Copy(c, io.LimitReader(c, 5))
		}
		heard <- err
	}()
	c, err := w.Dial(raft.ServerAddress(w.Addr().String()), hanging)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "hello"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "hello" {
		t.Errorf("echo %q, %v", got, err)
	}
	if err := <-heard; err != nil {
		t.Error(err)
	}
	w.Close()
	if _, err := c.Read(got); err == nil {
		t.Error("a connection outlives its stream")
	}
	if _, err := w.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after close: %v", err)
	}
	if _, err := w.Dial(raft.ServerAddress(w.Addr().String()), hanging); err == nil {
		t.Error("dial after close succeeds")
	}
}

// A client that is not a controller of this run is refused, and does not delay the controllers.
func TestStreamRefusesStrangers(t *testing.T) {
	w := newWire(t, func(c *Config) {
		c.Timeouts.Handshake = 200 * time.Millisecond
		c.Authorize = func(s tls.ConnectionState) error {
			if _, name, err := pki.Peer(s); err != nil || name == "impostor" {
				return errors.New("not one of us")
			}
			return nil
		}
	})
	foreign, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	with := func(ca *pki.Authority, role pki.Role, name string) *tls.Config {
		who, err := ca.Issue(role, name)
		if err != nil {
			t.Fatal(err)
		}
		cfg := who.Client("localhost", pki.Controller)
		cfg.InsecureSkipVerify, cfg.VerifyConnection = true, nil // it is the server that must refuse
		return cfg
	}
	for _, tc := range []struct {
		name string
		tls  *tls.Config // nil: sends nothing at all
	}{
		{"silent", nil},
		{"without a certificate", &tls.Config{InsecureSkipVerify: true}},
		{"of another run", with(foreign, pki.Controller, "r1")},
		{"an agent", with(w.ca, pki.Agent, "a")},
		{"TLS 1.2", &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}},
		{"not authorized", with(w.ca, pki.Controller, "impostor")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := net.Dial("tcp", w.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(hanging))
			if tc.tls != nil {
				c = tls.Client(c, tc.tls)
				io.WriteString(c, "hello") // an error here or below: in TLS 1.3 the client learns it on its first read
			}
			var timeout net.Error
			if _, err := c.Read(make([]byte, 1)); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
				t.Errorf("was not refused: %v", err)
			}
		})
	}
	w.Close()
	if c, err := w.Accept(); err == nil {
		t.Errorf("a stranger was let in: %v", c)
	}
}

// A replica whose disk fails is dead to its peers until it recovers.
func TestStreamHangsUp(t *testing.T) {
	w := newWire(t, func(*Config) {})
	to := raft.ServerAddress(w.Addr().String())
	c, err := w.Dial(to, hanging)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Accept(); err != nil {
		t.Fatal(err)
	}
	w.hangUp(true)
	c.SetDeadline(time.Now().Add(hanging))
	if _, err := c.Read(make([]byte, 1)); !isGone(err) && !errors.Is(err, net.ErrClosed) {
		t.Errorf("a peer of a sick replica reads %v", err)
	}
	if _, err := w.Dial(to, hanging); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a sick replica dials: %v", err)
	}
	w.hangUp(false)
	if c, err = w.Dial(to, hanging); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Accept(); err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func isGone(err error) bool {
	return errors.Is(err, io.EOF) || err != nil && strings.Contains(err.Error(), "reset")
}
