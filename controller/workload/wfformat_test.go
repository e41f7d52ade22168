package workload

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
 "execution": {"tasks": [{"id": "a", "runtimeInSeconds": 1.5}, {"id": "b", "runtimeInSeconds": 0}]}}}`

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
		{"a size", "70", "-1", `line 5: file "x" has -1 bytes`},
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

// wf is a workflow of 1.5 with these tasks, which take no time, and files.
func wf(tasks, files string) string {
	var ran []string
	for _, id := range regexp.MustCompile(`"id":"[^"]*"`).FindAllString(tasks, -1) {
		ran = append(ran, "{"+id+`,"runtimeInSeconds":0}`)
	}
	return `{"schemaVersion":"1.5","workflow":{"specification":{"tasks":[` + tasks + `],"files":[` + files + `]},` +
		`"execution":{"tasks":[` + strings.Join(ran, ",") + `]}}}`
}

// reads writes who reads how much from whom, in the order in which tasks can run.
func reads(text string) string {
	jobs, err := ReadWorkflow(strings.NewReader(text), "w", 8, 1)
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, j := range jobs {
		line := j.Name
		for _, e := range j.Edges {
			from := e.Reads.Job
			if from == "" {
				from = "host"
			}
			line += fmt.Sprintf(" %s:%d", from, e.Bytes)
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}

// TestWorkflowMeans reads dependencies, writers and sizes as the schema means them.
func TestWorkflowMeans(t *testing.T) {
	const ab = `{"id":"a","parents":[],"children":["b"],"inputFiles":["i"],"outputFiles":["f"]},` +
		`{"id":"b","parents":[],"children":[],"inputFiles":["f"],"outputFiles":[]}`
	const v = `{"id":"v","sizeInBytes":500}`
	task := func(id, parents, in, out string) string {
		return fmt.Sprintf(`{"id":%q,"parents":[%s],"inputFiles":[%s],"outputFiles":[%s]}`, id, parents, in, out)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"children only", wf(ab, `{"id":"i","sizeInBytes":10},{"id":"f","sizeInBytes":20}`), "a host:10, b a:20"},
		{"sizes with a point and an exponent", wf(ab, `{"id":"i","sizeInBytes":1e3},{"id":"f","sizeInBytes":2000000.0}`),
			"a host:1000, b a:2000000"},
		{"a file of two writers",
			wf(task("a", "", "", `"v"`)+","+task("c", "", "", `"v"`)+","+task("b", `"a"`, `"v"`, ""), v),
			"a, c, b a:500"},
		{"a writer before the parents",
			wf(task("a", "", "", `"v"`)+","+task("b", `"a"`, "", "")+","+task("c", `"b"`, `"v"`, ""),
				v), "a, b a:0, c a:500 b:0"},
		{"two writers, one after the other", wf(task("a", "", "", `"v"`)+","+task("b", `"a"`, `"v"`, `"v"`)+","+
			task("c", `"a","b"`, `"v"`, ""), v), "a, b a:500, c a:0 b:500"},
		{"a writer that comes later", wf(task("a", "", `"v"`, "")+","+task("b", `"a"`, "", `"v"`), v), "a host:500, b a:0"},
		{"a file that a task changes", wf(task("a", "", `"v"`, `"v"`), v), "a host:500"},
		{"two parents that write beside each other", wf(task("a", "", "", `"v"`)+","+task("c", "", "", `"v"`)+","+
			task("b", `"a","c"`, `"v"`, ""), v), `line 1: task "b" reads file "v", which tasks "a" and "c" write beside`},
		{"a writer that is not waited for", wf(task("c", "", "", `"v"`)+","+task("b", "", `"v"`, ""), v),
			`task "b" reads file "v", which task "c" writes, and does not wait for it`},
		{"a circle of children", wf(`{"id":"a","children":["b"]},{"id":"b","children":["a"]}`, ""), "in a circle"},
		{"a child that is none", wf(`{"id":"a","children":["z"]}`, ""), `task "a" has a child "z" that is no task`},
		{"half a byte", wf(ab, `{"id":"i","sizeInBytes":0.5}`), `file "i" has 0.5 bytes: write a whole number`},
		{"too many bytes", wf(ab, `{"id":"i","sizeInBytes":1e30}`), `file "i" has 1e30 bytes`},
		{"no size", wf(ab, `{"id":"i"}`), `file "i" has no sizeInBytes: write a whole number`},
		{"a file of no list", wf(task("a", "", `"x"`, ""), ""), `task "a" reads file "x", of which`},
		{"two sizes", wf(task("a", "", "", ""), v+`,{"id":"v","sizeInBytes":7}`), `file "v" has 500 bytes and 7 bytes`},
		{"a time of a task that is none", strings.Replace(wf(task("a", "", "", ""), ""), `"execution":{"tasks":[`,
			`"execution":{"tasks":[{"id":"z","runtimeInSeconds":5},`, 1),
			`tells what task "z" took, and there is no such task`},
		{"two times of a task", strings.Replace(wf(task("a", "", "", ""), ""), `"execution":{"tasks":[`,
			`"execution":{"tasks":[{"id":"a","runtimeInSeconds":5},`, 1),
			`tells twice what task "a" took`},
		{"a file that is named twice", wf(ab+","+task("c", `"a"`, `"f","f"`, ""), `{"id":"i","sizeInBytes":10},{"id":"f",`+
			`"sizeInBytes":20}`), "a host:10, b a:20, c a:20"},
		{"a size as a word", wf(ab, `{"id":"i","sizeInBytes":"10"}`), `file "i" has "10" bytes: write a whole number`},
		{"1.4", `{"schemaVersion":"1.4","workflow":{"tasks":[{"name":"a","id":"ID1","children":["ID2"],"files":[` +
			`{"link":"output","name":"f","sizeInBytes":20.0}],"runtimeInSeconds":1.5},{"name":"b","id":"ID2",` +
			`"parents":["ID1"],"runtimeInSeconds":0,` +
			`"files":[{"link":"input","name":"f","sizeInBytes":20}]}]}}`, "ID1, ID2 ID1:20"},
		{"1.4, parents by name", `{"workflow":{"tasks":[{"name":"b","parents":["a"],"files":[],"runtime":0},` +
			`{"name":"a","id":"1","runtime":0}]}}`,
			"1, b 1:0"},
		{"1.3", `{"workflow":{"tasks":[{"name":"a","files":[{"link":"input","name":"f","size":20}]}]}}`,
			`file "f" has a size without unit`},
		{"1.2", `{"workflow":{"jobs":[{"name":"a"}]}}`, "jobs were those of 1.2"},
		{"1.6", `{"schemaVersion":"1.6","workflow":{"specification":{"tasks":[{"id":"a"}]},` +
			`"execution":{"tasks":[{"id":"a","runtimeInSeconds":1}]}}}`, "a"},
		{"no times", `{"workflow":{"specification":{"tasks":[{"id":"a"}]}}}`,
			`line 1: how long task "a" ran is not told: write its runtimeInSeconds under workflow.execution.tasks`},
		{"a time that is null", strings.Replace(wf(task("a", "", "", ""), ""), `"runtimeInSeconds":0`,
			`"runtimeInSeconds":null`, 1), `how long task "a" ran is not told`},
		{"a time of centuries", strings.Replace(wf(task("a", "", "", ""), ""), `"runtimeInSeconds":0`,
			`"runtimeInSeconds":1e10`, 1), `task "a" runs for 1e+10 s: take a number from 0 to 2305843009`},
		{"a long id", wf(task(strings.Repeat("b", 257), "", "", ""), ""), "of a task is longer than 256 bytes"},
		{"1.10", "{\n\"schemaVersion\":\"1.10\"}", `line 2: schemaVersion is "1.10", and WfFormat to 1.6 is read`},
		{"2", `{"schemaVersion":2}`, `line 1: schemaVersion is 2, and WfFormat to 1.6 is read: write it in 1.6`},
		{"a version that is none", `{"schemaVersion":"new"}`, `line 1: schemaVersion is "new"`},
		{"another format", "kind: topology\n", `begins with 'k' and not with {`},
		{"nothing", "", "the file holds no JSON"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, text := range []string{tc.text, "\uFEFF" + tc.text} {
				if got := reads(text); got != tc.want && !(strings.HasPrefix(got, "read workflow") &&
					strings.Contains(got, tc.want)) {
					t.Errorf("got  %s\nwant %s", got, tc.want)
				}
			}
		})
	}
}

// TestWorkflowCases reads small files of which each says one thing in a way that others write it.
func TestWorkflowCases(t *testing.T) {
	for name, want := range map[string]string{
		"wf-children-children-only.json": "a host:1000000, b a:2000000",
		"wf-children-symmetric.json":     "a host:1000000, b a:2000000",
		"wf-sizes-exponent.json":         "a host:1000000, b a:2000000", "wf-sizes-float.json": "a host:1000000, b a:2000000",
		"wf-two-writers-one.json": "a, b a:500000000", "wf-two-writers-two.json": "a, c, b a:500000000",
	} {
		text, err := os.ReadFile(filepath.Join("testdata", "cases", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := reads(string(text)); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
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
