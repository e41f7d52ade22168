package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// DiskError means that a report could not be written; its hint tells what to do.
type DiskError struct {
	Dir string
	Err error
}

func (e *DiskError) Error() string { return fmt.Sprintf("write report to %q: %v", e.Dir, e.Err) }
func (e *DiskError) Unwrap() error { return e.Err }

// Hint returns what to type instead.
func (e *DiskError) Hint() string {
	switch {
	case errors.Is(e.Err, syscall.ENOSPC), errors.Is(e.Err, syscall.EDQUOT):
		return "the disk is full: free some space, or name another place with --report-dir DIR"
	case errors.Is(e.Err, fs.ErrPermission), errors.Is(e.Err, syscall.EROFS):
		return "name a directory that you may write to with --report-dir DIR"
	case errors.Is(e.Err, syscall.ENOTDIR), errors.Is(e.Err, fs.ErrExist):
		return "a file has that name: name a directory with --report-dir DIR"
	}
	return "name another directory with --report-dir DIR"
}

// CheckDir checks before a run that a report can be written to dir afterwards: it makes the directory
// and writes a byte. It leaves nothing behind if that fails, and no file if it succeeds.
func CheckDir(dir string) error {
	made, err := makeDir(dir)
	if err != nil {
		return &DiskError{dir, err}
	}
	name, err := writeTemp(dir, "probe", []byte{'\n'})
	if err == nil {
		err = os.Remove(name)
	}
	if err != nil {
		removeDirs(made)
		return &DiskError{dir, err}
	}
	return nil
}

// WriteDir writes report.json, run.json, report.html and tables as CSV to dir, which it makes if
// necessary. It replaces earlier files only after all are on the disk; each file appears whole or not
// at all.
func (r *Report) WriteDir(dir string, run *Run) error {
	files, err := r.files(run)
	if err != nil {
		return err
	}
	made, err := makeDir(dir)
	if err != nil {
		return &DiskError{dir, err}
	}
	var temps []string
	for _, f := range files {
		temp, err := writeTemp(dir, f.name, f.data)
		if err != nil {
			removeAll(temps)
			removeDirs(made)
			return &DiskError{dir, err}
		}
		temps = append(temps, temp)
	}
	for i, f := range files {
		if err := os.Rename(temps[i], filepath.Join(dir, f.name)); err != nil {
			removeAll(temps[i:])
			return &DiskError{dir, err}
		}
	}
	return nil
}

type file struct {
	name string
	data []byte
}

func (r *Report) files(run *Run) (all []file, err error) {
	machine := func() ([]byte, error) { return encode("run.json", run) }
	for _, f := range []struct {
		name  string
		has   bool
		write func() ([]byte, error)
	}{
		{reportFile, true, r.JSON}, {runFile, true, machine}, {pageFile, true, r.HTML},
		{policiesFile, true, r.policiesCSV}, {coflowsFile, true, r.coflowsCSV}, {circuitsFile, true, r.circuitsCSV},
		{linksFile, len(r.utilised()) > 0, r.linksCSV}, {decisionsFile, r.hasDecisions(), r.decisionsCSV},
	} {
		if !f.has {
			continue
		}
		data, err := f.write()
		if err != nil {
			return nil, err
		}
		all = append(all, file{f.name, data})
	}
	return all, nil
}

// writeTemp writes data under a hidden name of its own, through to the disk, and returns the name. It
// leaves nothing behind on error.
func writeTemp(dir, name string, data []byte) (string, error) {
	f, err := os.CreateTemp(dir, "."+name+"-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// makeDir makes dir and its parents, and returns those that were not there, deepest first.
func makeDir(dir string) (made []string, err error) {
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		made = append(made, d)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		removeDirs(made)
		return nil, err
	}
	return made, nil
}

func removeAll(names []string) {
	for _, n := range names {
		os.Remove(n) // already failing: the first error is the one to tell
	}
}

// removeDirs removes directories that are empty; others have been used meanwhile and stay.
func removeDirs(dirs []string) { removeAll(dirs) }
