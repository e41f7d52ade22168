package workload

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// tinySpark is an application of two jobs: a map, a shuffle and a result; and a second result of the same shuffle.
//
//go:embed testdata/spark.eventlog
var tinySpark string

func TestReadSpark(t *testing.T) {
	log, err := ReadSpark(strings.NewReader(tinySpark), "app")
	if err != nil || len(log.Jobs) != 2 || len(log.Notes) != 0 {
		t.Fatal(log, err)
	}
	jobs := log.Jobs
	a, b := &jobs[0], &jobs[1]
	if a.Name != "spark-0" || a.User != "ann" || len(a.Stages) != 2 || len(a.Stages[0].Tasks) != 2 ||
		a.Stages[0].Tasks[0].Compute != 200*time.Millisecond ||
		a.Stages[0].Tasks[1].Compute != 350*time.Millisecond ||
		a.Stages[0].Tasks[1].Input != 9000 || a.Stages[1].Tasks[0].Compute != 100*time.Millisecond {
		t.Errorf("%+v", a)
	}
	if len(a.Edges) != 1 || a.Edges[0].Bytes != 700 || a.Edges[0].From != 0 || a.Edges[0].To != 1 {
		t.Errorf("%+v", a.Edges)
	}
	// Stage 2 was skipped; stage 3 reads what stage 0 of the first job wrote.
	if b.Arrival != 2*time.Second || len(b.Stages) != 1 || len(b.Edges) != 1 ||
		b.Edges[0].Reads.Job != "spark-0" ||
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
		{"no log", `{"Event":"SparkListenerLogStart",`, `{`, "line 1: no Event: this is no Spark event log"},
		{"a loop", `"Parent IDs":[0]}],"Stage IDs":[0,1]`, `"Parent IDs":[1]}]`,
			"line 3: stage 1 has a parent 1, which is not before"},
		{"twice", `"Job ID":1,`, `"Job ID":0,`, "line 10: a job start without a Job ID of its own"},
		{"back in time", `3000,"Stage`, `300,"Stage`, "line 10: job 1 was submitted at 300, before"},
		{"unknown stage", `"Stage ID":3,"Task`, `"Stage ID":9,"Task`, "line 11: a task ended of a stage that no job lists"},
		{"bytes", `:500,`, `:-500,`, "line 8: task 0 of stage 1"},
		{"nothing ran", `"Success"`, `"Killed"`, "no job of which a task has ended"},
		{"lzf", `{"Event":"SparkListenerLogStart"`, "ZV\x01", "it is compressed by lzf, which is not read: unpack it"},
		{"cut in its first line", tinySpark, `{"Event":"Spark`, "line 1: unexpected end of JSON input"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.ReplaceAll(tinySpark, tc.old, tc.new)
			if _, err := ReadSpark(strings.NewReader(text), "app"); err == nil ||
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
}

// TestSparkCut: a log that ends in the middle of a line holds what it holds, and says so.
func TestSparkCut(t *testing.T) {
	whole, err := ReadSpark(strings.NewReader(tinySpark), "app")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(tinySpark, "\n")
	for _, tail := range []string{`{"Event":`, `{"Event":"SparkListenerTaskEnd","Stage ID":3,`,
		`{"Event":"SparkListenerBlockManagerAdded","Block`} {
		log, err := ReadSpark(strings.NewReader(tinySpark+tail), "app")
		if err != nil || !cmp.Equal(log.Jobs, whole.Jobs) || len(log.Notes) != 1 ||
			!strings.Contains(log.Notes[0], fmt.Sprintf("in the middle of line %d:", len(lines))) {
			t.Errorf("%s: %+v, %v", tail, log, err)
		}
	}
	log, err := ReadSpark(strings.NewReader(strings.TrimSuffix(tinySpark, "\n")), "app")
	if err != nil || !cmp.Equal(log, whole) {
		t.Errorf("without its last newline: %+v, %v", log, err)
	}
	if _, err := ReadSpark(strings.NewReader(strings.Replace(tinySpark, `"ann"}`, `"ann"`, 1)), "app"); err == nil {
		t.Error("a line that is cut before the last is taken")
	}
}

// sparkPacked is a text by each of Spark's codecs.
func sparkPacked(t *testing.T, text string) map[string][]byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{"": []byte(text), ".zstd": z.EncodeAll([]byte(text), nil)}
	snap := append([]byte(snappyMagic), 0, 0, 0, 1, 0, 0, 0, 1)
	var lz []byte
	for rest := []byte(text); len(rest) > 0; {
		part := rest[:min(len(rest), 1000)]
		rest = rest[len(part):]
		packed := snappy.Encode(nil, part)
		snap = append(binary.BigEndian.AppendUint32(snap, uint32(len(packed))), packed...)
		method := byte(0x20)
		squeezed := make([]byte, lz4.CompressBlockBound(len(part)))
		n, err := lz4.CompressBlock(part, squeezed, nil)
		if squeezed = squeezed[:n]; err != nil || n == 0 || n >= len(part) {
			method, squeezed = 0x10, part
		}
		lz = append(append(lz, lz4Magic...), method)
		for _, v := range []uint32{uint32(len(squeezed)), uint32(len(part)), xxHash32(part, lz4Seed) & 0x0fffffff} {
			lz = binary.LittleEndian.AppendUint32(lz, v)
		}
		lz = append(lz, squeezed...)
	}
	end := append([]byte(lz4Magic), 0x10)
	out[".lz4"], out[".snappy"] = append(lz, append(end, make([]byte, 12)...)...), snap
	return out
}

// TestSparkCodecs reads what Spark compressed, and of half a file what is there.
func TestSparkCodecs(t *testing.T) {
	whole, err := ReadSpark(strings.NewReader(tinySpark), "app")
	if err != nil {
		t.Fatal(err)
	}
	for codec, data := range sparkPacked(t, tinySpark) {
		log, err := ReadSpark(bytes.NewReader(data), "app"+codec)
		if err != nil || !cmp.Equal(log, whole) {
			t.Errorf("%q: %+v, %v", codec, log, err)
		}
		for n := 0; n < len(data); n += 29 {
			log, err := ReadSpark(bytes.NewReader(data[:n]), "app"+codec)
			if err == nil && len(log.Jobs) == 0 || err != nil && !strings.Contains(err.Error(), "line ") {
				t.Fatalf("%d of %d bytes of %q: %+v, %v", n, len(data), codec, log, err)
			}
		}
	}
}

// TestSparkFolder reads a rolled log in order, from what was compacted on.
func TestSparkFolder(t *testing.T) {
	whole, err := ReadSpark(strings.NewReader(tinySpark), "app")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(tinySpark, "\n"), "\n")
	part := func(from, to int) string { return strings.Join(lines[from:to], "") }
	first := part(0, 9)
	for _, tc := range []struct {
		name  string
		files map[string]string
		notes int
		want  string // of the error
	}{
		{"two parts", map[string]string{"appstatus_app": "", "events_1_app": part(0, 4),
			"events_2_app": part(4, 11)}, 0, ""},
		{"ten parts and more, of several codecs", map[string]string{"events_1_app.zstd": part(0, 1),
			"events_2_app.lz4": part(1, 2), "events_3_app.snappy": part(2, 3), "events_4_app": part(3, 4),
			"events_5_app.zstd": part(4, 5), "events_6_app": part(5, 6), "events_7_app": part(6,
				7), "events_8_app": part(7, 8),
			"events_9_app": part(8, 9), "events_10_app.zstd": part(9, 10), "events_11_app": part(10, 11)}, 0, ""},
		{"the rest of another part", map[string]string{"events_1_app": "{",
			"events_2_app.zstd.compact": part(0, 4),
			"events_2_app.zstd":         "{", "events_3_app": part(4, 11), ".events_3_app.crc": "x"}, 1, ""},
		{"a cut last part", map[string]string{"events_1_app": part(0, 4), "events_2_app": part(4, 11) +
			"\n" + `{"Ev`}, 1, ""},
		{"a cut part before", map[string]string{"events_1_app": part(0, 4) + `{"Ev`, "events_2_app": part(4, 11)}, 0,
			`events_1_app": line 5`},
		{"a part is missing", map[string]string{"events_1_app": first, "events_3_app": part(9, 11)}, 0,
			"part 2 is missing"},
		{"the first is missing", map[string]string{"events_2_app": tinySpark}, 0, "part 1 is missing"},
		{"a part twice", map[string]string{"events_1_app": first, "events_1_app.zstd": first}, 0, "two parts 1"},
		{"no log", map[string]string{"x": "y"}, 0, "no file events_1_… in this folder"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "eventlog_v2_app")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range tc.files {
				data := sparkPacked(t, text)[filepath.Ext(strings.TrimSuffix(name, ".compact"))]
				if data == nil {
					data = []byte(text)
				}
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			log, err := ReadSparkFile(dir)
			switch {
			case tc.want != "":
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%v, want %s", err, tc.want)
				}
			case err != nil || !cmp.Equal(log.Jobs, whole.Jobs) || len(log.Notes) != tc.notes:
				t.Errorf("%+v, %v", log, err)
			}
		})
	}
}

// TestSparkForgotten: what a compacted log does not hold is said.
func TestSparkForgotten(t *testing.T) {
	lines := strings.SplitAfter(tinySpark, "\n")
	log, err := ReadSpark(strings.NewReader(lines[0]+lines[1]+strings.Join(lines[9:], "")), "app")
	if err != nil || len(log.Jobs) != 1 || len(log.Jobs[0].Edges) != 0 || len(log.Notes) != 1 ||
		!strings.Contains(log.Notes[0], "1 stages read the output of stages that the log does not hold, 70 bytes in all") {
		t.Errorf("%+v, %v", log, err)
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
		log, err := ReadSpark(f, filepath.Base(name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		jobs := log.Jobs
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
		log, err := ReadSpark(strings.NewReader(text), "app")
		if err != nil {
			return
		}
		jobs := log.Jobs
		for i := range jobs {
			if err := jobs[i].Check(1, 1<<30); err != nil {
				t.Fatalf("%+v: %v", jobs[i], err)
			}
		}
	})
}

// TestChecksumOfBlocks: a block of lz4 whose text has changed is refused. The sums are those of xxHash's specification.
func TestChecksumOfBlocks(t *testing.T) {
	for text, want := range map[string]uint32{"": 0x02cc5d05, "a": 0x550d7456, "abc": 0x32d153ff,
		"Nobody inspects the spammish repetition": 0xe2293b2f} {
		if got := xxHash32([]byte(text), 0); got != want {
			t.Errorf("%q has the sum %08x, want %08x", text, got, want)
		}
	}
	data := sparkPacked(t, tinySpark)[".lz4"]
	data[17] ^= 1 // of the first block's sum
	if _, err := ReadSpark(bytes.NewReader(data), "app"); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a damaged block: %v", err)
	}
}

// TestSkippedStages: a stage reads what its skipped parents stand for: the stage that computed the same RDD for an
// earlier job. What no stage has computed is told.
func TestSkippedStages(t *testing.T) {
	text := strings.Replace(tinySpark, `"Stage ID":0,"Stage Name":"map","Parent IDs":[]}`,
		`"Stage ID":0,"Stage Name":"map","Parent IDs":[],"RDD Info":[{"RDD ID":4},{"RDD ID":1}]}`, 1)
	skipped := `{"Stage ID":2,"Stage Name":"map","Parent IDs":[],"RDD Info":[{"RDD ID":4}]},` +
		`{"Stage ID":3,"Stage Name":"count","Parent IDs":[2]}`
	text = strings.Replace(text, `{"Stage ID":2,"Stage Name":"map","Parent IDs":[]},`+
		`{"Stage ID":3,"Stage Name":"count","Parent IDs":[0]}`, skipped, 1)
	if !strings.Contains(text, skipped) {
		t.Fatal("the log has another form")
	}
	log, err := ReadSpark(strings.NewReader(text), "app")
	if err != nil || len(log.Jobs) != 2 || len(log.Notes) > 0 {
		t.Fatal(log, err)
	}
	if e := log.Jobs[1].Edges; len(e) != 1 || e[0].Bytes != 70 || e[0].Reads.Job != "spark-0" {
		t.Errorf("%+v", e)
	}
	log, err = ReadSpark(strings.NewReader(strings.ReplaceAll(text, `[{"RDD ID":4}]`, `[{"RDD ID":9}]`)), "app")
	if err != nil || len(log.Jobs[1].Edges) != 0 || len(log.Notes) != 1 || !strings.Contains(log.Notes[0], "70 bytes") {
		t.Errorf("%+v, %v", log, err)
	}
}
