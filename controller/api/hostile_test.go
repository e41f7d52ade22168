package api

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lightloom/controller"
)

// A stream outlives the limits of a call, over either HTTP, silent or not.
func TestStreamsOutliveCalls(t *testing.T) {
	t.Parallel()
	const call = 150 * time.Millisecond
	tc := newTestCluster(t, func(_ int, c *Config) { c.Limits.Call, c.Limits.Write = call, call })
	for _, h2 := range []bool{false, true} {
		cfg := tc.tls(t)
		h := httpClient(cfg)
		h.Transport.(*http.Transport).ForceAttemptHTTP2 = h2
		if !h2 {
			h.Transport.(*http.Transport).TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
		}
		for _, start := range []func() (*http.Response, error){
			func() (*http.Response, error) { return h.Get("https://" + tc.addrs[0] + "/v1/events") },
			func() (*http.Response, error) {
				return h.Post("https://"+tc.addrs[0]+"/lightloom.v1.Controller/Events", "application/connect+json",
					strings.NewReader("\x00\x00\x00\x00\x02{}"))
			},
		} {
			tc.hubs[0].Publish(Event{Seq: tc.hubs[0].last() + 1, Kind: "first"})
			resp, err := eventually(start)
			if err != nil {
				t.Fatal(err)
			}
			if want := 1 + btoi(h2); resp.ProtoMajor != want || resp.StatusCode != 200 {
				t.Errorf("HTTP/%d, status %d, want HTTP/%d and 200", resp.ProtoMajor, resp.StatusCode, want)
			}
			in := bufio.NewReader(resp.Body)
			read := func(kind string) error {
				for b := ""; !strings.Contains(b, kind); {
					c, err := in.ReadByte()
					if err != nil {
						return fmt.Errorf("after %q: %w", b, err)
					}
					b += string(c)
				}
				return nil
			}
			if err := read("first"); err != nil {
				t.Error(err)
			}
			<-time.After(3 * call) // longer than any limit
			kind := fmt.Sprintf("later-%d", tc.hubs[0].last())
			tc.hubs[0].Publish(Event{Seq: tc.hubs[0].last() + 1, Kind: kind})
			if err := read(kind); err != nil {
				t.Errorf("HTTP/%d %s: %v", resp.ProtoMajor, resp.Request.URL.Path, err)
			}
			resp.Body.Close()
		}
		h.CloseIdleConnections()
	}
}

// hanging is how long these tests wait for what must come; nothing takes a tenth of it.
const hanging = time.Minute

// eventually tries again what a busy machine may not finish within the short limits of these tests.
func eventually[T any](try func() (T, error)) (v T, err error) {
	for deadline := time.Now().Add(hanging); ; {
		if v, err = try(); err == nil || time.Now().After(deadline) {
			return v, err
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// shedder is a listener that reports when the server has closed a connection.
type shedder struct {
	net.Listener
	shed chan string // addresses of callers
}

func (s *shedder) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &watched{Conn: c, closed: sync.OnceFunc(func() { s.shed <- c.RemoteAddr().String() })}, nil
}

// await waits until the server has closed the connection of a caller.
func (s *shedder) await(t *testing.T, caller net.Addr) {
	t.Helper()
	for late := time.After(hanging); ; {
		select {
		case addr := <-s.shed:
			if addr == caller.String() {
				return
			}
		case <-late:
			t.Fatalf("caller %v was not shed within %v", caller, hanging)
		}
	}
}

type watched struct {
	net.Conn
	closed func()
}

func (w *watched) Close() error {
	w.closed()
	return w.Conn.Close()
}

// Callers that send nothing, never finish or never read are shed, and others are served meanwhile.
func TestSlowCallersAreShed(t *testing.T) {
	var shed *shedder
	tc := newTestCluster(t, func(i int, c *Config) {
		c.Limits.Call, c.Limits.Write = 300*time.Millisecond, 300*time.Millisecond
		if i == 0 {
			shed = &shedder{c.Listener, make(chan string, 1000)}
			c.Listener = shed
		}
	})
	tc.members[0].snap = []byte(strings.Repeat("s", 64<<20)) // more than sockets hold
	plain := tc.tls(t)
	plain.ServerName = "localhost"
	dial := func() *tls.Conn {
		c, err := eventually(func() (*tls.Conn, error) { return tls.Dial("tcp", tc.addrs[0], plain) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(hanging))
		return c
	}
	body := dial()
	io.WriteString(body, "POST /lightloom.v1.Controller/SubmitJobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"application/json\r\nContent-Length: 1000\r\n\r\n{")
	reader := dial()
	io.WriteString(reader, "POST /lightloom.v1.Controller/State HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"application/connect+json\r\nContent-Length: 7\r\n\r\n\x00\x00\x00\x00\x02{}")

	c := tc.dial(t, 0)
	if _, err := eventually(func() ([]controller.JobID, error) {
		return c.Submit(within(t, hanging), "x", []*controller.Job{coflow("a")})
	}); err != nil {
		t.Errorf("an honest caller: %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(body), nil)
	if err == nil {
		resp.Body.Close()
	}
	if ne, ok := err.(net.Error); ok && ne.Timeout() || err == nil && resp.StatusCode < 400 {
		t.Errorf("a body that never ends: %v %v", resp, err)
	}
	shed.await(t, reader.LocalAddr()) // it reads nothing until then
	n, err := io.Copy(io.Discard, reader)
	if ne, ok := err.(net.Error); ok && ne.Timeout() || n >= 64<<20 {
		t.Errorf("a caller that does not read was sent %d bytes: %v", n, err)
	}
}

// TestStreamsThatNobodyReads: a caller who asks for server-sent events and reads none of them is shed, and
// others are sent theirs meanwhile.
func TestStreamsThatNobodyReads(t *testing.T) {
	var shed *shedder
	tc := newTestCluster(t, func(i int, c *Config) {
		c.Limits.Write = 300 * time.Millisecond
		if i == 0 {
			shed = &shedder{c.Listener, make(chan string, 1000)}
			c.Listener = shed
		}
	})
	cfg := tc.tls(t)
	cfg.ServerName = "localhost"
	c, err := tls.Dial("tcp", tc.addrs[0], cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	h := httpClient(tc.tls(t))
	defer h.CloseIdleConnections()
	resp, err := h.Get("https://" + tc.addrs[0] + "/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	text := strings.Repeat("s", 1<<20)
	for seq := uint64(1); seq <= 32; seq++ { // more than sockets hold
		tc.hubs[0].Publish(Event{Seq: seq, Kind: "much", Text: text})
		if frame, err := readFrame(in); err != nil || !strings.HasPrefix(frame, fmt.Sprintf("id: %d\n", seq)) {
			t.Fatalf("event %d: %.40q, %v", seq, frame, err)
		}
	}
	shed.await(t, c.LocalAddr())
}
