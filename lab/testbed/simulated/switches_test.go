package simulated_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
)

// TestAllStop: 125 MB take 1 s at 1 Gb/s. The second circuit is made while the first one carries: with
// all-stop that goes dark for the 10 ms, too, otherwise not.
func TestAllStop(t *testing.T) {
	const two = "4 2\n1 0 1 0 1 1:125\n2 500 1 2 1 3:125\n"
	const ms = time.Millisecond
	for _, tc := range []struct {
		stop bool
		took [2]time.Duration
	}{{false, [2]time.Duration{1010 * ms, 1010 * ms}}, {true, [2]time.Duration{1020 * ms, 1010 * ms}}} {
		_, _, took := labtest.ReplayText(t, two,
			scenario.Options{Fabric: "crossbar:ports=4,rate=1Gbps,dark=10ms",
				Policies: []string{"sunflow"}, Rules: scenario.Rules{AllStop: tc.stop}})
		for i, want := range tc.took {
			if (took[i] - want).Abs() > 10*time.Microsecond {
				t.Errorf("all-stop %v: coflow %d takes %v, want %v", tc.stop, i+1, took[i], want)
			}
		}
	}
	if _, err := scenario.Prepare(scenario.Options{Fabric: "crossbar:ports=4", Policies: []string{"sebf"},
		On: scenario.OnFlowsim, Speedup: 1,
		Rules: scenario.Rules{AllStop: true}}, 1); err == nil ||
		!strings.Contains(err.Error(), "no circuits that could stop") {
		t.Errorf("all-stop without circuits: %v", err)
	}
}

// TestOwnPortRates: on a port of 2 Gb/s 125 MB take 500 ms, and the bound knows it; on packets and on
// circuits alike.
func TestOwnPortRates(t *testing.T) {
	const two = "4 2\n1 0 1 0 1 1:125\n2 0 1 2 1 3:125\n"
	const ms = time.Millisecond
	for _, tc := range []struct {
		fabric, policy string
		took           [2]time.Duration
	}{
		{"crossbar:ports=4,rate=1Gbps,rate@0-1=2Gbps", "sebf", [2]time.Duration{500 * ms, 1000 * ms}},
		// Only one end is faster: the slower decides.
		{"crossbar:ports=4,rate=1Gbps,rate@0=2Gbps", "sebf", [2]time.Duration{1000 * ms, 1000 * ms}},
		{"crossbar:ports=4,rate=1Gbps,dark=10ms,rate@0-1=2Gbps", "sunflow",
			[2]time.Duration{510 * ms, 1010 * ms}},
	} {
		s, _, took := labtest.ReplayText(t, two, scenario.Options{Fabric: tc.fabric,
			Policies: []string{tc.policy}})
		for i, want := range tc.took {
			if (took[i] - want).Abs() > 10*time.Microsecond {
				t.Errorf("%s: coflow %d takes %v, want %v", tc.fabric, i+1, took[i], want)
			}
			dark := s.Spec.Dark
			if b := s.Bound(&s.Jobs[i], &s.Jobs[i].Edges[0]); b != want-dark {
				t.Errorf("%s: the bound of coflow %d is %v, want %v", tc.fabric, i+1, b, want-dark)
			}
		}
	}
}

// TestAttributes: weights and deadlines of a file reach policies and the report.
func TestAttributes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(file, []byte("id,weight,deadline\n1,3,0.9\n2,,1.1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const three = "4 3\n1 0 1 0 1 1:125\n2 500 1 2 1 3:125\n3 600 1 1 1 0:125\n"
	s, o, _ := labtest.ReplayText(t, three, scenario.Options{Fabric: "crossbar:ports=4,rate=1Gbps",
		Policies: []string{"sebf"}, Rules: scenario.Rules{Attributes: file}})
	p := labtest.Figures(s, o)
	if p.Deadlines == nil || *p.Deadlines != (report.Deadlines{Of: 2, Met: 1}) {
		t.Errorf("deadlines %+v", p.Deadlines)
	}
	if c := o.ResultOf(s).Coflows; c[0].Weight != 3 || c[1].Weight != 1 ||
		c[1].Deadline != 1600*time.Millisecond ||
		c[2].Deadline != 0 {
		t.Errorf("%+v", c)
	}
	if s.Jobs[1].Deadline != 1100*time.Millisecond {
		t.Errorf("%+v", s.Jobs[1])
	}
	if p.WeightedCCT <= 0 {
		t.Error("no weighted mean")
	}
	if _, err := scenario.Prepare(scenario.Options{Trace: file, Fabric: "crossbar:ports=4",
		Policies: []string{"sebf"},
		On:       scenario.OnFlowsim, Speedup: 1, Rules: scenario.Rules{Attributes: "none.csv"}}, 1); err == nil {
		t.Error("an absent file is read")
	}
}

// TestPerCircuit: the circuits of TestAllStop's trace, with what each carried; times are 10 ms dark,
// then a second.
func TestPerCircuit(t *testing.T) {
	const two = "4 2\n7 0 1 0 1 1:125\n9 500 1 2 1 3:125\n"
	_, o, _ := labtest.ReplayText(t, two, scenario.Options{Fabric: "crossbar:ports=4,rate=1Gbps,dark=10ms",
		Policies: []string{"sunflow"}, Rules: scenario.Rules{PerCircuit: "c.csv"}})
	file := filepath.Join(t.TempDir(), "c.csv")
	if err := outcome.WritePerCircuit(file, []*outcome.Outcome{o}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := "in,out,coflow,intended,dark,connected,in_service,ended,bytes,failed,policy\n" +
		"0,1,7,0,,0.01,0.01,1.51,125000000,false,sunflow\n" +
		"2,3,9,0.5,0.5,0.51,0.51,1.51,125000000,false,sunflow\n"
	if string(b) != want {
		t.Errorf("got\n%swant\n%s", b, want)
	}
}

// TestPerCircuitSums: the bytes of all circuits add up to the bytes over the OCS.
func TestPerCircuitSums(t *testing.T) {
	s, err := scenario.Prepare(scenario.Options{Fabric: "hybrid:racks=6,hosts=2,eps=100Mbps,ocs=1Gbps",
		On:       scenario.OnFlowsim,
		Policies: []string{"random+ecmp+sunflow"}, Coflows: 40, Speedup: 1, Seed: 3,
		Rules: scenario.Rules{PerCircuit: "c.csv", PerQueue: "q.csv"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := pathmap.Bytes(0)
	for _, b := range o.Carried {
		if b < 0 {
			t.Errorf("a circuit carried %d bytes", b)
		}
		sum += b
	}
	if sum != o.OCS || len(o.Carried) != len(o.State.Moves) || sum == 0 {
		t.Errorf("%d circuits carried %d bytes, the OCS %d", len(o.Carried), sum, o.OCS)
	}
	plain := *s
	plain.Options.Rules.PerCircuit, plain.Options.Rules.PerQueue = "", ""
	again, err := labtest.Simulate(context.Background(), &plain, plain.Rows[0], nil)
	if err != nil || again.End != o.End || labtest.FirstDifference(again.State, o.State) != "" ||
		again.OCS != o.OCS {
		t.Errorf("looking changes what happens: %v", err)
	}
}

// TestPerQueue: 125 MB leave a port in the second that the run lasts; what waits falls linearly.
func TestPerQueue(t *testing.T) {
	const one = "4 1\n1 0 1 0 1 1:125\n"
	s, o, _ := labtest.ReplayText(t, one, scenario.Options{Fabric: "crossbar:ports=4,rate=1Gbps",
		Policies: []string{"sebf"}, Rules: scenario.Rules{PerQueue: "q.csv"}})
	file := filepath.Join(t.TempDir(), "q.jsonl")
	if err := outcome.WritePerQueue(file, []*outcome.Outcome{o}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	busy := 0
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		var q outcome.QueueLine
		if err := json.Unmarshal([]byte(l), &q); err != nil {
			t.Fatal(err)
		}
		if q.Bytes == 0 {
			if q.Max != 0 || q.Mean != 0 {
				t.Errorf("an idle port: %+v", q)
			}
			continue
		}
		busy++
		if q.Bytes != 125e6 || q.Max != 125e6 || math.Abs(q.Mean-62.5e6) > 1 || q.Drops != 0 ||
			q.Capacity != 1e9 ||
			q.Policy != "sebf" {
			t.Errorf("%+v", q)
		}
	}
	// h0-0 → tor0 → spine0 → tor1 → h1-0.
	if busy != 4 || len(o.Queues) != len(s.Fabric.Topology.Links()) {
		t.Errorf("%d ports are busy", busy)
	}
}
