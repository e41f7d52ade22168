package history_test

import (
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"lightloom/controller"
	"lightloom/controller/history"
	"lightloom/controller/state"
	"lightloom/pathmap/tries"
)

// TestDamage: whatever is changed in the file or cut off, nothing panics. A history that is not whole
// says so, or is put aside when it is opened, and what is opened after that can be filled anew.
func TestDamage(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	s := open(t, whole, 0)
	for id := range controller.JobID(3000) {
		s.Put([]state.Left{left(id, 10)})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 5))
	aside, told := 0, 0
	for range tries.Of(60, 1000) {
		path := filepath.Join(t.TempDir(), "history.db")
		b := append([]byte(nil), text...)
		switch rng.IntN(3) {
		case 0:
			b = b[:rng.IntN(len(b))]
		case 1:
			clear(b[:rng.IntN(len(b))])
		default:
			at := rng.IntN(len(b))
			for i := range b[at:min(at+4096, len(b))] {
				b[at+i] = byte(rng.Uint32())
			}
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := history.Open(path, 0, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path + history.DamagedSuffix); err == nil {
			aside++
		}
		if err := s.Save(io.Discard); err != nil {
			told++
		}
		_ = s.Close() // it may be damaged
		again := open(t, path, 0)
		again.Put([]state.Left{left(7, 10)})
		if _, known, err := again.Job(7); !known || err != nil {
			t.Errorf("it cannot be filled anew: %v, %v", known, err)
		}
		_ = again.Close()
	}
	t.Logf("%d put aside at once, %d told when they were read", aside, told)
	if aside == 0 || told == 0 {
		t.Error("the test damages nothing")
	}
}

// TestOpeningEnds: a file that ended the process that opened it is put aside.
func TestOpeningEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := open(t, path, 0)
	s.Put([]state.Left{left(1, 10)})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is no history either
		if err := os.WriteFile(path+history.OpeningSuffix, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s = open(t, path, 0)
		if _, known, err := s.Job(1); known || err != nil {
			t.Errorf("it is there still: %v", err)
		}
		if err := errors.Join(s.Close(), os.Remove(path)); err != nil {
			t.Fatal(err)
		}
	}
}
