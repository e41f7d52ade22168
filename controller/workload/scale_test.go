package workload

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// payload is what Scale keeps: the sizes as they are written, an edge between stages once.
func payload(jobs []controller.Job) (sum pathmap.Bytes, least pathmap.Bytes) {
	least = math.MaxInt64
	for _, b := range sizes(jobs) {
		sum += *b
		least = min(least, *b)
	}
	return sum, least
}

func TestScaleCarries(t *testing.T) {
	for seed := range tries.Of[uint64](500, 3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		jobs := []controller.Job{{Name: "a"}, {Name: "b",
			Stages: []controller.Stage{{Tasks: make([]controller.Task, 2)},
				{Tasks: make([]controller.Task, 1)}}}}
		for k := range jobs {
			e := controller.Edge{}
			for range 1 + r.IntN(20) {
				e.Flows = append(e.Flows, controller.Flow{Bytes: 1 + pathmap.Bytes(r.Int64N(int64(1)<<r.IntN(30)))})
			}
			jobs[k].Edges = append(jobs[k].Edges, e)
		}
		jobs[1].Edges = append(jobs[1].Edges, controller.Edge{Kind: controller.ScatterGather, To: 1, Bytes: 1 +
			pathmap.Bytes(r.IntN(1e6))})
		before, _ := payload(jobs)
		keep := clone(jobs)
		by := math.Exp(r.Float64() * 12)
		got, err := Scale(jobs, ScaleOptions{Scale: by})
		if d := cmp.Diff(keep, jobs); d != "" {
			t.Fatalf("seed %d: input written to:\n%s", seed, d)
		}
		n := float64(len(sizes(jobs)))
		if err != nil {
			if float64(before)/by > n+1 {
				t.Fatalf("seed %d: %v, with %v bytes for %v flows", seed, err, float64(before)/by, n)
			}
			continue
		}
		sum, least := payload(got)
		if off := float64(sum) - float64(before)/by; math.Abs(off) > 0.5+1e-6 || least < 1 {
			t.Fatalf("seed %d: %d bytes ÷ %v became %d, off by %v; least flow %d", seed, before, by,
				sum, off, least)
		}
	}
}

func TestScale(t *testing.T) {
	job := controller.Job{
		Name: "j", Arrival: 1001 * time.Millisecond,
		Stages: []controller.Stage{{Tasks: []controller.Task{{Compute: time.Second}}}},
		Edges:  []controller.Edge{{Flows: []controller.Flow{{Bytes: 10}, {Bytes: 10}, {Bytes: 10}, {Bytes: 1}}}},
	}
	// 31 bytes ÷ 4: sums 2.5, 5, 7.5, 7.75 round to 3, 5, 8, 8, so 3, 2, 3 and 0; no flow is empty, so the
	// last gets 1 and the one before it gives that back.
	got, err := Scale([]controller.Job{job}, ScaleOptions{Scale: 2, Speedup: 2})
	if err != nil {
		t.Fatal(err)
	}
	var sizes []pathmap.Bytes
	for _, f := range got[0].Edges[0].Flows {
		sizes = append(sizes, f.Bytes)
	}
	if d := cmp.Diff([]pathmap.Bytes{3, 2, 2, 1}, sizes); d != "" {
		t.Errorf("sizes (-want +got):\n%s", d)
	}
	if got[0].Arrival != 500500*time.Microsecond || got[0].Stages[0].Tasks[0].Compute != 500*time.Millisecond {
		t.Errorf("arrival %v, compute %v", got[0].Arrival, got[0].Stages[0].Tasks[0].Compute)
	}
	same, err := Scale([]controller.Job{job}, ScaleOptions{})
	if d := cmp.Diff([]controller.Job{job}, same); d != "" || err != nil {
		t.Errorf("by 1 (-want +got): %v\n%s", err, d)
	}
	for _, bad := range []ScaleOptions{{Scale: -1}, {Speedup: math.NaN()}, {Scale: math.Inf(1)}, {Scale: 1e13},
		{Scale: 31}} {
		if _, err := Scale([]controller.Job{job}, bad); err == nil || !strings.Contains(err.Error(), "take a") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestScaleOfReading: what tasks read and what is predicted of a job is divided with what is carried,
// and the jobs handed in stay as they are.
func TestScaleOfReading(t *testing.T) {
	job := controller.Job{Name: "a", Incremental: true,
		Stages: []controller.Stage{{Tasks: []controller.Task{{Compute: time.Minute, Input: 256e6,
			NonLocal: 2 * time.Second},
			{Input: 1}, {}}}, {Tasks: make([]controller.Task, 1)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, To: 1, Bytes: 4e9}},
		Predicted: &controller.Prediction{Input: 5e8, Shuffle: 6e9, Maps: 3, Reduces: 1,
			MapTime: 40 * time.Second, RedTime: 20 * time.Second}}
	keep := clone([]controller.Job{job})
	got, err := Scale([]controller.Job{job}, ScaleOptions{Scale: 100, Speedup: 20})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(keep, []controller.Job{job}); d != "" {
		t.Errorf("input written to:\n%s", d)
	}
	want := []controller.Task{{Compute: 3 * time.Second, Input: 128e3,
		NonLocal: 100 * time.Millisecond}, {Input: 1}, {}}
	if d := cmp.Diff(want, got[0].Stages[0].Tasks); d != "" {
		t.Errorf("tasks:\n%s", d)
	}
	if d := cmp.Diff(&controller.Prediction{Input: 250e3, Shuffle: 3e6, Maps: 3, Reduces: 1,
		MapTime: 2 * time.Second,
		RedTime: time.Second}, got[0].Predicted); d != "" {
		t.Errorf("prediction:\n%s", d)
	}
	if got[0].Edges[0].Bytes != 2e6 {
		t.Errorf("%d bytes are carried", got[0].Edges[0].Bytes)
	}
}
