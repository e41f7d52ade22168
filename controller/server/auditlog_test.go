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

// TestAuditLog: lines are appended, across restarts too; old files are bounded in size and number and
// hold the newest lines whole; calls of one caller that change nothing fill a bounded number of lines,
// and the rest is counted.
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
		a.note(api.AuditRecord{At: now, Caller: "client/ann", Call: "Cancel",
			What: fmt.Sprint("job ", i), Result: "ok"})
		if i%50 == 49 {
			must(t, a.close())
			a = open()
		}
	}
	refused := []api.Code{api.Denied, api.Invalid, api.TooLarge, api.Busy, api.Unknown}
	for i := range 100 {
		a.note(api.AuditRecord{At: now, Call: "Cancel", Result: string(refused[i%len(refused)])})
	}
	now = now.Add(time.Minute)
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
		if lines[i].Result != "ok" {
			denied++
			continue
		}
		if done--; lines[i].What != fmt.Sprint("job ", done) {
			t.Fatalf("line %d is %+v, want job %d", i, lines[i], done)
		}
	}
	if last := lines[len(lines)-1]; denied != auditRefused+1 || last.Left != 100-auditRefused || n-done < 50 {
		t.Errorf("%d denials, the last %+v, %d calls kept", denied, last, n-done)
	}
}

// TestAuditOfOthers: a caller that is refused all the time hides no other's refusals, and no change of
// its own.
func TestAuditOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), auditFile)
	now := time.Unix(1_000_020, 0)
	a := newAuditLog(path, slog.New(slog.DiscardHandler))
	a.now = func() time.Time { return now }
	for range 20 {
		now = now.Add(time.Second)
		for range 100 {
			a.note(api.AuditRecord{Caller: "client/mallory", Call: "SubmitJobs", Result: string(api.Invalid)})
		}
		a.note(api.AuditRecord{Caller: "client/mallory", Call: "SubmitJobs", Result: string(api.Uncertain)})
	}
	for i := range 2 * auditRefused {
		a.note(api.AuditRecord{Caller: fmt.Sprint("client/ann", i), Call: "Cancel", Result: string(api.Denied)})
	}
	must(t, a.close())
	data, err := os.ReadFile(path)
	must(t, err)
	for text, want := range map[string]int{"invalid": auditRefused, "uncertain": 20, "ann": auditRefused} {
		if n := bytes.Count(data, []byte(text)); n != want {
			t.Errorf("%d lines of %s, want %d", n, text, want)
		}
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
	if data, err := os.ReadFile(filepath.Join(dir, auditFile)); err != nil ||
		bytes.Count(data, []byte("\n")) != 1 {
		t.Errorf("%q, %v", data, err)
	}
}
