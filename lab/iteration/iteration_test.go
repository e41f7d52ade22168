package iteration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller/training"
	"lightloom/controller/training/chakra"
	"lightloom/controller/training/llm"
	"lightloom/southbound/hint"
)

// traces writes an all-reduce of 1 MiB among four ranks, after 1 ms of computing, and returns its folder.
func traces(t *testing.T) string {
	t.Helper()
	w := training.NewWorkload("job", 4)
	dir := t.TempDir()
	for r := range 4 {
		a := w.Add(r, training.Node{Kind: training.Compute, Duration: time.Millisecond})
		w.Add(r, training.Node{Kind: training.Collective, Op: training.AllReduce, Bytes: 1 << 20, After: []int32{a}})
		var b bytes.Buffer
		if err := chakra.Write(&b, w, r); err != nil {
			t.Fatal(err)
		}
		write(t, dir, fmt.Sprintf("job.%d.et", r), b.String())
	}
	return dir
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	system = `{"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1,
 "preferred-dataset-splits": 4, "all-reduce-implementation": ["ring"], "collective-optimization": "localBWAware",
 "local-mem-bw": 1600}`
	network = "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n"
)

// TestModes: the same traces exactly, over NICs of 400 Gb/s, and by the rules of ASTRA-sim.
func TestModes(t *testing.T) {
	dir := traces(t)
	exact, err := Run(t.Context(), Options{Source: Source{Path: dir}, Net: Net{NIC: 400e9, Latency: time.Microsecond}})
	if err != nil {
		t.Fatal(err)
	}
	want := time.Millisecond + 6*(time.Microsecond+5243) // 6 steps of a quarter, at 50 bytes a ns
	if d := exact.Took - want; d < -6 || d > 6 {
		t.Errorf("%v, want %v", exact.Took, want)
	}
	if exact.Share <= 0 || exact.Exposed != exact.Took-time.Millisecond || len(exact.ByRank) != 4 {
		t.Errorf("%+v", exact)
	}
	rules, err := Run(t.Context(), Options{Source: Source{Path: dir}, Net: Net{File: write(t, dir, "n.yml", network)},
		System: write(t, dir, "s.json", system), Queues: 1})
	if err != nil {
		t.Fatal(err)
	}
	if rules.Took != time.Millisecond+43_000 {
		t.Errorf("%v, and ASTRA-sim has 43,000 ns for the collective", rules.Took)
	}
}

// TestPrinted: table, JSON and timeline have what they promise.
func TestPrinted(t *testing.T) {
	r, err := Run(t.Context(), Options{Source: Source{Path: traces(t)}, Net: Net{NIC: 400e9}})
	if err != nil {
		t.Fatal(err)
	}
	var table, timeline bytes.Buffer
	if err := r.Print(&table); err != nil {
		t.Fatal(err)
	}
	// 31.456 of 1,031.456 µs are one of 40 columns
	for _, want := range []string{"iteration time 1.031", "exposed communication", "all-reduce", "1048576", "400.0 Gb/s",
		strings.Repeat("C", 38)} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, table.String())
		}
	}
	if err := r.WriteTimeline(&timeline); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Events []struct {
			Name  string  `json:"name"`
			Phase string  `json:"ph"`
			Start float64 `json:"ts"`
			Took  float64 `json:"dur"`
			Rank  int     `json:"pid"`
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(timeline.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	computes := 0
	for _, e := range file.Events {
		if e.Phase == "X" && e.Took == 1000 && e.Start == 0 {
			computes++
		}
	}
	if computes != 4 {
		t.Errorf("%d of 4 ranks compute for 1,000 µs", computes)
	}
}

// TestModel: a generated job, its methods and a late rank.
func TestModel(t *testing.T) {
	m, err := llm.ModelOf("dense-7b")
	if err != nil {
		t.Fatal(err)
	}
	j := llm.Default(m)
	j.Data, j.Tensor, j.Pipeline, j.Batch = 2, 2, 2, 16
	o := Options{Source: Source{Model: &j}, Net: Net{NIC: 400e9, Inside: 3600e9, Server: 4, Latency: time.Microsecond}}
	plain, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	j.Iterations = 2
	twice, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	j.Iterations = 1
	var text bytes.Buffer
	want := fmt.Sprintf("\n2 iterations take %v, %v each; ", twice.Took, twice.Took/2)
	if err := twice.Print(&text); err != nil || !strings.Contains(text.String(), want) {
		t.Errorf("%v, %s does not say %q", err, text.String(), want)
	}
	o.Methods, o.Delays = []string{"all-reduce=halving-doubling"}, []string{"0=500ms"}
	late, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if d := late.Took - plain.Took; d < 400*time.Millisecond || d > 600*time.Millisecond {
		t.Errorf("%v with a rank that is 500 ms late, %v without", late.Took, plain.Took)
	}
}

func TestMistakes(t *testing.T) {
	dir := traces(t)
	net := Net{NIC: 400e9}
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"no such path", Options{Source: Source{Path: filepath.Join(dir, "none")}, Net: net}, "file does not exist"},
		{"no NIC", Options{Source: Source{Path: dir}}, "there is no NIC's rate"},
		{"method", Options{Source: Source{Path: dir}, Net: net, Methods: []string{"all-reduce"}}, "it has no ="},
		{"no such method", Options{Source: Source{Path: dir}, Net: net, Methods: []string{"all-reduce=star"}},
			`there is no method "star"`},
		{"not for it", Options{Source: Source{Path: dir}, Net: net, Methods: []string{"all-reduce=hierarchical"}},
			"there is no all-reduce by hierarchical"},
		{"delay", Options{Source: Source{Path: dir}, Net: net, Delays: []string{"9=1s"}}, "there are ranks 0 to 3"},
		{"delay twice", Options{Source: Source{Path: dir}, Net: net, Delays: []string{"1=1s", "1=2s"}}, "rank 1 twice"},
		{"system alone", Options{Source: Source{Path: dir}, System: "s.json"}, "--system: there is no network"},
		{"both", Options{Source: Source{Path: dir}, System: "s.json", Delays: []string{"0=1s"}}, "no rank is late"},
		{"algorithm", Options{Source: Source{Path: write(t, dir, "a.xml", "<algo>"), Bytes: 1}, Net: net}, "a.xml:1"},
		{"groups", Options{Source: Source{Path: dir, Groups: write(t, dir, "g.json", "[")}, Net: net}, "g.json:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Run(t.Context(), c.o)
			if !hint.IsWrong(err) || !strings.Contains(err.Error()+hint.Of(err), c.want) {
				t.Errorf("%v does not say %q", err, c.want)
			}
		})
	}
}
