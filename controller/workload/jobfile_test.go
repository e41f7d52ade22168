package workload

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

const wordcount = `
# two jobs
jobs:
  - name: wordcount
    arrival: 1.5s
    weight: 2
    incremental: true
    stages:
      - {name: map, tasks: 4, compute: 200ms}
      - {name: reduce, tasks: 2}
    edges:
      - {from: map, to: reduce, bytes: 1GB}
  - name: clicks
    user: ann
    stages:
      - name: spout
      - {name: count, tasks: 3}
      - name: sink
    streams:
      - {from: spout, to: count, grouping: fields, keys: 100, bytes: 10MB}
      - {from: count, to: count, grouping: all, bytes: 1MB}
      - {from: count, to: sink, grouping: global, bytes: 10MB}
`

func TestReadJobs(t *testing.T) {
	jobs, err := ReadJobs("jobs.yaml", []byte(wordcount))
	if err != nil || len(jobs) != 2 {
		t.Fatal(len(jobs), err)
	}
	for i := range jobs {
		if jobs[i].Problem != nil || jobs[i].Check(8, 64) != nil {
			t.Errorf("job %d: %v, %v", i, jobs[i].Problem, jobs[i].Check(8, 64))
		}
	}
	a, b := &jobs[0].Job, &jobs[1].Job
	if a.Arrival != 1500*time.Millisecond || a.Weight != 2 || !a.Incremental || a.Tasks() != 6 ||
		a.Stages[0].Tasks[3].Compute != 200*time.Millisecond ||
		a.Edges[0].Stream || a.Edges[0].Bytes != 1e9 {
		t.Errorf("%+v", a)
	}
	if b.User != "ann" || b.Tasks() != 5 || len(b.Edges) != 3 || !b.Edges[1].Stream ||
		b.Edges[0].Keys != 100 ||
		b.Edges[1].Kind != controller.Broadcast || b.Edges[2].Kind != controller.Global || b.Incremental ||
		jobs[1].Line != 13 {
		t.Errorf("%+v, line %d", b, jobs[1].Line)
	}
}

// TestJobProblems: each problem names the place and the error, and does not affect the job beside it.
func TestJobProblems(t *testing.T) {
	const good = "  - {name: good, stages: [{name: a}]}\n"
	const skewed = "{name: bad, stages: [{name: a}, {name: b, tasks: 2}], edges: [{from: a, to: b, "
	for _, tc := range []struct{ name, job, want string }{
		{"no tasks", "{name: bad, stages: [{name: a, tasks: 0}]}", `f.yaml:3:43: job "bad": stage "a" has 0 tasks`},
		{"half a task", "{name: bad, stages: [{name: a, tasks: 1.5}]}", `stage "a" has 1.5 tasks`},
		{"no such stage", "{name: bad, stages: [{name: a}], edges: [{from: a, to: b}]}",
			`f.yaml:3:60: job "bad": to: no stage is called "b"`},
		{"edge to nowhere", "{name: bad, stages: [{name: a}], edges: [{from: a}]}", "an edge needs from and to"},
		{"stage without a name", "{name: bad, stages: [{tasks: 1}]}", "a stage needs a name"},
		{"job without a name", "{stages: [{name: a}]}", "a job needs a name"},
		{"twice", "{name: bad, stages: [{name: a}, {name: a}]}", `two stages are called "a"`},
		{"grouping", "{name: bad, stages: [{name: a}, {name: b}], edges: [{from: a, to: b, grouping: range}]}",
			`grouping "range" is unknown: write shuffle, fields`},
		{"bytes", "{name: bad, stages: [{name: a}, {name: b}], edges: [{from: a, to: b, bytes: 10}]}",
			`"10" has no unit of size`},
		{"keys", "{name: bad, stages: [{name: a}, {name: b}], edges: [{from: a, to: b, keys: 5}]}", `grouping: fields`},
		{"reducers of words", skewed + "reducers: [1, most]}]}", `f.yaml:3:98: job "bad": reducer "most": write a part such`},
		{"reducers of less than nothing", skewed + "reducers: [1, -1]}]}", `reducer "-1": write a part`},
		{"reducers without end", skewed + "reducers: [1, .inf]}]}", `reducer ".inf": write a part`},
		{"reducers of two kinds", skewed + "reducers: [1, 20MB]}]}", "some are parts and some sizes"},
		{"reducers of another sum", skewed + "bytes: 90MB, reducers: [60MB, 20MB]}]}",
			"bytes: 90MB, and the reducers receive 80000000 bytes: leave"},
		{"slots", "{name: bad, stages: [{name: a, slots: 0}]}", `stage "a" has tasks of 0 slots`},
		{"rate", "{name: bad, stages: [{name: a}, {name: b}], streams: [{from: a, to: b, rate: 0bps}]}",
			`rate "0bps": write bits`},
		{"lifetime", "{name: bad, lifetime: soon, stages: [{name: a}]}", `lifetime "soon" is no time`},
		{"incremental", "{name: bad, incremental: maybe, stages: [{name: a}]}", `incremental "maybe": write true or false`},
		{"arrival", "{name: bad, arrival: -1s, stages: [{name: a}]}", `arrival "-1s" is no time`},
		{"weight", "{name: bad, weight: .nan, stages: [{name: a}]}", `weight ".nan"`},
		{"reads of nobody", "{name: bad, stages: [{name: a}], reads: [{bytes: 1MB}]}",
			"a read needs job: and the name"},
		{"reads of both", "{name: bad, stages: [{name: a}], reads: [{job: good, hosts: [1]}]}",
			"a read needs job: and"},
		{"reads into nowhere", "{name: bad, stages: [{name: a}], reads: [{job: good, to: b}]}",
			`f.yaml:3:62: job "bad": to: no stage is called "b"`},
		{"reads by keys", "{name: bad, stages: [{name: a}], reads: [{job: good, grouping: fields}]}",
			"write one-to-one, shuffle"},
		{"a host of words", "{name: bad, stages: [{name: a}], reads: [{hosts: [h1]}]}", `host "h1" is no whole number`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			jobs, err := ReadJobs("f.yaml", []byte("jobs:\n"+good+"  - "+tc.job+"\n"))
			if err != nil || len(jobs) != 2 {
				t.Fatal(len(jobs), err)
			}
			if jobs[0].Problem != nil || jobs[1].Problem == nil ||
				!strings.Contains(jobs[1].Problem.Error(), tc.want) {
				t.Errorf("%v and %v, want %s", jobs[0].Problem, jobs[1].Problem, tc.want)
			}
		})
	}
}

// TestReducers: parts are numbers, which stand for what bytes says, or sizes, which say it.
func TestReducers(t *testing.T) {
	jobs, err := ReadJobs("f.yaml", []byte("jobs:\n"+
		"  - name: a\n    stages: [{name: m}, {name: r, tasks: 3}]\n"+
		"    edges: [{from: m, to: r, bytes: 10MB, reducers: [1, 0, 2.5]}]\n"+
		"  - name: b\n    stages: [{name: m}, {name: r, tasks: 2}]\n"+
		"    edges: [{from: m, to: r, reducers: [50MB, 200kB]}]\n"))
	if err != nil || jobs[0].Problem != nil || jobs[1].Problem != nil {
		t.Fatal(jobs, err)
	}
	a, b := &jobs[0].Edges[0], &jobs[1].Edges[0]
	if a.Bytes != 10e6 || !slices.Equal(a.Reducers, []int64{1e6, 0, 2.5e6}) || b.Bytes != 50_200_000 ||
		!slices.Equal(b.Reducers, []int64{50e6, 200e3}) {
		t.Errorf("%+v, %+v", a, b)
	}
	for i := range jobs {
		if err := jobs[i].Check(4, 8); err != nil {
			t.Error(err)
		}
	}
}

// TestEndlessJobs: a stream with a rate, a lifetime and sizes are read, and what cannot be of them is refused by Check.
func TestEndlessJobs(t *testing.T) {
	const head = "jobs:\n  - {name: x, "
	const stages = "stages: [{name: a, tasks: 2, slots: 3}, {name: b}], "
	for _, tc := range []struct{ name, job, want string }{
		{"fine", "lifetime: 90s, " + stages + "streams: [{from: a, to: b, rate: 20Mbps}]}", ""},
		{"without a lifetime", stages + "streams: [{from: a, to: b, rate: 20Mbps}]}", ""},
		{"a rate and bytes", stages + "streams: [{from: a, to: b, rate: 20Mbps, bytes: 1MB}]}",
			"a stream that ends has bytes"},
		{"a rate of a batch edge", stages + "edges: [{from: a, to: b, rate: 20Mbps}]}",
			"only streams go on and on"},
		{"waits for what never ends", "stages: [{name: a}, {name: b}, {name: c}], streams: [{from: a, to: b, rate: " +
			"20Mbps}], edges: [{from: b, to: c, bytes: 1MB}]}", "has a stream that never does"},
		{"a lifetime of what ends", "lifetime: 90s, " + stages + "edges: [{from: a, to: b, bytes: 1MB}]}",
			"it ends by itself"},
		{"a lifetime of a year", "lifetime: 8760h, " + stages + "streams: [{from: a, to: b, rate: 20Mbps}]}",
			"lives for 8760h"},
		{"too fast", stages + "streams: [{from: a, to: b, rate: 1001Tbps}]}", "makes 1001000Gbps"},
		{"computes", "stages: [{name: a, compute: 1s}, {name: b}], streams: [{from: a, to: b, rate: 20Mbps}]}",
			"computes for 1s"},
		{"larger than any server", "stages: [{name: a, slots: 9}]}", "no host has more than 8"},
		{"fit one by one and not together", "stages: [{name: a, tasks: 9, slots: 5}]}",
			"do not all fit on 8 hosts of 8 slots"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			jobs, err := ReadJobs("f", []byte(head+tc.job+"\n"))
			if err != nil || jobs[0].Problem != nil {
				t.Fatal(err, jobs[0].Problem)
			}
			j := &jobs[0].Job
			switch err := j.Check(8, 64); {
			case (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want):
				t.Errorf("%v, want %q", err, tc.want)
			case err == nil && (j.Edges[0].Rate != 20e6 || j.Stages[0].Tasks[1].Slots != 3 || !j.GoesOn()):
				t.Errorf("%+v", j)
			}
		})
	}
}

func TestJobFileForm(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "f.yaml: empty"},
		{"comment alone", "# nothing\n", "f.yaml"},
		{"no jobs", "jobs: []\n", "no jobs"},
		{"unknown key", "jobs:\n  - {name: a, stage: []}\n", `f.yaml:2:15: unknown field "stage"`},
		{"no list", "jobs: 5\n", "f.yaml:1:"},
		{"two documents", "jobs: [{name: a}]\n---\njobs: []\n", "more than one document"},
		{"a list for a word", "jobs:\n  - name: [a]\n", "f.yaml:2:11: is no word or number"},
		{"nested", "jobs: " + strings.Repeat("[", 1000), "within each other"},
		{"tab", "jobs:\n\t- name: a\n", "f.yaml:2:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := ReadJobs("f.yaml", []byte(tc.text)); err == nil ||
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// TestJobFileHint: who guesses a key is shown what a job looks like, and that can be copied.
func TestJobFileHint(t *testing.T) {
	_, err := ReadJobs("f.yaml", []byte("jobs:\n  - name: a\n    maps: 4\n"))
	mend, ok := strings.CutPrefix(hint.Of(err), "a job is such as ")
	if !ok {
		t.Fatalf("%v has the hint %q", err, hint.Of(err))
	}
	jobs, err := ReadJobs("f.yaml", []byte("jobs: ["+mend+"]\n"))
	if err != nil || len(jobs) != 1 || jobs[0].Problem != nil {
		t.Errorf("the hint's job cannot be read: %v, %v", jobs, err)
	}
}

// TestManyTasks: a small file cannot ask for all of memory.
func TestManyTasks(t *testing.T) {
	text := "jobs:\n" + strings.Repeat("  - {name: a, stages: [{name: a, tasks: 65536}]}\n", 100)
	jobs, err := ReadJobs("f", []byte(text))
	if err != nil || jobs[63].Problem != nil || jobs[64].Problem == nil || len(jobs[64].Stages) > 0 {
		t.Fatal(err, jobs[63].Problem, jobs[64].Problem)
	}
}

// TestReads: jobs read what others write, and a circle of them is refused with the whole file.
func TestReads(t *testing.T) {
	const chain = `jobs:
  - {name: a, stages: [{name: s, tasks: 2}], reads: [{hosts: [0, 3], bytes: 2GB}]}
  - {name: b, stages: [{name: s}, {name: t, tasks: 2}], reads: [{job: a, to: t, grouping: all, bytes: 1GB}]}
`
	jobs, err := ReadJobs("f.yaml", []byte(chain))
	if err != nil || len(jobs) != 2 || jobs[0].Problem != nil || jobs[1].Problem != nil {
		t.Fatal(jobs, err)
	}
	a, b := &jobs[0].Edges[0], &jobs[1].Edges[0]
	if a.Bytes != 2e9 || a.Reads.Kind != controller.OneToOne ||
		!slices.Equal(a.Reads.Hosts, []southbound.HostID{0, 3}) ||
		b.To != 1 || b.Reads.Job != "a" || b.Reads.Kind != controller.Broadcast {
		t.Errorf("%+v, %+v", *a.Reads, *b.Reads)
	}
	_, err = ReadJobs("f.yaml", []byte(chain+"  - {name: c, stages: [{name: s}], reads: [{job: d}]}\n"+
		"  - {name: d, stages: [{name: s}], reads: [{job: c}]}\n"))
	if err == nil || !strings.Contains(err.Error(), `f.yaml:4:12: jobs read from each other in a circle, and none could `+
		`begin: "c" reads from "d" reads from "c"`) {
		t.Errorf("a circle: %v", err)
	}
}

// TestJobSchema: the schema is JSON and names just the keys that are read.
func TestJobSchema(t *testing.T) {
	var s struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(JobSchema), &s); err != nil {
		t.Fatal(err)
	}
	for def, n := range map[string]int{"job": 13, "stage": 8, "limits": 5, "edge": 6, "stream": 7, "read": 5} {
		if len(s.Defs[def].Properties) != n {
			t.Errorf("%s has %d keys, want %d", def, len(s.Defs[def].Properties), n)
		}
	}
}

func FuzzReadJobs(f *testing.F) {
	f.Add([]byte(wordcount))
	f.Add([]byte("jobs: [{name: a, stages: [{name: s}], reads: [{job: b}]}, " +
		"{name: b, stages: [{name: s}], reads: [{hosts: [1]}]}]"))
	f.Add([]byte("jobs: [{name: &a x, stages: [{name: *a}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		jobs, err := ReadJobs("f", data)
		if err != nil {
			return
		}
		for i := range jobs {
			if jobs[i].Problem == nil {
				_ = jobs[i].Check(8, 64)
			}
		}
	})
}
