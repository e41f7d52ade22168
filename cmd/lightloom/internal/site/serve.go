package site

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ServeHTTP answers with one file. All of them are public, so it asks for no credentials.
func (s Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if name == "" || strings.HasSuffix(r.URL.Path, "/") {
		name = path.Join(name, "index.html")
	}
	text, ok := s[name]
	switch {
	case !loopback(r.Host): // somebody else's name that leads here: a page of that name would read this as its own
		http.Error(w, fmt.Sprintf("the documentation is at a loopback address, not at %.100q", r.Host),
			http.StatusMisdirectedRequest)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "only GET is answered", http.StatusMethodNotAllowed)
		return
	case !ok && s[path.Join(name, "index.html")] != nil:
		http.Redirect(w, r, "/"+name+"/", http.StatusFound)
		return
	case !ok:
		http.NotFound(w, r)
		return
	}
	kind := mime.TypeByExtension(path.Ext(name))
	if kind == "" {
		kind = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'")
	_, _ = w.Write(text) // the browser has gone
}

// loopback reports whether a request was sent to localhost, or to an address of this machine alone.
func loopback(at string) bool {
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		host = strings.Trim(at, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Serve serves until the context ends.
func (s Site) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve documentation: %w", err)
	case <-ctx.Done():
	}
	err := srv.Close()
	if e := <-done; err == nil && !errors.Is(e, http.ErrServerClosed) {
		err = e
	}
	return err
}

// Write writes all files to a folder.
func (s Site) Write(dir string) error {
	for _, name := range s.Names() {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return fmt.Errorf("write documentation: %w", err)
		}
		if err := os.WriteFile(at, s[name], 0o644); err != nil {
			return fmt.Errorf("write documentation: %w", err)
		}
	}
	return nil
}

// Names are those of all files, in order.
func (s Site) Names() []string {
	all := make([]string, 0, len(s))
	for name := range s {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
