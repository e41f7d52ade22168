package netnstest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Lock keeps all other tests that build namespaces from running, also those of other packages, processes and users,
// until t ends: two fabrics at a time share the processors and spoil each other's figures.
func Lock(t testing.TB) {
	t.Helper()
	lock(t, unix.LOCK_EX)
}

// Share is Lock for tests that measure nothing: they run beside each other, but never beside one that holds Lock.
func Share(t testing.TB) {
	t.Helper()
	lock(t, unix.LOCK_SH)
}

func lock(t testing.TB, how int) {
	t.Helper()
	f, err := open(filepath.Join(os.TempDir(), "lightloom-netns.lock"))
	if err != nil {
		t.Fatalf("open lock: %v", err)
	}
	began := time.Now()
	for {
		if err = unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		t.Fatalf("lock %q: %v", f.Name(), err)
	}
	if waited := time.Since(began); waited > time.Second {
		t.Logf("waited %v for the namespaces of other tests", waited.Round(100*time.Millisecond))
	}
	t.Cleanup(func() { _ = f.Close() }) // which unlocks
}

// open opens or creates a file, which can be another user's; only the process that creates it needs the right to do so.
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
