// Package kept keeps the runs of an experiment on the disk while it is under way, so that one that was interrupted can
// go on, and remembers how long experiments took on this machine. It decides nothing about runs.
package kept

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Key names one run of an experiment: the grid, in the order in which grids are begun, the setting in it, and the seed.
type Key struct {
	Grid    int    `json:"grid"`
	Setting int    `json:"setting"`
	Seed    uint64 `json:"seed"`
}

// Store keeps the figures of runs that any process makes. Keep keeps them wholly or not at all.
type Store interface {
	Figures(k Key) (json.RawMessage, bool)
	Keep(k Key, figures json.RawMessage, took time.Duration) error
}

// Runs are the figures of runs that have ended. A nil Runs keeps nothing.
type Runs struct {
	mu       sync.Mutex
	file     *os.File
	store    Store // in place of the file; nil: there is none
	known    map[Key]json.RawMessage
	grids    int
	recalled int
	written  int   // by this start
	err      error // of the first write that failed: the experiment goes on without
}

// line is one run in the file.
type line struct {
	Key
	Figures json.RawMessage `json:"figures"`
}

// mostLine bounds a line that is read, in bytes.
const mostLine = 16 << 20

// Open opens the file of an experiment, or makes it. What a crash has left of a last line is forgotten. While another
// process has the file, this one keeps nothing: nil.
func Open(path string) (r *Runs, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("keep runs: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("keep runs: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, f.Close()
	}
	r = &Runs{file: f, known: map[Key]json.RawMessage{}}
	whole := r.read()
	_, err = f.Seek(whole, io.SeekStart)
	if err = errors.Join(f.Truncate(whole), err); err != nil {
		return nil, fmt.Errorf("keep runs: %w", errors.Join(err, f.Close()))
	}
	return r, nil
}

// In are the runs of a store. Figures that it cannot keep are an error of their run.
func In(s Store) *Runs { return &Runs{store: s} }

// read reads the whole lines of the file and returns their bytes. What follows a line that is none of ours is not read.
func (r *Runs) read() (whole int64) {
	in := bufio.NewScanner(r.file)
	in.Buffer(nil, mostLine)
	in.Split(wholeLines)
	for in.Scan() {
		var l line
		if json.Unmarshal(in.Bytes(), &l) != nil {
			break
		}
		r.known[l.Key], whole = l.Figures, whole+int64(len(in.Bytes()))
	}
	return whole
}

// wholeLines splits lines, with their ends, and leaves a last one without an end away.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	for i, b := range data {
		if b == '\n' {
			return i + 1, data[:i+1], nil
		}
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

// Grid returns the number of the next grid.
func (r *Runs) Grid() int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.grids++
	return r.grids - 1
}

// Recalled returns how many runs were not made again.
func (r *Runs) Recalled() int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.recalled
}

// Held returns how many runs the next start need not make.
func (r *Runs) Held() int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.known) + r.written
}

// Run returns the figures of a run that was made before, or makes it and keeps them.
func Run[F any](r *Runs, k Key, run func() (F, error)) (F, error) {
	var f F
	if r == nil {
		return run()
	}
	if r.recall(k, &f) {
		return f, nil
	}
	began := time.Now()
	f, err := run()
	if err == nil {
		err = keep(r, k, f, time.Since(began))
	}
	return f, err
}

func (r *Runs) recall(k Key, to any) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.known[k]
	if r.store != nil {
		b, ok = r.store.Figures(k)
	}
	if !ok || json.Unmarshal(b, to) != nil {
		return false
	}
	r.recalled++
	return true
}

// keep writes the figures of a run, unless they would come back otherwise than they are: an error where there is a
// store, and only there.
func keep[F any](r *Runs, k Key, f F, took time.Duration) error {
	b, err := json.Marshal(f)
	var back F
	if err != nil || json.Unmarshal(b, &back) != nil || !reflect.DeepEqual(f, back) {
		if r.store != nil {
			return errors.New("keep run: its figures would not come back from a file as they are: leave --on-engine away")
		}
		return nil
	}
	if r.store != nil {
		return r.store.Keep(k, b, took)
	}
	if text, err := json.Marshal(line{k, b}); err == nil {
		r.add(text)
	}
	return nil
}

// add adds a line to the file.
func (r *Runs) add(text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		_, r.err = r.file.Write(append(text, '\n'))
		r.written++
	}
}

// Close closes the file. If the experiment is done it deletes the file. It returns the first write that failed.
func (r *Runs) Close(done bool) error {
	if r == nil || r.store != nil {
		return nil
	}
	err := errors.Join(r.err, r.file.Close())
	if done {
		err = errors.Join(err, os.Remove(r.file.Name()))
	}
	if err != nil {
		return fmt.Errorf("keep runs: %w", err)
	}
	return nil
}
