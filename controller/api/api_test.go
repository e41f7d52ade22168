package api

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/southbound/pki"
)

func TestSubmitThroughAnyReplica(t *testing.T) {
	tc := newTestCluster(t, nil)
	ctx := within(t, hanging)
	for leader := range 3 {
		tc.lead(leader)
		for via := range 3 {
			name := fmt.Sprintf("leader %d via %d", leader, via)
			ids, err := tc.dial(t, via).Submit(ctx, NewRequestID(),
				[]*controller.Job{coflow(name), coflow(name + " too")})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if want := controller.JobID(len(tc.order) - 2); len(ids) != 2 || ids[0] != want || ids[1] != want+1 ||
				tc.order[want] != name {
				t.Errorf("%s: ids %v, want %d and the next", name, ids, want)
			}
		}
	}
}

// The same request id is the same batch, however often it is sent and whatever was answered before.
func TestSubmitIsTakenOnce(t *testing.T) {
	tc := newTestCluster(t, nil)
	ctx := within(t, hanging)
	tc.fate = []error{ErrUncertain, fmt.Errorf("commit: %w", ErrUncertain),
		fmt.Errorf("again: %w", ErrNotLeader)}
	c := tc.dial(t, 0, 1, 2)
	for range 3 {
		ids, err := c.Submit(ctx, "batch-1", []*controller.Job{coflow("a"), coflow("b")})
		if err != nil || !slices.Equal(ids, []controller.JobID{0, 1}) {
			t.Errorf("ids %v, %v", ids, err)
		}
	}
	if !slices.Equal(tc.order, []string{"a", "b"}) {
		t.Errorf("taken: %v", tc.order)
	}
}

// A client's call outlasts an election, and the death of replicas.
func TestSubmitWaitsForALeader(t *testing.T) {
	tc := newTestCluster(t, nil)
	tc.lead(-1)
	tc.stop[0]()
	got := make(chan error, 1)
	c := tc.dial(t, 0, 1, 2)
	go func() {
		_, err := c.Submit(within(t, hanging), "x", []*controller.Job{coflow("a")})
		got <- err
	}()
	select {
	case err := <-got:
		t.Errorf("answered without a leader: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	tc.lead(2)
	if err := <-got; err != nil {
		t.Error(err)
	}
	// No leader is ever elected: the deadline ends the call, and the error names the reason.
	tc.lead(-1)
	_, err := c.Submit(within(t, 100*time.Millisecond), "y", []*controller.Job{coflow("b")})
	if code := CodeOf(err); code != NoLeader && code != Late {
		t.Errorf("without a leader: %v (%s)", err, code)
	}
	// A leader that is known and dead.
	tc.lead(0)
	_, err = c.Submit(within(t, 100*time.Millisecond), "z", []*controller.Job{coflow("c")})
	if code := CodeOf(err); code != NoLeader && code != Late {
		t.Errorf("with a dead leader: %v (%s)", err, code)
	}
}

func TestSubmitIsForwardedOnce(t *testing.T) {
	// r1 believes that r2 leads, r2 that r1 does: a call must not go round for ever.
	tc := newTestCluster(t, func(i int, c *Config) { c.Finder = finder(fmt.Sprintf("r%d", 3-i)) })
	tc.lead(-1)
	c := tc.dial(t, 1)
	begun := time.Now()
	_, err := c.Submit(within(t, 200*time.Millisecond), "x", []*controller.Job{coflow("a")})
	if err == nil || time.Since(begun) > hanging {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
}

type finder string

func (f finder) Leader() (string, string, uint64) { return string(f), "", 1 }

func TestBadBatches(t *testing.T) {
	tc := newTestCluster(t, func(_ int, c *Config) { c.Limits.Body = 4096 })
	c := tc.dial(t, 1)
	ctx := within(t, hanging)
	wide := &controller.Job{Name: "wide", Edges: []controller.Edge{{}}}
	for range 2000 {
		wide.Edges[0].Flows = append(wide.Edges[0].Flows, controller.Flow{Dst: 1, Bytes: 1 << 40})
	}
	for _, tt := range []struct {
		name    string
		request string
		jobs    []*controller.Job
		code    Code
		want    string
	}{
		{"no id", "", []*controller.Job{coflow("a")}, Invalid, "no request id: choose one"},
		{"long id", strings.Repeat("x", 200), []*controller.Job{coflow("a")}, Invalid, "at most 128"},
		{"no jobs", "x", nil, Invalid, "no jobs"},
		{"empty job", "x", []*controller.Job{coflow("a"), {Name: "e"}}, Invalid,
			`job 1: job "e": has neither stages nor flows`},
		{"unknown host", "x", []*controller.Job{{Edges: []controller.Edge{{Flows: []controller.Flow{{Dst: 99, Bytes: 1}}}}}},
			Invalid, "the fabric's hosts are 0 to 7"},
		{"negative weight", "x", []*controller.Job{{Weight: -1}}, Invalid, "weight -1"},
		{"unknown kind", "x", []*controller.Job{{Edges: []controller.Edge{{Kind: 9}}}}, Invalid,
			"kind 9 is unknown"},
		{"negative count", "x", []*controller.Job{{Edges: []controller.Edge{{Flows: []controller.Flow{{Count: -1}}}}}},
			Invalid, "stands for -1 flows"},
		{"long name", "x", []*controller.Job{{Name: strings.Repeat("n", 300)}}, Invalid, "above 256 bytes"},
		{"large body", "x", []*controller.Job{wide}, TooLarge, "4096"},
	} {
		_, err := c.Submit(ctx, tt.request, tt.jobs)
		if CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v (%s), want %s saying %q", tt.name, err, CodeOf(err), tt.code, tt.want)
		}
	}
	if len(tc.order) != 0 {
		t.Errorf("taken all the same: %v", tc.order)
	}
}

func TestStatusAndState(t *testing.T) {
	tc := newTestCluster(t, nil)
	tc.lead(1)
	ctx := within(t, hanging)
	c := tc.dial(t, 0, 1, 2)
	s, err := c.Status(ctx)
	want := Status{Replica: "r0", Leader: "r1", LeaderAddress: tc.addrs[1], Term: 4, LeaderChanges: 3,
		Now: 5 * time.Second, Counts: tc.members[0].Counts(), Read: ReadAt{Kind: Local}}
	if err != nil || s != want {
		t.Errorf("status %+v, %v\nwant %+v", s, err, want)
	}
	for i := range 3 {
		if s, err := c.StatusOf(ctx, i); err != nil || s.Replica != fmt.Sprintf("r%d", i) {
			t.Errorf("status of %d: %+v, %v", i, s, err)
		}
	}
	if tc.members[0].hashed > 0 {
		t.Error("the state was hashed for a status without digest")
	}
	d, err := c.DigestOf(ctx, 0)
	if _, digest := tc.members[0].Digest(); err != nil || d.Index != want.Index || d.Digest != digest {
		t.Errorf("digest of 0: %+v, %v, want %x", d, err, digest)
	}
	for _, size := range []int{0, 1, chunk - 1, chunk, chunk + 1, 3*chunk + 5} {
		tc.members[0].snap = bytes.Repeat([]byte("s"), size)
		got, err := c.State(ctx)
		if err != nil || got.Index != 7 || got.Digest != sha256.Sum256(got.JSON) || len(got.JSON) != size {
			t.Errorf("state of %d bytes: %d bytes at %d, %v", size, len(got.JSON), got.Index, err)
		}
	}
	tc.members[0].snap = nil
	if _, err := c.State(ctx); CodeOf(err) != Internal ||
		!strings.Contains(err.Error(), "read state: no state") {
		t.Errorf("a state that cannot be read: %v", err)
	}
	tc.stop[0]()
	if s, err := c.Status(ctx); err != nil || s.Replica == "r0" {
		t.Errorf("status after the first replica went: %+v, %v", s, err)
	}
	if _, err := c.StatusOf(ctx, 0); CodeOf(err) != NoLeader {
		t.Errorf("status of a dead replica: %v (%s)", err, CodeOf(err))
	}
}

// Events go on at another replica when one goes, each once and in order.
func TestEventsResumeElsewhere(t *testing.T) {
	tc := newTestCluster(t, nil)
	publish := func(n uint64) {
		for _, h := range tc.hubs {
			h.Publish(Event{Seq: n, At: time.Duration(n), Kind: "test", Subject: "job 1", Text: "x"})
		}
	}
	c := tc.dial(t, 0, 1, 2)
	ctx, cancel := context.WithCancel(within(t, hanging))
	var got []uint64
	seen := make(chan uint64)
	done := make(chan error, 1)
	publish(1)
	publish(2)
	go func() {
		done <- c.Events(ctx, 1, func(e Event) error {
			got = append(got, e.Seq)
			seen <- e.Seq
			return nil
		})
	}()
	<-seen
	publish(3)
	<-seen
	tc.stop[0]()
	publish(4)
	publish(5)
	<-seen
	<-seen
	cancel()
	if err := <-done; err != nil || !slices.Equal(got, []uint64{2, 3, 4, 5}) {
		t.Errorf("events %v, %v", got, err)
	}
	enough := errors.New("enough")
	if err := c.Events(within(t, hanging), 0, func(Event) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("a listener's own error: %v", err)
	}
}

func TestServerSentEvents(t *testing.T) {
	tc := newTestCluster(t, func(i int, c *Config) {
		if i == 2 {
			c.Eventer = nil
		}
	})
	tc.hubs[0].Publish(Event{Seq: 8, Kind: "a", Text: "line\nbreak"})
	tc.hubs[0].Publish(Event{Seq: 9, At: 7, Kind: "b", Subject: "job 1"})
	h := httpClient(tc.tls(t))
	defer h.CloseIdleConnections()
	get := func(i int, query string, last string) *http.Response {
		t.Helper()
		r, _ := http.NewRequestWithContext(within(t, hanging), "GET",
			"https://"+tc.addrs[i]+"/v1/events"+query, nil)
		r.Header.Set("Last-Event-ID", last)
		resp, err := h.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	resp := get(0, "?after=8", "")
	if ct := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || ct != "text/event-stream" {
		t.Errorf("status %d, type %q", resp.StatusCode, ct)
	}
	in := bufio.NewReader(resp.Body)
	if line, err := readFrame(in); err != nil ||
		line != "id: 9\ndata: {\"seq\":9,\"at_ns\":7,\"kind\":\"b\",\"subject\":\"job 1\"}\n\n" {
		t.Errorf("frame %q, %v", line, err)
	}
	tc.hubs[0].Publish(Event{Seq: 10, Kind: "c"})
	if line, err := readFrame(in); err != nil || !strings.HasPrefix(line, "id: 10\n") {
		t.Errorf("frame %q, %v", line, err)
	}
	resp.Body.Close()
	if line, err := readFrame(bufio.NewReader(get(0, "", "7").Body)); err != nil ||
		!strings.Contains(line, `line\nbreak`) {
		t.Errorf("frame %q, %v", line, err)
	}
	tc.hubs[0].Publish(Event{Seq: 11, Kind: "d"})
	if line, err := readFrame(bufio.NewReader(get(0, "?after=10", "").Body)); err != nil ||
		!strings.HasPrefix(line, "id: 11\n") {
		t.Errorf("after 10 comes %q, %v", line, err)
	}
	if resp := get(0, "?after=x", ""); resp.StatusCode != 400 {
		t.Errorf("status %d for a wrong number", resp.StatusCode)
	}
	if resp := get(2, "", ""); resp.StatusCode != 501 {
		t.Errorf("status %d without events", resp.StatusCode)
	}
}

func readFrame(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		line, err := r.ReadString('\n')
		if b.WriteString(line); err != nil || line == "\n" {
			return b.String(), err
		}
	}
}

// The API accepts plain HTTP and JSON.
func TestJSONOverHTTP(t *testing.T) {
	tc := newTestCluster(t, nil)
	h := httpClient(tc.tls(t))
	defer h.CloseIdleConnections()
	post := func(call, body string) (int, string) {
		t.Helper()
		resp, err := h.Post("https://"+tc.addrs[0]+"/lightloom.v1.Controller/"+call, "application/json",
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	code, body := post("SubmitJobs",
		`{"requestId":"r","jobs":[{"name":"a","edges":[{"flows":[{"src":0,"dst":1,"bytes":"1000"}]}]}]}`)
	if code != 200 || body != `{"jobIds":[0]}` {
		t.Errorf("%d %s", code, body)
	}
	if code, body = post("SubmitJobs", `{"requestId":"r"}`); code != 400 || !strings.Contains(body, "no jobs") {
		t.Errorf("%d %s", code, body)
	}
	if code, body = post("SubmitJobs", `{"request`); code != 400 {
		t.Errorf("%d %s", code, body)
	}
	if code, _ = post("Nothing", `{}`); code != 404 {
		t.Errorf("%d for an unknown call", code)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	tc := newTestCluster(t, nil)
	other, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := other.Issue(pki.Client, "user")
	if err != nil {
		t.Fatal(err)
	}
	for name, who := range map[string]pki.Identity{"of another run": foreign,
		"a switch": tc.identity(t, pki.Switch, "tor1")} {
		cfg := who.Client("", pki.Controller)
		cfg.RootCAs = tc.tls(t).RootCAs // it is the server that must refuse
		c, err := Dial(tc.addrs[:1], cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Status(within(t, 300*time.Millisecond)); err == nil {
			t.Errorf("%s is let in", name)
		}
	}
}

// A caller that sends many batches, or an endless one, cannot hold more than the limits.
func TestBatchesWaitForEachOther(t *testing.T) {
	block := make(chan struct{})
	tc := newTestCluster(t, func(i int, c *Config) {
		c.Limits.Batches, c.Limits.Call = 1, 300*time.Millisecond
		c.Submitter.(*member).block = block
	})
	c := tc.dial(t, 0)
	results := make(chan error, 2)
	for i := range 2 {
		go func() {
			_, err := c.Submit(within(t, hanging), fmt.Sprint(i), []*controller.Job{coflow("a")})
			results <- err
		}()
	}
	select {
	case err := <-results:
		t.Errorf("answered too soon: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(block)
	for range 2 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if len(tc.order) != 2 {
		t.Errorf("taken: %v", tc.order)
	}
}
