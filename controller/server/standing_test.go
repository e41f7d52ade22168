package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/history"
	"lightloom/controller/replica/rollcall"
	"lightloom/southbound/hint"
	"lightloom/southbound/pki"
)

// until asks one replica for its status until it is as wanted.
func (p *party) until(ctx context.Context, id, what string, ok func(api.Status) bool) {
	p.t.Helper()
	c := p.dial(pki.Controller, id, id)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		st, err := c.StatusOf(ctx, 0)
		if err == nil && ok(st) {
			return
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("%s: %s: %+v, %v", id, what, st, err)
		case <-p.over[id]:
			p.t.Fatalf("%s: %s: it has ended: %v", id, what, p.stop[id]())
		case <-tick.C:
		}
	}
}

func leads(st api.Status) bool { return st.Leader != "" }

func votes(st api.Status) bool { return st.Standing == string(rollcall.Voting) }

// submit submits jobs, and waits until all are acknowledged.
func (p *party) submit(ctx context.Context, name string, n int, to ...string) {
	p.t.Helper()
	c := p.dial(pki.Client, "user", to...)
	c.Attempt = time.Second
	for k := range n {
		_, err := c.Submit(ctx, fmt.Sprint(name, k), []*controller.Job{tinyJob(name)})
		must(p.t, err)
	}
}

// TestOldStateDirectory: a replica acknowledges jobs with one other, and gets an old copy of its state
// directory. While that other is down it waits, and says for whom; when it is back the replica learns,
// both say why, and no job is lost. Where nobody is left who knows, its operator vouches for it.
func TestOldStateDirectory(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	all := []string{"c0", "c1", "c2"}
	for _, id := range all {
		p.run(id, all...)
	}
	p.submit(ctx, "before", 5, all...)
	must(t, p.stop["c0"]())
	dir, old := filepath.Join(p.dir, "c0"), filepath.Join(t.TempDir(), "c0")
	must(t, os.CopyFS(old, os.DirFS(dir)))
	p.run("c0", all...)
	p.until(ctx, "c0", "votes", votes)
	must(t, p.stop["c2"]())
	p.submit(ctx, "while c2 is down", 20, "c0", "c1")
	for _, id := range []string{"c0", "c1"} {
		must(t, p.stop[id]())
	}
	must(t, os.RemoveAll(dir))
	must(t, os.CopyFS(dir, os.DirFS(old)))
	if err := Trust(dir); err == nil || hint.Of(err) == "" {
		t.Errorf("a replica that does not run is trusted: %v", err)
	}
	p.run("c0", all...)
	p.run("c2", all...)
	p.until(ctx, "c0", "waits", func(st api.Status) bool {
		return st.Leader == "" && st.Standing == string(rollcall.Waiting) &&
			strings.Contains(st.StandingReason, "c1")
	})
	p.until(ctx, "c0", "says what to type", func(api.Status) bool {
		return strings.Contains(p.said["c0"].String(), "cluster trust "+dir)
	})
	p.run("c1", all...)
	p.until(ctx, "c1", "names c0", func(st api.Status) bool {
		return strings.Contains(st.Troubles,
			"c0 has gone back")
	})
	for _, id := range all {
		p.until(ctx, id, "votes, and has all jobs",
			func(st api.Status) bool { return votes(st) && st.Jobs == 25 })
	}

	for _, id := range all {
		must(t, p.stop[id]())
	}
	p.run("c0", all...)
	p.run("c2", all...)
	for _, id := range []string{"c0", "c2"} {
		p.until(ctx, id, "waits", func(st api.Status) bool { return st.Standing == string(rollcall.Waiting) })
		must(t, Trust(filepath.Join(p.dir, id)))
	}
	p.until(ctx, "c0", "has a leader", leads)
	p.submit(ctx, "trusted", 1, "c0", "c2")
	if _, err := os.Stat(filepath.Join(dir, trustFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the word stays: %v", err)
	}
}

// TestStateApart: a replica whose state was another than the leader's does not start again on it.
func TestStateApart(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	dir := filepath.Join(p.dir, "c0")
	n, err := ReadNode(dir)
	must(t, err)
	n.Apart = "after entry 7: digests differ"
	must(t, n.write(dir))
	p.run("c0", "c0", "c1", "c2")
	if err := p.stop["c0"](); err == nil || !strings.Contains(err.Error(), n.Apart) ||
		!strings.Contains(hint.Of(err), "join") {
		t.Errorf("it ended with %v", err)
	}
}

// TestDamagedHistory: a replica starts in spite of a history that is damaged, and keeps the file.
func TestDamagedHistory(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := []string{"c0", "c1", "c2"}
	at := filepath.Join(p.dir, "c0", historyFile)
	must(t, os.WriteFile(at, []byte(strings.Repeat("no history ", 4096)), 0o600))
	for _, id := range all {
		p.run(id, all...)
	}
	p.until(ctx, "c0", "votes", votes)
	if _, err := os.Stat(at + history.DamagedSuffix); err != nil {
		t.Error(err)
	}
}

// TestWipedWhileItRuns: a replica whose state directory is removed under it ends, and says how it comes
// back; the others go on, and no job is lost. It does not begin anew by itself.
func TestWipedWhileItRuns(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	all := []string{"c0", "c1", "c2"}
	for _, id := range all {
		p.run(id, all...)
	}
	p.submit(ctx, "before", 5, all...)
	must(t, os.RemoveAll(filepath.Join(p.dir, "c0")))
	select {
	case <-p.over["c0"]:
	case <-ctx.Done():
		t.Fatal("it goes on without a disk")
	}
	if err := p.stop["c0"](); err == nil || !strings.Contains(hint.Of(err), "cluster join") {
		t.Errorf("it ended with %v, hint %q", err, hint.Of(err))
	}
	p.submit(ctx, "after", 5, "c1", "c2")
	for _, id := range all[1:] {
		p.until(ctx, id, "has all jobs", func(st api.Status) bool { return st.Jobs == 10 })
	}
	p.run("c0", all...)
	<-p.over["c0"]
	if err := p.stop["c0"](); err == nil || !strings.Contains(hint.Of(err), "cluster join") {
		t.Errorf("it starts again: %v, hint %q", err, hint.Of(err))
	}
}

// TestTimeGoesOn: replicas that start again with another instant 0, as with a clock an hour behind, go on
// with the log's.
func TestTimeGoesOn(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	all := []string{"c0", "c1", "c2"}
	var was time.Duration
	for round := range 2 {
		for _, id := range all {
			p.run(id, all...)
		}
		c := p.dial(pki.Controller, "c0", all...)
		for i := 0; ; i++ { // until it has come to the leader
			st, err := c.StatusOf(ctx, i%len(all))
			if ctx.Err() != nil {
				t.Fatalf("round %d: nobody leads: %v", round, err)
			}
			if err != nil || !st.Ready {
				continue
			}
			if st.Now < was {
				t.Errorf("round %d: it is %v, and was %v", round, st.Now, was)
			}
			was = st.Now
			break
		}
		p.submit(ctx, fmt.Sprint("round", round), 1, all...)
		for _, id := range all {
			must(t, p.stop[id]())
		}
		p.shape.Epoch = p.shape.Epoch.Add(time.Hour)
	}
}
