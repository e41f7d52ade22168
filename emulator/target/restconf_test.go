package target_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/pki"
	"lightloom/southbound/restconf"
)

// overRESTCONF returns a server of an optical switch of eight ports whose mirrors move at once, and its door.
func overRESTCONF(t testing.TB, change func(*target.Config)) (*target.RESTCONF, *device.Door) {
	t.Helper()
	start := time.Now()
	clock := func() time.Duration { return time.Since(start) }
	door := device.NewDoor(device.New(device.Config{Name: "ocs", Kind: device.Optical, Ports: 8,
		Plane: mem.New(8, clock), Clock: clock}), clock, nil)
	t.Cleanup(background(t, door.Run))
	c := target.Config{Start: start, Door: door, Plaintext: true, Settle: 300 * ms}
	if change != nil {
		change(&c)
	}
	return target.NewRESTCONF(c, 8), door
}

// TestRESTCONF changes circuits by the driver, over TLS and with a password: the server and the switch say what a plain
// map says.
func TestRESTCONF(t *testing.T) {
	auth, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	id, err := auth.Issue(pki.Switch, "ocs")
	if err != nil {
		t.Fatal(err)
	}
	controller, err := auth.Issue(pki.Controller, "c1")
	if err != nil {
		t.Fatal(err)
	}
	login := target.Login{User: "lab", Password: "circuits"}
	s, door := overRESTCONF(t, func(c *target.Config) {
		c.TLS, c.Plaintext, c.Login = id.Server(pki.Controller), false, login
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(background(t, func(ctx context.Context) error { return s.Serve(ctx, l) }))
	config := restconf.Config{Name: "ocs", URL: "https://" + l.Addr().String() + "/api", Ports: 8,
		TLS: controller.Client("ocs", pki.Switch), User: login.User, Password: "wrong"}
	open := func() *restconf.Switch {
		sw, err := restconf.New(config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = sw.Close() })
		return sw
	}
	if _, err := open().Read(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "wrong user name or password") {
		t.Fatalf("a wrong password: %v", err)
	}
	config.Password = login.Password
	d, reference := open(), map[southbound.Port]southbound.Port{}
	rnd := rand.New(rand.NewPCG(5, 8))
	for step := range 60 {
		c := &southbound.Change{Replace: rnd.IntN(6) == 0}
		ins, outs := rnd.Perm(8), rnd.Perm(8)
		for i := range rnd.IntN(5) {
			c.Connect = append(c.Connect, southbound.CrossConnect{In: southbound.Port(ins[i]),
				Out: southbound.Port(outs[i]),
				Off: rnd.IntN(4) == 0})
		}
		if err := d.Set(t.Context(), c); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		apply(reference, c)
		for _, from := range []southbound.Device{d, door} {
			seen, err := from.Read(t.Context())
			if err != nil || len(seen.Connections) != len(reference) {
				t.Fatalf("step %d: %+v, %v; want %v", step, seen.Connections, err, reference)
			}
			for _, x := range seen.Connections {
				if out, ok := reference[x.In]; !ok || out != x.Out || x.Status != southbound.Connected {
					t.Fatalf("step %d: %+v, want %v", step, seen.Connections, reference)
				}
			}
		}
	}
}

const crossConnects = "/api/data/optical-switch:cross-connects"

// ask sends one request to a server and returns the code and the text of its answer.
func ask(s *target.RESTCONF, method, path, body, tag string) (code int, text string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if tag != "" {
		r.Header.Set("If-Match", tag)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	b, _ := io.ReadAll(w.Result().Body)
	return w.Code, string(b)
}

// TestRESTCONFRefusals: what is refused has an answer that says why, and changes nothing.
func TestRESTCONFRefusals(t *testing.T) {
	s, door := overRESTCONF(t, nil)
	if code, text := ask(s, http.MethodPut, crossConnects+"/pair=1", `{"optical-switch:pair":[{"ingress":1,"egress":9}]}`,
		""); code != http.StatusNoContent {
		t.Fatalf("pair 1: %d %s", code, text)
	}
	for _, tt := range []struct {
		name, method, path, body, tag string
		code                          int
		want                          string
	}{
		{"path", http.MethodGet, "/api/data/other", "", "", 404, "cross-connects only"},
		{"method", http.MethodPatch, crossConnects, "{}", "", 405, "PATCH"},
		{"below", http.MethodPut, crossConnects + "/other", "{}", "", 400, "is no pair"},
		{"ingress beyond", http.MethodPut, crossConnects + "/pair=9", "{}", "", 400, "ingress ports are 1 to 8"},
		{"ingress zero", http.MethodDelete, crossConnects + "/pair=0", "", "", 400, "ingress ports are 1 to 8"},
		{"egress beyond", http.MethodPut, crossConnects + "/pair=2", `{"optical-switch:pair":[{"ingress":2,"egress":99}]}`,
			"", 400, "99"},
		{"another ingress", http.MethodPut, crossConnects + "/pair=2",
			`{"optical-switch:pair":[{"ingress":3,"egress":9}]}`, "", 400, "ingress 2"},
		{"no JSON", http.MethodPut, crossConnects, "{", "", 400, "decode"},
		{"a port twice", http.MethodPut, crossConnects,
			`{"optical-switch:cross-connects":{"pair":[{"ingress":1,"egress":9},{"ingress":2,"egress":9}]}}`, "", 400, "9"},
		{"old tag", http.MethodDelete, crossConnects, "", `"0"`, 412, "the list is"},
		{"a megabyte", http.MethodPut, crossConnects, strings.Repeat(" ", 1<<20+1), "", 413, "too large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, text := ask(s, tt.method, tt.path, tt.body, tt.tag)
			if code != tt.code || !strings.Contains(text, tt.want) {
				t.Errorf("%d %s; want %d with %q", code, text, tt.code, tt.want)
			}
		})
	}
	seen, err := door.Read(t.Context())
	if err != nil || len(seen.Connections) != 1 || seen.Connections[0].In != 0 ||
		seen.Connections[0].Out != 0 {
		t.Errorf("afterwards the switch has %+v, %v", seen.Connections, err)
	}
}

// TestRESTCONFPlaintext: without TLS it serves on loopback alone, and no passwords.
func TestRESTCONFPlaintext(t *testing.T) {
	for name, change := range map[string]func(*target.Config){
		"not asked for": func(c *target.Config) { c.Plaintext = false },
		"password":      func(c *target.Config) { c.Login = target.Login{User: "a", Password: "b"} },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := overRESTCONF(t, change)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Serve(t.Context(), l); err == nil || !strings.Contains(err.Error(), "no TLS") {
				t.Errorf("served: %v", err)
			}
			if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("the listener is open: %v", err)
			}
		})
	}
}

// FuzzRESTCONF throws requests at a server: it answers, and what it lists the driver can read.
func FuzzRESTCONF(f *testing.F) {
	f.Add(uint8(0), "", []byte(`{"optical-switch:cross-connects":{"pair":[{"ingress":1,"egress":9}]}}`))
	f.Add(uint8(0), "/pair=3", []byte(`{"optical-switch:pair":[{"ingress":3,"egress":12}]}`))
	f.Add(uint8(1), "/pair=3", []byte(nil))
	f.Add(uint8(1), "", []byte(nil))
	f.Add(uint8(2), "", []byte("{}"))
	s, _ := overRESTCONF(f, nil)
	f.Fuzz(func(t *testing.T, method uint8, below string, body []byte) {
		r := httptest.NewRequest([]string{http.MethodPut, http.MethodDelete, http.MethodPost}[method%3],
			crossConnects,
			strings.NewReader(string(body)))
		r.URL.Path += below
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code < 200 || w.Code >= 600 {
			t.Errorf("answered %d", w.Code)
		}
		code, text := ask(s, http.MethodGet, crossConnects, "", "")
		if _, err := restconf.DecodePairs([]byte(text), 8); code != http.StatusOK || err != nil {
			t.Errorf("lists %d %s: %v", code, text, err)
		}
	})
}
