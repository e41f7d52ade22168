package simulated_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/rollout"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/pathmap/topo"
)

func TestParseDelays(t *testing.T) {
	const ms = time.Millisecond
	hybrid := topo.Spec{Kind: topo.Hybrid, Dark: 10 * ms}
	for _, tt := range []struct {
		text    string
		optical string
		packet  string
		ctl     rollout.Control
		err     string
	}{
		{"", "dark=10ms", "", rollout.DefaultControl(), ""},
		{"lock=2ms,detect=1ms", "dark=10ms,lock=2ms", "detect=1ms", rollout.DefaultControl(), ""},
		{"mordia", "apply=68.5µs,dark=2.8µs,lock=8.7µs", "", rollout.DefaultControl(), ""},
		{"mordia,dark=1ms,commit=5ms", "apply=68.5µs,dark=1ms,lock=8.7µs", "",
			rollout.Control{Commit: 5 * ms, RPC: ms, Drain: 3 * ms}, ""},
		{"commit=0s,rpc=uniform(4ms,4ms)", "dark=10ms", "", rollout.Control{RPC: 4 * ms, Drain: 3 * ms}, ""},
		{"steer=2ms", "dark=10ms", "", rollout.DefaultControl(), ""},
		{"usable=1ms", "", "", rollout.Control{}, "write commit, rpc, steer, apply, dark, lock or detect"},
		{"rpc=1ms,rpc=2ms", "", "", rollout.Control{}, "given twice"},
		{"calient", "", "", rollout.Control{}, "mordia"},
		{"rpc=often", "", "", rollout.Control{}, `stage "rpc"`},
	} {
		d, err := scenario.ParseDelays(tt.text, hybrid)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: %v, want %q", tt.text, err, tt.err)
			}
			continue
		}
		if err != nil || d.Optical().String() != tt.optical || d.Packet().String() != tt.packet ||
			d.Control(hybrid) != tt.ctl {
			t.Errorf("%q: %v, %v, %+v, %v", tt.text, d.Optical(), d.Packet(), d.Control(hybrid), err)
		}
		own := d.Control(hybrid) != rollout.DefaultControl() || strings.Contains(tt.text, "steer")
		if refused := d.OnPackets() != nil; refused != own {
			t.Errorf("%q: refused on packets: %v", tt.text, refused)
		}
	}
}

const delaysFabric = "leafspine:racks=8,hosts=2,spines=2,eps=50Mbps,nic=500Mbps,slots=8"

// TestStagesAsAsked: on the simulator every stage of a move takes what --delays says, the same on every
// run; without a stage's name it is as ever.
func TestStagesAsAsked(t *testing.T) {
	const ms = time.Millisecond
	play := func(text string) (*outcome.Outcome, map[string][2]time.Duration) {
		s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 1,
			Policies: []string{"random+ecmp+sunflow"},
			Speedup:  1,
			Coflows:  20, On: scenario.OnFlowsim, Delays: text}, 1)
		if err != nil {
			t.Fatal(err)
		}
		o, err := labtest.Simulate(t.Context(), s, s.Rows[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		ends := map[string][2]time.Duration{} // the least and the most of each stage
		for _, name := range report.StageNames() {
			if times := o.Sums.Sums.Stage(name); times.Count() > 0 {
				p := times.Percentiles(time.Nanosecond, 0, 1)
				ends[name] = [2]time.Duration{time.Duration(p[0]), time.Duration(p[1])}
			}
		}
		return o, ends
	}
	o, got := play("apply=1ms,dark=uniform(2ms,4ms),lock=500µs,commit=4ms,rpc=2ms")
	within := func(stage string, least, most time.Duration) {
		t.Helper()
		took, known := got[stage]
		if !known || took[0] < least || took[1] > most {
			t.Errorf("%s: %v, want %v to %v", stage, took, least, most)
		}
	}
	within("apply", ms, ms)
	within("dark", 2*ms, 4*ms)
	within("lock", ms/2, ms/2)
	within("rpc", 4*ms, 4*ms) // half a commit, and the call
	within("in-service", 4*ms, 5*ms)
	within("drain", 0, 3*ms)
	within("commit", 0, 5*ms)
	if took := got["dark"]; took[0] == took[1] {
		t.Errorf("dark is no distribution: %v", took)
	}
	if want := 2*4*ms + 3*2*ms + 3*ms + 5*ms; o.Assumed < want || o.Assumed > want+ms {
		t.Errorf("δ is %v, want a little above %v", o.Assumed, want)
	}
	again, twice := play("apply=1ms,dark=uniform(2ms,4ms),lock=500µs,commit=4ms,rpc=2ms")
	if again.End != o.End || !maps.Equal(got, twice) {
		t.Error("the same seed gave another run")
	}
	if _, plain := play(""); maps.Equal(got, plain) {
		t.Error("delays change nothing")
	}
	if _, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 1,
		Policies: []string{"random+ecmp"}, Speedup: 1,
		On:     scenario.OnFlowsim,
		Fabric: delaysFabric, Delays: "mordia"}, 1); err == nil ||
		!strings.Contains(err.Error(), "optical switch") {
		t.Errorf("a fabric without circuits: %v", err)
	}
}

// TestLateHosts: hosts that are told of their circuit late begin to use it so much later, and lose what
// a circuit carries more than packets in that time. Nothing is lost, and runs repeat.
func TestLateHosts(t *testing.T) {
	const late = 20 * time.Millisecond
	play := func(text string) *outcome.Outcome {
		s, err := scenario.Prepare(scenario.Options{On: scenario.OnFlowsim,
			Policies: []string{"ecmp+sunflow"}, Speedup: 1,
			Fabric: "hybrid:racks=4,hosts=1,spines=1,eps=50Mbps,ocs=500Mbps,nic=500Mbps,dark=10ms", Delays: text,
			Given: []controller.Job{{Edges: []controller.Edge{{Kind: controller.Fixed,
				Flows: []controller.Flow{{Src: 0, Dst: 2,
					Bytes: 30e6}}}}}}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		o, err := labtest.Simulate(t.Context(), s, s.Rows[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		labtest.CheckOutcome(t, s, o)
		return o
	}
	plain, told, again := play(""), play("steer=20ms"), play("steer=20ms")
	if d := told.End - plain.End; d < late*8/10 || d > late*2 {
		t.Errorf("the run ends %v later, want somewhat less than %v for its only circuit", d, late)
	}
	if told.End != again.End {
		t.Errorf("ends at %v and at %v", told.End, again.End)
	}
}
