package session

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
)

// flaky is a listener that accepts these connections, and then fails.
type flaky struct {
	net.Listener
	conns  []net.Conn
	closed chan struct{}
}

var errFull = errors.New("too many open files")

func (f *flaky) Accept() (net.Conn, error) {
	if len(f.conns) == 0 {
		return nil, errFull
	}
	c := f.conns[0]
	f.conns = f.conns[1:]
	return c, nil
}

func (f *flaky) Close() error {
	close(f.closed)
	return nil
}

// TestHandOn: a listener that fails ends the connections that it has accepted, and is closed.
func TestHandOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		in := &flaky{conns: []net.Conn{here}, closed: make(chan struct{})}
		ended := false
		err := handOn(t.Context(), in, func(ctx context.Context, c net.Conn) {
			<-ctx.Done()
			ended = c.Close() == nil
		})
		if !errors.Is(err, errFull) || !ended {
			t.Errorf("%v; its connection has ended: %v", err, ended)
		}
		<-in.closed
	})
}
