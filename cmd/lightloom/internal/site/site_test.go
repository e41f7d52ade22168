package site_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lightloom"
	"lightloom/cmd/lightloom/internal/site"
)

func build(t *testing.T) site.Site {
	t.Helper()
	s, err := site.Build(lightloom.Documents)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLinks: every link of every page leads to a file of the site, and to a place that is there.
func TestLinks(t *testing.T) {
	s := build(t)
	link := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	pages := 0
	for _, name := range s.Names() {
		if path.Ext(name) != ".html" {
			continue
		}
		pages++
		for _, m := range link.FindAllStringSubmatch(string(s[name]), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, has := strings.Cut(m[1], "#")
			at := path.Join(path.Dir(name), file)
			if file == "" {
				at = name
			}
			text, ok := s[at]
			if !ok {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
			if has && !strings.Contains(string(text), `id="`+anchor+`"`) {
				t.Errorf("%s links to %s: the page has no such place", name, m[1])
			}
		}
	}
	if pages < 100 {
		t.Errorf("%d pages", pages)
	}
}

// TestSearch asks a browser, which has the files alone.
func TestSearch(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if strings.Contains(","+os.Getenv("LIGHTLOOM_MUST")+",", ",chromium,") {
			t.Fatal(err)
		}
		t.Skip("no Chromium is there: apt-get install chromium")
	}
	dir := t.TempDir()
	if err := build(t).Write(dir); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{ // one browser takes a second or more to start
		"coflow-benchmark format": `href="../docs/reference.html#traces"`,
	} {
		c := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+
			t.TempDir(), "--dump-dom", "file://"+filepath.Join(dir, "docs", "reference.html")+"?q="+
			strings.ReplaceAll(query, " ", "+"))
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		if _, found, _ := strings.Cut(string(out), `id="found"`); !strings.Contains(`id="found"`+found, want) {
			t.Errorf("a search for %q finds no %s", query, want)
		}
	}
}

func TestServe(t *testing.T) {
	s := build(t)
	for address, want := range map[string]int{"/": 200, "/docs/reference.html": 200, "/docs/decisions": 302,
		"/docs/decisions/": 200, "/none": 404, "/../go.mod": 404, "/docs/examples/place.py": 200, "/search.js": 200} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+address, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", address, w.Code, want)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Serve(ctx, ln); err != nil {
		t.Error(err)
	}
}
