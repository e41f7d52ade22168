package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// TestParts: an entry above the size of a part is one for the machine, and no message or record of it
// is larger than a part. Others come between its parts. Without leave it goes whole.
func TestParts(t *testing.T) {
	for _, parts := range []bool{true, false} {
		t.Run(fmt.Sprint(parts), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { appendLarge(t, parts) })
		})
	}
}

func appendLarge(t *testing.T, parts bool) {
	c := newCluster(t, 153, Limits{})
	defer c.close()
	c.config = func(c *Config) { c.Parts = func() bool { return parts } }
	for i := range c.nodes {
		c.kill(i)
		c.start(i)
	}
	ctx := within(t, time.Minute)
	i := c.leader(ctx)
	_, _, term := c.nodes[i].Leader()
	large := bytes.Repeat([]byte("large"), 1<<20)
	done := make(chan error, 2)
	go func() { _, err := c.nodes[i].AppendIn(ctx, term, large); done <- err }()
	go func() { _, err := c.nodes[i].Append(ctx, []byte("small")); done <- err }()
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	c.agree(ctx)
	longest := 0
	for k, n := range c.nodes {
		if got := n.ledger(); len(got) != 2 || len(got[0])+len(got[1]) != len(large)+len("small") {
			t.Errorf("%s holds %d entries", n.ID(), len(got))
		}
		last, _ := c.disks[k].logs.LastIndex()
		for at := uint64(1); at <= last; at++ {
			var l raft.Log
			if c.disks[k].logs.GetLog(at, &l) == nil {
				longest = max(longest, len(l.Data))
			}
		}
	}
	if parts != (longest == partBytes) {
		t.Errorf("the log's longest entry has %d bytes", longest)
	}
}

// logOf is entries of the log with indexes from one on.
func logOf(all ...raft.Log) []raft.Log {
	for i := range all {
		all[i].Index = uint64(i + 1)
	}
	return all
}

// in returns entries of the log as of a term.
func in(term uint64, all ...raft.Log) (out []raft.Log) {
	for _, l := range all {
		l.Term = term
		out = append(out, l)
	}
	return out
}

// TestPartsFollow: parts make an entry only if all are there, of one term, in their order.
func TestPartsFollow(t *testing.T) {
	abc, de := partsOf([]byte("abc"), 3, 1), partsOf([]byte("de"), 3, 1)
	other, claim := raft.Log{Data: []byte("-")}, raft.Log{Extensions: claim{}.encode(3)}
	join := func(all ...[]raft.Log) (out []raft.Log) {
		for _, some := range all {
			out = append(out, some...)
		}
		return out
	}
	for _, tt := range []struct {
		name string
		log  []raft.Log
		want string
	}{
		{"whole", in(3, abc...), "abc"},
		{"with others between", in(3, abc[0], other, abc[1], claim, abc[2]), "- abc"},
		{"the first missing", in(3, abc[1], abc[2]), ""},
		{"one missing", in(3, abc[0], abc[2], abc[1]), ""},
		{"one twice", in(3, abc[0], abc[0], abc[1], abc[1], abc[2]), ""},
		{"given up and begun anew", in(3, join(abc[:2], abc)...), "abc"},
		{"given up for another", in(3, join(abc[:2], de, abc[2:])...), "de"},
		{"of another term", in(4, abc...), ""},
		{"with a later term between", join(in(3, abc[0], abc[1]), in(4, other), in(4, abc[2])), "-"},
		{"of another size", in(3, abc[0], de[1], abc[1], abc[2]), ""},
		{"too many", in(3, raft.Log{Data: []byte("x"), Extensions: part{0, maxParts + 1}.encode(3)}), ""},
		{"of none", in(3, raft.Log{Data: []byte("x"), Extensions: part{0, 0}.encode(3)}), ""},
		{"beyond the last", in(3, raft.Log{Data: []byte("x"), Extensions: part{7, 7}.encode(3)}), ""},
		{"of any term", in(9, partsOf([]byte("abc"), 0, 2)...), "abc"},
	} {
		l := &ledger{}
		f := newFSM(l, nil, 1<<20, slog.New(slog.DiscardHandler))
		for _, one := range logOf(tt.log...) {
			f.Apply(&one)
		}
		f.compare.work.Wait()
		if got := strings.Join(l.entries, " "); got != tt.want || f.index != uint64(len(tt.log)) {
			t.Errorf("%s: %q at %d", tt.name, got, f.index)
		}
	}
}

// TestNoSnapshotBetweenParts: a snapshot is of a state behind which the log holds all parts.
func TestNoSnapshotBetweenParts(t *testing.T) {
	f := newFSM(&ledger{}, nil, 1<<20, slog.New(slog.DiscardHandler))
	for i, l := range logOf(in(3, partsOf([]byte("abc"), 3, 1)...)...) {
		a := f.Apply(&l).(applied)
		if _, err := f.Snapshot(); (err == nil) != (i == 2) || a.part != (i < 2) || a.fenced {
			t.Errorf("after part %d, %+v: %v", i, a, err)
		}
	}
	first := in(3, partsOf([]byte("abc"), 3, 1)...)[0]
	f.Apply(&first)
	f.Apply(&raft.Log{Index: 9, Term: 4, Data: []byte("a later leader's")})
	if _, err := f.Snapshot(); err != nil {
		t.Errorf("parts of a leader that has ended: %v", err)
	}
}

// TestAppendEndsBetweenParts: an append whose caller has gone has no effect if its last part was not
// sent, and says so.
func TestAppendEndsBetweenParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 154, Limits{Part: 1})
		defer c.close()
		ctx := within(t, time.Minute)
		n := c.nodes[c.leader(ctx)]
		gone, cancel := context.WithCancel(ctx)
		cancel()
		logs := partsOf([]byte("some parts of more"), 0, 1)
		if f := n.apply(gone, logs); f.Error() != nil || f.Response() != (applied{part: true}) {
			t.Errorf("%v, %+v", f.Error(), f.Response())
		}
		if f := n.apply(ctx, logs[:partsAtOnce+1]); f.Error() != nil {
			t.Error(f.Error())
		} else if index, err := outcome(f, 0); !errors.Is(err, ErrNotLeader) || index != 0 {
			t.Errorf("an append that ended between its parts: %v", err)
		}
		if _, err := n.Append(ctx, []byte("next")); err != nil {
			t.Fatal(err)
		}
		c.agree(ctx)
		for _, n := range c.nodes {
			if got := n.ledger(); len(got) != 1 || got[0] != "next" {
				t.Errorf("%s holds %q", n.ID(), got)
			}
		}
	})
}

// slowReader takes its time to read an entry.
type slowReader struct {
	ledger
	reading, read chan struct{}
}

func (s *slowReader) Read(e []byte) func() error {
	close(s.reading)
	<-s.read
	return s.ledger.Read(e)
}

// TestReadersDoNotWait: while an entry is read, the state can be.
func TestReadersDoNotWait(t *testing.T) {
	s := &slowReader{reading: make(chan struct{}), read: make(chan struct{})}
	f := newFSM(s, nil, 1<<20, slog.New(slog.DiscardHandler))
	applied := make(chan struct{})
	go func() { f.Apply(&raft.Log{Index: 1, Term: 1, Data: []byte("a")}); close(applied) }()
	<-s.reading
	f.view(func(index uint64) {
		if index != 0 {
			t.Errorf("index %d", index)
		}
	})
	close(s.read)
	<-applied
	if f.index != 1 {
		t.Errorf("index %d", f.index)
	}
}

func FuzzParts(f *testing.F) {
	f.Add(part{0, 2}.encode(1), part{1, 2}.encode(1), uint64(1), uint64(1))
	f.Fuzz(func(t *testing.T, x, y []byte, first, second uint64) {
		l := &ledger{}
		m := newFSM(l, nil, 1<<20, slog.New(slog.DiscardHandler))
		for i, one := range []raft.Log{{Term: first, Extensions: x}, {Term: max(first, second), Extensions: y}} {
			one.Index, one.Data = uint64(i+1), []byte{'a' + byte(i)}
			m.Apply(&one)
		}
		m.compare.work.Wait()
		p, is := decodePart(x)
		q, also := decodePart(y)
		whole := is && also && first >= second && p == part{0, 2} && q == part{1, 2} &&
			fits(x, first) && fits(y, first)
		if got := len(l.entries) == 1 && l.entries[0] == "ab"; got != whole {
			t.Errorf("%x %x in %d and %d: %q", x, y, first, second, l.entries)
		}
	})
}

func fits(ext []byte, term uint64) bool { return fenceTerm(ext) == 0 || fenceTerm(ext) == term }
