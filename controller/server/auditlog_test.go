package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller/api"
)

// TestAuditLog: lines are appended, across restarts too; old files are bounded in size and number and hold the newest
// lines whole; denials fill a bounded number of lines a second, and the rest is counted.
func TestAuditLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), auditFile)
	now := time.Unix(1_000_000, 0)
	open := func() *auditLog {
		a := newAuditLog(path, slog.New(slog.DiscardHandler))
		a.most, a.now = 4096, func() time.Time { return now }
		return a
	}
	a := open()
	const n = 200
	for i := range n {
		a.note(api.AuditRecord{At: now, Caller: "client/ann", Call: "Cancel", What: fmt.Sprint("job ", i), Result: "ok"})
		if i%50 == 49 {
			must(t, a.close())
			a = open()
		}
	}
	for range 100 {
		a.note(api.AuditRecord{At: now, Call: "Cancel", Result: string(api.Denied)})
	}
	now = now.Add(time.Second)
	a.note(api.AuditRecord{At: now, Call: "Cancel", Result: string(api.Denied)})
	must(t, a.close())

	var lines []auditLine
	for i := auditOld; i >= 0; i-- {
		file := path
		if i > 0 {
			file += fmt.Sprint(".", i)
		}
		data, err := os.ReadFile(file)
		must(t, err)
		if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 || st.Size() > 4096 {
			t.Errorf("%s: %v, %d bytes, %v", file, st.Mode(), st.Size(), err)
		}
		for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); {
			var l auditLine
			must(t, json.Unmarshal(in.Bytes(), &l))
			lines = append(lines, l)
		}
	}
	if _, err := os.Stat(fmt.Sprint(path, ".", auditOld+1)); !os.IsNotExist(err) {
		t.Error("more old files are kept")
	}
	denied, done := 0, n
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].Result == string(api.Denied) {
			denied++
			continue
		}
		if done--; lines[i].What != fmt.Sprint("job ", done) {
			t.Fatalf("line %d is %+v, want job %d", i, lines[i], done)
		}
	}
	if last := lines[len(lines)-1]; denied != auditDenials+1 || last.Left != 100-auditDenials || n-done < 50 {
		t.Errorf("%d denials, the last %+v, %d calls kept", denied, last, n-done)
	}
}

// TestAuditLogCannotWrite: it says so once, and goes on when it can.
func TestAuditLogCannotWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	var log strings.Builder
	a := newAuditLog(filepath.Join(dir, auditFile), slog.New(slog.NewTextHandler(&log, nil)))
	for range 3 {
		a.note(api.AuditRecord{Call: "Cancel", Result: "ok"})
	}
	if strings.Count(log.String(), "audit log") != 1 {
		t.Errorf("logged: %s", log.String())
	}
	must(t, os.Mkdir(dir, 0o700))
	a.note(api.AuditRecord{Call: "Cancel", Result: "ok"})
	must(t, a.close())
	if data, err := os.ReadFile(filepath.Join(dir, auditFile)); err != nil || bytes.Count(data, []byte("\n")) != 1 {
		t.Errorf("%q, %v", data, err)
	}
}
