package site_test

import (
	"context"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

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

// TestLinks walks the served site as a reader would, from its first page: every link is answered, leads to a place that
// is there, and no page is left out.
func TestLinks(t *testing.T) {
	s := build(t)
	srv := httptest.NewServer(s)
	defer srv.Close()
	link := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	texts := map[string]string{} // of addresses, without their anchors
	open := func(address string) string {
		text, seen := texts[address]
		if seen {
			return text
		}
		resp, err := srv.Client().Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v", address, resp.Status, err)
		}
		texts[address] = string(b)
		return string(b)
	}

	walked := map[string]bool{}
	for next := []string{srv.URL + "/index.html"}; len(next) > 0; next = next[1:] {
		page := next[0]
		if walked[page] {
			continue
		}
		walked[page] = true
		for _, m := range link.FindAllStringSubmatch(open(page), -1) {
			at, err := url.Parse(page)
			if err != nil {
				t.Fatal(err)
			}
			to, err := at.Parse(html.UnescapeString(m[1]))
			if err != nil {
				t.Fatalf("%s: %v", page, err)
			}
			if to.Host != at.Host {
				continue
			}
			anchor := to.Fragment
			to.Fragment = ""
			text := open(to.String())
			if anchor != "" && !strings.Contains(text, `id="`+anchor+`"`) {
				t.Errorf("%s links to %s: the page has no such place", page, m[1])
			}
			if path.Ext(to.Path) == ".html" {
				next = append(next, to.String())
			}
		}
	}
	for _, name := range s.Names() {
		if path.Ext(name) == ".html" && !walked[srv.URL+"/"+name] {
			t.Errorf("no link leads to %s", name)
		}
	}
	if len(walked) < 100 {
		t.Errorf("%d pages", len(walked))
	}
}

// TestOrder: a reader who follows the links to the next page sees every document but the contents, once.
func TestOrder(t *testing.T) {
	s := build(t)
	next := regexp.MustCompile(`href="([^"]*)" rel="next"`)
	seen := map[string]bool{}
	for name := "index.html"; ; {
		if seen[name] {
			t.Fatalf("%s comes twice", name)
		}
		seen[name] = true
		m := next.FindStringSubmatch(string(s[name]))
		if m == nil {
			break
		}
		name = path.Join(path.Dir(name), m[1])
	}
	for _, name := range s.Names() {
		if path.Ext(name) == ".html" && name != "docs/index.html" && !seen[name] {
			t.Errorf("%s is not in the order: list it in docs/README.md, or in its folder's README.md", name)
		}
	}
}

// TestHeader: every page has the rooms in order, and marks its own.
func TestHeader(t *testing.T) {
	s := build(t)
	rooms := regexp.MustCompile(`(?s)aria-label="Rooms">(.*?)</nav>`)
	word := regexp.MustCompile(`>([^<]+)</a>`)
	for name, own := range map[string]string{"index.html": "Start", "docs/tasks.html": "Tasks",
		"docs/runbooks/alerts.html": "Tasks", "docs/api.html": "Reference", "docs/bench/flowsim/index.html": "Measurements",
		"docs/decisions/0001-count-local-coflows-as-zero.html": "Decisions"} {
		m := rooms.FindStringSubmatch(string(s[name]))
		if m == nil {
			t.Fatalf("%s has no header", name)
		}
		var words []string
		for _, w := range word.FindAllStringSubmatch(m[1], -1) {
			words = append(words, w[1])
		}
		want := []string{"Lightloom", "Start", "Tasks", "Reference", "Measurements", "Decisions"}
		if !slices.Equal(words, want) {
			t.Errorf("%s: %q, want %q", name, words, want)
		}
		if !strings.Contains(m[1], `aria-current="true">`+own) {
			t.Errorf("%s does not mark %s:\n%s", name, own, m[1])
		}
	}
}

// TestContents: contents that lead nowhere are an error that says what to write.
func TestContents(t *testing.T) {
	for contents, want := range map[string]string{
		"# Docs\n":             "write a heading of level 2",
		"# Docs\n\n## Start\n": "link to one below its heading",
	} {
		_, err := site.Build(fstest.MapFS{"README.md": {Data: []byte("# A")},
			"docs/README.md": {Data: []byte(contents)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", contents, err, want)
		}
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
		c := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu",
			"--user-data-dir="+
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
		"/docs/decisions/": 200, "/none": 404, "/../go.mod": 404, "/docs/": 200, "/docs/examples/place.py": 200,
		"/search.js": 200, "/icon.svg": 200} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+address, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", address, w.Code, want)
		}
	}
	for host, want := range map[string]int{"127.0.0.1": 200, "127.0.0.1:8000": 200, "localhost:8000": 200,
		"[::1]:8000": 200, "[::1]": 200, "": 421, "example.com": 421, "example.com:8000": 421,
		"localhost.example.com": 421, "192.0.2.1:80": 421} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != want {
			t.Errorf("host %q: %d, want %d", host, w.Code, want)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", nil))
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
