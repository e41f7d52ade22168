package target

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/restconf"
)

// RESTCONF serves an optical switch by Polatis' model over RESTCONF (RFC 8040): the list of pairs as a whole, and each
// of them. A pair is listed while light passes, and a change answers when the mirrors stand. Make one with NewRESTCONF.
type RESTCONF struct {
	cfg   Config
	ports int32

	mu      sync.Mutex // of changes
	version int
}

const (
	pairsPath  = "/api/data/optical-switch:cross-connects"
	yangData   = "application/yang-data+json"
	maxRequest = 1 << 20 // bytes
)

// NewRESTCONF makes a server for the optical switch of ports a side behind a door. Of c the door, TLS, Plaintext,
// Login, Settle and Log count.
func NewRESTCONF(c Config, ports int32) *RESTCONF {
	if c.Settle == 0 {
		c.Settle = 5 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &RESTCONF{cfg: c, ports: ports}
}

// Serve serves on l until ctx ends, then returns nil. It closes l.
func (s *RESTCONF) Serve(ctx context.Context, l net.Listener) error {
	a, tcp := l.Addr().(*net.TCPAddr)
	switch {
	case s.cfg.TLS != nil:
		l = tls.NewListener(l, s.cfg.TLS)
	case !s.cfg.Plaintext || s.cfg.Login != Login{} || tcp && !a.IP.IsLoopback():
		return errors.Join(errors.New("serve RESTCONF: no TLS: plaintext is offered on loopback addresses only, without "+
			"credentials"), l.Close())
	}
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 20 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelInfo)}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve RESTCONF: %w", err)
	}
	return nil
}

// Close does nothing: it holds nothing. As a server that Target could be, it knows no neighbours and has no streams.
func (s *RESTCONF) Close() {}

// Refresh does nothing.
func (s *RESTCONF) Refresh() {}

// Lag returns zero.
func (s *RESTCONF) Lag() (streams, leaves int) { return 0, 0 }

// ServeHTTP implements http.Handler.
func (s *RESTCONF) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	below, ours := strings.CutPrefix(r.URL.Path, pairsPath)
	switch {
	case s.cfg.Login != Login{} && !s.cfg.Login.same(user, password):
		answer(w, http.StatusUnauthorized, "access-denied", "wrong user name or password")
		return
	case !ours:
		answer(w, http.StatusNotFound, "invalid-value", "there is "+pairsPath+" only")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest)) // outside the lock: a caller can be slow
	if err != nil {
		answer(w, http.StatusRequestEntityTooLarge, "too-big", err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if tag := s.tag(); r.Method != http.MethodGet && r.Header.Get("If-Match") != "" &&
		r.Header.Get("If-Match") != tag {
		answer(w, http.StatusPreconditionFailed, "operation-failed", "the list is "+tag)
		return
	}
	switch {
	case r.Method == http.MethodGet && below == "":
		s.list(w, r)
	case r.Method == http.MethodPut || r.Method == http.MethodDelete:
		c, err := s.change(r.Method, below, body)
		if err != nil {
			answer(w, http.StatusBadRequest, "invalid-value", err.Error())
			return
		}
		s.set(w, r, c)
	default:
		answer(w, http.StatusMethodNotAllowed, "operation-not-supported", r.Method)
	}
}

func (s *RESTCONF) tag() string { return fmt.Sprintf(`"%d"`, s.version) }

func (s *RESTCONF) list(w http.ResponseWriter, r *http.Request) {
	seen, err := s.cfg.Door.Read(r.Context())
	if err != nil {
		answer(w, http.StatusServiceUnavailable, "resource-denied", err.Error())
		return
	}
	pairs := []restconf.Pair{}
	for _, c := range seen.Connections {
		if c.Status == southbound.Connected {
			pairs = append(pairs, restconf.Pair{Ingress: uint16(c.In) + 1,
				Egress: uint16(int32(c.Out) + 1 + s.ports)})
		}
	}
	w.Header().Set("Content-Type", yangData)
	w.Header().Set("ETag", s.tag())
	_ = json.NewEncoder(w).Encode(map[string]any{"optical-switch:cross-connects": map[string]any{"pair": pairs}})
}

// change reads what a request asks for: the whole list, or one pair of it.
func (s *RESTCONF) change(method, below string, body []byte) (*southbound.Change, error) {
	number, single := strings.CutPrefix(below, "/pair=")
	one, perr := strconv.ParseUint(number, 10, 15)
	switch {
	case below != "" && (!single || perr != nil || one < 1 || int32(one) > s.ports):
		return nil, fmt.Errorf("%q is no pair: ingress ports are 1 to %d", below, s.ports)
	case method == http.MethodDelete && single:
		return &southbound.Change{Connect: []southbound.CrossConnect{{In: southbound.Port(one) - 1,
			Out: southbound.NoPort,
			Off: true}}}, nil
	case method == http.MethodDelete:
		return &southbound.Change{Replace: true}, nil
	case single:
		var p struct {
			Pair json.RawMessage `json:"optical-switch:pair"`
		}
		if err := json.Unmarshal(body, &p); err != nil {
			return nil, err
		}
		body = fmt.Appendf(nil, `{"optical-switch:cross-connects":{"pair":%s}}`, p.Pair)
	}
	pairs, err := restconf.DecodePairs(body, s.ports)
	if err != nil {
		return nil, err
	}
	if single && (len(pairs) != 1 || uint64(pairs[0].Ingress) != one) {
		return nil, fmt.Errorf("one pair of ingress %d is asked for", one)
	}
	c := &southbound.Change{Replace: !single}
	for _, p := range pairs {
		c.Connect = append(c.Connect, southbound.CrossConnect{In: southbound.Port(p.Ingress) - 1,
			Out: southbound.Port(int32(p.Egress) - 1 - s.ports)})
	}
	return c, nil
}

// set has the switch do what was asked, and waits until it has.
func (s *RESTCONF) set(w http.ResponseWriter, r *http.Request, c *southbound.Change) {
	if err := s.cfg.Door.Set(r.Context(), c); err != nil {
		code := http.StatusServiceUnavailable
		if errors.Is(err, southbound.ErrRefused) {
			code = http.StatusConflict
		}
		answer(w, code, "operation-failed", err.Error())
		return
	}
	s.version++
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Settle)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !s.stands(ctx, c) {
		select {
		case <-ctx.Done():
			answer(w, http.StatusGatewayTimeout, "operation-failed",
				"the change is accepted, and the switch has not made it")
			return
		case <-tick.C:
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// stands reports whether the mirrors are where a change wants them, or have failed.
func (s *RESTCONF) stands(ctx context.Context, c *southbound.Change) bool {
	seen, err := s.cfg.Door.Read(ctx)
	if err != nil {
		return false
	}
	is := map[southbound.Port]southbound.Port{}
	for _, x := range seen.Connections {
		switch x.Status {
		case southbound.Connected, southbound.Failed, southbound.Invalid:
			is[x.In] = x.Out
		default:
			return false // on its way
		}
	}
	for _, x := range c.Connect {
		if out, lit := is[x.In]; x.Off == lit || lit && out != x.Out {
			return false
		}
	}
	return true
}

// answer is an error as RFC 8040, section 7.1, has it.
func answer(w http.ResponseWriter, code int, tag, text string) {
	w.Header().Set("Content-Type", yangData)
	w.WriteHeader(code)
	e := map[string]string{"error-type": "application", "error-tag": tag, "error-message": text}
	_ = json.NewEncoder(w).Encode(map[string]any{"ietf-restconf:errors": map[string]any{"error": []any{e}}})
}
