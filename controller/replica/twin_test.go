package replica

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/pathmap/tries"
)

// model is a log as raft.InmemStore keeps it, and what of it was acknowledged.
type model struct {
	t    *testing.T
	twin *raft.InmemStore
	w    *wal
	b    *ballot
	d    *disk
	// what the step that failed leaves alone
	from, to uint64
	why      error
	fail     int // operations of the next append that fail, one after the other
}

func (m *model) open(dir string, fault func(string) error) error {
	m.d = &disk{dir: dir, noSync: true, health: newHealth()}
	if err := os.MkdirAll(filepath.Join(dir, "log"), 0o700); err != nil {
		return err
	}
	names, err := m.d.list(filepath.Join(dir, "log"), segmentSuffix)
	if err != nil {
		return err
	}
	if m.b, err = openBallot(m.d, len(names) == 0); err != nil {
		return err
	}
	m.w, err = openWAL(m.d, m.b)
	m.d.fault = fault
	return err
}

func (m *model) close() {
	if err := errors.Join(m.w.close(), m.b.close()); err != nil {
		m.t.Error(err)
	}
}

// same compares every entry; beyond allows the log to hold more than the reference: entries that were never
// acknowledged.
func (m *model) same(beyond bool) {
	m.t.Helper()
	first, _ := m.twin.FirstIndex()
	last, _ := m.twin.LastIndex()
	gotFirst, _ := m.w.FirstIndex()
	gotLast, _ := m.w.LastIndex()
	if last == 0 && (gotLast == 0 || beyond) {
		return
	}
	if gotLast < last || gotLast > last && !beyond || gotFirst > first || gotFirst < first && !beyond {
		m.t.Fatalf("the log holds %d to %d, want %d to %d", gotFirst, gotLast, first, last)
	}
	for i := first; i <= last; i++ {
		m.equal(i)
	}
}

// adopt gives the twin what the log holds beyond it.
func (m *model) adopt() {
	m.t.Helper()
	last, _ := m.twin.LastIndex()
	for at, _ := m.w.LastIndex(); last < at; last++ {
		l := new(raft.Log)
		if last == 0 {
			last, _ = m.w.FirstIndex()
			last--
		}
		if err := errors.Join(m.w.GetLog(last+1, l), m.twin.StoreLog(l)); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *model) equal(i uint64) {
	m.t.Helper()
	var got, want raft.Log
	if err := errors.Join(m.w.GetLog(i, &got), m.twin.GetLog(i, &want)); err != nil {
		m.t.Fatalf("entry %d: %v", i, err)
	}
	if got.Term != want.Term || got.Type != want.Type || string(got.Data) != string(want.Data) ||
		string(got.Extensions) != string(want.Extensions) || !got.AppendedAt.Equal(want.AppendedAt) {
		m.t.Fatalf("entry %d is %+v, want %+v", i, got, want)
	}
}

// step does something random to both; false if it failed, and the twin is as before.
func (m *model) step(rng *rand.Rand) (ok bool) {
	first, _ := m.twin.FirstIndex()
	last, _ := m.twin.LastIndex()
	m.from, m.to = first, last
	do := func(f func(raft.LogStore) error) bool {
		err, ended := errors.New("it ended"), make(chan struct{})
		go func() { // it may end its goroutine
			defer close(ended)
			err = f(m.w)
		}()
		<-ended
		if m.why = err; err != nil {
			return false
		}
		if err := f(m.twin); err != nil {
			m.t.Fatal(err)
		}
		return true
	}
	switch k := rng.IntN(10); {
	case k == 0 && last > first: // a snapshot makes old ones superfluous
		to := first + rng.Uint64N(last-first)
		m.from = to + 1
		return do(func(s raft.LogStore) error { return s.DeleteRange(first, to) })
	case k == 1 && last > first: // another leader's entries take the place of some
		from := first + 1 + rng.Uint64N(last-first)
		logs := someLogs(rng, from)
		m.to = from - 1
		return do(func(s raft.LogStore) error {
			return errors.Join(s.DeleteRange(from, last),
				s.StoreLogs(logs))
		})
	case k == 2 && rng.IntN(10) == 0 && last > 0: // a peer's snapshot
		m.from, m.to = 1, 0
		return do(func(s raft.LogStore) error { return s.DeleteRange(first, last) })
	}
	logs := someLogs(rng, last+1)
	if m.fail > 0 {
		ok, left := m.d.fault, rng.IntN(4)
		m.d.fault = func(string) error {
			if left--; left < 0 && left >= -m.fail {
				return errors.New("fails for a moment")
			}
			return nil
		}
		defer func() { m.d.fault, m.fail = ok, 0 }()
	}
	return do(func(s raft.LogStore) error { return s.StoreLogs(logs) })
}

func someLogs(rng *rand.Rand, from uint64) (logs []*raft.Log) {
	for i := range 1 + rng.Uint64N(4) {
		l := &raft.Log{Index: from + i, Term: 1 + rng.Uint64N(9), Type: raft.LogType(rng.IntN(6)),
			Data: make([]byte, rng.IntN(400)), AppendedAt: time.Unix(0, rng.Int64())}
		for k := range l.Data {
			l.Data[k] = byte(rng.Uint32())
		}
		if rng.IntN(2) == 0 {
			l.Extensions = fence(rng.Uint64())
		}
		logs = append(logs, l)
	}
	return logs
}

// TestLogAgainstTwin: the log holds what raft's own log in memory holds, whatever is done to it, and
// also once it has been closed and opened again.
func TestLogAgainstTwin(t *testing.T) {
	smallSegments(t)
	for seed := range tries.Of(12, 1000) {
		rng := rand.New(rand.NewPCG(uint64(seed), 4))
		m := &model{t: t, twin: raft.NewInmemStore()}
		dir := t.TempDir()
		if err := m.open(dir, nil); err != nil {
			t.Fatal(err)
		}
		for i := range 150 {
			if rng.IntN(8) == 0 {
				m.fail = 1 + rng.IntN(4)
			}
			if faulty := m.fail > 0; !m.step(rng) && !faulty {
				t.Fatalf("seed %d: step %d: %v", seed, i, m.why)
			}
			m.fail = 0
			if i%10 == 0 {
				m.same(false)
			}
			if rng.IntN(20) == 0 {
				m.close()
				if err := m.open(dir, nil); err != nil {
					t.Fatalf("seed %d: open after step %d: %v", seed, i, err)
				}
				m.same(true) // a segment's older entries come back with it, and what was written and not acknowledged
				m.adopt()
				first, _ := m.twin.FirstIndex()
				if err := m.w.DeleteRange(0, first-1); err != nil && first > 0 {
					t.Fatal(err)
				}
			}
		}
		m.same(false)
		m.close()
	}
}

// TestLogAfterCrash: from some operation on nothing reaches the disk any more, in the middle of a write
// perhaps. What was acknowledged is there when the directory is opened again, and nothing is called
// damaged.
func TestLogAfterCrash(t *testing.T) {
	smallSegments(t)
	errCrash := errors.New("crash")
	for seed := range tries.Of(60, 5000) {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		m := &model{t: t, twin: raft.NewInmemStore()}
		dir := t.TempDir()
		left := rng.IntN(300)
		if err := m.open(dir, func(string) error {
			if left--; left < 0 {
				return errCrash
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for m.step(rng) {
		}
		m.close()
		if rng.IntN(2) == 0 { // a write that was under way has come half
			tear(t, filepath.Join(dir, "log"), rng)
		}
		if err := m.open(dir, nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := max(m.from, 1); i <= m.to; i++ {
			m.equal(i)
		}
		m.close()
	}
}

// TestReplaceAll: entries that take the place of all that the log holds, be it one, stand alone, also
// when it is opened again.
func TestReplaceAll(t *testing.T) {
	for held := uint64(1); held <= 2; held++ {
		m, dir := &model{t: t}, t.TempDir()
		whole := func(string) error { return nil }
		if err := m.open(dir, whole); err != nil {
			t.Fatal(err)
		}
		for i := range held {
			if err := m.w.StoreLog(&raft.Log{Index: 5 + i, Term: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.w.StoreLog(&raft.Log{Index: 5, Term: 2}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			var l raft.Log
			first, _ := m.w.FirstIndex()
			last, _ := m.w.LastIndex()
			if err := m.w.GetLog(5, &l); err != nil || first != 5 || last != 5 || l.Term != 2 {
				t.Errorf("of %d: the log holds %d to %d, the first of term %d: %v", held, first, last, l.Term, err)
			}
			m.close()
			if err := m.open(dir, whole); err != nil {
				t.Fatal(err)
			}
		}
		m.close()
	}
}
