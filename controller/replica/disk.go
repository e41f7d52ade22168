package replica

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// VoteFile is written when a node starts for the first time: a directory without it has held no log, or
// lost it.
const VoteFile = "vote"

// Files are the names that the directory of a node can hold. Versions of before had a lock.
func Files() []string {
	return []string{"log", "snapshots", VoteFile, VoteFile + tmpSuffix, "lock", "probe"}
}

// disk is the directory of a node. All changes go through these methods, which report where they failed.
type disk struct {
	dir    string
	noSync bool
	health *health
	fault  func(op string) error // tests only: what an operation answers instead of being done; nil in the product
}

func (d *disk) do(op, path string, f func() error) (err error) {
	if d.fault != nil {
		err = d.fault(op)
	}
	if err == nil {
		err = f()
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w: %w", op, path, ErrDisk, err)
	}
	return nil
}

func (d *disk) write(f *os.File, b []byte, at int64) error {
	return d.do("write", f.Name(), func() error {
		_, err := f.WriteAt(b, at)
		return err
	})
}

func (d *disk) truncate(f *os.File, size int64) error {
	return d.do("truncate", f.Name(), func() error { return f.Truncate(size) })
}

// sync returns once the file's content and length would survive the machine.
func (d *disk) sync(f *os.File) error {
	return d.do("sync", f.Name(), func() error {
		if d.noSync {
			return nil
		}
		return unix.Fdatasync(int(f.Fd()))
	})
}

// syncDir returns once the names in a directory would survive the machine.
func (d *disk) syncDir(path string) error {
	return d.do("sync", path, func() error {
		if d.noSync {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// put writes a file that is either there whole or not at all.
func (d *disk) put(path string, b []byte) error {
	tmp := path + tmpSuffix
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write %q: %w: %w", tmp, ErrDisk, err)
	}
	err = d.write(f, b, 0)
	if err == nil {
		err = d.sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	if err := d.do("rename", tmp, func() error { return os.Rename(tmp, path) }); err != nil {
		return err
	}
	return d.syncDir(filepath.Dir(path))
}

const tmpSuffix = ".tmp"

// probeBytes is how much must fit on a disk that was full before the node takes part again: more than a
// few entries, so that it does not come and go with each.
const probeBytes = 1 << 20

// probe checks whether the disk takes writes again.
func (d *disk) probe() error {
	path := filepath.Join(d.dir, "probe")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	err = d.write(f, make([]byte, probeBytes), 0)
	if err == nil {
		err = d.sync(f)
	}
	return errors.Join(err, f.Close(), os.Remove(path))
}

// list returns the names in a directory with that suffix, in order, and removes what a crash left half
// written.
func (d *disk) list(path, suffix string) (names []string, err error) {
	all, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("read directory: %w", err)
	}
	for _, e := range all {
		switch filepath.Ext(e.Name()) {
		case tmpSuffix:
			if err := os.Remove(filepath.Join(path, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("remove what was left half written: %w", err)
			}
		case suffix:
			names = append(names, e.Name())
		}
	}
	return names, nil
}
