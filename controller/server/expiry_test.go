package server

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller/api"
	"lightloom/southbound/pki"
)

// TestAllCertificatesEnd: when the certificates of all replicas end at once, nobody is let in by them, and no
// replica ends, nor one that is started meanwhile. Once they are renewed, all go on without a restart, with all
// jobs.
func TestAllCertificatesEnd(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	all := []string{"c0", "c1", "c2"}
	renew := func(life time.Duration) {
		for _, id := range all {
			who, err := p.ca.IssueUntil(time.Now(), life, pki.Controller, id, "localhost", "127.0.0.1")
			must(t, err)
			at := func(name string) string { return filepath.Join(p.dir, id+name) }
			files := pki.Files{Cert: at("-cert.pem"), Key: at("-key.pem"), CA: at("-ca.pem")}
			must(t, files.Replace(who))
			p.keys[id] = pki.Paths{Files: files}
		}
	}
	const life = 4 * time.Second
	began := time.Now()
	renew(life)
	for _, id := range all {
		p.run(id, all...)
	}
	expired := func(of ...string) {
		t.Helper()
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for ; ; <-tick.C {
			c := p.dial(pki.Client, "user", of...)
			c.Attempt = time.Second
			_, err := c.StatusOf(ctx, 0)
			if err != nil && strings.Contains(err.Error(), "expired") {
				return
			}
			if ctx.Err() != nil || time.Since(began) > 10*life {
				t.Fatalf("the certificates have ended, and a call to %v is answered with %v", of, err)
			}
		}
	}
	expired(all...)
	must(t, p.stop["c0"]())
	p.run("c0", all...)
	expired("c0") // one that starts between the files of a renewal ends, and its supervisor starts it again
	renew(time.Hour)
	for _, id := range all {
		p.until(ctx, id, "votes and has a leader", func(st api.Status) bool { return votes(st) && leads(st) })
	}
	p.submit(ctx, "after", 5, all...)
	for _, id := range all {
		p.until(ctx, id, "has all jobs", func(st api.Status) bool { return st.Jobs == 5 })
		select {
		case <-p.over[id]:
			t.Errorf("%s has ended: %v", id, p.stop[id]())
		default:
		}
	}
}
