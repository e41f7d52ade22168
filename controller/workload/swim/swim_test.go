package swim

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller/workload"
	"lightloom/pathmap"
)

const three = "job0\t49\t49\t740773\t2339561\t627471\njob1\t101\t52\t0\t0\t9\n\njob2\t101\t0\t512000001\t1012000001\t0"

func TestRead(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write([]byte(three)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]string{"plain": three, "compressed": z.String(),
		"carriage returns": strings.ReplaceAll(three, "\n", "\r\n")} {
		t.Run(name, func(t *testing.T) {
			got, err := Read(strings.NewReader(in), "t.tsv")
			if err != nil || len(got) != 3 {
				t.Fatal(got, err)
			}
			want := Record{Name: "job2", Submit: 101 * time.Second, Input: 512000001, Shuffle: 1012000001, Line: 4}
			if got[2] != want {
				t.Errorf("%+v", got[2])
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"empty", "", "t:1:1: the file holds no job"},
		{"fields", "job0\t1\t2\t3\n", "t:1:1: the line has 4 fields, not 6"},
		{"a word", "job0\t1\t1\tmany\t0\t0\n", `t:1:10: the input in bytes: "many" is not a whole number`},
		{"below zero", "job0\t1\t1\t0\t-4\t0\n", `t:1:12: the shuffle in bytes: "-4" is not`},
		{"too many bytes", "job0\t1\t1\t0\t0\t9000000000000000000\n", "t:1:14: the output in bytes"},
		{"twice", "a\t1\t1\t0\t0\t0\na\t2\t1\t0\t0\t0\n", `t:2:1: id "a" was used in line 1`},
		{"unsorted", "a\t5\t1\t0\t0\t0\nb\t2\t1\t0\t0\t0\n",
			"t:2:3: submitted at 2s, before the job of line 1 at 5s"},
		{"no id", "\t5\t1\t0\t0\t0\n", "t:1:1: the job has no id"},
		{"a long line", strings.Repeat("x", 5000), "t:1:1: the line is longer than 4096 bytes"},
		{"half a gzip", "\x1f\x8b\x08", "decompress"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tc.in), "t")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%v, want %q", err, tc.want)
			}
			var s *workload.SyntaxError
			if errors.As(err, &s) && s.Hint() == "" {
				t.Error("there is no hint")
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(three))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		all, err := Read(bytes.NewReader(in), "fuzz")
		if err != nil {
			return
		}
		m := V1(12_000)
		for _, j := range m.Sample(all, 10, true, rand.New(rand.NewPCG(1, 1))) {
			if j.Maps < 1 || j.MapTime < m.Start || j.LastMap < m.Start || j.Arrival < 0 || j.Arrival > m.Window {
				t.Fatalf("%+v", j)
			}
		}
	})
}

// TestFigure4Job: the rates are those of the job that they were taken from.
func TestFigure4Job(t *testing.T) {
	m := V1(12_000)
	j := m.job(&Record{Input: 3472 * 256e6, Shuffle: 85.5e9})
	if j.Maps != 3472 || j.Reduces != 169 {
		t.Errorf("%d maps and %d reduces, want 3472 and 169", j.Maps, j.Reduces)
	}
	if d := j.MapTime - m.Start - 83750*time.Millisecond; d < -time.Millisecond || d > time.Millisecond ||
		j.LastMap != j.MapTime {
		t.Errorf("a map takes %v and %v", j.MapTime, j.LastMap)
	}
	if d := j.ReduceTime - m.Start - 115400*time.Millisecond; d.Abs() > 100*time.Millisecond {
		t.Errorf("a reduce takes %v", j.ReduceTime)
	}
}

func TestEdges(t *testing.T) {
	m := V1(12_000)
	for _, tc := range []struct {
		name           string
		input, shuffle pathmap.Bytes
		maps, reduces  int
		last           time.Duration
	}{
		{"nothing", 0, 0, 1, 0, m.Start},
		{"a byte of each", 1, 1, 1, 1, m.Start + 327},
		{"a byte above a block", 256e6 + 1, 0, 2, 0, m.Start + 327},
		{"30 TB", 30e12, 30e12, 117188, 6000, m.Start + seconds(128e6/m.MapRate)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := m.job(&Record{Input: tc.input, Shuffle: tc.shuffle})
			if j.Maps != tc.maps || j.Reduces != tc.reduces || (j.LastMap-tc.last).Abs() > time.Microsecond {
				t.Errorf("%d maps, the last of %v, and %d reduces; want %d, %v, %d", j.Maps, j.LastMap,
					j.Reduces, tc.maps, tc.last,
					tc.reduces)
			}
		})
	}
}

func TestSample(t *testing.T) {
	all := make([]Record, 50)
	for i := range all {
		all[i] = Record{Name: string(rune('a' + i)), Shuffle: pathmap.Bytes(i), Line: i + 1}
	}
	m := V1(12_000)
	draw := func(n int, without bool, seed uint64) []Job {
		return m.Sample(all, n, without, rand.New(rand.NewPCG(seed, 9)))
	}
	seen, recurring := map[int]bool{}, 0
	for _, j := range draw(50, true, 1) {
		if seen[j.Line] || j.Line == 50 || j.User < 0 || j.User >= m.Users {
			t.Errorf("%+v is drawn twice, or is the largest, or has no user", j)
		}
		seen[j.Line] = true
		if j.Recurring {
			recurring++
		}
	}
	if len(seen) != 49 || recurring == 0 || recurring == 49 {
		t.Errorf("%d jobs, %d recurring", len(seen), recurring)
	}
	a, b, c := draw(10, false, 1), draw(10, false, 1), draw(10, false, 2)
	if len(a) != 10 || a[3] != b[3] || a[3] == c[3] {
		t.Error("a sample does not follow its seed")
	}
	for i := 1; i < len(a); i++ {
		if a[i].Arrival < a[i-1].Arrival {
			t.Error("jobs are out of order")
		}
	}
	m.Load = 3
	if d := draw(10, false, 1); d[3].Arrival != a[3].Arrival/3 && (d[3].Arrival-a[3].Arrival/3).Abs() > 1 {
		t.Errorf("three times the load: %v, was %v", d[3].Arrival, a[3].Arrival)
	}
	bad := V1(12_000)
	bad.Load = 0
	if v := V1(12_000); v.Check() != nil || bad.Check() == nil || len(v.Lines()) != 7 {
		t.Error("a model without load is taken, or V1 refused")
	}
}

// TestPublished reads the real trace, whose sums are known.
func TestPublished(t *testing.T) {
	dir := os.Getenv("LIGHTLOOM_DATA")
	if dir == "" {
		if strings.Contains(os.Getenv("LIGHTLOOM_MUST"), "data") {
			t.Fatal("LIGHTLOOM_DATA names no folder")
		}
		t.Skip("LIGHTLOOM_DATA names no folder of real traces")
	}
	f, err := os.Open(filepath.Join(dir, "swim", "FB-2009_samples_24_times_1hr_0.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := Read(f, "FB-2009")
	if err != nil || len(all) != 5894 {
		t.Fatal(len(all), err)
	}
	nothing, most, sum := 0, pathmap.Bytes(0), pathmap.Bytes(0)
	for _, r := range all {
		if r.Shuffle == 0 {
			nothing++
		}
		most, sum = max(most, r.Shuffle), sum+r.Shuffle
	}
	// 75 % shuffle nothing, and the largest job holds 40 % of the shuffle.
	if share := float64(nothing) / 5894; share < 0.7 || share > 0.8 {
		t.Errorf("%.3f of the jobs shuffle nothing", share)
	}
	if share := float64(most) / float64(sum); share < 0.39 || share > 0.41 {
		t.Errorf("the largest job holds %.3f of the shuffle", share)
	}
}

// TestJobs: what a controller takes holds every byte and every task, and is taken.
func TestJobs(t *testing.T) {
	m := V1(12_000)
	all := []Record{{Name: "a", Input: 3*256e6 + 7, Shuffle: 600e6, Line: 1}, {Name: "b", Line: 2},
		{Name: "c", Input: 9e12, Shuffle: 9e12, Line: 3}}
	drawn := m.Sample(all, 3, false, rand.New(rand.NewPCG(1, 1)))
	for i := range drawn {
		drawn[i].Recurring = true
	}
	jobs := m.Jobs(drawn, rand.New(rand.NewPCG(1, 2)))
	for i, j := range jobs {
		d := drawn[i]
		if err := j.Check(600, 12_000); err != nil {
			t.Error(err)
		}
		sum := pathmap.Bytes(0)
		for _, task := range j.Stages[0].Tasks {
			sum += task.Input
		}
		if sum != d.Input || len(j.Stages[0].Tasks) != d.Maps || len(j.Edges) > 0 &&
			(j.Edges[0].Bytes != d.Shuffle || len(j.Stages[1].Tasks) != d.Reduces) {
			t.Errorf("%s holds %d bytes of %d", j.Name, sum, d.Input)
		}
		if p := j.Predicted; p == nil || float64(p.Input-d.Input) > 0.065*float64(d.Input)+1 || p.Maps < 1 {
			t.Errorf("%s is predicted to be %+v", j.Name, p)
		}
	}
}

// TestMix: a mix has its share of heavy jobs, none beyond the limits, no job twice, and says what is
// missing.
func TestMix(t *testing.T) {
	var all []Record
	for i := range 100 {
		r := Record{Line: i + 1, Input: pathmap.Bytes(i)}
		if i%10 == 0 {
			r.Shuffle = pathmap.Bytes(1000 + i)
		}
		all = append(all, r)
	}
	for _, tc := range []struct {
		name  string
		mix   Mix
		n     int
		heavy int
		err   string
	}{
		{"a fifth", Mix{Heavy: 0.2, Threshold: 1000}, 20, 4, ""},
		{"none", Mix{Threshold: 1000}, 20, 0, ""},
		{"more than half", Mix{Heavy: 0.6, Threshold: 1000}, 16, 10, ""},
		{"limits", Mix{Heavy: 0.5, Threshold: 1000, Shuffle: 1050, Input: 50}, 12, 6, ""},
		{"too many", Mix{Heavy: 0.6, Threshold: 1000}, 20, 0, "2 that shuffle 1000 bytes and more are missing"},
		{"no share", Mix{Heavy: 2}, 20, 0, "a share from 0 to 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := tc.mix.Draw(all, tc.n, rand.New(rand.NewPCG(1, 1)))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("%v, want %q", err, tc.err)
				}
				return
			}
			heavy, last := 0, 0
			for _, r := range got {
				if r.Line <= last || tc.mix.Shuffle > 0 && (r.Shuffle > tc.mix.Shuffle || r.Input > tc.mix.Input) {
					t.Errorf("%+v after line %d", r, last)
				}
				if last = r.Line; r.Shuffle >= tc.mix.Threshold {
					heavy++
				}
			}
			if err != nil || len(got) != tc.n || heavy != tc.heavy {
				t.Errorf("%d records, %d heavy, %v", len(got), heavy, err)
			}
		})
	}
}
