package pods

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lightloom/controller/torus"
	"lightloom/lab/experiment"
)

// TestSplitMix: the first numbers of seed 1234567, as the generator's authors publish them.
func TestSplitMix(t *testing.T) {
	s := splitMix(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := s.next(); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}

// TestT1b: the figures of RFold's own program on this trace.
func TestT1b(t *testing.T) {
	b := &experiment.Bench{Seeds: 1, First: 1}
	out := b.Result()
	if err := t1b(out); err != nil {
		t.Fatal(err)
	}
	if len(out.Rows) != 6 {
		t.Fatalf("%d rows", len(out.Rows))
	}
	for _, r := range out.Rows {
		if r.Verdict != experiment.Reproduced {
			t.Errorf("%s, %s: %v, and RFold has %v", r.Setting, r.Metric, *r.Measured, *r.Paper)
		}
	}
}

// TestQueueByHand: a cube for 10 s, two cubes for 5 s, and one for 1 s that came last, in a pod of two cubes.
func TestQueueByHand(t *testing.T) {
	pod, err := torus.New(4, 1, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	jobs := []Job{{0, 10, torus.Box(4, 4, 4)}, {1, 5, torus.Box(4, 4, 8)}, {2, 1, torus.Box(4, 4, 4)}}
	for _, tt := range []struct {
		fill bool
		want []int64
		// Until 2 s half of the nodes are busy, with and without backfilling.
		utilisation float64
	}{{false, []int64{0, 9, 13}, 0.5}, {true, []int64{0, 9, 0}, 0.5}} {
		for _, rule := range torus.Rules() {
			w, err := Queue{Rule: rule, Backfill: tt.fill}.Run(pod, jobs)
			if err != nil || !slices.Equal(w.Waited, tt.want) || w.Utilisation != tt.utilisation {
				t.Errorf("%s, backfilling %v: %+v, %v", rule.Name, tt.fill, w, err)
			}
		}
	}
	if _, err := (Queue{Rule: torus.Rules()[0]}).Run(pod, []Job{{0, 1, torus.Box(4, 4, 12)}}); err == nil ||
		!strings.Contains(err.Error(), "job 0") {
		t.Error(err)
	}
}

// TestMovesMakeRoom: two half cubes keep a whole one waiting, unless one of them moves.
func TestMovesMakeRoom(t *testing.T) {
	pod, err := torus.New(4, 1, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	half := torus.Box(2, 4, 4)
	jobs := []Job{{0, 100, half}, {0, 1, half}, {0, 100, half}, {2, 1, torus.Box(4, 4, 4)}}
	for move, want := range map[bool]int64{false: 98, true: 0} {
		w, err := Queue{Rule: torus.Rules()[3], Move: move}.Run(pod, jobs)
		if err != nil || w.Waited[3] != want || move != (w.Moved == 1 && w.MovedNodes == 32) {
			t.Errorf("move %v: %+v, %v", move, w, err)
		}
	}
}

// TestBestFitWaitsLess: best-fit waits less than re-wiring, with moves no longer than without, and nothing less than
// any nodes; on the trace in which folding and re-wiring differ, folding is between them.
func TestBestFitWaitsLess(t *testing.T) {
	pod, err := pod16()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []ground{grounds()[1], grounds()[2]} {
		jobs, mean := Draw(g.mix, 400, g.gap, meanDuration, 1), map[string]float64{}
		for _, s := range systems() {
			if s.Backfill {
				continue
			}
			w, err := s.Run(pod, jobs)
			if err != nil {
				t.Fatal(err)
			}
			mean[s.name] = w.Mean()
		}
		t.Logf("%s: %v", g.name, mean)
		if mean["bestfit"] >= mean["reconfig"] || mean["bestfit and moves"] > mean["bestfit"] ||
			mean[bound] > mean["bestfit and moves"] || mean["rfold"] > mean["reconfig"] {
			t.Errorf("%s: %v", g.name, mean)
		}
		if g.name == "sheets" && mean["rfold"] > 0.9*mean["reconfig"] {
			t.Errorf("folding hardly differs from re-wiring: %v", mean)
		}
	}
}

const sample = `[{"node_id":"n000","event_time":1,"event_type":"fault_start"},
 {"node_id":"n007","event_time":2,"event_type":"fault_start"},
 {"node_id":"n000","event_time":3,"event_type":"fault_end"},
 {"node_id":"n001","event_time":3,"event_type":"fault_start"},
 {"node_id":"n007","event_time":5,"event_type":"fault_end"},
 {"node_id":"n001","event_time":6,"event_type":"fault_end"}]`

// TestLost: servers 0 and 1 are in cube 0, server 7 is in cube 1. Cube 0 is away from day 1 to day 6, cube 1 from 2
// to 5.
func TestLost(t *testing.T) {
	trace, err := ReadFaults("sample", strings.NewReader(sample))
	if err != nil || trace.From != 0 || trace.To != 6 {
		t.Fatal(trace, err)
	}
	for _, tt := range []struct {
		cabling   Cabling
		spares    int
		hours     float64
		available float64 // days of 6
		swaps     int
	}{
		{Electrical, 0, 64 * 24 * 8, 1, 0}, {Electrical, 1, 64 * 24 * 3, 3, 0}, {Electrical, 2, 0, 6, 0},
		{FixedTorus, 2, 64 * 24 * 8, 1, 0}, {Rewired, 0, 64 * 24 * 8, 1, 0}, {Rewired, 1, 64 * 24 * 3, 3, 1},
		{Rewired, 2, 0, 6, 2},
	} {
		l := trace.Lost(tt.cabling, tt.spares)
		if l.NodeHours != tt.hours || math.Abs(l.Available-tt.available/6) > 1e-12 || l.Swaps != tt.swaps {
			t.Errorf("%s, %d spares: %+v", tt.cabling, tt.spares, l)
		}
	}
	// Without cube 0 the largest box of the torus is 4×4×3 cubes; cube 1 is beside it, in the same plane and row.
	if l := trace.Lost(FixedTorus, 0); math.Abs(l.Outside-16*64*5.0/6) > 1e-9 {
		t.Errorf("outside of the largest box: %g nodes", l.Outside)
	}
}

// TestCutTrace: a trace that begins with the end of a fault begins at that instant, with the server away before.
func TestCutTrace(t *testing.T) {
	trace, err := ReadFaults("cut", strings.NewReader(
		`[{"node_id":"n010","event_time":175,"event_type":"fault_start"},
		{"node_id":"n399","event_time":180,"event_type":"fault_end"},
		{"node_id":"n010","event_time":185,"event_type":"fault_end"}]`))
	if err != nil || trace.From != 175 || trace.To != 185 {
		t.Fatal(trace, err)
	}
	if l := trace.Lost(Rewired, 0); l.NodeHours != 64*24*15 || l.Available != 0 {
		t.Errorf("%+v", l)
	}
}

func TestReadFaultsRefuses(t *testing.T) {
	for _, tt := range []struct{ text, says string }{
		{``, "f.json:1:1: it is no list"},
		{`{}`, "f.json:1:1: it is no list"},
		{"[\n {\"node_id\":\"n400\",\"event_time\":1,\"event_type\":\"fault_start\"}]",
			`f.json:2:2: node_id "n400" is no server`},
		{`[{"node_id":"x1","event_time":1,"event_type":"fault_start"}]`, `f.json:1:2: node_id "x1"`},
		{`[{"node_id":"n1","event_time":-1,"event_type":"fault_start"}]`, "f.json:1:2: event_time -1"},
		{`[{"node_id":"n1","event_time":1,"event_type":"fault"}]`, `write "fault_start" or "fault_end"`},
		{`[{"node_id":"n1","event_time":1}]`, "f.json:1:2: an event has node_id"},
		{`[{"node_id":1,"event_time":1,"event_type":"fault_start"}]`, "f.json:1:"},
		{"[{\"node_id\":\"n1\",\n}]", "f.json:1:18: "},
		{sample[:len(sample)-1], "the list of events does not end"},
		{sample + "x", "something follows"},
		{`[{"node_id":"n1","event_time":2,"event_type":"fault_start"},
{"node_id":"n1","event_time":1,"event_type":"fault_end"}]`, "f.json:2:1: event_time 1 comes after 2"},
		{`[{"node_id":"n1","event_time":2,"event_type":"fault_end"},
  {"node_id":"n1","event_time":3,"event_type":"fault_end"}]`, "f.json:2:3: node_id \"n1\": this fault_end has no"},
	} {
		if _, err := ReadFaults("f.json", strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%.40q: %v, want %s", tt.text, err, tt.says)
		}
	}
}

func FuzzReadFaults(f *testing.F) {
	f.Add(sample)
	f.Add(`[]`)
	f.Add(`[{"node_id":"n399","event_time":1e300,"event_type":"fault_end"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := ReadFaults("fuzz", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		bare, spared := trace.Lost(Rewired, 0), trace.Lost(Rewired, mostSpares)
		if bare.NodeHours < spared.NodeHours || bare.NodeHours < 0 || bare.Available > 1 {
			t.Errorf("%+v, and %+v with spares", bare, spared)
		}
	})
}

// TestRealFaults runs the experiment on the public trace.
func TestRealFaults(t *testing.T) {
	folder := cmp.Or(os.Getenv("LIGHTLOOM_DATA"), filepath.Join("..", "..", "..", "..", "shared", "data"))
	if _, err := faultFile(folder); err != nil {
		if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "data") {
			t.Fatalf("LIGHTLOOM_MUST names data: %v", err)
		}
		t.Skipf("the trace of faults is not here: %v", err)
	}
	b := &experiment.Bench{Seeds: 1, First: 1, Data: folder}
	out, err := runFaults(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	lost := map[string]float64{}
	for _, r := range out.Rows {
		if r.Metric == "node-hours lost" {
			lost[r.Setting] = *r.Measured
		}
	}
	if len(lost) != 27 || lost["re-wired, 0 spare"] != lost["fixed torus, 8 spare"] || lost["re-wired, 8 spare"] >=
		lost["re-wired, 1 spare"] {
		t.Errorf("%v", lost)
	}
}

// TestExperiments runs the others as the command would, with a part of the work.
func TestExperiments(t *testing.T) {
	for _, e := range Experiments() {
		if e.Name == "slices-faults" {
			continue
		}
		out, err := e.Run(t.Context(), &experiment.Bench{Seeds: 1, First: 1, On: experiment.OnFlowsim, Quick: true})
		if err != nil || len(out.Rows) < 20 {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		for _, r := range out.Rows {
			if r.Measured == nil || math.IsNaN(*r.Measured) {
				t.Errorf("%s: %s, %s: nothing was measured", e.Name, r.Setting, r.Metric)
			}
		}
	}
}

func BenchmarkQueue(b *testing.B) {
	pod, err := pod16()
	if err != nil {
		b.Fatal(err)
	}
	jobs := Draw(tpu(), 5000, t1bGap, meanDuration, 1)
	for _, rule := range torus.Rules() {
		b.Run(fmt.Sprintf("%s_5000_jobs_16x16x16", rule.Name), func(b *testing.B) {
			for b.Loop() {
				if _, err := (Queue{Rule: rule}).Run(pod, jobs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
