package up

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"lightloom/controller/page"
	"lightloom/lab/console"
	"lightloom/lab/session"
)

// visit comes to the page as a browser does, over the machine's loopback, and returns it with its address.
func visit(t *testing.T) (c *http.Client, home string) {
	t.Helper()
	var b bytes.Buffer
	if err := session.ShowPage(console.OutputTable, &b); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(strings.TrimSpace(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	c = &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(c.CloseIdleConnections)
	r, err := c.Get(at.String())
	if err != nil {
		t.Fatal(err)
	}
	html, _ := io.ReadAll(r.Body)
	if r.Body.Close(); r.StatusCode != http.StatusOK || !bytes.Contains(html, []byte("<title>Lightloom")) {
		t.Fatalf("%s: %s", r.Status, html)
	}
	return c, "http://" + at.Host
}

// pageOfUp is told what is so, tries a failure, makes a link fail, sees that, heals it, and takes a capture.
func pageOfUp(t *testing.T) {
	c, home := visit(t)
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
	looks, err := c.Get(home + "/looks")
	if err != nil {
		t.Fatal(err)
	}
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
	until("switches that have accepted what was asked for, and report it", func(l *page.Look) bool {
		for _, x := range l.Switches {
			if x.Desired == nil || x.Accepted == nil || x.Seen.Rules != x.Desired.Rules && x.Desired.Rules >= 0 ||
				*x.Accepted != *x.Desired {
				return false
			}
		}
		return true
	})
	if got := do("try", `{"kind":"link","name":"tor0-spine0"}`); !strings.Contains(got, "tor0-spine0 failed now") {
		t.Errorf("try: %s", got)
	}
	if got := do("break", `{"kind":"link","name":"tor9-spine0"}`); !strings.Contains(got, `"error"`) {
		t.Errorf("a link that is not there fails: %s", got)
	}
	do("break", `{"kind":"link","name":"tor0-spine0"}`)
	until("a failed link", func(l *page.Look) bool {
		return len(l.Failed) == 1 &&
			l.Failed[0].Name == "tor0-spine0"
	})
	if got := do("heal-all", `{}`); !strings.Contains(got, "tor0-spine0 healed") {
		t.Errorf("heal all: %s", got)
	}
	if got := do("why", `{"job":0}`); !strings.Contains(got, `"lines":["at `) || !strings.Contains(got, "of copy") {
		t.Errorf("why job 0 is where it is: %s", got)
	}
	if got := do("capture", `{"port":"tor0:2","seconds":0.3}`); !strings.HasPrefix(got, "\n\r\r\n") {
		t.Errorf("the capture begins %q, which is no pcapng", got[:min(len(got), 80)])
	}
}

// crowdOfUp: two pages and ten users of the command line at once are all served.
func crowdOfUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	if err := os.WriteFile(file, []byte("jobs:\n  - name: many\n    stages:\n      - {name: a}\n      - {name: b}\n"+
		"    edges:\n      - {from: a, to: b, bytes: 10KB}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var all errgroup.Group
	for range 2 {
		c, home := visit(t)
		all.Go(func() error {
			r, err := c.Get(home + "/looks")
			if err != nil {
				return err
			}
			defer r.Body.Close()
			lines := bufio.NewScanner(r.Body)
			lines.Buffer(nil, 1<<20)
			for told := 0; told < 20; {
				if !lines.Scan() {
					return fmt.Errorf("the page ended after %d looks: %w", told, lines.Err())
				}
				if strings.HasPrefix(lines.Text(), "data: ") {
					told++
				}
			}
			return nil
		})
	}
	for range 10 {
		all.Go(func() error {
			for range 2 {
				var b bytes.Buffer
				err := session.Submit(t.Context(), session.SubmitOptions{File: file, Wait: true,
					Output: console.OutputTable,
					Stdout: &b, Stderr: &b})
				if err != nil {
					return fmt.Errorf("submit: %w: %s", err, &b)
				}
				err = showStatus(t.Context(), session.StatusOptions{Output: console.OutputTable, Stdout: &b})
				if err != nil {
					return fmt.Errorf("status: %w", err)
				}
				err = session.ShowJobs(t.Context(), session.JobsOptions{Output: console.OutputTable, Stdout: &b})
				if err != nil {
					return fmt.Errorf("jobs: %w", err)
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
}
