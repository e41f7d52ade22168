package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"lightloom/controller/api"
)

// auditFile holds one line of JSON for each call that changed something or was refused, in a replica's
// state directory.
const auditFile = "audit.log"

// Bounds of an audit log: the file is renamed to audit.log.1 at that size, and so many old ones are
// kept. Calls that change nothing fill so many lines a second at most, and those of one caller so many
// a minute: whoever is refused again and again takes a week to push out what others did.
const (
	auditBytes   = 8 << 20
	auditOld     = 4
	auditRefused = 10
)

// auditLog appends to a file that is rotated. A line that cannot be written is lost, and said to be.
type auditLog struct {
	path string
	most int64
	log  *slog.Logger
	now  func() time.Time

	mu      sync.Mutex
	f       *os.File
	size    int64
	second  window
	minute  window
	left    int // refused calls without a line since the last
	failing bool
}

// window counts lines of refused calls, by caller, in the newest of equal spans of time.
type window struct {
	span  int64
	lines map[string]int
}

// count counts one more, and reports how many there are.
func (w *window) count(span int64, who string) int {
	if w.lines == nil || w.span != span {
		w.span, w.lines = span, map[string]int{}
	}
	w.lines[who]++
	return w.lines[who]
}

// changed are the results of calls that have changed something, or may have.
func changed(result string) bool {
	switch api.Code(result) {
	case "ok", api.Uncertain, api.Late, api.Canceled, api.Disk:
		return true
	}
	return false
}

func newAuditLog(path string, log *slog.Logger) *auditLog {
	return &auditLog{path: path, most: auditBytes, log: log, now: time.Now}
}

// auditLine is a record, and how many refused calls before it have none.
type auditLine struct {
	api.AuditRecord
	Left int `json:"denials_left_out,omitempty"`
}

// note appends a record.
func (a *auditLog) note(r api.AuditRecord) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.now().Unix(); !changed(r.Result) &&
		(a.minute.count(s/60, r.Caller) > auditRefused || a.second.count(s, "") > auditRefused) {
		a.left++
		return
	}
	line, err := json.Marshal(auditLine{r, a.left})
	if err == nil {
		err = a.write(append(line, '\n'))
	}
	if err == nil {
		a.left = 0
	} else if !a.failing {
		a.log.Error("audit log", "error", err)
	}
	a.failing = err != nil
}

func (a *auditLog) write(line []byte) error {
	if a.f != nil && a.size+int64(len(line)) > a.most {
		if err := a.rotate(); err != nil {
			return err
		}
	}
	if a.f == nil {
		f, err := os.OpenFile(a.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		st, err := f.Stat()
		if err != nil {
			return errors.Join(err, f.Close())
		}
		a.f, a.size = f, st.Size()
	}
	n, err := a.f.Write(line)
	if err != nil && n > 0 { // a full disk: what is next must not begin in the middle of a line
		err = errors.Join(err, a.f.Truncate(a.size))
		n = 0
	}
	a.size += int64(n)
	return err
}

// rotate makes the file the newest of the old ones, and forgets the oldest.
func (a *auditLog) rotate() error {
	err := a.f.Close()
	a.f = nil
	for i := auditOld; i > 0; i-- {
		from := a.path
		if i > 1 {
			from = fmt.Sprintf("%s.%d", a.path, i-1)
		}
		if e := os.Rename(from, fmt.Sprintf("%s.%d", a.path, i)); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func (a *auditLog) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.f == nil {
		return nil
	}
	err := a.f.Close()
	a.f = nil
	return err
}
