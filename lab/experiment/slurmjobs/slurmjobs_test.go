package slurmjobs

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller/workload/swim"
	"lightloom/lab/experiment"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// trace stands for the public one, whose sizes and names it has in part.
func trace() (all []swim.Record) {
	for i, shuffle := range []pathmap.Bytes{0, 2_339_561, 42, 13_024_975_762, 5_000_000} {
		all = append(all, swim.Record{Name: "job" + string(rune('0'+i)), Submit: time.Duration(40*i) * time.Second,
			Input: 1_000_000, Shuffle: shuffle})
	}
	return all
}

// TestWorkload: nodes follow shuffles, a scale divides bytes alone, and a seed changes who arrives when, and nothing
// else.
func TestWorkload(t *testing.T) {
	a, b, other := Workload(trace(), 20, 1), Workload(trace(), 10, 1), Workload(trace(), 20, 2)
	nodes := map[string]int{"job0": 1, "job1": 3, "job2": 1, "job3": 8, "job4": 5}
	var at, otherAt []time.Duration
	for i := range a {
		if a[i].Nodes != nodes[a[i].Name] {
			t.Errorf("%s has %d nodes", a[i].Name, a[i].Nodes)
		}
		if b[i].Name != a[i].Name || b[i].Map != a[i].Map || b[i].Shuffle/2 != a[i].Shuffle {
			t.Errorf("at half the scale: %+v, %+v", a[i], b[i])
		}
		at, otherAt = append(at, a[i].Arrival), append(otherAt, other[i].Arrival)
	}
	if !slices.Equal(at, otherAt) || at[4] != 8*time.Second {
		t.Errorf("arrivals %v and %v", at, otherAt)
	}
	if slices.EqualFunc(a, other, func(x, y Work) bool { return x.Name == y.Name }) {
		t.Error("two seeds have the same order")
	}
	big := slices.IndexFunc(a, func(w Work) bool { return w.Nodes == 8 })
	if got := a[big].Alone(); got < 11*time.Second || got > 25*time.Second { // 71 MB a node at 50 Mb/s take 11.4 s
		t.Errorf("alone it takes %v", got)
	}
}

// TestRecorded: every job of every run has its nodes, whose number the workload says.
func TestRecorded(t *testing.T) {
	all, err := Recorded()
	if err != nil || len(all) != len(Scales())*Seeds*50 {
		t.Fatalf("%d choices, %v", len(all), err)
	}
	for seed, want := range map[uint64]string{1: "the trace is not the one that was recorded", 0: "seeds are 1 to 10",
		Seeds + 1: "seeds are 1 to 10"} {
		if _, err := (scale{20, trace(), all}).jobs(true, seed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("another trace with seed %d: %v", seed, err)
		}
	}
	data := os.Getenv("LIGHTLOOM_DATA")
	if data == "" {
		t.Skip("set LIGHTLOOM_DATA to the folder of public traces")
	}
	records, err := Records(&experiment.Bench{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	for _, divided := range Scales() {
		for seed := range uint64(Seeds) {
			if _, err := (scale{divided, records, all}).jobs(true, seed+1); err != nil {
				t.Error(err)
			}
		}
	}
	_, err = (scale{20, records, all}).jobs(true, Seeds+1)
	if err == nil || !strings.Contains(err.Error(), "seeds are 1 to 10") {
		t.Errorf("a seed that was not recorded: %v", err)
	}
}

// TestAnswers: every answer ends all jobs of a small workload, and whole nodes have one job at a time.
func TestAnswers(t *testing.T) {
	nodes := Choices{}
	for _, w := range Workload(trace(), 20, 1) {
		for h := range w.Nodes {
			c := Choice{20, 1, w.Name}
			nodes[c] = append(nodes[c], southbound.HostID(h))
		}
	}
	for _, a := range answers() {
		f, err := scale{20, trace(), nodes}.run(t.Context(), nil, a, 1)
		if err != nil || f[meanJCT] <= 0 || f[wideJCT] <= 0 {
			t.Errorf("%s: %v, %v", a, f, err)
		}
		if circuits := f[overOCS] > 0; circuits == (a.name == packets) {
			t.Errorf("%s: %.0f %% over circuits", a, f[overOCS])
		}
	}
}

func TestReadChoices(t *testing.T) {
	for text, want := range map[string]string{
		"20,1,j,h0-0 h8-0\n":          `x:1: node "h8-0": write each once, from h0-0 to h7-1`,
		"20,1,j,h0-0 h0-0\n":          `node "h0-0": write each once`,
		"20,1,j,\n":                   "has no nodes",
		"x,1,j,h0-0\n":                "is no number",
		"20,1,j,h0-0\n20,1,j,h1-0\n":  "x:2: job \"j\" stands there twice",
		"scale,seed,job,nodes\n1,1\n": "wrong number of fields",
	} {
		if _, err := ReadChoices("x", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzReadChoices(f *testing.F) {
	f.Add("scale,seed,job,nodes\n20,1,j,h0-0 h7-1\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadChoices("x", strings.NewReader(text))
		for c, hosts := range all {
			if err != nil || len(hosts) == 0 {
				t.Errorf("%v: %v, %v", c, hosts, err)
			}
		}
	})
}
