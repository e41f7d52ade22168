package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/pathmap"
)

const tinyWorkflow = `{"schemaVersion": "1.5", "workflow": {"specification": {
 "tasks": [
  {"id": "b", "parents": ["a"], "inputFiles": ["x", "in"], "outputFiles": []},
  {"id": "a", "parents": [], "inputFiles": ["in"], "outputFiles": ["x"]}],
 "files": [{"id": "x", "sizeInBytes": 70}, {"id": "in", "sizeInBytes": 30}]},
 "execution": {"tasks": [{"id": "a", "runtimeInSeconds": 1.5}]}}}`

func TestReadWorkflow(t *testing.T) {
	jobs, err := ReadWorkflow(strings.NewReader(tinyWorkflow), "w.json", 8, 1)
	if err != nil || len(jobs) != 2 {
		t.Fatal(jobs, err)
	}
	a, b := &jobs[0], &jobs[1]
	if a.Name != "a" || a.Stages[0].Tasks[0].Compute != 1500*time.Millisecond || len(a.Edges) != 1 ||
		a.Edges[0].Bytes != 30 || len(a.Edges[0].Reads.Hosts) != 1 {
		t.Errorf("%+v", a)
	}
	if b.Name != "b" || len(b.Edges) != 2 || b.Edges[0].Reads.Job != "a" || b.Edges[0].Bytes != 70 ||
		b.Edges[1].Bytes != 30 {
		t.Errorf("%+v", b)
	}
}

// TestWorkflowProblems: each names the file and the line.
func TestWorkflowProblems(t *testing.T) {
	for _, tc := range []struct{ name, old, new, want string }{
		{"cut", "}}}", "", `"w.json": line 6`},
		{"a circle", `"parents": []`, `"parents": ["b"]`, "line 3: jobs read from each other in a circle"},
		{"no parent", `"parents": ["a"]`, `"parents": ["c"]`, `line 3: task "b" has a parent "c" that is no task`},
		{"twice", `"id": "b"`, `"id": "a"`, `has no id of its own`},
		{"a size", "70", "-1", `line 3: file "x" has -1 bytes`},
		{"a word", "70", `"much"`, "line 5"},
		{"no tasks", `"tasks"`, `"task"`, "0 tasks"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(tinyWorkflow, tc.old, tc.new, 1)
			if _, err := ReadWorkflow(strings.NewReader(text), "w.json", 8, 1); err == nil ||
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// TestPublishedWorkflows reads six workflows that ran, where the folder of public traces is at hand.
func TestPublishedWorkflows(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(os.Getenv("LIGHTLOOM_DATA"), "dag", "*.json.gz"))
	if len(files) == 0 {
		t.Skip("no workflows under LIGHTLOOM_DATA")
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		jobs, err := ReadWorkflow(f, filepath.Base(name), 36, 1)
		if err != nil {
			t.Fatal(err)
		}
		read := pathmap.Bytes(0)
		for i := range jobs {
			if err := jobs[i].Check(36, 36*8); err != nil {
				t.Fatal(err)
			}
			for _, e := range jobs[i].Edges {
				read += e.Bytes
			}
		}
		if len(jobs) < 50 || read == 0 {
			t.Errorf("%s has %d jobs that read %d bytes", name, len(jobs), read)
		}
	}
}

func FuzzReadWorkflow(f *testing.F) {
	f.Add([]byte(tinyWorkflow))
	f.Add([]byte(strings.Replace(tinyWorkflow, `"parents": []`, `"parents": ["b"]`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		jobs, err := ReadWorkflow(strings.NewReader(string(data)), "f", 8, 1)
		if err != nil {
			return
		}
		for i := range jobs {
			_ = jobs[i].Check(8, 64)
		}
	})
}
