package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"lightloom/cmd/lightloom/internal/console"
	"lightloom/cmd/lightloom/internal/session"
	"lightloom/controller/page"
)

// pageOfUp comes to the page as a browser does, over the machine's loopback: it is told what is so, tries a failure,
// makes a link fail, sees that, heals it, and takes a capture.
func pageOfUp(t *testing.T) {
	var b bytes.Buffer
	if err := session.ShowPage(console.OutputTable, &b); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(strings.TrimSpace(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	c := &http.Client{Jar: jar, Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	get := func(target string) *http.Response {
		r, err := c.Get(target)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := get(at.String())
	html, _ := io.ReadAll(r.Body)
	if r.Body.Close(); r.StatusCode != http.StatusOK || !bytes.Contains(html, []byte("<title>Lightloom")) {
		t.Fatalf("%s: %s", r.Status, html)
	}
	home := "http://" + at.Host
	do := func(what, body string) string {
		q, _ := http.NewRequest(http.MethodPost, home+"/do/"+what, strings.NewReader(body))
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Origin", home)
		r, err := c.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		return string(text)
	}
	looks := get(home + "/looks")
	defer looks.Body.Close()
	lines := bufio.NewScanner(looks.Body)
	lines.Buffer(nil, 1<<20)
	until := func(what string, ok func(*page.Look) bool) {
		t.Helper()
		var l page.Look // the parts that do not come are as they were
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(text), &l); err != nil {
					t.Fatal(err)
				}
			}
			if ok(&l) {
				return
			}
		}
		t.Fatalf("the stream ended without %s: %v", what, lines.Err())
	}
	until("a leader, 6 switches and 3 replicas", func(l *page.Look) bool {
		return l.Head.Leader != "" && len(l.Switches) == 6 && len(l.Replicas) == 3 && l.Switches[0].Seen != nil
	})
	if got := do("try", `{"kind":"link","name":"tor0-spine0"}`); !strings.Contains(got, "tor0-spine0 failed now") {
		t.Errorf("try: %s", got)
	}
	if got := do("break", `{"kind":"link","name":"tor9-spine0"}`); !strings.Contains(got, `"error"`) {
		t.Errorf("a link that is not there fails: %s", got)
	}
	do("break", `{"kind":"link","name":"tor0-spine0"}`)
	until("a failed link", func(l *page.Look) bool { return len(l.Failed) == 1 && l.Failed[0].Name == "tor0-spine0" })
	if got := do("heal-all", `{}`); !strings.Contains(got, "tor0-spine0 healed") {
		t.Errorf("heal all: %s", got)
	}
	if got := do("capture", `{"port":"tor0:2","seconds":0.3}`); !strings.HasPrefix(got, "\n\r\r\n") {
		t.Errorf("the capture begins %q, which is no pcapng", got[:min(len(got), 80)])
	}
}
