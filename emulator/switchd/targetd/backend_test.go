package targetd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/emulator/device"
	"lightloom/emulator/switchd/targetd"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/conformance"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/restconf"
)

// switchElsewhere is a RESTCONF server with a list of pairs, about which a test can make it lie.
type switchElsewhere struct {
	mu    sync.Mutex
	pairs map[uint16]uint16
	mute  bool // it cannot be reached
	lie   bool // it takes changes and does nothing
}

func (s *switchElsewhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const root = "/api/data/optical-switch:cross-connects"
	var one int
	below, ok := strings.CutPrefix(r.URL.Path, root)
	_, err := fmt.Sscanf(below, "/pair=%d", &one)
	switch {
	case s.mute:
		panic(http.ErrAbortHandler)
	case !ok || below != "" && err != nil:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		list := []restconf.Pair{}
		for _, in := range slices.Sorted(maps.Keys(s.pairs)) {
			list = append(list, restconf.Pair{Ingress: in, Egress: s.pairs[in]})
		}
		w.Header().Set("Content-Type", "application/yang-data+json")
		_ = json.NewEncoder(w).Encode(map[string]any{"optical-switch:cross-connects": map[string]any{"pair": list}})
	case s.lie:
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodDelete:
		delete(s.pairs, uint16(one))
		w.WriteHeader(http.StatusNoContent)
	default:
		s.put(w, r, uint16(one))
	}
}

func (s *switchElsewhere) put(w http.ResponseWriter, r *http.Request, one uint16) {
	var body struct {
		Top struct {
			Pair []restconf.Pair `json:"pair"`
		} `json:"optical-switch:cross-connects"`
		Pair []restconf.Pair `json:"optical-switch:pair"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if one == 0 {
		clear(s.pairs)
	}
	for _, p := range append(body.Top.Pair, body.Pair...) {
		s.pairs[p.Ingress] = p.Egress
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *switchElsewhere) set(f func(*switchElsewhere)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// fronted is a target in front of a switch elsewhere, over plaintext on loopback.
func fronted(t *testing.T, profile string) (*switchElsewhere, gnmi.Config) {
	t.Helper()
	s := &switchElsewhere{pairs: map[uint16]uint16{}}
	h := httptest.NewServer(s)
	d, err := restconf.New(restconf.Config{Name: "polatis", URL: h.URL + "/api", Ports: 8,
		Plaintext: true, Every: 10 * ms,
		Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- targetd.Run(ctx, l, targetd.Config{Config: device.Config{Name: "polatis", Ports: 8},
			Profile: profile,
			Backend: d, Settle: time.Second})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		d.Close()
		h.Close()
	})
	p, err := gnmi.Named(profile, 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	cfg := gnmi.Config{Name: "polatis", Addr: l.Addr().String(), Plaintext: true, Profile: p}
	within(t, "the target reaches its switch", func() bool {
		conn, err := gnmi.Connect(cfg)
		if err != nil {
			return false
		}
		defer conn.Close()
		_, err = probe.Read(t.Context(), gpb.NewGNMIClient(conn), p)
		return err == nil
	})
	return s, cfg
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick, late := time.NewTicker(5*ms), time.After(time.Minute)
	defer tick.Stop()
	for !ok() {
		select {
		case <-late:
			t.Fatalf("never: %s", what)
		case <-tick.C:
		}
	}
}

// TestBackendRules: a target in front of a RESTCONF switch keeps the rules that the emulated ones keep.
func TestBackendRules(t *testing.T) {
	for _, profile := range []string{"ocp", "sonic-ocs", "polatis"} {
		t.Run(profile, func(t *testing.T) {
			_, cfg := fronted(t, profile)
			conn, err := gnmi.Connect(cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			held := 0
			for _, f := range conformance.Run(t.Context(), conn, cfg.Profile, 8,
				conformance.Options{Write: true}) {
				if f.Result == conformance.Broken {
					t.Errorf("%s: %s", f.Rule, f.Why)
				}
				if f.Result == conformance.Held {
					held++
				}
			}
			if held < 12 {
				t.Errorf("only %d rules were tried", held)
			}
		})
	}
}

// TestBackend: the target shows every change of the switch, whichever client made it, and reports what
// the switch cannot do.
func TestBackend(t *testing.T) {
	t.Parallel()
	s, cfg := fronted(t, "ocp")
	d, err := gnmi.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	shows := func(in, out southbound.Port, want southbound.Status) {
		t.Helper()
		within(t, fmt.Sprintf("%d→%d is %v", in, out, want), func() bool {
			seen, err := d.Read(t.Context())
			got := southbound.Disconnected
			for _, c := range seen.Connections {
				if c.In == in && c.Out == out {
					got = c.Status
				}
			}
			return err == nil && got == want
		})
	}
	set := func(pairs ...southbound.Port) error {
		c := &southbound.Change{}
		for i := 0; i < len(pairs); i += 2 {
			c.Connect = append(c.Connect, southbound.CrossConnect{In: pairs[i], Out: pairs[i+1],
				Off: pairs[i+1] == southbound.NoPort})
		}
		return d.Set(t.Context(), c)
	}
	if err := set(0, 1, 2, 3); err != nil {
		t.Fatal(err)
	}
	shows(0, 1, southbound.Connected)
	s.set(func(s *switchElsewhere) {
		if s.pairs[1] != 10 || s.pairs[3] != 12 || len(s.pairs) != 2 {
			t.Errorf("the switch has %v", s.pairs)
		}
		s.pairs[6] = 16 // by hand
		delete(s.pairs, 3)
	})
	shows(5, 7, southbound.Connected)
	shows(2, 3, southbound.Disconnected)

	s.set(func(s *switchElsewhere) { s.mute = true })
	within(t, "the target says that its switch is gone",
		func() bool { _, err := d.Read(t.Context()); return err != nil })
	if err := set(4, 4); err == nil {
		t.Error("a Set of a switch that is gone was accepted")
	}
	s.set(func(s *switchElsewhere) { s.mute = false })
	shows(5, 7, southbound.Connected) // it comes back, and so does a circuit made by hand
	if err := set(5, southbound.NoPort); err != nil {
		t.Fatal(err)
	}
	shows(5, 7, southbound.Disconnected)

	s.set(func(s *switchElsewhere) { s.lie = true })
	if err := set(6, 6); err != nil {
		t.Fatal(err)
	}
	shows(6, 6, southbound.PendingConnection)
	shows(6, 6, southbound.Failed)
	s.set(func(s *switchElsewhere) { s.lie = false })
	if err := set(6, 6); err != nil {
		t.Fatal(err)
	}
	shows(6, 6, southbound.Connected)
}
