package workload

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tinySpark is an application of two jobs: a map, a shuffle and a result; and a second result of the same shuffle.
//
//go:embed testdata/spark.eventlog
var tinySpark string

func TestReadSpark(t *testing.T) {
	jobs, err := ReadSpark(strings.NewReader(tinySpark), "app")
	if err != nil || len(jobs) != 2 {
		t.Fatal(jobs, err)
	}
	a, b := &jobs[0], &jobs[1]
	if a.Name != "spark-0" || a.User != "ann" || len(a.Stages) != 2 || len(a.Stages[0].Tasks) != 2 ||
		a.Stages[0].Tasks[0].Compute != 200*time.Millisecond || a.Stages[0].Tasks[1].Compute != 350*time.Millisecond ||
		a.Stages[0].Tasks[1].Input != 9000 || a.Stages[1].Tasks[0].Compute != 100*time.Millisecond {
		t.Errorf("%+v", a)
	}
	if len(a.Edges) != 1 || a.Edges[0].Bytes != 700 || a.Edges[0].From != 0 || a.Edges[0].To != 1 {
		t.Errorf("%+v", a.Edges)
	}
	// Stage 2 was skipped; stage 3 reads what stage 0 of the first job wrote.
	if b.Arrival != 2*time.Second || len(b.Stages) != 1 || len(b.Edges) != 1 || b.Edges[0].Reads.Job != "spark-0" ||
		b.Edges[0].Bytes != 70 {
		t.Errorf("%+v", b)
	}
	for i := range jobs {
		if err := jobs[i].Check(4, 16); err != nil {
			t.Error(err)
		}
	}
}

// TestSparkProblems: each names the file and the line.
func TestSparkProblems(t *testing.T) {
	for _, tc := range []struct{ name, old, new, want string }{
		{"cut", "", "", `"app": line 12`},
		{"no log", `{"Event":"SparkListenerLogStart",`, `{`, "line 1: no Event: this is no Spark event log"},
		{"a loop", `"Parent IDs":[0]}],"Stage IDs":[0,1]`, `"Parent IDs":[1]}]`,
			"line 3: stage 1 has a parent 1, which is not before"},
		{"twice", `"Job ID":1,`, `"Job ID":0,`, "line 10: a job start without a Job ID of its own"},
		{"back in time", `3000,"Stage`, `300,"Stage`, "line 10: job 1 was submitted at 300, before"},
		{"unknown stage", `"Stage ID":3,"Task`, `"Stage ID":9,"Task`, "line 11: a task ended of a stage that no job lists"},
		{"bytes", `:500,`, `:-500,`, "line 8: task 0 of stage 1"},
		{"nothing ran", `"Success"`, `"Killed"`, "no job of which a task has ended"},
		{"zstd", `{"Event":"SparkListenerLogStart"`, "\x28\xb5\x2f\xfd", "zstd -d"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := tinySpark + `{"Event":`
			if tc.old != "" {
				text = strings.ReplaceAll(tinySpark, tc.old, tc.new)
			}
			if _, err := ReadSpark(strings.NewReader(text), "app"); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// TestPublishedSparkLogs reads logs of applications that ran, where the folder of public traces has some.
func TestPublishedSparkLogs(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(os.Getenv("LIGHTLOOM_DATA"), "spark", "*"))
	if len(files) == 0 {
		t.Skip("no Spark event logs: LIGHTLOOM_DATA/spark holds none")
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := ReadSpark(f, filepath.Base(name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range jobs {
			if err := jobs[i].Check(16, 1<<16); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		t.Logf("%s: %d jobs", filepath.Base(name), len(jobs))
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func FuzzReadSpark(f *testing.F) {
	f.Add(tinySpark)
	f.Add(`{"Event":"SparkListenerJobStart","Job ID":0,"Stage Infos":[{"Stage ID":1,"Parent IDs":[0]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := ReadSpark(strings.NewReader(text), "app")
		if err != nil {
			return
		}
		for i := range jobs {
			if err := jobs[i].Check(1, 1<<30); err != nil {
				t.Fatalf("%+v: %v", jobs[i], err)
			}
		}
	})
}
