package replica

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/chaos"
	"lightloom/pathmap/tries"
)

// smallSegments makes logs of several segments cheap.
func smallSegments(t *testing.T) {
	old := segmentBytes
	segmentBytes = 2 << 10
	t.Cleanup(func() { segmentBytes = old })
}

// alone is the configuration of a cluster of one on a directory; its network is the bubble's.
func alone(dir string, as Start) Config {
	return Config{ID: "r0", Start: as, Peers: []Peer{{ID: "r0", Addr: "r0:1"}}, Dir: dir, Machine: &ledger{},
		NoSync: true, // no machine loses its power here
		Limits: Limits{Trailing: 15}, Transport: chaos.NewNetwork(1, time.Second).Transport("r0:1")}
}

// written makes a directory with entries in several segments, two snapshots and a vote, and returns
// what it holds.
func written(t *testing.T, dir string) []string {
	t.Helper()
	n, err := New(alone(dir, Bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t, time.Minute)
	if _, _, _, err := n.AwaitLeader(ctx); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 120 {
		if _, err := n.Append(ctx, fmt.Appendf(nil, "%d %s", i,
			strings.Repeat("x", rng.IntN(300)))); err != nil {
			t.Fatal(err)
		}
		if i == 30 || i == 70 {
			if err := n.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
	}
	holds := n.ledger()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	return holds
}

// damage flips a bit of one file, or cuts one short, and returns which.
func damage(t *testing.T, dir string, rng *rand.Rand) (file, what string) {
	t.Helper()
	var files []string
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	file = files[rng.IntN(len(files))]
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := rng.IntN(len(b))
	switch rng.IntN(4) {
	case 0:
		what, b = fmt.Sprintf("cut at %d", at), b[:at]
	case 1:
		n := min(1+rng.IntN(600), len(b)-at)
		what = fmt.Sprintf("%d bytes of zeros at %d", n, at)
		clear(b[at : at+n])
	default:
		bit := rng.IntN(8)
		what = fmt.Sprintf("bit %d of byte %d", bit, at)
		b[at] ^= 1 << bit
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, what
}

// TestDamageIsToldOrHarmless: whatever is changed or missing in a directory, a replica either holds all
// that was ever acknowledged, or does not start and names the file at fault.
func TestDamageIsToldOrHarmless(t *testing.T) {
	smallSegments(t)
	whole := t.TempDir()
	var holds []string
	synctest.Test(t, func(t *testing.T) { holds = written(t, whole) })
	var told, harmless int
	for seed := range tries.Of(60, 1000) {
		dir := filepath.Join(t.TempDir(), "r0")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		file, what := damage(t, dir, rand.New(rand.NewPCG(uint64(seed), 3)))
		synctest.Test(t, func(t *testing.T) {
			n, err := New(alone(dir, Existing))
			if err != nil {
				told++
				if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Dir(file)) {
					t.Errorf("seed %d: %s: %s: %v", seed, file, what, err)
				}
				return
			}
			harmless++
			ctx := within(t, time.Minute)
			if _, _, _, err := n.AwaitLeader(ctx); err != nil {
				t.Fatal(err)
			}
			if err := n.Barrier(ctx); err != nil {
				t.Errorf("seed %d: %s: %s: %v", seed, file, what, err)
			}
			if got := n.ledger(); !slices.Equal(got, holds) {
				t.Errorf("seed %d: %s: %s: %d entries instead of %d", seed, file, what, len(got), len(holds))
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		})
		os.RemoveAll(dir)
	}
	t.Logf("%d damages told, %d harmless: in an older snapshot, unused bytes, or one of two slots",
		told, harmless)
	if told == 0 || harmless == 0 {
		t.Error("the test damages nothing, or everything")
	}
}

// TestMissingFiles: a file that is gone is damage too, whichever it is.
func TestMissingFiles(t *testing.T) {
	smallSegments(t)
	whole := t.TempDir()
	synctest.Test(t, func(t *testing.T) { written(t, whole) })
	for _, tc := range []struct{ name, glob, want string }{
		{"vote", "vote", "vote"},
		{"a segment", "log/*.log", "are missing before it"},
		{"newest snapshot", "snapshots/*", "is gone"},
		{"whole log", "log", "the log ends here"},
		{"all snapshots", "snapshots", "is gone"},
	} {
		dir := filepath.Join(t.TempDir(), "r0")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(dir, tc.glob))
		if err != nil || len(found) == 0 {
			t.Fatal(found, err)
		}
		gone := found[0]
		switch tc.name {
		case "newest snapshot":
			gone = found[len(found)-1]
		case "a segment": // the first may hold nothing that is not in the snapshot
			gone = found[1]
		}
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			if n, err := New(alone(dir, Existing)); err == nil || !errors.Is(err, ErrDamaged) ||
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want it to say %q", tc.name, err, tc.want)
				if err == nil {
					n.Close()
				}
			}
		})
	}
}

// onDisk puts a cluster's replicas into directories.
func onDisk(t *testing.T, seed uint64, limit Limits) *cluster {
	c := &cluster{t: t, net: chaos.NewNetwork(seed, 100*time.Millisecond), limit: limit, dir: t.TempDir(),
		begun: map[int]bool{}, config: func(cfg *Config) { cfg.NoSync = true }} // no machine loses its power here
	for i := range 3 {
		id := fmt.Sprintf("r%d", i)
		c.peers = append(c.peers, Peer{ID: id, Addr: id + ":1"})
		c.disks, c.nodes = append(c.disks, nil), append(c.nodes, nil)
	}
	for i := range c.nodes {
		c.start(i)
	}
	return c
}

// TestDamageWhileLeading: a leader that reads back other bytes than it wrote stops, its caller gets an
// error and Close returns; the other replicas go on without these bytes.
func TestDamageWhileLeading(t *testing.T) {
	smallSegments(t)
	synctest.Test(t, func(t *testing.T) {
		c := onDisk(t, 1, Limits{})
		defer c.close()
		ctx := within(t, 10*time.Minute)
		i := c.leader(ctx)
		lead, lagging := c.nodes[i], (i+1)%3
		if _, err := lead.Append(ctx, []byte("first")); err != nil {
			t.Fatal(err)
		}
		c.agree(ctx)
		c.kill(lagging)
		for k := range 2 * recentEntries {
			if _, err := lead.Append(ctx, fmt.Appendf(nil, "e%d", k)); err != nil {
				t.Fatal(err)
			}
		}
		var led error
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			led = lead.Leadership(ctx, func(ctx context.Context, _ uint64) error { <-ctx.Done(); return nil })
		}()
		path := filepath.Join(c.dir, lead.ID(), "log", segmentName(1))
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		c.start(lagging)
		<-ended
		var d *Damage
		if !errors.Is(led, ErrDamaged) || !errors.As(led, &d) || d.File != path || d.Index == 0 ||
			!errors.Is(lead.Failed(), ErrDamaged) {
			t.Errorf("the leader ended with %v", led)
		}
		if _, err := lead.Append(ctx, []byte("x")); !errors.Is(err, ErrDamaged) ||
			!errors.Is(err, ErrNotLeader) {
			t.Errorf("append to a dead node: %v", err)
		}
		c.kill(i)
		if _, err := c.nodes[c.leader(ctx)].Append(ctx, []byte("after")); err != nil {
			t.Error(err)
		}
		for k, n := range c.nodes {
			if k == i {
				continue
			}
			at, _ := c.nodes[c.leader(ctx)].Digest()
			if err := n.WaitApplied(ctx, at); err != nil {
				t.Fatal(err)
			}
			if got := n.ledger(); len(got) != 2*recentEntries+2 || got[len(got)-1] != "after" {
				t.Errorf("%s holds %d entries", n.ID(), len(got))
			}
		}
	})
}

// TestDamageBeforeUse: a file changes after the node has checked it, and before its entries are applied.
func TestDamageBeforeUse(t *testing.T) {
	smallSegments(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		written(t, dir)
		n, err := New(alone(dir, Existing))
		if err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(filepath.Join(dir, "log", "*"))
		if err != nil {
			t.Fatal(err)
		}
		path := names[len(names)-2] // behind the snapshot
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)-1] ^= 4
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		err = n.Leadership(within(t, time.Minute), func(context.Context, uint64) error { return nil })
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
			t.Errorf("it ended with %v", err)
		}
		if _, _, _, err := n.AwaitLeader(within(t, time.Minute)); !errors.Is(err, ErrDamaged) {
			t.Errorf("who waits for a leader is told %v", err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
}

// segments makes a directory of small segments of entries that a seed draws.
func segments(t *testing.T, seed uint64) (dir string, names []string) {
	t.Helper()
	m := &model{t: t, twin: raft.NewInmemStore()}
	dir = t.TempDir()
	if err := m.open(dir, nil); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 6))
	for i := range uint64(60) {
		data := make([]byte, 200)
		for k := range data {
			data[k] = byte(rng.Uint32())
		}
		if err := m.w.StoreLog(&raft.Log{Index: 1 + i, Term: 1, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	m.close()
	names, err := filepath.Glob(filepath.Join(dir, "log", "*"))
	if err != nil || len(names) < 4 {
		t.Fatal(names, err)
	}
	return dir, names
}

// TestSegmentsBelongTogether: a segment with the same entries of another history, whole in itself, is
// detected; so is the lack of the first segments without a snapshot that covers them.
func TestSegmentsBelongTogether(t *testing.T) {
	smallSegments(t)
	open := func(dir string) error {
		s, err := openStore(&Config{Dir: dir})
		if err == nil {
			s.close()
		}
		return err
	}
	dir, names := segments(t, 1)
	if err := open(dir); err != nil {
		t.Fatal(err)
	}
	_, others := segments(t, 2)
	other, err := os.ReadFile(others[2])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(names[2], other, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(dir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "does not follow") {
		t.Errorf("a segment of another history: %v", err)
	}
	dir, names = segments(t, 3)
	if err := os.Remove(names[0]); err != nil {
		t.Fatal(err)
	}
	next, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(names[1]), ".log"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	gone := fmt.Sprintf("entries 1 to %d are in neither log nor snapshot", next-1)
	if err := open(dir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), gone) {
		t.Errorf("without the first segment: %v, want it to say %q", err, gone)
	}
}

// tear appends the beginning of a record to the newest segment.
func tear(t *testing.T, dir string, rng *rand.Rand) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		return
	}
	f, err := os.OpenFile(names[len(names)-1], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, _ := appendRecord(nil, someLogs(rng, 1)[0], rng.Uint32())
	if _, err := f.Write(b[:1+rng.IntN(len(b)-1)]); err != nil {
		t.Fatal(err)
	}
}

func FuzzDecodeEntry(f *testing.F) {
	b, _ := appendRecord(nil, &raft.Log{Index: 1, Term: 2, Data: []byte("data"), Extensions: []byte("ext")}, 7)
	f.Add(b[recordHead:])
	f.Fuzz(func(t *testing.T, b []byte) {
		var l raft.Log
		if decodeEntry(b, &l) != nil {
			return
		}
		if again, _ := appendRecord(nil, &l, 0); string(again[recordHead:]) != string(b) {
			t.Errorf("%x is read as %+v", b, l)
		}
	})
}

func FuzzDecodeSlot(f *testing.F) {
	b, err := encodeSlot(kept{Values: map[string][]byte{"a": {1}}, Last: 3, Snapshot: 2}, 9)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, seq, err := decodeSlot(b); err == nil {
			if _, err := encodeSlot(k, seq); err != nil && len(k.Values) == 0 {
				t.Error(err)
			}
		}
	})
}

func FuzzReadAbout(f *testing.F) {
	f.Add([]byte(snapshotMagic+"\x00\x00\x00\x02\x00\x00\x00\x00{}"), int64(100))
	f.Fuzz(func(t *testing.T, b []byte, size int64) {
		if m, begin, err := readAbout(strings.NewReader(string(b)), size); err == nil &&
			(m == nil || begin > size) {
			t.Errorf("%x: %+v, %d", b, m, begin)
		}
	})
}
