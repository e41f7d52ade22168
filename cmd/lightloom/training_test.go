package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/controller/training/llm"
	"lightloom/lab/iteration"
	"lightloom/southbound/hint"
)

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
