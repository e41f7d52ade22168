package agreement

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller/state"
	"lightloom/lab/experiment"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/pathmap/topo"
)

// TestSettings holds every setting's name to be its own in an experiment, its fabric to be one, and its workload to be
// drawn.
func TestSettings(t *testing.T) {
	for _, all := range [][]setting{beside(), crowded(), openLoop(), fidelity()} {
		seen := map[string]bool{}
		for _, s := range all {
			if seen[s.String()] {
				t.Errorf("two settings are named %q", s)
			}
			seen[s.String()] = true
			name, _ := s.fabric()
			spec, err := topo.ParseSpec(name)
			if err != nil || spec.HasOCS() != s.circuits() {
				t.Errorf("%v: fabric %q has circuits: %v; %v", s, name, spec.HasOCS(), err)
			}
			if jobs, err := s.jobs(1); err != nil || len(jobs) == 0 {
				t.Errorf("%v: %d jobs: %v", s, len(jobs), err)
			}
		}
	}
}

// ran is a run whose coflows take those times, and which moved so many circuits.
func ran(moves int, times map[string][]time.Duration, expected float64) *replay.Ran {
	r := &replay.Ran{State: &state.Data{Moves: make([]state.Move, moves)}}
	for _, name := range []string{"a", "b"} {
		for _, d := range times[name] {
			r.Coflows = append(r.Coflows, report.CoflowResult{Name: name, Arrival: time.Second,
				End: time.Second + d})
		}
	}
	if expected > 0 {
		r.Health = &report.Health{Expected: expected, StolenCores: 0.1}
	}
	return r
}

func TestPair(t *testing.T) {
	const ms = time.Millisecond
	packets := ran(6, map[string][]time.Duration{"a": {100 * ms, 330 * ms}, "b": {440 * ms}}, 0.05)
	fluid := ran(5, map[string][]time.Duration{"a": {100 * ms, 300 * ms}, "b": {400 * ms}}, 0)
	p, err := newPair(packets, fluid, 7)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Off) != 2 || fmt.Sprintf("%.3f %.3f %.4f", p.Off[0], p.Off[1], p.Mean) != "0.100 0.100 0.0875" {
		t.Errorf("coflows are off by %v, their mean by %v", p.Off, p.Mean)
	}
	s := setting{policy: "random+ecmp+sunflow", load: circuits70}
	out := (&experiment.Bench{First: 1}).Result()
	s.rows([]*pair{p, p}, out)
	stated([]*pair{p, p}, out)
	for _, r := range out.Rows {
		want := map[string]float64{"mean CCT": 8.75, "circuits moved": 20, "coflow, median": 10,
			"coflow, 95 of 100":   10,
			"covers the true one": 0, "median ÷ median of the true ones": 0.05 / 0.0875, "largest true one": 8.75}[r.Metric]
		if r.Measured == nil || fmt.Sprintf("%.6f", *r.Measured) != fmt.Sprintf("%.6f", want) ||
			r.Verdict != experiment.NoClaim || r.N != 2 {
			t.Errorf("%s: %+v, want %v", r.Metric, r, want)
		}
	}
	out = new(experiment.Bench).Result()
	s.each([]*pair{p}, out)
	if r := out.Rows[0]; *r.Measured != 100*p.Mean || !strings.Contains(r.Note, `"seed":7,"probe_error":0,`) ||
		!strings.Contains(r.Note, `"stolen_cores":0.1,`) {
		t.Errorf("a run by itself: %+v", r)
	}
	fluid.Coflows = fluid.Coflows[:2]
	if _, err := newPair(fluid, packets, 7); err == nil || !strings.Contains(err.Error(), `of "b" 0 coflows`) {
		t.Errorf("a coflow that has not ended: %v", err)
	}
}

// TestBusyCore: what keeps a core busy ends when told, and with its context.
func TestBusyCore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	for range 2 {
		end, err := busyCore(ctx)
		if err != nil {
			t.Fatal(err)
		}
		end() // it waits
		if end, err = busyCore(ctx); err != nil {
			t.Fatal(err)
		}
		defer end()
	}
	cancel()
	if _, err := busyCore(ctx); err == nil {
		t.Error("one began after its context's end")
	}
}

// TestStretch: a reservation lasts until its input or its output is reserved again, or a second longer, and is never
// made shorter.
func TestStretch(t *testing.T) {
	line := func(from, to, in, out int) string {
		return fmt.Sprintf(`{"policy":"p","not_before_ns":%d,"not_after_ns":%d,"in":%d,"out":%d,"anchor":{"job":3}}`,
			from, to, in, out)
	}
	file := filepath.Join(t.TempDir(), "r.jsonl")
	text := strings.Join([]string{line(0, 10, 0, 1), line(30, 40, 0, 2), line(20, 50, 3, 2)}, "\n") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := stretch(file); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(got)), "\n")
	for i, end := range []string{"30", "1000000040", "50"} {
		if !strings.Contains(lines[i], `"not_after_ns":`+end+",") || !strings.Contains(lines[i], `"anchor":{"job":3}`) {
			t.Errorf("line %d is %s, want an end at %s", i, lines[i], end)
		}
	}
	if err := os.WriteFile(file, []byte(text+"x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := stretch(file); err == nil || !strings.Contains(err.Error(), "r.jsonl:4:") {
		t.Errorf("a broken line: %v", err)
	}
}
