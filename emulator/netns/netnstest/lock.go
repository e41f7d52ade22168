package netnstest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/southbound/noise"
)

// Lock keeps all other tests that build namespaces from running, also those of other packages,
// processes and users, until t ends: two fabrics at a time share the processors and spoil each other's
// figures.
//
// Tests within one that holds this, or Share, must not be parallel: they would wait for a place among
// the parallel tests of their package, while those that have one can wait for the machine.
func Lock(t testing.TB) {
	t.Helper()
	take(t, openLock(t, machine), unix.LOCK_EX)
}

// Shared is what a test holds that runs beside others, but never beside one that holds Lock.
type Shared struct{ machine *os.File }

// Share is Lock for tests that measure nothing, or whose bounds are wide enough that the neighbours
// rarely matter.
func Share(t testing.TB) Shared {
	t.Helper()
	s := Shared{openLock(t, machine)}
	take(t, s.machine, unix.LOCK_SH)
	return s
}

// Measure takes a measurement, whose error reports the bound that it missed. Neighbours can be why: it
// is then measured again with Lock, by the rules of noise.Measure, up to the given number of times.
func (s Shared) Measure(t testing.TB, times int, measure func() error) {
	t.Helper()
	err := measure()
	switch {
	case err == nil:
		return
	case t.Failed():
		t.Error(err)
		return
	}
	t.Logf("measured again, without other tests beside it: %v", err)
	if err := flock(s.machine, unix.LOCK_UN); err != nil { // else two would wait for each other's share
		t.Fatal(err)
	}
	take(t, s.machine, unix.LOCK_EX)
	noise.Measure(t, times, measure)
}

// The files that are locked: the machine by whoever uses it, the gate by whoever waits. Shares that
// follow each other without a gap would keep Lock out for ever; a waiter for Lock holds the gate, so
// that they wait behind it.
const (
	machine = "lightloom-netns.lock"
	gate    = "lightloom-netns-gate.lock"
)

// openLock opens a file to lock until t ends.
func openLock(t testing.TB, name string) *os.File {
	t.Helper()
	f, err := open(filepath.Join(os.TempDir(), name))
	if err != nil {
		t.Fatalf("open lock: %v", err)
	}
	t.Cleanup(func() { _ = f.Close() }) // which unlocks
	return f
}

// take locks the machine behind those who wait already.
func take(t testing.TB, f *os.File, how int) {
	t.Helper()
	began := time.Now()
	g := openLock(t, gate)
	if err := errors.Join(flock(g, how), flock(f, how), flock(g, unix.LOCK_UN)); err != nil {
		t.Fatal(err)
	}
	if waited := time.Since(began); waited > time.Second {
		t.Logf("waited %v for the namespaces of other tests", waited.Round(100*time.Millisecond))
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// open opens or creates a file, which can be another user's; only the process that creates it needs the
// right to do so.
func open(name string) (*os.File, error) {
	f, err := os.Open(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if f, err = os.OpenFile(name, os.O_CREATE|os.O_RDONLY, 0o666); err != nil {
		return os.Open(name) // made by another meanwhile
	}
	_ = f.Chmod(0o666)
	return f, nil
}
