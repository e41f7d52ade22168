package session

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"lightloom/controller/api"
	"lightloom/lab/northbound"
)

// Dial returns a client of the controller that flags mean. That of the running fabric is reached
// through the control socket, in the name of the fabric's own client.
func Dial(to northbound.Flags) (*api.Client, error) {
	c, err := to.Find()
	if err != nil {
		return nil, err
	}
	if c.Name != northbound.Up {
		return c.Dial()
	}
	probe, err := dialControl() // for an error that says that no fabric is up
	if err != nil {
		return nil, err
	}
	if err := probe.Close(); err != nil {
		return nil, err
	}
	return api.DialThrough(func(context.Context) (net.Conn, error) {
		c, err := dialControl()
		if err != nil {
			return nil, err
		}
		if err := sendRequest(c, request{API: true}); err != nil {
			_ = c.Close() // the first error is the one to return
			return nil, err
		}
		return c, nil
	}), nil
}

// serveAPI hands on what a client calls on a connection, until it closes it or ctx ends.
func (s *keeper) serveAPI(ctx context.Context, c net.Conn) { serveOne(ctx, c, s.Client.Proxy()) }

// serveOne serves a connection until either side closes it or ctx ends. Streams end with the connection: to close the
// server would wait for its listener, which ends with the connection too.
func serveOne(ctx context.Context, c net.Conn, h http.Handler) {
	closed := make(chan struct{})
	srv := http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second,
		ConnState: func(_ net.Conn, st http.ConnState) {
			if st == http.StateClosed {
				close(closed)
			}
		}}
	defer context.AfterFunc(ctx, func() { c.Close() })()
	_ = srv.Serve(&one{c: c, closed: closed}) // that there is no other connection
}

// ListenAPI has the running fabric serve the controller's API, in the name of the fabric's own client, at a path of its
// mount namespace: whoever can open that file may do all that the user can. It ends with the fabric.
func ListenAPI(path string) error {
	_, err := ask(request{ListenAPI: path})
	return err
}

func (s *keeper) listenAPI(path string) error {
	ln, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return fmt.Errorf("serve the API: %w", err)
	}
	srv := http.Server{Handler: s.Client.Proxy(), ReadHeaderTimeout: 5 * time.Second}
	s.page.run(func() {
		defer context.AfterFunc(s.page.ctx, func() { srv.Close() })()
		_ = srv.Serve(ln) // it ends with the fabric
	})
	return nil
}

// one is a listener of one connection.
type one struct {
	c      net.Conn
	closed <-chan struct{}
}

// Accept implements net.Listener.
func (l *one) Accept() (net.Conn, error) {
	if c := l.c; c != nil {
		l.c = nil
		return c, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (l *one) Close() error { return nil }

// Addr implements net.Listener.
func (l *one) Addr() net.Addr { return &net.UnixAddr{Name: controlName(), Net: "unix"} }
