package page

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of connections in memory, which have the time of a bubble.
type pipes struct {
	come   chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.come:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.come <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// clock is a source that tells how often it was looked at, and when.
type clock struct {
	began time.Time
	looks int
}

func (c *clock) Fabric() Fabric { return Fabric{} }

func (c *clock) Look(context.Context) (*Look, error) {
	c.looks++
	return &Look{Head: Head{Now: time.Since(c.began).Seconds(), Index: uint64(c.looks)}}, nil
}

// TestBrowserSleepsAnHour: a browser that sleeps is not waited for. Another page goes on being told
// everything, nothing queues up, and once that one has gone nobody looks any more. A browser that wakes
// is let in, and told what is so then.
func TestBrowserSleepsAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &clock{began: time.Now()}
		srv, err := New(Config{Source: src, Address: "127.0.0.1:80"})
		must(t, err)
		ln := &pipes{make(chan net.Conn), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- srv.Serve(ctx, ln) }()
		defer func() {
			cancel()
			must(t, <-done)
		}()
		sleeper, closeSleeper := visitor(t, srv, ln)
		defer closeSleeper()
		first, endFirst := looksOf(t, sleeper)
		defer endFirst()
		first()
		other, closeOther := visitor(t, srv, ln)
		next, end := looksOf(t, other)
		for range 600 {
			next()
		}
		if at := next().Now; at < 59 || at > 61 {
			t.Errorf("601 looks take %.1f s beside a browser that sleeps, want 60", at)
		}
		end()
		closeOther()
		time.Sleep(time.Minute)
		before := src.looks
		time.Sleep(time.Hour)
		if src.looks != before || srv.hub.watched() {
			t.Errorf("%d looks while nobody is awake", src.looks-before)
		}
		woken := time.Since(src.began).Seconds()
		again, endAgain := looksOf(t, sleeper)
		defer endAgain()
		if got := again(); got.Now < woken || got.Now > woken+1 {
			t.Errorf("a browser that wakes at %.1f s is told of %.1f s", woken, got.Now)
		}
	})
}

// TestSlowBrowsers: who sends a request byte by byte, or reads none of a stream, is cut off, with or without
// a cookie.
func TestSlowBrowsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := New(Config{Source: &clock{began: time.Now()}, Address: "127.0.0.1:80"})
		must(t, err)
		ln := &pipes{make(chan net.Conn), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- srv.Serve(ctx, ln) }()
		defer func() {
			cancel()
			must(t, <-done)
		}()
		session, _ := srv.guard.redeem(srv.guard.ticket())
		in := "Cookie: " + srv.guard.cookie() + "=" + session + "\r\n"
		const post = "POST /do/break HTTP/1.1\r\nHost: 127.0.0.1:80\r\nOrigin: http://127.0.0.1:80\r\n" +
			"Content-Type: application/json\r\nContent-Length: 100\r\n"
		for name, head := range map[string]string{"a head": "GET / HTTP/1.1\r\nX: ",
			"a body":                  post + in + "\r\n",
			"a body without a cookie": post + "\r\n"} {
			c, err := ln.dial(ctx, "", "")
			must(t, err)
			go func() { _, _ = io.Copy(io.Discard, c) }() // it reads what is answered
			began := time.Now()
			for _, err = c.Write([]byte(head)); err == nil; _, err = c.Write([]byte("x")) {
				if time.Sleep(time.Second); time.Since(began) > time.Minute {
					t.Errorf("%s is waited for longer than a minute", name)
					break
				}
			}
			_ = c.Close()
		}
		c, err := ln.dial(ctx, "", "")
		must(t, err)
		_, err = io.WriteString(c, "GET /looks HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"+in+"\r\n")
		must(t, err)
		synctest.Wait()
		watched := srv.hub.watched()
		time.Sleep(2 * writeWithin)
		if !watched || srv.hub.watched() {
			t.Errorf("who reads nothing is served: at first %v, after a while %v", watched, srv.hub.watched())
		}
		_ = c.Close()
	})
}

// visitor comes to the page with a ticket.
func visitor(t *testing.T, srv *Server, ln *pipes) (c *http.Client, end func()) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	through := &http.Transport{DialContext: ln.dial}
	c = &http.Client{Jar: jar, Transport: through}
	r, err := c.Get(srv.URL())
	must(t, err)
	must(t, r.Body.Close())
	if r.StatusCode != http.StatusOK {
		t.Fatal(r.Status)
	}
	return c, through.CloseIdleConnections
}

// looksOf returns what waits for the next look of a page.
func looksOf(t *testing.T, c *http.Client) (next func() Head, end func()) {
	t.Helper()
	r, err := c.Get("http://127.0.0.1:80/looks")
	must(t, err)
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	return func() Head {
		t.Helper()
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var l Look
				must(t, json.Unmarshal([]byte(text), &l))
				return l.Head
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return Head{}
	}, func() { _ = r.Body.Close() }
}
