package page

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mostZipped is how many bytes the page has, as a browser loads it.
const mostZipped = 60_000

// TestFiles: the page is small, and the libraries are those that SHA256SUMS names, with their licences.
func TestFiles(t *testing.T) {
	all, err := files()
	must(t, err)
	sums, sum := string(all["/vendor/SHA256SUMS"].plain), 0
	for name, f := range all {
		dir, base := path.Split(name)
		if dir != "/vendor/" {
			sum += len(f.zip)
			continue
		}
		if path.Ext(base) == ".txt" || base == "SHA256SUMS" {
			continue
		}
		sum += len(f.zip)
		if want := fmt.Sprintf("%x  %s\n", sha256.Sum256(f.plain), base); !strings.Contains(sums, want) {
			t.Errorf("SHA256SUMS lacks %q", want)
		}
		lib := strings.ReplaceAll(strings.TrimSuffix(base, path.Ext(base)), "hooks", "preact")
		if len(all["/vendor/LICENSE."+lib+".txt"].plain) == 0 {
			t.Errorf("%s has no licence beside it", base)
		}
	}
	t.Logf("%d bytes zipped", sum)
	if sum > mostZipped {
		t.Errorf("the page has %d bytes zipped, at most %d", sum, mostZipped)
	}
}

// TestGuard: a ticket is good once, the cookie that it gives is good from then on, and what comes from elsewhere is
// refused.
func TestGuard(t *testing.T) {
	g := &guard{port: "8080"}
	h := g.protect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") }))
	ask := func(method, target string, header ...string) *http.Response {
		r := httptest.NewRequest(method, "http://127.0.0.1:8080"+target, nil)
		for i := 0; i < len(header); i += 2 {
			if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
				r.Host = header[i+1]
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	ticket := g.ticket()
	if r := ask("GET", "/?ticket="+ticket, "Host", "evil.example:8080"); r.StatusCode != http.StatusForbidden {
		t.Errorf("another host is answered %s", r.Status)
	}
	r := ask("GET", "/?ticket="+ticket)
	if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/" || len(r.Cookies()) != 1 {
		t.Fatalf("the ticket is answered %s, to %q, with %d cookies", r.Status, r.Header.Get("Location"), len(r.Cookies()))
	}
	c := r.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
		t.Errorf("the cookie %v can leave the page", c)
	}
	in, json := []string{"Cookie", c.Name + "=" + c.Value}, []string{"Content-Type", "application/json"}
	own := []string{"Origin", "http://127.0.0.1:8080"}
	for _, x := range []struct {
		name, method, target string
		header               [][]string
		want                 int
	}{
		{"no cookie", "GET", "/", nil, http.StatusUnauthorized},
		{"used ticket", "GET", "/?ticket=" + ticket, nil, http.StatusUnauthorized},
		{"no such ticket", "GET", "/?ticket=A", nil, http.StatusUnauthorized},
		{"cookie", "GET", "/", [][]string{in}, http.StatusOK},
		{"used ticket, but in", "GET", "/?ticket=" + ticket, [][]string{in}, http.StatusSeeOther},
		{"cookie of another", "GET", "/", [][]string{{"Cookie", c.Name + "=A"}}, http.StatusUnauthorized},
		{"localhost", "GET", "/", [][]string{in, {"Host", "localhost:8080"}}, http.StatusOK},
		{"other host", "GET", "/", [][]string{in, {"Host", "rebound.example:8080"}}, http.StatusForbidden},
		{"other port", "GET", "/", [][]string{in, {"Host", "127.0.0.1:8081"}}, http.StatusForbidden},
		{"other origin", "GET", "/looks", [][]string{in, {"Origin", "http://127.0.0.1:8081"}}, http.StatusForbidden},
		{"other site", "GET", "/looks", [][]string{in, {"Sec-Fetch-Site", "cross-site"}}, http.StatusForbidden},
		{"link", "GET", "/", [][]string{in, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}}, http.StatusOK},
		{"change", "POST", "/do/break", [][]string{in, json, own}, http.StatusOK},
		{"change without a cookie", "POST", "/do/break", [][]string{json, own}, http.StatusUnauthorized},
		{"change without origin", "POST", "/do/break", [][]string{in, json}, http.StatusForbidden},
		{"change of a form", "POST", "/do/break", [][]string{in, own, {"Content-Type", "text/plain"}}, http.StatusForbidden},
		{"change by GET of a form", "PUT", "/do/break", [][]string{in, own, json}, http.StatusForbidden},
	} {
		var header []string
		for _, h := range x.header {
			header = append(header, h...)
		}
		if r := ask(x.method, x.target, header...); r.StatusCode != x.want {
			body, _ := io.ReadAll(r.Body)
			t.Errorf("%s: %s %s is answered %s, want %d: %s", x.name, x.method, x.target, r.Status, x.want, body)
		}
	}
	for range 2 * mostKept {
		g.ticket()
	}
	if len(g.tickets) != mostKept {
		t.Errorf("%d tickets are kept, want %d", len(g.tickets), mostKept)
	}
}

// TestHub: a watcher is sent everything once, then what has changed; one that did not read is sent what is so in the
// end.
func TestHub(t *testing.T) {
	h := newHub(nil, 0)
	look := func(now float64, leader string) *Look { return &Look{Head: Head{Now: now, Leader: leader}} }
	h.publish(look(1, "a"), nil)
	w := h.join()
	if got := h.take(w); got != nil {
		t.Errorf("what is old is sent: %s", got)
	}
	h.publish(look(2, "a"), nil)
	first := string(h.take(w))
	for _, want := range []string{`"head":{"now":2`, `"jobs":null`, `"trouble":""`} {
		if !strings.Contains(first, want) {
			t.Errorf("the first look lacks %s: %s", want, first)
		}
	}
	if got := h.take(w); got != nil {
		t.Errorf("nothing has changed, and %s is sent", got)
	}
	h.publish(look(3, "a"), nil)
	h.publish(look(4, "b"), nil)
	h.publish(nil, io.ErrUnexpectedEOF)
	if got := string(h.take(w)); !strings.HasPrefix(got, `{"head":{"now":4,"leader":"b"`) ||
		!strings.HasSuffix(got, `,"trouble":"unexpected EOF"}`) {
		t.Errorf("after three changes %s is sent", got)
	}
	h.leave(w)
	if h.watched() {
		t.Error("a watcher that has left is there")
	}
}

// FuzzAsked: whatever a page posts is read or refused.
func FuzzAsked(f *testing.F) {
	f.Add(`{"kind":"link","name":"tor0-spine0","heal":true}`)
	f.Add(`{"port":"tor0:3","seconds":5}`)
	f.Fuzz(func(_ *testing.T, text string) {
		var a asked
		_ = a.read(strings.NewReader(text))
	})
}
