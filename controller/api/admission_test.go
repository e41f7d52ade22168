package api

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/southbound/pki"
)

// as returns a client of replica 0 with a certificate of that name.
func (tc *testCluster) as(t testing.TB, name string) *Client {
	t.Helper()
	c, err := Dial(tc.addrs[:1], tc.identity(t, pki.Client, name).Client("", pki.Controller))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// tenants grants that access to all of these names.
func tenants(names ...string) grants {
	g := grants{}
	for _, n := range names {
		g[n] = controller.Tenant
	}
	return g
}

// trickle begins a call with a body of that many bytes, of which it sends a part, and returns once the
// replica reads it.
func (tc *testCluster) trickle(t testing.TB, cfg *tls.Config, call string, size,
	sent int) (*tls.Conn, *bufio.Reader) {
	t.Helper()
	c, err := eventually(func() (*tls.Conn, error) { return tls.Dial("tcp", tc.addrs[0], cfg) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(hanging))
	fmt.Fprintf(c, "POST /lightloom.v1.Controller/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", call, size)
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("%q, %v: the body is not read", line, err)
	}
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(bytes.Repeat([]byte(" "), sent)); err != nil {
		t.Fatal(err)
	}
	return c, in
}

// http1 is the TLS configuration of a client that speaks it.
func (tc *testCluster) http1(t testing.TB, name string) *tls.Config {
	cfg := tc.identity(t, pki.Client, name).Client("localhost", pki.Controller)
	cfg.NextProtos = []string{"http/1.1"}
	return cfg
}

// TestTricklingBodies: however many calls a tenant begins and does not finish, another's are answered.
func TestTricklingBodies(t *testing.T) {
	for _, call := range []string{"SubmitJobs", "Status", "ListJobs", "WatchJobs", "Cancel"} {
		t.Run(call, func(t *testing.T) {
			tc := newTestCluster(t, func(_ int, c *Config) {
				c.Limits.Grace, c.Limits.Call = 2*hanging, 2*hanging
				c.Callers.Granter = tenants("slow", "quick")
				c.Callers.Owners = anybodys("quick")
			})
			cfg := tc.http1(t, "slow")
			for range 60 {
				tc.trickle(t, cfg, call, 1000, 1)
			}
			c := tc.as(t, "quick")
			for i := range 20 {
				if _, err := c.Submit(within(t, hanging), fmt.Sprint(i),
					[]*controller.Job{coflow("a")}); err != nil {
					t.Fatalf("submission %d beside bodies that do not end: %v", i, err)
				}
			}
			if _, err := c.Status(within(t, hanging)); err != nil {
				t.Error(err)
			}
		})
	}
}

// anybodys says that all jobs are one caller's.
type anybodys string

func (a anybodys) JobOwner(controller.JobID) (string, bool) { return string(a), true }
func (a anybodys) BandwidthOwner(int64) (string, bool)      { return string(a), true }

// stuck is a member whose submissions by one user do not end before the test does.
type stuck struct {
	*member
	user string
	in   chan struct{}
	end  <-chan struct{}
}

func (s stuck) Submit(ctx context.Context, offers []controller.Offer) ([]controller.JobID, error) {
	if offers[0].Job.User != s.user {
		return s.member.Submit(ctx, offers)
	}
	s.in <- struct{}{}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.end:
		return nil, ErrBusy
	}
}

// TestBatchesOfOneTenant: a tenant has half of the slots for batches at most, however long its batches take.
func TestBatchesOfOneTenant(t *testing.T) {
	in, end := make(chan struct{}, 100), make(chan struct{})
	tc := newTestCluster(t, func(i int, c *Config) {
		c.Limits.Batches, c.Limits.Call = 4, 2*hanging
		c.Callers.Granter = tenants("slow", "quick")
		c.Callers.Owners = anybodys("quick")
		c.Submitter = stuck{c.Submitter.(*member), "slow", in, end}
	})
	slow, quick := tc.as(t, "slow"), tc.as(t, "quick")
	ctx, cancel := context.WithCancel(within(t, hanging))
	ended := make(chan error, 20)
	for i := range cap(ended) {
		go func() {
			_, err := slow.Submit(ctx, fmt.Sprint("s", i), []*controller.Job{coflow("a")})
			ended <- err
		}()
	}
	<-in
	<-in
	for i := range 20 {
		if _, err := quick.Submit(within(t, hanging), fmt.Sprint(i),
			[]*controller.Job{coflow("a")}); err != nil {
			t.Fatalf("submission %d beside another's that do not end: %v", i, err)
		}
	}
	if len(in) > 0 {
		t.Errorf("%d batches of one tenant are answered at once, want 2 of 4", 2+len(in))
	}
	cancel()
	close(end)
	for range cap(ended) {
		<-ended
	}
}

// TestBodiesKeepAPace: a body that is slower than the least pace ends, and one that is not does not,
// though it takes longer than the first is given.
func TestBodiesKeepAPace(t *testing.T) {
	const grace = 200 * time.Millisecond
	tc := newTestCluster(t, func(_ int, c *Config) { c.Limits.Grace, c.Limits.Pace = grace, 4 })
	_, in := tc.trickle(t, tc.http1(t, "user"), "SubmitJobs", 1000, 1)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if resp.StatusCode != Late.HTTPStatus() || !strings.Contains(string(text), "send at least 4 a second") {
		t.Errorf("status %d, %q, %v", resp.StatusCode, text, err)
	}

	body := `{"requestId":"x","jobs":[{"edges":[{"flows":[{"src":0,"dst":1,"bytes":"1"}]}]}]}`
	c, in := tc.trickle(t, tc.http1(t, "user"), "SubmitJobs", 10+len(body), 10) // may take 2.7 s
	<-time.After(2 * grace)
	io.WriteString(c, body)
	if resp, err = http.ReadResponse(in, nil); err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err = io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Errorf("a body that keeps the pace: %d, %q, %v", resp.StatusCode, text, err)
	}
}

// TestMemoryOfBodies: requests that fill the memory end for those of callers that hold less.
func TestMemoryOfBodies(t *testing.T) {
	tc := newTestCluster(t, func(_ int, c *Config) {
		c.Limits.Bytes, c.Limits.Grace, c.Limits.Call = 8<<20, 2*hanging, 2*hanging
		c.Callers.Granter = tenants("a", "b", "quick")
		c.Callers.Owners = anybodys("quick")
	})
	var held []*bufio.Reader
	for _, who := range []string{"a", "b"} {
		_, in := tc.trickle(t, tc.http1(t, who), "SubmitJobs", 8<<20, 4<<20-8<<10)
		held = append(held, in)
	}
	job := coflow("wide")
	for len(job.Edges[0].Flows) < 150_000 { // more than surely fits
		job.Edges[0].Flows = append(job.Edges[0].Flows, job.Edges[0].Flows[0])
	}
	answered := make(chan int, len(held))
	for _, in := range held {
		go func() {
			if resp, err := http.ReadResponse(in, nil); err == nil {
				defer resp.Body.Close()
				answered <- resp.StatusCode
			}
		}()
	}
	quick, ctx := tc.as(t, "quick"), within(t, hanging)
	for n := 0; ; n++ { // until the others' are read as far as they come
		if _, err := quick.Submit(ctx, fmt.Sprint(n), []*controller.Job{job}); err != nil {
			t.Fatalf("beside others that fill the memory: %v", err)
		}
		select {
		case status := <-answered:
			if status != Busy.HTTPStatus() {
				t.Errorf("one whose request ended for another's is answered %d", status)
			}
			return
		default:
		}
	}
}

// TestSlowReadersHoldNoSlot: a call has given its slot back when its answer is written.
func TestSlowReadersHoldNoSlot(t *testing.T) {
	l := DefaultLimits()
	l.Pages = 1
	s := &Server{cfg: Config{Limits: l}, admission: newAdmission(l)}
	who := Caller{Kind: byClient, Name: "a"}
	list := func(written func()) {
		r := httptest.NewRequest(http.MethodPost, apiv1connect.ControllerListJobsProcedure,
			strings.NewReader("{}"))
		s.take(httptest.NewRecorder(), r, aPage, who,
			http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				answer := passing()(func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) {
					if _, ok := s.admission.gates[aPage].Try("b"); ok {
						t.Error("a call is answered without a slot")
					}
					return nil, errors.New("none")
				})
				_, _ = answer(r.Context(), connect.NewRequest(&apiv1.ListJobsRequest{}))
				written()
			}))
	}
	calls := 0
	list(func() { list(func() { list(func() { calls++ }) }) })
	if calls != 1 {
		t.Errorf("%d calls while others are written", calls)
	}
}

// TestWatchesOfOneTenant: a tenant that watches as often as it can leaves others room.
func TestWatchesOfOneTenant(t *testing.T) {
	tc := newTestCluster(t, func(_ int, c *Config) {
		c.Limits.Watches = 4
		c.Callers.Granter = grants{"many": controller.Viewer, "one": controller.Viewer}
	})
	tc.hubs[0].Publish(Event{Seq: 1, Kind: "first"})
	watch := func(who string) error {
		h := httpClient(tc.identity(t, pki.Client, who).Client("", pki.Controller))
		t.Cleanup(h.CloseIdleConnections)
		resp, err := h.Get("https://" + tc.addrs[0] + eventsPath)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		_, err = readFrame(bufio.NewReader(resp.Body))
		return err
	}
	for i := range 3 {
		if err := watch("many"); (err != nil) != (i == 2) {
			t.Errorf("watch %d of one caller, where each has two: %v", i, err)
		}
	}
	if err := watch("one"); err != nil {
		t.Errorf("another's watch: %v", err)
	}
}

// offered keeps what its member is offered.
type offered struct {
	*member
	all []controller.Offer
}

func (o *offered) Submit(ctx context.Context, offers []controller.Offer) ([]controller.JobID, error) {
	o.all = append(o.all, offers...)
	return o.member.Submit(ctx, offers)
}

// TestArrivals: what a client says of its jobs' arrivals is believed of admins alone, and only where a
// recorded run is replayed.
func TestArrivals(t *testing.T) {
	for _, replay := range []bool{false, true} {
		var got offered
		tc := newTestCluster(t, func(i int, c *Config) {
			c.Replay = replay
			c.Callers.Granter, c.Callers.Owners = tenants("tenant"), anybodys("tenant")
			if i == 0 {
				got.member = c.Submitter.(*member)
				c.Submitter = &got
			}
		})
		for i, who := range []string{"user", "tenant"} {
			want := controller.Offer{Recorded: replay && who == "user"}
			j := coflow("a")
			if j.Arrival = 7; !want.Recorded {
				j.Arrival = 1 << 62 // with a deadline it would be refused, if it were believed
				j.Deadline = 1 << 62
			}
			if _, err := tc.as(t, who).Submit(within(t, hanging), who, []*controller.Job{j}); err != nil {
				t.Fatal(err)
			}
			if o := got.all[i]; o.Recorded != want.Recorded || (o.Job.Arrival == 7) != want.Recorded {
				t.Errorf("replay %v, %s: recorded %v, arrival %v", replay, who, o.Recorded, o.Job.Arrival)
			}
		}
	}
}

// TestUngrantedConnections: connections of a certificate without a grant leave room for other callers'
// connections. However many certificates hold connections, an admin still gets one.
func TestUngrantedConnections(t *testing.T) {
	tc := newTestCluster(t, func(_ int, c *Config) { c.Callers.Granter = tenants("quick") })
	fill := func(name string) {
		cfg := tc.identity(t, pki.Client, name).Client("localhost", pki.Controller)
		cfg.NextProtos = []string{"h2"}
		c, err := tls.Dial("tcp", tc.addrs[0], cfg)
		if err != nil {
			return // it is refused
		}
		t.Cleanup(func() { c.Close() })
		_, _ = io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		_, _ = c.Read(make([]byte, 9)) // its settings: the connection has a slot
	}
	for range 140 {
		fill("nobody")
	}
	if _, err := tc.as(t, "quick").StatusOf(within(t, hanging), 0); err != nil {
		t.Errorf("a tenant beside 140 connections of one stranger: %v", err)
	}
	for i := range 140 {
		fill(fmt.Sprint("nobody", i))
	}
	if _, err := tc.as(t, "user").StatusOf(within(t, hanging), 0); err != nil {
		t.Errorf("an admin beside 140 strangers: %v", err)
	}
}

// BenchmarkSubmit is one submission after the other, alone and beside a tenant of 1,000 connections,
// each of which begins submissions whose bodies come byte by byte. One that is ended stays away, or
// comes back after 3 s: then most of what it costs are handshakes, of both sides in this process.
func BenchmarkSubmit(b *testing.B) {
	for _, x := range []struct {
		name  string
		conns int
		pause time.Duration
	}{{"alone", 0, 0}, {"beside_1000", 1000, time.Hour}, {"beside_1000_again", 1000, 3 * time.Second}} {
		b.Run(x.name, func(b *testing.B) {
			c := newControllers(b)
			who, err := c.ca.Issue(pki.Client, "user")
			if err != nil {
				b.Fatal(err)
			}
			client, err := Dial([]string{c.north["r0"], c.north["r1"], c.north["r2"]},
				who.Client("", pki.Controller))
			if err != nil {
				b.Fatal(err)
			}
			defer client.Close()
			c.leader(b, within(b, hanging), client)
			stop := c.flood(b, x.conns, x.pause)
			defer stop()
			var took []time.Duration
			for b.Loop() {
				begun := time.Now()
				jobs := []*controller.Job{coflow("a")}
				if _, err := client.Submit(b.Context(), fmt.Sprint("x", len(took)), jobs); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
		})
	}
}

// flood has a tenant's connections trickle at every replica until stop is called.
func (c *controllers) flood(b *testing.B, conns int, pause time.Duration) (stop func()) {
	who, err := c.ca.Issue(pki.Client, "tenant")
	if err != nil {
		b.Fatal(err)
	}
	cfg := who.Client("localhost", pki.Controller)
	cfg.NextProtos = []string{"http/1.1"}
	ctx, cancel := context.WithCancel(b.Context())
	var all, first sync.WaitGroup
	first.Add(conns)
	for i := range conns {
		all.Go(func() {
			tried := sync.OnceFunc(first.Done)
			for ctx.Err() == nil {
				tricklesOnce(ctx, c.north[fmt.Sprint("r", i%3)], cfg, tried)
				tried()
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	first.Wait()
	return func() { cancel(); all.Wait() }
}

// tricklesOnce sends a body byte by byte until the connection ends.
func tricklesOnce(ctx context.Context, at string, cfg *tls.Config, begun func()) {
	c, err := (&tls.Dialer{Config: cfg}).DialContext(ctx, "tcp", at)
	if err != nil {
		return
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /lightloom.v1.Controller/SubmitJobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"application/json\r\nContent-Length: 100000\r\n\r\n")
	begun()
	for ctx.Err() == nil {
		if _, err := c.Write([]byte(" ")); err != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
