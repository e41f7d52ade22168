package server

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/history"
	"lightloom/controller/replica"
	"lightloom/controller/replica/rollcall"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/southbound/pki"
)

// TestBackup: a cluster begins with another's backup under the same names and keys: with the same
// digest, entries that go on, and jobs that are known by their requests. One of the old replicas that
// is still there takes no part.
func TestBackup(t *testing.T) {
	t.Parallel()
	p := newParty(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, id := range p.ids {
		p.run(id, p.ids...)
	}
	client := p.dial(pki.Client, "user", p.ids...)
	var last []controller.JobID
	for k := range 20 {
		ids, err := client.Submit(ctx, fmt.Sprint("job ", k), []*controller.Job{tinyJob("j")})
		must(t, err)
		last = ids
	}
	b, err := backUp(ctx, client, &p.shape)
	must(t, err)
	for _, id := range p.ids {
		must(t, p.stop[id]())
	}
	text, err := b.encode()
	must(t, err)
	if b, err = parseBackup(text); err != nil {
		t.Fatal(err)
	}
	if b.Restored() == b.Cluster || b.Level != p.node.Level || !b.Epoch.Equal(p.node.Epoch) {
		t.Errorf("%+v", b)
	}
	if _, err := b.check(topo.Spec{Kind: "leafspine"}); err == nil ||
		!strings.Contains(err.Error(), "is of the fabric") {
		t.Errorf("on another fabric: %v", err)
	}

	old := p.dir
	p.dir = filepath.Join(t.TempDir(), "restored")
	was := p.shape.Cluster
	p.shape.Cluster = b.Restored()
	for _, id := range p.ids {
		var c ReplicaConfig
		for _, other := range p.ids {
			c.Peers = append(c.Peers, p.peers[other])
		}
		must(t, b.begin(filepath.Join(p.dir, id), id, c.Peers))
		if err := b.begin(filepath.Join(p.dir, id), id, c.Peers); err == nil {
			t.Error("a state directory is overwritten")
		}
	}
	p.run("c0", p.ids...)
	p.run("c1", p.ids...)
	restored := p.dir
	p.dir, p.shape.Cluster = old, was
	p.run("c2", p.ids...) // the old one
	p.dir, p.shape.Cluster = restored, b.Restored()
	for _, id := range []string{"c0", "c1"} { // c2 cannot say what it has seen: it is of the old cluster
		p.until(ctx, id, "waits", func(st api.Status) bool { return st.Standing == string(rollcall.Waiting) })
		must(t, Trust(filepath.Join(p.dir, id)))
	}
	two := p.dial(pki.Client, "user", "c0", "c1")
	st, err := two.StatusAt(ctx, api.Read{Linearizable: true})
	if err != nil || st.Jobs != 20 || st.Index < b.Index {
		t.Errorf("%d jobs at %d, %v", st.Jobs, st.Index, err)
	}
	ids, err := two.Submit(ctx, "job 19", []*controller.Job{tinyJob("j")})
	if err != nil || ids[0] != last[0] {
		t.Errorf("job 19 is %v, was %v: %v", ids, last, err)
	}
	if _, err := two.Submit(ctx, "one more", []*controller.Job{tinyJob("j")}); err != nil {
		t.Error(err)
	}
	if err := p.stop["c2"](); err != nil {
		t.Error(err)
	}
	p.run("c2", p.ids...)
	all := p.dial(pki.Client, "user", p.ids...)
	p.agree(ctx, all)
}

// agree waits until all replicas show the same index, and wants the same digest then.
func (p *party) agree(ctx context.Context, c *api.Client) {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		indexes, digests := map[uint64]bool{}, map[string]bool{}
		for i := range p.ids {
			st, err := c.DigestOf(ctx, i)
			if err != nil {
				indexes[uint64(i)] = true
				indexes[uint64(i+1)] = true
				continue
			}
			indexes[st.Index] = true
			digests[hex.EncodeToString(st.Digest[:])] = true
		}
		if len(indexes) == 1 {
			if len(digests) != 1 {
				p.t.Errorf("digests %v", digests)
			}
			return
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("they do not agree: %v", indexes)
		case <-tick.C:
		}
	}
}

func someBackup(t testing.TB) []byte {
	t.Helper()
	b := Backup{Cluster: "c", Fabric: "f", Epoch: time.Unix(1, 0).UTC(), Level: 1, Index: 5,
		Digest: strings.Repeat("00", 32), Size: 2, state: []byte("{}")}
	ended := func(id controller.JobID) state.Left { return state.Left{Job: &state.Job{Job: controller.Job{ID: id}}} }
	must(t, b.setEnded([]state.Left{ended(3), ended(5)}))
	text, err := b.encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestBackupOfHistory: jobs that had left the state are in the history of each restored replica.
func TestBackupOfHistory(t *testing.T) {
	b, err := parseBackup(someBackup(t))
	must(t, err)
	dir := t.TempDir()
	must(t, b.begin(dir, "c0", []replica.Peer{{ID: "c0", Addr: "127.0.0.1:1"}}))
	h, err := history.Open(filepath.Join(dir, historyFile), 0, slog.New(slog.DiscardHandler))
	must(t, err)
	defer func() { must(t, h.Close()) }()
	var ids []controller.JobID
	must(t, h.Jobs(0, func(l state.Left) bool {
		ids = append(ids, l.Job.ID)
		return true
	}))
	if b.Ended != 2 || !slices.Equal(ids, []controller.JobID{3, 5}) {
		t.Errorf("%d jobs are announced, %v restored", b.Ended, ids)
	}
}

// TestFrozenBackup: the form of backups stays.
func TestFrozenBackup(t *testing.T) {
	const want = "4c4c4241434b0001000000ba7b22636c7573746572223a2263222c22666162726963223a2266222c2265706f636822"
	if got := hex.EncodeToString(someBackup(t)); !strings.HasPrefix(got, want) {
		t.Errorf("it begins with %s, want %s", got[:len(want)], want)
	}
}

// TestDamagedBackup: no byte of a backup can change without being noticed.
func TestDamagedBackup(t *testing.T) {
	whole := someBackup(t)
	if _, err := parseBackup(whole); err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		bad := bytes.Clone(whole)
		bad[i] ^= 1
		if _, err := parseBackup(bad); err == nil {
			t.Errorf("byte %d has changed, and nothing is said", i)
		}
		if _, err := parseBackup(whole[:i]); err == nil {
			t.Errorf("%d of %d bytes are taken", i, len(whole))
		}
	}
}

func FuzzBackup(f *testing.F) {
	f.Add(someBackup(f))
	f.Add([]byte(backupMagic))
	f.Fuzz(func(t *testing.T, text []byte) {
		if b, err := parseBackup(text); err == nil && int64(len(b.state)) != b.Size {
			t.Errorf("%d bytes of state, %d announced", len(b.state), b.Size)
		}
	})
}
