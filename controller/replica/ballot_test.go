package replica

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func newBallot(t *testing.T, dir string) (*ballot, error) {
	t.Helper()
	b, err := openBallot(&disk{dir: dir, health: newHealth()}, true)
	if err == nil {
		t.Cleanup(func() { b.f.Close() })
	}
	return b, err
}

// TestBallotOutlivesASlot: whichever slot rots, and however often either was written, term and vote are
// those that counted last, and what is said of the log is at most one write behind. Without either slot
// there is no guess.
func TestBallotOutlivesASlot(t *testing.T) {
	for writes := range 5 {
		for slot := range 3 { // 2: both
			dir := t.TempDir()
			b, err := newBallot(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(b.SetUint64([]byte(keyTerm), 6), b.SetUint64([]byte(keyTerm), 7),
				b.SetUint64([]byte(keyVote), 7), b.Set([]byte("LastVoteCand"), []byte("r1"))); err != nil {
				t.Fatal(err)
			}
			for i := range writes {
				if err := b.mark(func(k *kept) { k.Last = uint64(100 + i) }); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, "vote")
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				if slot == i || slot == 2 {
					raw[i*slotBytes+slotHead+3] ^= 16
				}
			}
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			again, err := newBallot(t, dir)
			if slot == 2 {
				if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
					t.Errorf("both slots damaged: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			term, err1 := again.GetUint64([]byte(keyTerm))
			vote, err2 := again.GetUint64([]byte(keyVote))
			cand, err3 := again.Get([]byte("LastVoteCand"))
			if err := errors.Join(err1, err2, err3); err != nil || term != 7 || vote != 7 || string(cand) != "r1" {
				t.Errorf("%d writes, slot %d damaged: term %d, vote %d for %q, %v", writes, slot, term,
					vote, cand, err)
			}
			if last := again.known().Last; writes > 1 && last+2 < uint64(100+writes) {
				t.Errorf("%d writes, slot %d damaged: the log is said to reach %d", writes, slot, last)
			}
			if !again.good[0] || !again.good[1] {
				t.Error("the damaged slot was left as it is")
			}
		}
	}
}

// TestBallotFails: a write that fails changes nothing that counts, and the next one that does not fail does.
func TestBallotFails(t *testing.T) {
	for _, op := range []string{"write", "sync"} {
		for after := range 2 { // at the first slot, at the second
			dir := t.TempDir()
			b, err := newBallot(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.SetUint64([]byte(keyVote), 3); err != nil {
				t.Fatal(err)
			}
			left := after
			b.disk.fault = func(o string) error {
				if o == op {
					left--
				}
				if left < 0 {
					return unix.EIO
				}
				return nil
			}
			if err := b.SetUint64([]byte(keyVote), 4); !errors.Is(err, ErrDisk) || !errors.Is(err, unix.EIO) {
				t.Errorf("a %s that fails: %v", op, err)
			}
			if v, err := b.GetUint64([]byte(keyVote)); v != 3 || err != nil {
				t.Errorf("after a %s that failed the vote is %d, %v", op, v, err)
			}
			b.disk.fault = nil
			if err := b.SetUint64([]byte(keyVote), 5); err != nil {
				t.Error(err)
			}
			again, err := newBallot(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := again.GetUint64([]byte(keyVote)); v != 5 || err != nil {
				t.Errorf("opened again, the vote is %d, %v", v, err)
			}
		}
	}
	b, err := newBallot(t, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Set([]byte("x"), make([]byte, slotBytes)); err == nil {
		t.Error("more than a slot holds was taken")
	}
	if _, err := b.Get([]byte("x")); err == nil || err.Error() != "not found" {
		t.Errorf("what is not there: %v, which raft compares with \"not found\"", err)
	}
}
