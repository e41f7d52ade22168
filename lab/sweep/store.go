package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/lab/replay"
	"lightloom/southbound/durable"
	"lightloom/southbound/hint"
)

// Key names a run: the hash of all that decides its figures.
type Key string

// keyOf is the key of a row under a seed. identity is the grid's, program the hash of the program. The first seed's run
// keeps more, so it is another.
func keyOf(program string, identity []byte, row string, seed uint64, first bool) Key {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n%q\n%d %v\n", program, identity, row, seed, first)
	return Key(hex.EncodeToString(h.Sum(nil)))
}

// point is a run's file: of a replay, or the figures of an experiment's.
type point struct {
	Key     Key             `json:"key"`
	Made    *replay.Made    `json:"made,omitempty"`
	Figures json.RawMessage `json:"figures,omitempty"`
	Sum     string          `json:"figures_sha256,omitempty"`
	Took    float64         `json:"took_s,omitempty"` // of figures
	Peak    int64           `json:"peak_bytes"`       // of memory, by the process that made it
}

// wall is how long the run took.
func (p *point) wall() time.Duration {
	seconds := p.Took
	if p.Made != nil {
		seconds = p.Made.Cost.Wall
	}
	return time.Duration(seconds * float64(time.Second))
}

// Folder is a folder of results.
type Folder string

func (f Folder) points() string         { return filepath.Join(string(f), "points") }
func (f Folder) point(k Key) string     { return filepath.Join(f.points(), string(k)+".json") }
func (f Folder) statePath() string      { return filepath.Join(string(f), "sweep.json") }
func (f Folder) tasks() string          { return filepath.Join(string(f), "tasks") }
func (f Folder) report(c string) string { return filepath.Join(string(f), "reports", c) }

// Study is the copy of the sweep's file, which may change while its runs are made.
func (f Folder) Study() string { return filepath.Join(string(f), "study.yaml") }

// FullError says that a result could not be written.
type FullError struct {
	Folder Folder
	Err    error
}

func (e *FullError) Error() string {
	return fmt.Sprintf("write result to %q: %v", string(e.Folder), e.Err)
}
func (e *FullError) Unwrap() error { return e.Err }

// Hint says what to do. Results that are there are whole, and count when the sweep goes on.
func (e *FullError) Hint() string {
	if errors.Is(e.Err, syscall.ENOSPC) || errors.Is(e.Err, syscall.EDQUOT) {
		return "the disk is full: free some space and start the same sweep again, which goes on from here"
	}
	return "name a folder that you may write to with --results DIR"
}

// Put keeps what a run left behind, wholly or not at all.
func (f Folder) Put(k Key, m *replay.Made) error { return f.put(point{Key: k, Made: m, Peak: peak()}) }

func (f Folder) put(is point) error {
	b, err := json.Marshal(is)
	if err != nil {
		return fmt.Errorf("keep run: %w", err)
	}
	if err := durable.Replace(f.point(is.Key), b, false); err != nil {
		return &FullError{f, err}
	}
	return nil
}

// peak is the most memory that this process has had.
func peak() int64 {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return used.Maxrss << 10
}

// Get returns what Put kept. A file that holds something else is as one that is not there: fs.ErrNotExist.
func (f Folder) Get(k Key) (*replay.Made, error) {
	is, err := f.kept(k)
	if err == nil && is.Made == nil {
		err = fmt.Errorf("read result %q: %w", f.point(k), fs.ErrNotExist)
	}
	return is.Made, err
}

func (f Folder) kept(k Key) (is point, err error) {
	b, err := os.ReadFile(f.point(k))
	if errors.Is(err, fs.ErrPermission) {
		return is, fmt.Errorf("read result: %w", err)
	}
	if err != nil || json.Unmarshal(b, &is) != nil || is.Key != k || is.Made == nil && !is.hasFigures() {
		return point{}, fmt.Errorf("read result %q: %w", f.point(k), fs.ErrNotExist)
	}
	return is, nil
}

// hasFigures reports whether there are figures, those that were kept.
func (p *point) hasFigures() bool {
	return len(p.Figures) > 0 && string(p.Figures) != "null" && p.Sum == sumOf(p.Figures)
}

func sumOf(figures json.RawMessage) string {
	sum := sha256.Sum256(figures)
	return hex.EncodeToString(sum[:])
}

// mend removes a result that is damaged, so that it is made again.
func (f Folder) mend(k Key) error {
	if _, err := f.kept(k); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.RemoveAll(f.point(k)); err != nil { // also a folder of that name
		return &FullError{f, err}
	}
	return nil
}

// has reports whether a run need not be made. Get has the last word.
func (f Folder) has(k Key) bool {
	info, err := os.Stat(f.point(k))
	return err == nil && info.Size() > 0
}

// state is what others may know of a sweep.
type state struct {
	File    string    `json:"file"`
	Engine  string    `json:"engine"`
	Points  []Key     `json:"points"`
	Host    string    `json:"host"`
	Process int       `json:"pid"`
	Start   string    `json:"pid_start"` // when that process began
	Began   time.Time `json:"began"`
	Held    int       `json:"held_before"`       // results that were there when it began
	Again   string    `json:"command,omitempty"` // that goes on; empty: lightloom sweep of the file
}

// what is who has the folder.
func (s *state) what() string {
	if s.Again != "" {
		return s.File
	}
	return "the sweep of " + s.File
}

func (f Folder) readState() (*state, error) {
	b, err := os.ReadFile(f.statePath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.Wrong(hint.New(fmt.Sprintf("%q holds no sweep", string(f)),
			"name the folder of a sweep's results, such as study.results"))
	} else if err != nil {
		return nil, fmt.Errorf("read state of sweep: %w", err)
	}
	var s state
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("read state of sweep %q: %w", f.statePath(), err)
	}
	return &s, nil
}

// Who asks whether a sweep runs has the lock for a moment. A sweep that starts waits that long for it, and tries so
// often.
const (
	lockWait  = time.Second
	lockRetry = lockWait / 50
)

// lock takes the folder for one sweep; the file that is returned holds it until it is closed. Where another sweep has
// it, the error names that one.
func (f Folder) lock(ctx context.Context) (*os.File, error) {
	if err := os.MkdirAll(f.points(), 0o755); err != nil {
		return nil, &FullError{f, err}
	}
	file, err := os.OpenFile(filepath.Join(string(f), "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, &FullError{f, err}
	}
	switch err := flock(ctx, file); {
	case err == nil:
		return file, nil
	case !errors.Is(err, unix.EWOULDBLOCK):
		return nil, errors.Join(fmt.Errorf("lock %q: %w", file.Name(), err), file.Close())
	}
	who := "another sweep"
	if s, err := f.readState(); err == nil {
		who = fmt.Sprintf("%s (process %d on %s)", s.what(), s.Process, s.Host)
	}
	return nil, errors.Join(hint.New(fmt.Sprintf("%q is in use by %s", string(f), who),
		"wait for it, end it by "+CommandLine("lightloom", "sweep", "cancel", string(f))+
			", or name another folder with --results DIR"),
		file.Close())
}

// flock locks a file for this process alone. It gives up when ctx ends, or after lockWait.
func flock(ctx context.Context, file *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	again := time.NewTicker(lockRetry)
	defer again.Stop()
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-again.C:
		}
	}
}

// isRunning reports whether a sweep has the folder.
func (f Folder) isRunning() bool {
	file, err := os.Open(filepath.Join(string(f), "lock"))
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
