package api

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/southbound/pki"
)

// TestBrowsersAreKeptApart has a browser with an admin's certificate call in the ways in which a page of somebody
// else's can have it call: each is refused, and nothing changes.
func TestBrowsersAreKeptApart(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	// unlike this package's client, a browser waits for a server that says nothing for a second
	h := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true,
		TLSClientConfig: c.issue(t, pki.Client, "admin").Client("", pki.Controller)}}
	defer h.CloseIdleConnections()
	const cancel, get = "/lightloom.v1.Controller/Cancel", "/lightloom.v1.Controller/GetJob?encoding=json&message=%7B%7D"
	var squeezed bytes.Buffer
	z := gzip.NewWriter(&squeezed)
	_, _ = z.Write(bytes.Repeat([]byte(" "), 64<<20)) // a buffer takes all
	_ = z.Close()
	own := "https://" + c.addrs[0]
	for _, tt := range []struct {
		name, method, path, host string
		header                   map[string]string
		body                     string
		want                     int
	}{
		{"its own page", "POST", cancel, "", map[string]string{"Origin": own,
			"Sec-Fetch-Site": "same-origin"}, "{}", 200},
		{"no browser", "POST", cancel, "", nil, "{}", 200},
		{"its own page reads", "GET", get, "", map[string]string{"Sec-Fetch-Site": "same-origin"}, "", 200},
		{"typed by its user", "GET", get, "", map[string]string{"Sec-Fetch-Site": "none"}, "", 200},
		{"another page posts", "POST", cancel, "",
			map[string]string{"Origin": "https://evil.example"}, "{}", 403},
		{"a page without an origin posts", "POST", cancel, "", map[string]string{"Origin": "null"}, "{}", 403},
		{"a page of another port", "POST", cancel, "",
			map[string]string{"Origin": "https://127.0.0.1:1"}, "{}", 403},
		{"a page of the same site", "POST", cancel, "",
			map[string]string{"Sec-Fetch-Site": "same-site"}, "{}", 403},
		{"a form", "POST", cancel, "", map[string]string{"Content-Type": "text/plain"}, "{}", 415},
		{"a form of fields", "POST", cancel, "",
			map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
			"job_id=0", 415},
		{"a change by GET", "GET", cancel + "?encoding=json&message=%7B%7D", "", nil, "", 405},
		{"another page reads", "GET", get, "", map[string]string{"Sec-Fetch-Site": "cross-site"}, "", 403},
		{"another page's picture", "GET", eventsPath, "",
			map[string]string{"Sec-Fetch-Site": "cross-site"}, "", 403},
		{"another page asks first", "OPTIONS", cancel, "", map[string]string{"Origin": "https://evil.example",
			"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}, "", 403},
		{"a name that leads here", "POST", cancel, "evil.example", nil, "{}", 403},
		{"such a name's own page", "GET", eventsPath, "evil.example:7420",
			map[string]string{"Sec-Fetch-Site": "same-origin",
				"Origin": "https://evil.example:7420"}, "", 403},
		{"no name", "GET", get, "[::", nil, "", 403},
		{"a body too large", "POST", cancel, "", nil, `{"jobId":` + strings.Repeat(" ", 33<<20) + `0}`, 429},
		{"a body too large once it is unpacked", "POST", cancel, "",
			map[string]string{"Content-Encoding": "gzip"},
			squeezed.String(), 429},
		{"headers too large", "GET", get, "", map[string]string{"X-Much": strings.Repeat("x", 64<<10)}, "", 431},
		{"a path too long", "GET", get + strings.Repeat("x", 64<<10), "", nil, "", 431},
		{"a filter too long", "POST", "/lightloom.v1.Controller/ListJobs", "", nil,
			`{"filter":{"ids":[` + strings.Repeat("0,", maxIDs) + `0]}}`, 429},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := c.count()
			r, err := http.NewRequestWithContext(within(t, hanging), tt.method, own+tt.path,
				strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if r.Host = tt.host; tt.method == "POST" {
				r.Header.Set("Content-Type", "application/json")
			}
			for k, v := range tt.header {
				r.Header.Set(k, v)
			}
			resp, err := h.Do(r)
			if err != nil && tt.want == 431 { // the server closes on who sends that much
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tt.want {
				b, _ := io.ReadAll(io.LimitReader(resp.Body, 1000)) // what could be read
				t.Errorf("status %d, want %d: %s", resp.StatusCode, tt.want, b)
			}
			for k := range resp.Header {
				if strings.HasPrefix(k, "Access-Control-") {
					t.Errorf("%s is answered", k)
				}
			}
			if tt.want != 200 && c.count() != before {
				t.Error("it changes something")
			}
		})
	}
}

// TestReflection: clients learn from the server which calls it has.
func TestReflection(t *testing.T) {
	c := newCourt(t)
	h := httpClient(c.issue(t, pki.Client, "viewer").Client("", pki.Controller))
	defer h.CloseIdleConnections()
	s := grpcreflect.NewClient(h, "https://"+c.addrs[0], connect.WithGRPC()).NewStream(within(t, hanging))
	names, err := s.ListServices()
	if err != nil || len(names) != 1 || names[0] != apiv1connect.ControllerName {
		t.Errorf("%v, %v", names, err)
	}
	if files, err := s.FileContainingSymbol(apiv1connect.ControllerName); err != nil || len(files) == 0 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if _, err := s.Close(); err != nil {
		t.Error(err)
	}
}

// watched jobs for TestJobsAsEvents.
type changing struct{ JobReader }

func (changing) WatchJobs(ctx context.Context, after uint64, sink func(*apiv1.JobsChanged) error) error {
	for _, m := range []*apiv1.JobsChanged{{Reset_: true,
		Jobs: []*apiv1.JobInfo{{Id: 1, User: "ann", Name: "sort"}}},
		{Index: 5, Jobs: []*apiv1.JobInfo{{Id: 2, User: "bob"}}},
		{Index: 9, Jobs: []*apiv1.JobInfo{{Id: 1, User: "ann", Name: "sort"}}}} {
		if m.Index > 0 && m.Index <= after || m.Index == 0 && after > 0 {
			continue
		}
		if err := sink(m); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// TestJobsAsEvents: a browser watches jobs, and goes on after the last message that was whole.
func TestJobsAsEvents(t *testing.T) {
	tc := newTestCluster(t, func(_ int, c *Config) { c.Jobs = changing{} })
	h := httpClient(tc.tls(t))
	defer h.CloseIdleConnections()
	for _, tt := range []struct {
		query, last string
		ids         []string // of the frames; empty: none
		says        string   // the last
		never       string   // any; empty: all is told
	}{
		{"", "", []string{"", "id: 5", "id: 9"}, `"ann"`, ""},
		{"", "5", []string{"id: 9"}, `"ann"`, ""},
		{"?after=5", "", []string{"id: 9"}, `"ann"`, ""},
		{"?user=bob", "", []string{"", "id: 5"}, `"bob"`, "ann"},
		{"?user=ann", "", []string{"", "id: 5", "id: 9"}, `"ann"`, "bob"},
		{"?name=sort", "", []string{"", "id: 5", "id: 9"}, `"sort"`, "bob"},
	} {
		r, err := http.NewRequestWithContext(within(t, hanging), "GET",
			"https://"+tc.addrs[0]+jobsPath+tt.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Last-Event-ID", tt.last)
		resp, err := h.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(resp.Body)
		var ids []string
		frame := ""
		for range tt.ids {
			if frame, err = readFrame(in); err != nil {
				t.Fatal(err)
			}
			id, _, _ := strings.Cut(frame, "\ndata: ")
			if !strings.HasPrefix(id, "id: ") {
				id = ""
			}
			ids = append(ids, id)
			if tt.never != "" && strings.Contains(frame, tt.never) {
				t.Errorf("%q: %q", tt.query, frame)
			}
		}
		if !slices.Equal(ids, tt.ids) || !strings.Contains(frame, tt.says) {
			t.Errorf("%q after %q: %q, the last %q", tt.query, tt.last, ids, frame)
		}
		resp.Body.Close()
	}
	for query, want := range map[string]int{"?after=x": 400, "?after=-1": 400} {
		resp, err := h.Get("https://" + tc.addrs[0] + jobsPath + query)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != want {
			t.Errorf("%s: status %d, want %d", query, resp.StatusCode, want)
		}
	}
}
