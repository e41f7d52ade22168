package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed static
var static embed.FS

// Config configures a Server.
type Config struct {
	Source    Source
	Recording *Recording // shown in the place of Source, which is nil then; nil: none
	Actions   Actions
	Address   string        // host:port that browsers use
	Every     time.Duration // between updates; 0: DefaultEvery
	Logger    *slog.Logger  // nil discards
}

// DefaultEvery is ten updates a second.
const DefaultEvery = 100 * time.Millisecond

// Server serves the page.
type Server struct {
	cfg   Config
	guard *guard
	hub   *hub
	files map[string]file // by path
}

// file is one of the page's.
type file struct {
	kind       string
	plain, zip []byte
}

// New returns a server that does not listen yet.
func New(cfg Config) (*Server, error) {
	_, port, err := net.SplitHostPort(cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("serve page: %w", err)
	}
	if cfg.Every == 0 {
		cfg.Every = DefaultEvery
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, guard: &guard{port: port}, hub: newHub(cfg.Source, cfg.Every)}
	if s.files, err = files(); err != nil {
		return nil, fmt.Errorf("serve page: %w", err)
	}
	about, err := json.Marshal(struct {
		Fabric
		Can []string `json:"can"`
		*recorded
	}{cfg.fabric(), cfg.Actions.names(), cfg.Recording.about()})
	if err != nil {
		return nil, fmt.Errorf("serve page: %w", err)
	}
	s.files["/fabric.json"] = file{"application/json", about, squeeze(about)}
	return s, nil
}

func (c *Config) fabric() Fabric {
	if c.Recording != nil {
		return c.Recording.Of
	}
	return c.Source.Fabric()
}

// URL returns an address that is good once.
func (s *Server) URL() string {
	return "http://" + s.cfg.Address + "/?" + ticketWord + "=" + s.guard.ticket()
}

// writeWithin bounds one write to a browser that does not read, and readWithin what one posts.
const (
	writeWithin = 10 * time.Second
	readWithin  = 10 * time.Second
)

// Serve serves a listener until ctx ends (nil) or the listener breaks (the error). It closes the listener.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog: slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug)}
	looks := make(chan struct{})
	go func() {
		defer close(looks)
		s.hub.run(ctx)
	}()
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	err := srv.Serve(ln)
	if ctx.Err() != nil || errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	cancel()
	<-looks
	return err
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	if s.cfg.Recording != nil {
		mux.HandleFunc("GET /frames/{row}", s.frames)
	} else {
		mux.HandleFunc("GET /looks", s.stream)
	}
	mux.HandleFunc("POST /do/{what}", s.do)
	mux.HandleFunc("GET /", s.file)
	return s.headers(s.guard.protect(mux))
}

// headers keep the page to what it is made of.
func (s *Server) headers(next http.Handler) http.Handler {
	policy := "default-src 'none'; script-src 'self' '" + importMapHash(s.files["/"].plain) + "'; style-src 'self'; " +
		"connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if r.ContentLength != 0 { // streams of looks, which last, have no body
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readWithin)) // our own server's writers can
		}
		next.ServeHTTP(w, r)
	})
}

// importMapHash is the only script in the page's text: where its modules are.
func importMapHash(html []byte) string {
	_, after, _ := bytes.Cut(html, []byte(`<script type="importmap">`))
	text, _, _ := bytes.Cut(after, []byte("</script>"))
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	f, ok := s.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", f.kind)
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		body = f.zip
	}
	_, _ = w.Write(body) // a browser that has gone wants none
}

// files reads the page.
func files() (map[string]file, error) {
	out := map[string]file{}
	err := fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := static.ReadFile(name)
		at := strings.TrimPrefix(name, "static")
		if at == "/index.html" {
			at = "/"
		}
		out[at] = file{kindOf(name), b, squeeze(b)}
		return err
	})
	return out, err
}

func kindOf(name string) string {
	switch path.Ext(name) {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".txt", "":
		return "text/plain; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}

func squeeze(b []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // a level that there is
	_, _ = w.Write(b)                                       // nor does memory refuse
	_ = w.Close()
	return out.Bytes()
}

// breath is how often a silent stream says that it is alive.
const breath = 10 * time.Second

// stream streams what changes, as server-sent events, until the browser goes away.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	me := s.hub.join()
	defer s.hub.leave(me)
	tick := time.NewTicker(breath)
	defer tick.Stop()
	for {
		_ = out.SetWriteDeadline(time.Now().Add(writeWithin)) // our own server's writers can
		if err := out.Flush(); err != nil {
			return
		}
		line := []byte(": alive\n\n")
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		case <-me.wake:
			what := s.hub.take(me)
			if what == nil {
				continue
			}
			line = fmt.Appendf(nil, "data: %s\n\n", what)
		}
		_ = out.SetWriteDeadline(time.Now().Add(writeWithin))
		if _, err := w.Write(line); err != nil {
			return
		}
	}
}
