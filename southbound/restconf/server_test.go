package restconf_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lightloom/southbound/restconf"
)

// server is a RESTCONF server of Polatis' model in memory: the reference implementation that the driver
// is held against.
type server struct {
	mu      sync.Mutex
	ports   uint16
	pairs   map[uint16]uint16
	version int
	user    string
	pass    string
	etags   bool
	hook    func(w http.ResponseWriter, r *http.Request) bool // true: it has answered
	sneak   func(pairs map[uint16]uint16)                     // another client, between a GET and the next request
	puts    int
}

const root = "/api/data/optical-switch:cross-connects"

func newServer(t testing.TB, ports int32) (*server, *httptest.Server) {
	s := &server{ports: uint16(ports), pairs: map[uint16]uint16{}, user: "admin", pass: "secret", etags: true}
	h := httptest.NewTLSServer(s)
	t.Cleanup(h.Close)
	return s, h
}

func fail(w http.ResponseWriter, code int, tag, text string) {
	w.Header().Set("Content-Type", "application/yang-data+json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"ietf-restconf:errors":{"error":[{"error-type":"application","error-tag":%q,"error-message":%q}]}}`,
		tag, text)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	user, pass, ok := r.BasicAuth()
	switch {
	case s.hook != nil && s.hook(w, r):
		return
	case s.user != "" && (!ok || user != s.user || pass != s.pass):
		fail(w, http.StatusUnauthorized, "access-denied", "who are you")
		return
	case !strings.HasPrefix(r.URL.Path, root):
		fail(w, http.StatusNotFound, "invalid-value", "no such resource")
		return
	}
	if below := strings.TrimPrefix(r.URL.Path, root); below != "" {
		s.one(w, r, below)
		return
	}
	s.whole(w, r)
}

func (s *server) etag() string { return fmt.Sprintf(`"v%d"`, s.version) }

func (s *server) whole(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		var list []restconf.Pair
		for _, in := range slices.Sorted(maps.Keys(s.pairs)) {
			list = append(list, restconf.Pair{Ingress: in, Egress: s.pairs[in]})
		}
		if s.etags {
			w.Header().Set("ETag", s.etag())
		}
		w.Header().Set("Content-Type", "application/yang-data+json")
		_ = json.NewEncoder(w).Encode(map[string]any{"optical-switch:cross-connects": map[string]any{"pair": list}})
		if s.sneak != nil {
			s.sneak(s.pairs)
			s.version++
			s.sneak = nil
		}
	case http.MethodPut:
		if m := r.Header.Get("If-Match"); m != "" && m != s.etag() {
			fail(w, http.StatusPreconditionFailed, "operation-failed", "it has changed")
			return
		}
		data, _ := io.ReadAll(r.Body)
		list, err := restconf.DecodePairs(data, int32(s.ports))
		if err != nil {
			fail(w, http.StatusBadRequest, "invalid-value", err.Error())
			return
		}
		clear(s.pairs)
		for _, p := range list {
			s.pairs[p.Ingress] = p.Egress
		}
		s.done(w)
	default:
		fail(w, http.StatusMethodNotAllowed, "operation-not-supported", r.Method)
	}
}

func (s *server) done(w http.ResponseWriter) {
	s.version++
	s.puts++
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) one(w http.ResponseWriter, r *http.Request, below string) {
	n, err := strconv.ParseUint(strings.TrimPrefix(below, "/pair="), 10, 16)
	in := uint16(n)
	if err != nil || in < 1 || in > s.ports {
		fail(w, http.StatusBadRequest, "invalid-value", "no such port")
		return
	}
	switch r.Method {
	case http.MethodDelete:
		if _, ok := s.pairs[in]; !ok {
			fail(w, http.StatusNotFound, "data-missing", "no such pair")
			return
		}
		delete(s.pairs, in)
		s.done(w)
	case http.MethodPut:
		var body struct {
			Pair []restconf.Pair `json:"optical-switch:pair"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Pair) != 1 ||
			body.Pair[0].Ingress != in {
			fail(w, http.StatusBadRequest, "malformed-message", "want one pair of this ingress")
			return
		}
		for other, out := range s.pairs {
			if out == body.Pair[0].Egress && other != in {
				fail(w, http.StatusConflict, "in-use", "the egress is taken")
				return
			}
		}
		s.pairs[in] = body.Pair[0].Egress
		s.done(w)
	default:
		fail(w, http.StatusMethodNotAllowed, "operation-not-supported", r.Method)
	}
}

func config(s *server, h *httptest.Server) restconf.Config {
	return restconf.Config{Name: "sw", URL: h.URL + "/api", Ports: int32(s.ports), TLS: h.Client().
		Transport.(*http.Transport).TLSClientConfig,
		User: s.user, Password: s.pass, Timeout: time.Minute, Every: 10 * time.Millisecond}
}

func open(t testing.TB, cfg restconf.Config) *restconf.Switch {
	t.Helper()
	d, err := restconf.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}
