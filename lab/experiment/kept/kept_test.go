package kept

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// figures have all that a kept run can have; hidden ones cannot be kept.
type figures struct {
	Mean float64
	By   []float64
}

type hidden struct{ mean float64 }

// TestRuns: runs are made once, also after a crash in the midst of a line; those that fail are made again.
func TestRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "runs.jsonl")
	made := 0
	run := func() (*figures, error) {
		made++
		return &figures{Mean: 1.0 / 3, By: []float64{float64(made), 1e-300}}, nil
	}
	open := func() *Runs {
		t.Helper()
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := open()
	if a, b := r.Grid(), r.Grid(); a != 0 || b != 1 {
		t.Errorf("grids %d and %d", a, b)
	}
	first, _ := Run(r, Key{0, 3, 7}, run)
	if other, err := Open(path); other != nil || err != nil {
		t.Errorf("another process has the same file: %v, %v", other, err)
	}
	if _, err := Run(r, Key{0, 3, 8}, func() (*figures, error) {
		return nil, os.ErrDeadlineExceeded
	}); !errors.Is(err,
		os.ErrDeadlineExceeded) {
		t.Errorf("a run that fails: %v", err)
	}
	if h, err := Run(r, Key{1, 0, 7}, func() (hidden, error) {
		return hidden{2},
			nil
	}); h.mean != 2 || err != nil {
		t.Errorf("%v, %v", h, err)
	}
	if err := r.Close(false); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(b, []byte(`{"grid":0,"setting":3,"seed":8,"fig`)...), 0o600); err != nil {
		t.Fatal(err)
	}

	r = open()
	if again, _ := Run(r, Key{0, 3, 7}, run); made != 1 || !reflect.DeepEqual(again, first) ||
		r.Recalled() != 1 || r.Held() != 1 {
		t.Errorf("made %d times: %v, then %v", made, first, again)
	}
	if _, err := Run(r, Key{0, 3, 8}, run); made != 2 || err != nil {
		t.Errorf("the run that failed was made %d times in all, %v", made, err)
	}
	if h, _ := Run(r, Key{1, 0, 7}, func() (hidden, error) { return hidden{3}, nil }); h.mean != 3 {
		t.Error("figures that cannot be written were kept")
	}
	if err := r.Close(false); err != nil {
		t.Fatal(err)
	}
	r = open()
	if _, err := Run(r, Key{0, 3, 8}, run); made != 2 || err != nil {
		t.Errorf("made again after the torn line: %d, %v", made, err)
	}
	if err := r.Close(true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file of an experiment that is done is left")
	}
	if _, err := Run(nil, Key{}, run); err != nil || (*Runs)(nil).Close(true) != nil || made != 3 {
		t.Error("a nil Runs is no Runs that keeps nothing")
	}
}

func TestFile(t *testing.T) {
	type settings struct{ Seeds int }
	a, err1 := File("f", "x", settings{1})
	b, err2 := File("f", "x", settings{2})
	again, err3 := File("f", "x", settings{1})
	if err := errors.Join(err1, err2, err3); err != nil || a == b || a != again || filepath.Dir(a) != "f" {
		t.Errorf("%s, %s, %s: %v", a, b, again, err)
	}
}

func TestEstimate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if _, known := Estimate(dir, "x", 3); known {
		t.Error("known before it was run")
	}
	Learn(dir, "x", 10, 5*time.Second)
	Learn(dir, "y", 10, time.Second)
	if got, known := Estimate(dir, "x", 4); !known || got != 2*time.Second {
		t.Errorf("%v, %v", got, known)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"grid":0,"setting":3,"seed":7,"figures":{"Mean":1}}` + "\n" + `{"grid":`))
	f.Add([]byte("\n\x00\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "runs")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := Run(r, Key{9, 9, 9}, func() (figures, error) { return figures{Mean: 2}, nil })
		if err := r.Close(false); err != nil {
			t.Fatal(err)
		}
		if r, err = Open(path); err != nil {
			t.Fatal(err)
		}
		got, _ := Run(r, Key{9, 9, 9}, func() (figures, error) { return figures{}, nil })
		if err := r.Close(true); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v after %q, want %v: %v", got, text, want, err)
		}
	})
}
