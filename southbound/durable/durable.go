// Package durable replaces small files so that a crash at any instant leaves the old content or the
// new, and never a part of either.
//
// It is no database: each file has one writer, which must keep others away itself.
package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Replace puts data in the place of a file's content, or makes the file, readable by its owner alone.
// With sync it returns once the disk has it; without, the content outlives the process and perhaps not
// the machine. After an error the file has either content.
func Replace(path string, data []byte, sync bool) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".new*")
	if err != nil {
		return fmt.Errorf("replace file: %w", err)
	}
	_, err = f.Write(data)
	if sync && err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("replace file %q: %w", path, errors.Join(err, os.Remove(f.Name())))
	}
	if sync {
		err = syncDir(dir)
	}
	return err
}

// syncDir forces the names in a directory to the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync directory %q: %w", dir, err)
	}
	return nil
}
