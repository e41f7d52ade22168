package loop_test

import (
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/policy"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// TestEndOnALostHost: the loss of a host, its return and the end of a task that was there can come in
// one step. The task runs again, and the state is given no end of the new try.
func TestEndOnALostHost(t *testing.T) {
	for _, tc := range []struct {
		name string
		back bool
	}{{"lost", false}, {"lost and back", true}} {
		t.Run(tc.name, func(t *testing.T) {
			w, err := newWorld("leafspine:racks=2,hosts=1,spines=1,slots=2")
			if err != nil {
				t.Fatal(err)
			}
			job := &controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)}}}
			if err := w.state.ApplyAll([]state.Entry{{Kind: state.JobAccepted, Job: job},
				{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{1}}},
				{Kind: state.StageStarted}}); err != nil {
				t.Fatal(err)
			}
			p, err := policy.New("random+ecmp", policy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			l := loop.New(w.fabric, loop.Config{Policy: p, Paths: w.paths,
				Rollout: rollout.Options{Retry: time.Millisecond}})
			in := loop.Inputs{Events: []southbound.Event{{At: 1, Kind: southbound.HostLost, Host: 1}}}
			if tc.back {
				in.Events = append(in.Events, southbound.Event{At: 2, Kind: southbound.HostFound, Host: 1})
			}
			in.Events = append(in.Events, southbound.Event{At: 3, Kind: southbound.TaskEnded, Host: 1})
			entries, act, _ := l.Step(w.state, time.Millisecond, in)
			if len(act.Errs) > 0 {
				t.Error(act.Errs)
			}
			if err := w.state.ApplyAll(entries); err != nil {
				t.Error(err)
			}
			if task := w.state.Data().Tasks[0]; task.Try != 1 || task.Started != state.Unset ||
				task.Ended != state.Unset {
				t.Errorf("%+v, want a task that is to be tried again", task)
			}
		})
	}
}

// TestEndOfNoTask: the end of a task that there is not is an error, and no entry.
func TestEndOfNoTask(t *testing.T) {
	w, err := newWorld("leafspine:racks=2,hosts=1,spines=1,slots=2")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New("random+ecmp", policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := loop.New(w.fabric, loop.Config{Policy: p, Paths: w.paths,
		Rollout: rollout.Options{Retry: time.Millisecond}})
	for i, task := range []southbound.TaskID{7, -1} {
		in := loop.Inputs{Events: []southbound.Event{{At: 1, Kind: southbound.TaskEnded, Host: 1, Task: task}}}
		entries, act, _ := l.Step(w.state, time.Duration(1+i)*time.Millisecond, in)
		if len(act.Errs) != 1 || !strings.Contains(act.Errs[0].Error(), "no such task") {
			t.Errorf("task %d: errors %v", task, act.Errs)
		}
		for _, e := range entries {
			if e.Kind == state.TaskEnded {
				t.Errorf("task %d: %+v", task, e)
			}
		}
	}
}
