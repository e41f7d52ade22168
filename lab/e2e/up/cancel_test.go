package up

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/lab/console"
	"lightloom/lab/labtest"
	"lightloom/lab/session"
)

// submitAndCancel submits jobs to the running fabric, finds the endless ones in its status, and cancels
// one, twice.
func submitAndCancel(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	if err := os.WriteFile(file, []byte(labtest.EndlessJobs), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err := session.Submit(context.Background(),
		session.SubmitOptions{File: file, Output: console.OutputJSON, Stdout: &b,
			Stderr: io.Discard})
	var got []session.Submitted
	if jsonErr := json.Unmarshal(b.Bytes(), &got); jsonErr != nil || len(got) != 5 ||
		got[0].Job != 0 || got[2].Job != 2 ||
		got[3].Job != -1 {
		t.Fatalf("submitted %s: %v", b.String(), jsonErr)
	}
	if err == nil || !strings.Contains(err.Error(), "no host has more than") ||
		!strings.Contains(err.Error(), "has no source") {
		t.Errorf("what is refused is told as %v", err)
	}
	running := func() (st session.Status) {
		b.Reset()
		if err := showStatus(context.Background(), session.StatusOptions{Output: console.OutputJSON,
			Stdout: &b}); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b.Bytes(), &st); err != nil {
			t.Fatal(err)
		}
		return st
	}
	st := running()
	// status reads delivered bytes from the hosts; the leader, which reports those of a cancelled job,
	// gets them periodically, after at most a sixth of a second.
	for end := time.Now().Add(labtest.Hanging); len(st.Streams) == 0 ||
		st.Streams[0].Delivered < 125_000; st = running() {
		if time.Now().After(end) {
			t.Fatalf("streams %+v are shown", st.Streams)
		}
	}
	for range 2 {
		var c session.CancelledJob
		b.Reset()
		if err := session.CancelJob(context.Background(),
			session.CancelOptions{Job: "wordcount", Output: console.OutputJSON,
				Stdout: &b}); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b.Bytes(), &c); err != nil || !c.Cancelled || c.Job != 0 ||
			c.Delivered == 0 || c.Ran <= 0 {
			t.Errorf("cancelled: %s", b.String())
		}
	}
	for _, s := range running().Streams {
		if s.Job == 0 {
			t.Errorf("it still runs: %+v", s)
		}
	}
	for _, name := range []string{"99", "nobody"} {
		if err := session.CancelJob(context.Background(),
			session.CancelOptions{Job: name, Stdout: io.Discard}); err == nil ||
			!strings.Contains(err.Error(), "no such job") {
			t.Errorf("cancel %q: %v", name, err)
		}
	}
}
