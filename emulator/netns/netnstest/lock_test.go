package netnstest

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// record is a test that records what it is told.
type record struct {
	testing.TB
	failed bool
}

func (r *record) Helper()             {}
func (r *record) Failed() bool        { return r.failed }
func (r *record) Logf(string, ...any) {}
func (r *record) Error(...any)        { r.failed = true }
func (r *record) Errorf(string, ...any) {
	r.failed = true
}

// alone reports whether nobody else can lock the machine.
func alone(t *testing.T) bool {
	f := openLock(t, machine)
	defer f.Close()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// TestMeasure: a bound that is missed beside other tests is measured again without them, and the rest
// is noise.Measure.
func TestMeasure(t *testing.T) {
	for _, tt := range []struct {
		name   string
		missed int // measurements that miss their bound
		fails  bool
		taken  int
		failed bool
	}{
		{"kept", 0, false, 1, false},
		{"missed beside others", 1, false, 2, false},
		{"missed, and wrong", 1, true, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			s, r, taken := Share(t), &record{TB: t}, 0
			s.Measure(r, 3, func() error {
				if got, want := alone(t), taken > 0; got != want {
					t.Errorf("measurement %d was alone: %v, want %v", taken, got, want)
				}
				taken++
				r.failed = tt.fails
				if taken <= tt.missed {
					return fmt.Errorf("missed for the %dth time", taken)
				}
				return nil
			})
			if taken != tt.taken || r.failed != tt.failed {
				t.Errorf("measured %d times, failed %v; want %d, %v", taken, r.failed, tt.taken, tt.failed)
			}
		})
	}
}

// TestGate: whoever waits for the machine gets it before those who ask for a share later.
func TestGate(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	first, waits := openLock(t, machine), openLock(t, machine)
	take(t, first, unix.LOCK_SH)
	order := make(chan string, 2)
	go func() {
		take(t, waits, unix.LOCK_EX)
		order <- "alone"
		_ = flock(waits, unix.LOCK_UN)
	}()
	asks := openLock(t, gate)
	for !errors.Is(unix.Flock(int(asks.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK) {
		_ = flock(asks, unix.LOCK_UN) // until the one above holds the gate
	}
	go func() {
		take(t, openLock(t, machine), unix.LOCK_SH)
		order <- "shared"
	}()
	if err := flock(first, unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if got := [2]string{<-order, <-order}; got != [2]string{"alone", "shared"} {
		t.Errorf("%v", got)
	}
}
