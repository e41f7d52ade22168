package workload

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// train makes the job of a text on a fabric of 16 hosts.
func train(t testing.TB, text string, seed uint64) *controller.Job {
	t.Helper()
	d, err := ParseDrawn(text)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := d.Jobs(seed, 16, 0, nil)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%s: %d jobs, %v", text, len(jobs), err)
	}
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 16, Hosts: 1, Slots: 64}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if err := jobs[0].CheckOn(f); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return &jobs[0]
}

// sent is what a rank sends in each phase, by the stage before it.
func sent(j *controller.Job, rank southbound.HostID) string {
	var out []string
	for _, e := range j.Edges {
		sum, to := pathmap.Bytes(0), 0
		for _, f := range e.Flows {
			if f.Src == rank {
				sum += f.Bytes
				to++
			}
		}
		out = append(out, fmt.Sprintf("%s=%dMB/%d", strings.ReplaceAll(j.Stages[e.From].Name, " ", "-"), sum/1_000_000, to))
	}
	return strings.Join(out, " ")
}

// TestTraining: of all-reduces over n ranks each sends 2(n-1)/n of what it holds, whatever the collective; a stage in
// the middle of a pipeline sends both ways, and an all-to-all of 2 experts half of its bytes.
func TestTraining(t *testing.T) {
	const sizes = ",tp=8MB,dp=4MB,pp=1MB,ep=2MB,compute=20ms,iterations=1,steps=1"
	for _, tt := range []struct{ text, want string }{
		{"training:data=4,tensor=4,pipeline=1", "1.1-TP=12MB/1 1-DP=6MB/1"},
		{"training:data=4,tensor=4,pipeline=1,collective=direct", "1.1-TP=12MB/3 1-DP=6MB/3"},
		{"training:data=4,tensor=4,pipeline=1,collective=halving", "1.1-TP=12MB/2 1-DP=6MB/2"},
		{"training:data=2,tensor=2,pipeline=4,expert=2", "1.1-TP=8MB/1 1.1-EP=1MB/1 1.1-PP=1MB/1 1-DP=4MB/1"},
		{"training:data=1,tensor=1,pipeline=4", "1.1-PP=1MB/1"},
	} {
		j := train(t, tt.text+sizes, 1)
		if got := sent(j, 0); got != tt.want {
			t.Errorf("%s: rank 0 sends %s, want %s", tt.text, got, tt.want)
		}
		if ranks := j.Ranks(); len(ranks) != len(j.Stages[0].Tasks) || j.Stages[0].Tasks[0].Compute != 20*time.Millisecond ||
			j.Stages[len(j.Stages)-1].Tasks[0].Compute != 0 {
			t.Errorf("%s: ranks %v, stages %+v", tt.text, ranks, j.Stages[0])
		}
	}
	if got := sent(train(t, "training:data=1,tensor=1,pipeline=4"+sizes, 1), 1); got != "1.1-PP=2MB/2" {
		t.Errorf("a stage in the middle sends %s", got)
	}
}

// TestTrainingPlaces: the ranks of the inner parallelism stand side by side.
func TestTrainingPlaces(t *testing.T) {
	at := func(inner string, seed uint64) []southbound.HostID {
		return train(t, "training:inner="+inner, seed).Ranks()
	}
	for inner, want := range map[string][]southbound.HostID{"tensor": {0, 1, 2, 3, 4, 5, 6, 7},
		"pipeline": {0, 2, 1, 3, 4, 6, 5, 7}, "data": {0, 2, 4, 6, 1, 3, 5, 7}} {
		if got := at(inner, 1); !slices.Equal(got, want) {
			t.Errorf("%s: ranks on %v, want %v", inner, got, want)
		}
	}
	a, b := at("random", 1), at("random", 2)
	if reflect.DeepEqual(a, b) || !reflect.DeepEqual(a, at("random", 1)) {
		t.Errorf("seeds 1 and 2 draw %v and %v", a, b)
	}
	slices.Sort(a)
	if len(slices.Compact(a)) != 8 {
		t.Errorf("two ranks share a host: %v", a)
	}
}

// TestTrainingSkew: with a skew of 1 one of two experts gets two thirds of the tokens, which one is drawn anew.
func TestTrainingSkew(t *testing.T) {
	j := train(t, "training:data=2,tensor=1,pipeline=1,expert=2,ep=3MB,skew=1,steps=20", 3)
	hot := map[southbound.HostID]int{}
	for _, e := range j.Edges {
		if !strings.HasSuffix(j.Stages[e.From].Name, "EP") {
			continue
		}
		for _, f := range e.Flows {
			switch f.Bytes {
			case 2_000_000:
				hot[f.Dst]++
			case 1_000_000:
			default:
				t.Errorf("%d bytes to expert %d", f.Bytes, f.Dst)
			}
		}
	}
	if hot[0] == 0 || hot[1] == 0 || hot[0]+hot[1] != 40 {
		t.Errorf("hot experts: %v", hot)
	}
}

func TestTrainingRefused(t *testing.T) {
	for text, says := range map[string]string{
		"training:data=0":                     "data: \"0\" is no whole number from 1",
		"training:data=3,expert=2":            "3 data-parallel ranks and experts on 2",
		"training:data=3,collective=halving":  "take powers of two",
		"training:collective=butterfly":       "write ring, direct, halving",
		"training:inner=expert":               "write tensor, pipeline, data, random",
		"training:steps=1000,iterations=1000": "2000 phases at most",
		"training:tp=0B":                      "take at least 1B",
		"training:data=1,tensor=1,pipeline=1": "1 × 1 × 1 ranks",
		"training:jobs=2":                     "jobs: unknown key",
		"training:skew=1000":                  "a skew of 1000",
	} {
		if _, err := ParseDrawn(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", text, err, says)
		}
	}
	d, err := ParseDrawn("training:data=4")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Jobs(1, 8, 0, nil); err == nil || !strings.Contains(err.Error(), "16 ranks, the fabric has 8 hosts") {
		t.Error(err)
	}
}
