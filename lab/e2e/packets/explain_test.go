package packets

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lightloom/controller/explain"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap/tries"
)

// TestSharedExplanation has two leaders write to one file, the first being killed within a line.
func TestSharedExplanation(t *testing.T) {
	name := filepath.Join(t.TempDir(), emulated.WhyName)
	task := 3
	say := func(by explain.Leadership, at float64) {
		x, err := explain.Join(name, by)
		if err != nil {
			t.Fatal(err)
		}
		x.Say(&explain.Line{At: at, Policy: "crosslayer", Leadership: by, What: "task", Job: "j", Task: &task})
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	say(explain.Leadership{Leader: "controller0", Term: 1}, 1.5)
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"at_seconds":2,"pol`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	say(explain.Leadership{Leader: "controller2", Term: 2}, 3)
	why, cut, err := explain.Read(name, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if cut != 1 || len(why) != 2 || why[0].At != 0.5 || why[1].At != 2 || why[0].Leader != "controller0" ||
		why[1].Term != 2 || *why[1].Task != task {
		t.Errorf("%d lines cut off, read %+v", cut, why)
	}
	if why, cut, err := explain.Read(filepath.Join(t.TempDir(), "none"), 0); err != nil ||
		cut != 0 || why != nil {
		t.Errorf("without a leader so far: %v, %d, %v", why, cut, err)
	}
}

// TestExplainEverywhere replays with --explain on both fabrics, and on packets with a leader that is
// killed: every job's tasks are explained, where the state says that they are, and flows between racks
// have a path.
func TestExplainEverywhere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, on string
		kill     bool
	}{
		{"simulated", scenario.OnFlowsim, false},
		{"leader killed", scenario.OnNetns, true},
		{"packets", scenario.OnNetns, false},
	}[:tries.Of(2, 3)] {
		t.Run(tt.name, func(t *testing.T) {
			if tt.on == scenario.OnNetns {
				labtest.ShareNetns(t, "netns", false)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
			defer cancel()
			name := filepath.Join(t.TempDir(), "why.jsonl")
			s, err := scenario.Prepare(scenario.Options{Workload: "hadoop:jobs=6,rate=4/s,bytes=100kB-1MB",
				Fabric: "leafspine:racks=4,hosts=2,spines=2,eps=100Mbps,nic=100Mbps,slots=4", Seed: 1,
				Policies: []string{"crosslayer"}, Scale: 1, Speedup: 1, On: tt.on, Replicas: 3,
				Rules: scenario.Rules{Explain: name}}, 1)
			if err != nil {
				t.Fatal(err)
			}
			why, err := explain.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			var kill []emulated.Killing
			if tt.kill {
				kill = []emulated.Killing{{Applied: 12}}
			}
			o, err := labtest.Run(ctx, s, s.Rows[0], why, kill...)
			if err != nil {
				t.Fatal(err)
			}
			if err := why.Close(); err != nil {
				t.Fatal(err)
			}
			checkWhy(t, s, o, name, tt.on == scenario.OnNetns)
		})
	}
}

func checkWhy(t *testing.T, s *scenario.Prepared, o *outcome.Outcome, name string, leaders bool) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	host := map[string]map[int]string{}
	flows := 0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var l explain.Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		if l.Policy != "crosslayer" || (l.Leader != "") != leaders || (l.Term > 0) != leaders || l.At < 0 {
			t.Errorf("line %s", lines.Text())
		}
		if l.What == "flow" {
			flows++
			if len(l.Path) == 0 {
				t.Errorf("flow without a path: %s", lines.Text())
			}
			continue
		}
		if host[l.Job] == nil {
			host[l.Job] = map[int]string{}
		}
		host[l.Job][*l.Task] = l.Host // a decision taken again by the next leader comes later
	}
	if flows == 0 {
		t.Error("no flow is explained")
	}
	for _, j := range o.State.Jobs {
		for task, at := range j.Hosts {
			if want := s.Fabric.Topology.Node(s.Fabric.HostNode[at]).Name; host[j.Name][task] != want {
				t.Errorf("task %d of %s is said to be on %q and is on %q", task, j.Name, host[j.Name][task], want)
			}
		}
	}
}
