package restconf_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lightloom/southbound"
	"lightloom/southbound/restconf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(pairs ...southbound.Port) *southbound.Change {
	c := &southbound.Change{}
	for i := 0; i < len(pairs); i += 2 {
		c.Connect = append(c.Connect, southbound.CrossConnect{In: pairs[i], Out: pairs[i+1],
			Off: pairs[i+1] == southbound.NoPort})
	}
	return c
}

// TestWalk: after any changes the switch lists what a plain map says; what a change does not name is never touched, and
// a change is one request.
func TestWalk(t *testing.T) {
	s, h := newServer(t, 6)
	d := open(t, config(s, h))
	r := rand.New(rand.NewPCG(1, 2))
	reference := map[southbound.Port]southbound.Port{}
	for step := range 400 {
		c := &southbound.Change{Replace: r.IntN(8) == 0}
		ins, outs := r.Perm(6), r.Perm(6)
		for i := range r.IntN(4) {
			c.Connect = append(c.Connect, southbound.CrossConnect{In: southbound.Port(ins[i]),
				Out: southbound.Port(outs[i]),
				Off: r.IntN(4) == 0})
		}
		before := s.puts
		if err := d.Set(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if s.puts > before+1 {
			t.Fatalf("step %d: %d requests for one change", step, s.puts-before)
		}
		follow(reference, c)
		seen, err := d.Read(t.Context())
		if err != nil || len(seen.Connections) != len(reference) {
			t.Fatalf("step %d: %+v, %v; want %v", step, seen, err, reference)
		}
		for _, x := range seen.Connections {
			if out, ok := reference[x.In]; !ok || out != x.Out || x.Status != southbound.Connected {
				t.Fatalf("step %d: %+v, want %v", step, seen, reference)
			}
		}
	}
}

// follow is a plain reference for the effect of a change.
func follow(reference map[southbound.Port]southbound.Port, c *southbound.Change) {
	if c.Replace {
		clear(reference)
	}
	for _, x := range c.Connect {
		delete(reference, x.In)
		for in, out := range reference {
			if !x.Off && out == x.Out {
				delete(reference, in)
			}
		}
	}
	for _, x := range c.Connect {
		if !x.Off {
			reference[x.In] = x.Out
		}
	}
}

// TestMeanwhile: cross-connects that another client makes between a read and a write are not lost.
func TestMeanwhile(t *testing.T) {
	s, h := newServer(t, 8)
	d := open(t, config(s, h))
	s.sneak = func(pairs map[uint16]uint16) { pairs[8] = 16 }
	if err := d.Set(t.Context(), connect(0, 1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	seen, err := d.Read(t.Context())
	if err != nil || len(seen.Connections) != 3 {
		t.Errorf("%+v, %v", seen, err)
	}
}

// TestWatch: Watch reports the existing cross-connects, then changes, also those of other clients, then the end of the
// connection.
func TestWatch(t *testing.T) {
	s, h := newServer(t, 8)
	s.pairs[1] = 9
	d := open(t, config(s, h))
	events, ended := make(chan southbound.DeviceEvent, 16), make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { ended <- d.Watch(ctx, func(e southbound.DeviceEvent) { events <- e }) }()
	expect := func(want string) {
		t.Helper()
		select {
		case e := <-events:
			if got := fmt.Sprintf("%d %d %d %v", e.Kind, e.In, e.Out, e.Status); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
		case <-ctx.Done():
			t.Fatalf("%s never came", want)
		}
	}
	connected := int(southbound.ConnectionStatus)
	expect(fmt.Sprintf("%d 0 0 CONNECTED", connected))
	expect(fmt.Sprintf("%d -1 -1 DISCONNECTED", southbound.Synced))
	if err := d.Set(ctx, connect(0, 3)); err != nil {
		t.Fatal(err)
	}
	expect(fmt.Sprintf("%d 0 0 DISCONNECTED", connected))
	expect(fmt.Sprintf("%d 0 3 CONNECTED", connected))
	s.mu.Lock()
	s.pairs[5] = 14 // by hand
	s.mu.Unlock()
	expect(fmt.Sprintf("%d 4 5 CONNECTED", connected))
	h.CloseClientConnections()
	s.mu.Lock()
	s.hook = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	s.mu.Unlock()
	expect(fmt.Sprintf("%d -1 -1 DISCONNECTED", southbound.Lost))
	if err := <-ended; err == nil || !strings.Contains(err.Error(), `"sw"`) {
		t.Errorf("watch: %v", err)
	}
}

// TestHostile: answers that are wrong, huge, slow or from another server.
func TestHostile(t *testing.T) {
	say := func(code int, kind, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			fmt.Fprint(w, body)
			return true
		}
	}
	const yang = "application/yang-data+json"
	for _, tt := range []struct {
		name string
		hook func(http.ResponseWriter, *http.Request) bool
		cfg  func(*restconf.Config)
		says string
	}{
		{"not JSON", say(200, yang, "<pair/>"), nil, "decode cross-connects"},
		{"HTML", say(200, "text/html", "<html>"), nil, "text/html"},
		{"another resource", say(200, yang, `{"ietf-system:system":{}}`), nil, "has no optical-switch"},
		{"half a pair", say(200, yang, `{"optical-switch:cross-connects":{"pair":[{"ingress":1}]}}`), nil, "no egress"},
		{"foreign port", say(200, yang, `{"optical-switch:cross-connects":{"pair":[{"ingress":9,"egress":10}]}}`), nil,
			"ports are 1 to 8"},
		{"a port twice", say(200, yang, `{"optical-switch:cross-connects":{"pair":[{"ingress":1,"egress":9},{"ingress":2,`+
			`"egress":9}]}}`), nil, "stands twice"},
		{"a number as text", say(200, yang, `{"optical-switch:cross-connects":{"pair":[{"ingress":"1","egress":9}]}}`), nil,
			"ingress"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "https://192.0.2.1/", http.StatusFound)
			return true
		}, nil, "302"},
		{"huge", say(200, yang, strings.Repeat(" ", 4096)), func(c *restconf.Config) {
			c.MaxBytes = 1024
		}, "longer than 1024 bytes"},
		{"never", func(_ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			panic(http.ErrAbortHandler) // to return would answer
		}, func(c *restconf.Config) { c.Timeout = 100 * time.Millisecond }, "deadline"},
		{"byte by byte", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", yang)
			for tick := time.NewTicker(5 * time.Millisecond); ; {
				fmt.Fprint(w, " ") // goes before any JSON
				_ = http.NewResponseController(w).Flush()
				select {
				case <-tick.C:
				case <-r.Context().Done():
					panic(http.ErrAbortHandler)
				}
			}
		}, func(c *restconf.Config) { c.Timeout = 100 * time.Millisecond }, "deadline"},
		{"wrong password", nil, func(c *restconf.Config) { c.Password = "guess" }, "401"},
		{"foreign certificate", nil, func(c *restconf.Config) { c.TLS = nil }, "certificate"},
		{"its own words", say(409, yang,
			`{"ietf-restconf:errors":{"error":[{"error-tag":"in-use","error-message":"laser"}]}}`), nil, "in-use: laser"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, h := newServer(t, 8)
			s.hook = tt.hook
			cfg := config(s, h)
			if tt.cfg != nil {
				tt.cfg(&cfg)
			}
			d := open(t, cfg)
			_, err := d.Read(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), `switch "sw"`) {
				t.Errorf("%v, want %q", err, tt.says)
			}
			if err := d.Set(t.Context(), connect(0, 1)); err == nil {
				t.Error("a Set went through")
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the password is in %v", err)
			}
		})
	}
}

// TestRefuses: which errors mean that the same would be refused again.
func TestRefuses(t *testing.T) {
	s, h := newServer(t, 8)
	d := open(t, config(s, h))
	for _, c := range []*southbound.Change{connect(8, 0), connect(0, 8), connect(0, 1, 0, 2),
		connect(0, 1, 2, 1),
		{Rules: []southbound.Rule{{}}}} {
		if err := d.Set(t.Context(), c); !errors.Is(err, southbound.ErrRefused) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for code, refused := range map[int]bool{400: true, 404: true, 409: true, 401: false,
		429: false, 500: false,
		503: false} {
		s.mu.Lock()
		s.hook = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet {
				return false
			}
			w.WriteHeader(code)
			return true
		}
		s.mu.Unlock()
		if err := d.Set(t.Context(), connect(0, 1)); err == nil ||
			errors.Is(err, southbound.ErrRefused) != refused {
			t.Errorf("%d: %v", code, err)
		}
	}
}

func TestBadConfig(t *testing.T) {
	for _, tt := range []struct {
		cfg  restconf.Config
		says string
	}{
		{restconf.Config{URL: "http://127.0.0.1/api", Ports: 4}, "plaintext is not asked for"},
		{restconf.Config{URL: "http://192.0.2.1/api", Ports: 4, Plaintext: true}, "loopback"},
		{restconf.Config{URL: "http://127.0.0.1/api", Ports: 4, Plaintext: true, User: "u"}, "credentials"},
		{restconf.Config{URL: "https://u:secret@192.0.2.1/api", Ports: 4}, "credentials are named elsewhere"},
		{restconf.Config{URL: "https://192.0.2.1/api?x=1", Ports: 4}, "RESTCONF root"},
		{restconf.Config{URL: "ftp://192.0.2.1/api", Ports: 4}, "https"},
		{restconf.Config{URL: ":\x00secret", Ports: 4}, "cannot be read"},
		{restconf.Config{URL: "https://192.0.2.1/api"}, "ports"},
	} {
		if _, err := restconf.New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.says) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v, want %q", tt.cfg.URL, err, tt.says)
		}
	}
}

// FuzzDecodePairs: whatever a switch says, what is read is pairs of its ports, each once, in order.
func FuzzDecodePairs(f *testing.F) {
	f.Add([]byte(`{"optical-switch:cross-connects":{"pair":[{"ingress":1,"egress":9}]}}`))
	f.Add([]byte(`{"cross-connects":{"optical-switch:pair":[{"ingress":8,"egress":16},{"ingress":1,"egress":9}]}}`))
	f.Add([]byte(`{"optical-switch:cross-connects":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		pairs, err := restconf.DecodePairs(data, 8)
		if err != nil {
			return
		}
		outs := map[uint16]bool{}
		for i, p := range pairs {
			if p.Ingress < 1 || p.Ingress > 8 || p.Egress < 9 || p.Egress > 16 || outs[p.Egress] || i > 0 &&
				pairs[i-1].Ingress >= p.Ingress {
				t.Fatalf("%v", pairs)
			}
			outs[p.Egress] = true
		}
	})
}
