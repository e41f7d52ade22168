package workload

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
)

func TestWide(t *testing.T) {
	for seed := range uint64(50) {
		jobs, err := Wide(WideOptions{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Wide(WideOptions{Seed: seed})
		if !reflect.DeepEqual(jobs, again) || len(jobs) != 40 || jobs[0].Arrival != 0 {
			t.Fatalf("seed %d: %d jobs, the first at %v, or two draws differ", seed, len(jobs), jobs[0].Arrival)
		}
		for i := range jobs {
			j := &jobs[i]
			if err := j.Check(64, 512); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			maps, reduces, b := len(j.Stages[0].Tasks), len(j.Stages[1].Tasks), j.Edges[0].Bytes
			if maps < 8 || maps > 32 || reduces < 4 || reduces > 16 || b < 1e9 || b > 20e9 {
				t.Errorf("seed %d: job %d has %d maps, %d reduces, %d bytes", seed, i, maps, reduces, b)
			}
		}
	}
}

func TestWideOptions(t *testing.T) {
	for _, tc := range []struct {
		name string
		opt  WideOptions
		want string
	}{
		{"jobs", WideOptions{Jobs: -1}, "-1 jobs"},
		{"maps backwards", WideOptions{Maps: [2]int{4, 2}}, "the least first"},
		{"bytes backwards", WideOptions{Least: 10, Most: 2}, "the least first"},
		{"compute", WideOptions{Compute: -1}, "below zero"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Wide(tc.opt); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// TestPace: the bytes between racks fill the ports for the given share of the window, and order and
// gaps stay.
func TestPace(t *testing.T) {
	jobs, err := Wide(WideOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(jobs)
	const racks, port, load = 8, pathmap.BitsPerSecond(10e9), 0.6
	if err := Pace(jobs, racks, port, load); err != nil {
		t.Fatal(err)
	}
	last := jobs[len(jobs)-1].Arrival
	crossing := 8 * float64(Sum(jobs).Bytes) * (racks - 1) / racks
	if got := crossing / (racks * float64(port) * last.Seconds()); math.Abs(got-load) > 1e-6 {
		t.Errorf("ports are busy for %v of the time, want %v", got, load)
	}
	factor := float64(last) / float64(before[len(before)-1].Arrival)
	for i := range jobs {
		if want := factor * float64(before[i].Arrival); math.Abs(float64(jobs[i].Arrival)-want) > 1000 {
			t.Errorf("job %d arrives at %v, want %v", i, jobs[i].Arrival, time.Duration(want))
		}
	}
	for _, tc := range []struct {
		name  string
		jobs  []controller.Job
		racks int
		load  float64
	}{{"no jobs", nil, 8, 1}, {"one rack", jobs, 1, 1}, {"no load", jobs, 8, 0}, {"one instant",
		jobs[:1], 8, 1},
		{"for ever", jobs, 8, 1e-12}} {
		if err := Pace(tc.jobs, tc.racks, port, tc.load); err == nil {
			t.Errorf("%s: no error", tc.name)
		}
	}
}

// TestFreeJobs: no byte is lost, and a policy can place every task.
func TestFreeJobs(t *testing.T) {
	jobs := FreeJobs([]TraceCoflow{
		{ID: 7, Arrival: 3 * time.Second, Mappers: []int32{1, 2, 2}, Reducers: []Reducer{{Rack: 4, Bytes: 5e6}}},
		{ID: 9, Arrival: 4 * time.Second, Mappers: []int32{0},
			Reducers: []Reducer{{Rack: 0, Bytes: 1e6}, {Rack: 1,
				Bytes: 2e6}}},
	})
	for i, want := range []struct {
		name          string
		at            time.Duration
		maps, reduces int
		bytes         pathmap.Bytes
	}{{"coflow-7", 0, 3, 1, 5e6}, {"coflow-9", time.Second, 1, 2, 3e6}} {
		j := &jobs[i]
		if j.Name != want.name || j.Arrival != want.at || len(j.Stages[0].Tasks) != want.maps ||
			len(j.Stages[1].Tasks) != want.reduces || j.Edges[0].Bytes != want.bytes {
			t.Errorf("%+v, want %+v", j, want)
		}
		if err := j.Check(8, 8); err != nil {
			t.Error(err)
		}
	}
}
