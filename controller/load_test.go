package controller_test

import (
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

func fabricOf(t *testing.T, text string) *topo.Fabric {
	t.Helper()
	s, err := topo.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRuns: a load is divided by vCPUs and efficiency; without vCPUs of its own a task has its slot's part.
func TestRuns(t *testing.T) {
	f := fabricOf(t, "leafspine:racks=2,hosts=1,slots=4,vcpus=8/2")
	s := &controller.Stage{Tasks: []controller.Task{{Load: 4 * time.Second},
		{Compute: time.Second, NonLocal: time.Second}},
		Efficiency: []float64{1, 0.5}}
	for _, c := range []struct {
		task  int
		host  int
		milli int32
		want  time.Duration
	}{
		{0, 0, 0, 2 * time.Second},    // 8 vCPUs on 4 slots
		{0, 1, 0, 16 * time.Second},   // 2 on 4, at half the efficiency
		{0, 0, 500, 8 * time.Second},  // half a vCPU
		{0, 1, 2000, 4 * time.Second}, // two at half the efficiency
		{0, 0, 1, 4000 * time.Second}, // a thousandth
		{1, 1, 0, 2 * time.Second},    // no load
		{1, 0, 3000, 2 * time.Second}, // no load
	} {
		task := &controller.TaskState{Host: southbound.HostID(c.host), MilliVCPUs: c.milli, NonLocal: true}
		if got := s.Runs(f, c.task, task); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	tiny := &controller.Stage{Tasks: []controller.Task{{Load: controller.Endless}},
		Efficiency: []float64{1e-300}}
	if got := tiny.Runs(f, 0, &controller.TaskState{MilliVCPUs: 1}); got != controller.Endless {
		t.Errorf("the longest load runs for %v", got)
	}
}

// TestResized: a load of 4 s on one vCPU that is a quarter done after a second takes a second and a half more on two,
// and what is lent beside them counts as well.
func TestResized(t *testing.T) {
	f := fabricOf(t, "leafspine:racks=2,hosts=1,slots=4,vcpus=8")
	s := &controller.Stage{Tasks: []controller.Task{{Load: 4 * time.Second}}}
	first := controller.TaskState{Started: 5 * time.Second, MilliVCPUs: 1000, Ended: -1}
	second := s.Resized(f, 0, first, &controller.Resize{MilliVCPUs: 1500, ExtraMilli: 500}, 6*time.Second)
	if second.Done != time.Second || second.Try != 1 || s.Runs(f, 0, &second) != 1500*time.Millisecond {
		t.Errorf("%+v takes %v", second, s.Runs(f, 0, &second))
	}
	third := s.Resized(f, 0, second, &controller.Resize{MilliVCPUs: 500}, 7*time.Second)
	if third.Done != 3*time.Second || third.Try != 2 || s.Runs(f, 0, &third) != 2*time.Second {
		t.Errorf("%+v takes %v", third, s.Runs(f, 0, &third))
	}
}

// TestBadLoads: what can never be placed says why.
func TestBadLoads(t *testing.T) {
	f := fabricOf(t, "leafspine:racks=2,hosts=1,slots=4")
	for _, c := range []struct {
		name  string
		spoil func(*controller.Job)
		want  string
	}{
		{"good", func(*controller.Job) {}, ""},
		{"twelve orders", func(j *controller.Job) { j.Stages[0].Tasks[0].Load = 1; j.Stages[0].Tasks[1].Load = 1e12 }, ""},
		{"negative", func(j *controller.Job) { j.Stages[0].Tasks[0].Load = -1 },
			"has a load of -1ns; take times from zero up"},
		{"computes too", func(j *controller.Job) { j.Stages[0].Tasks[0].Compute = 1 }, "leave that out"},
		{"two slots", func(j *controller.Job) { j.Stages[0].Tasks[0].Slots = 2 }, "leave that out"},
		{"incremental", func(j *controller.Job) { j.Incremental = true }, "placed incrementally"},
		{"zero efficiency", func(j *controller.Job) { j.Stages[0].Efficiency = []float64{1, 0} },
			"has an efficiency of 0; take numbers above 0"},
		{"limit", func(j *controller.Job) { j.Limits = &controller.Limits{Rack: 1.5} },
			"limit of a rack is 1.5"},
		{"energy", func(j *controller.Job) {
			j.Limits = &controller.Limits{Energy: 1.2}
			j.Stages[0].Efficiency = []float64{0.5}
		},
			"its tasks take 8 s of vCPU time on the most efficient hosts, and its energy limit of 1.2 times its loads " +
				"allows 4.8 s"},
	} {
		j := &controller.Job{Name: "a", Stages: []controller.Stage{{Name: "s", Tasks: []controller.Task{
			{Load: 2 * time.Second}, {Load: 2 * time.Second}}}}}
		c.spoil(j)
		err := j.CheckOn(f)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
