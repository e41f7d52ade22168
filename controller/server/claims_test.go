package server

import (
	"reflect"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestSilentTasks: tasks are told of once they are late by half of what they take and by 30 s, unless
// they stream.
func TestSilentTasks(t *testing.T) {
	spec, err := topo.ParseSpec("hybrid:racks=4,hosts=1,slots=4")
	must(t, err)
	f, err := topo.New(spec)
	must(t, err)
	s := state.New(f)
	tasks := func(name string, takes time.Duration, edges ...controller.Edge) *controller.Job {
		j := &controller.Job{Name: name, Edges: edges}
		for range 1 + len(edges) {
			two := []controller.Task{{Compute: takes}, {Compute: takes}}
			j.Stages = append(j.Stages, controller.Stage{Name: "s", Tasks: two})
		}
		return j
	}
	jobs := []*controller.Job{tasks("short", time.Second), tasks("long", 10*time.Minute),
		tasks("stream", 0, controller.Edge{Kind: controller.OneToOne, To: 1, Bytes: 1, Stream: true})}
	for i, j := range jobs {
		id := controller.JobID(i)
		must(t, s.Apply(&state.Entry{Kind: state.JobAccepted, Job: j}))
		p := &controller.Placement{Job: id}
		for range 2 * len(j.Stages) {
			p.Hosts = append(p.Hosts, southbound.HostID(len(p.Hosts)%4))
		}
		must(t, s.Apply(&state.Entry{Kind: state.Placed, Placement: p}))
		for stage := range j.Stages {
			must(t, s.Apply(&state.Entry{Kind: state.StageStarted, At: time.Second, JobID: id,
				Stage: int32(stage)}))
		}
	}
	must(t, s.Apply(&state.Entry{Kind: state.TaskEnded, At: 2 * time.Second, Task: 0}))
	for _, tt := range []struct {
		now  time.Duration
		want []api.Silent
	}{
		{32 * time.Second, nil},
		{33 * time.Second, []api.Silent{{Job: 0, Name: "short", Tasks: 1, Longest: 32 * time.Second,
			Host: "h1-0"}}},
		{15*time.Minute + time.Second, []api.Silent{
			{Job: 0, Name: "short", Tasks: 1, Longest: 15 * time.Minute, Host: "h1-0"}}},
		{15*time.Minute + 2*time.Second, []api.Silent{
			{Job: 0, Name: "short", Tasks: 1, Longest: 15*time.Minute + time.Second, Host: "h1-0"},
			{Job: 1, Name: "long", Tasks: 2, Longest: 15*time.Minute + time.Second, Host: "h0-0"}}},
	} {
		if got := silent(s, tt.now); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("at %v: %+v, want %+v", tt.now, got, tt.want)
		}
	}
}
