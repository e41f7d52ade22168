package replica

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

func TestSnapshotHeader(t *testing.T) {
	h := header{index: 7, term: 3, size: 5, digest: [32]byte{1, 2, 3}}
	whole := append(h.encode(), "state"...)
	for _, tc := range []struct {
		name  string
		bytes []byte
		limit int64
		want  string // in the error; empty: none
	}{
		{"whole", whole, 1 << 20, ""},
		{"empty", nil, 1 << 20, "read header: EOF"},
		{"short header", whole[:20], 1 << 20, "read header: unexpected EOF"},
		{"other magic", append([]byte("x"), whole[1:]...), 1 << 20, "not a snapshot of this version"},
		{"short state", whole[:len(whole)-1], 1 << 20, "4 of 5 bytes"},
		{"above the limit", whole, int64(headerSize) + 4, "announces 5 bytes of state, at most 4"},
		{"limit below a header", whole, 3, "at most 0"},
		{"lying size", header{size: 1 << 62}.encode(), 1 << 20, "at most"},
	} {
		got, state, err := readSnapshot(bytes.NewReader(tc.bytes), tc.limit)
		switch {
		case tc.want == "" && (err != nil || got != h || string(state) != "state"):
			t.Errorf("%s: %+v %q %v", tc.name, got, state, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: error %v, want it to say %q", tc.name, err, tc.want)
		}
	}
}

func FuzzReadSnapshot(f *testing.F) {
	f.Add(append(header{index: 1, term: 1, size: 2}.encode(), "ab"...))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, state, err := readSnapshot(bytes.NewReader(b), 1<<16)
		if err == nil && !bytes.HasPrefix(b, append(h.encode(), state...)) {
			t.Errorf("%x is read as %+v %x", b, h, state)
		}
	})
}

// A snapshot whose state does not show the digest it promises is refused.
func TestRestoreChecksTheDigest(t *testing.T) {
	l := &ledger{}
	l.Apply([]byte("a"))
	state, _ := l.Snapshot()
	good := header{index: 4, term: 2, digest: l.Digest(), size: uint64(len(state))}
	bad := good
	bad.digest[0]++
	f := newFSM(&ledger{}, nil, 1<<20, slog.New(slog.DiscardHandler))
	restore := func(h header) error {
		return f.Restore(io.NopCloser(bytes.NewReader(append(h.encode(), state...))))
	}
	var died error
	f.die = func(err error) { died = err }
	if err := restore(bad); err == nil || !strings.Contains(err.Error(), "digest") {
		t.Errorf("a wrong digest: %v", err)
	}
	if died == nil {
		t.Error("a node goes on with a machine that holds something else than its snapshot says")
	}
	if err := restore(good); err != nil || f.index != 4 {
		t.Errorf("restore: %v, at %d", err, f.index)
	}
	state = append(state, "more"...)
	if err := restore(good); err == nil || !strings.Contains(err.Error(), "4 bytes come behind the state") {
		t.Errorf("a snapshot of a replica that has an archive: %v", err)
	}
}

// cellar is an Archive.
type cellar struct{ bytes.Buffer }

func (c *cellar) Save(w io.Writer) error { _, err := w.Write(c.Bytes()); return err }
func (c *cellar) Load(r io.Reader) error { _, err := c.ReadFrom(r); return err }

// What a machine has let go goes with its snapshots.
func TestSnapshotCarriesTheArchive(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	from, to := &cellar{}, &cellar{}
	from.WriteString("long ago")
	f := newFSM(&ledger{}, from, 1<<20, log)
	f.Apply(&raft.Log{Index: 3, Term: 1, Data: []byte("a")})
	s, err := f.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.(*captured).write(&b); err != nil {
		t.Fatal(err)
	}
	g := newFSM(&ledger{}, to, 1<<20, log)
	if err := g.Restore(io.NopCloser(&b)); err != nil || to.String() != "long ago" || g.index != 3 {
		t.Errorf("%v: index %d and %q", err, g.index, to.String())
	}
}

func TestPercentileIsNearestRank(t *testing.T) {
	var ten []time.Duration
	for i := range 10 {
		ten = append(ten, time.Duration(i+1))
	}
	for _, tc := range []struct {
		of   []time.Duration
		q    float64
		want time.Duration
	}{
		{nil, .5, 0}, {ten[:1], .99, 1}, {ten, .5, 5}, {ten, .51, 6}, {ten, .99, 10}, {ten, .9, 9}, {ten, 0, 1},
	} {
		if got := percentile(tc.of, tc.q); got != tc.want {
			t.Errorf("percentile %v of %d = %d, want %d", tc.q, len(tc.of), got, tc.want)
		}
	}
	l := newLatencies()
	for i := range 2 * latencyWindow {
		l.add(time.Duration(i))
	}
	if n, p50, _ := l.figures(); n != 2*latencyWindow || p50 != latencyWindow+latencyWindow/2-1 {
		t.Errorf("window: n %d, p50 %d", n, p50)
	}
}

func TestBridgeToSlog(t *testing.T) {
	var b strings.Builder
	to := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{
		Level: slog.LevelInfo,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	h := bridge(to)
	h.Debug("hidden")
	h.With("peer", "r1").Warn("slow", "took", 3*time.Second, "servers", hclog.Fmt("%d of %d", 2, 3))
	h.Named("raft").Named("net").StandardLogger(nil).Print("plain line\n")
	h.Log(hclog.Off, "nothing")
	h.Error("failed to take snapshot", "error", raft.ErrNothingNewToSnapshot)
	want := "level=WARN msg=slow peer=r1 took=3s servers=\"2 of 3\"\nlevel=INFO msg=\"plain line\"\n"
	if b.String() != want {
		t.Errorf("logged\n%swant\n%s", b.String(), want)
	}
	if h.IsDebug() || h.IsTrace() || !h.IsInfo() || !h.IsWarn() || !h.IsError() || h.GetLevel() != hclog.Info {
		t.Error("levels differ from the handler's")
	}
	if n := h.Named("a").Named("b").Name(); n != "a.b" {
		t.Errorf("name %q", n)
	}
	if got := h.With("k", 1).With("l", 2).ImpliedArgs(); len(got) != 4 {
		t.Errorf("implied %v", got)
	}
}
