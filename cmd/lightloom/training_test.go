package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/controller/training/llm"
	"lightloom/lab/iteration"
	"lightloom/southbound/hint"
)

// TestIdleFlags: a flag that would change nothing is refused.
func TestIdleFlags(t *testing.T) {
	for _, args := range []string{"--model=dense-7b --groups=g.json", "--model=dense-7b --bytes=1MiB", "traces --data=2",
		"traces --bytes=1MiB", "a.xml --method=all-reduce=ring", "a.xml --groups=g.json", "traces --congestion=aware",
		"traces --queues=2", "traces --network=n.yml --nic=1Gbps"} {
		c := newTrainingRun()
		c.SetArgs(strings.Fields(args))
		c.SilenceErrors, c.SilenceUsage = true, true
		if err := c.Execute(); err == nil || !strings.Contains(err.Error(), "changes nothing") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestTimeline: its place is tried before the run, and a run that fails leaves the old file and nothing beside it.
func TestTimeline(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "timeline.json")
	run := func(args ...string) error {
		c := newTrainingRun()
		c.SetArgs(append([]string{"--model=dense-7b", "--data=2", "--tensor=1", "--pipeline=1", "--batch=8"}, args...))
		c.SilenceErrors, c.SilenceUsage = true, true
		c.SetOut(io.Discard)
		return c.Execute()
	}
	err := run("--timeline="+filepath.Join(dir, "none", "t.json"), "--delay=9=1s")
	if err == nil || !strings.Contains(err.Error(), "--timeline: ") {
		t.Errorf("a folder that is not there, and a run that fails: %v", err)
	}
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run("--timeline="+path, "--delay=9=1s"); err == nil {
		t.Error("a delay of no rank")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("a run that failed left %q, %v", b, err)
	}
	if err := errors.Join(run("--timeline="+path), run("--timeline="+os.DevNull)); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if b, _ := os.ReadFile(path); err != nil || len(entries) != 1 || !strings.Contains(string(b), "traceEvents") {
		t.Errorf("%d bytes, and %v, %v", len(b), entries, err)
	}
}

// TestExportNames: names stay in the folder, and traces of a larger job are not mixed with those of a smaller one.
func TestExportNames(t *testing.T) {
	dir := t.TempDir()
	m, err := llm.ModelOf("dense-7b")
	if err != nil {
		t.Fatal(err)
	}
	j := llm.Default(m)
	j.Data, j.Tensor, j.Pipeline, j.Batch = 2, 1, 1, 8
	for range 2 { // its own files are written again
		if err := exportTraces(iteration.Source{Model: &j}, dir, "job"); err != nil {
			t.Fatal(err)
		}
	}
	j.Data = 1
	err = exportTraces(iteration.Source{Model: &j}, dir, "job")
	if !hint.IsWrong(err) || !strings.Contains(err.Error(), "holds job.1.et of another job") {
		t.Errorf("a smaller job in the same folder: %v", err)
	}
	for _, name := range []string{"../esc", "", ".", "..", "a/b"} {
		c := newTrainingExport()
		c.SetArgs([]string{"--model=dense-7b", "--data=1", "--tensor=1", "--pipeline=1", "--batch=4",
			"--to=" + filepath.Join(dir, "sub"), "--name=" + name})
		c.SilenceErrors, c.SilenceUsage = true, true
		if err := c.Execute(); err == nil || !strings.Contains(err.Error(), "is no name of files") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "sub")); err == nil {
		t.Error("the folder was made for a name that was refused")
	}
}
