package simulated_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller/state"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
)

// TestOddTraces: unusual but allowed traces have a stated meaning, under every kind of scheduling.
func TestOddTraces(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for _, tc := range []struct {
		name, text string
		rules      scenario.Rules
		took       []time.Duration // alone on packets at 1 Gb/s: 8 ms a megabyte; in order of arrival
	}{
		{"three at once, on ports of their own", "6 3\n1 5 1 0 1 1:1\n2 5 1 2 1 3:2\n3 5 1 4 1 5:3\n",
			scenario.Rules{},
			[]time.Duration{8 * ms, 16 * ms, 24 * ms}},
		{"gaps in ids and hours between arrivals", "4 2\n17 0 1 0 1 1:1\n900000 7200000 1 0 1 1:1\n",
			scenario.Rules{},
			[]time.Duration{8 * ms, 8 * ms}},
		{"no newline at the end", "4 1\n1 0 1 0 1 1:1", scenario.Rules{}, []time.Duration{8 * ms}},
		{"ids and arrivals out of order", "4 2\n9 1000 1 0 1 1:2\n3 0 1 2 1 3:1\n", scenario.Rules{},
			[]time.Duration{8 * ms, 16 * ms}},
		{"one byte", "4 1\n1 0 1 0 1 1:0.000001\n", scenario.Rules{}, []time.Duration{8}},
		{"thirty terabytes", "4 1\n1 0 1 0 1 1:30000000\n", scenario.Rules{}, []time.Duration{240_000 * s}},
		{"one byte beside thirty terabytes", "4 2\n1 0 1 0 1 1:30000000\n2 0 1 2 1 3:0.000001\n",
			scenario.Rules{},
			[]time.Duration{240_000 * s, 8}},
		{"to itself, free", "4 1\n1 0 1 2 1 2:5\n", scenario.Rules{}, []time.Duration{0}},
		{"to itself, carried", "4 1\n1 0 1 2 1 2:5\n", scenario.Rules{CarryLocal: true},
			[]time.Duration{40 * ms}},
		{"a century from now", "4 1\n1 3153600000000 1 0 1 1:1\n", scenario.Rules{}, []time.Duration{8 * ms}},
	} {
		for _, run := range []struct {
			fabric, policy string
			dark           time.Duration
		}{{"crossbar:ports=6,rate=1Gbps", "sebf", 0}, {"crossbar:ports=6,rate=1Gbps", "tcp", 0},
			{"crossbar:ports=6,rate=1Gbps", "dclas", 0},
			{"crossbar:ports=6,rate=1Gbps", "maxmin", 0}, {"crossbar:ports=6,rate=1Gbps", "fair", 0},
			{"crossbar:ports=6,rate=1Gbps,dark=1ns", "sunflow",
				1}, {"crossbar:ports=6,rate=1Gbps,dark=1h", "sunflow",
				time.Hour}} {
			if tc.rules.CarryLocal && run.dark > 0 {
				continue // a port's light does not turn round
			}
			t.Run(tc.name+" "+run.fabric+" "+run.policy, func(t *testing.T) {
				_, _, took := labtest.ReplayText(t, tc.text,
					scenario.Options{Fabric: run.fabric, Policies: []string{run.policy}, Rules: tc.rules})
				if len(took) != len(tc.took) {
					t.Fatalf("%d coflows", len(took))
				}
				for i, want := range tc.took {
					if want > 0 {
						want += run.dark
					}
					// Rates are whole bits a second: a part in 10⁹ of the longest.
					if (took[i] - want).Abs() > max(time.Microsecond, want/1e9) {
						// A circuit with an hour of dark time that is still up from the coflow before is not dark again.
						if run.dark < time.Hour || (took[i]-want+run.dark).Abs() > time.Microsecond {
							t.Errorf("coflow %d takes %v, want %v", i, took[i], want)
						}
					}
				}
			})
		}
	}
}

// TestTiesKeepTheFile: coflows of one arrival are taken in the order of the file, whatever their ids.
func TestTiesKeepTheFile(t *testing.T) {
	// All share port 0; first come, first served.
	_, o, took := labtest.ReplayText(t, "4 3\n9 0 1 0 1 1:1\n1 0 1 0 1 2:1\n5 0 1 0 1 3:1\n",
		scenario.Options{Fabric: "crossbar:ports=4,rate=1Gbps", Policies: []string{"fifo"}})
	for i, want := range []string{"coflow-9", "coflow-1", "coflow-5"} {
		if got := o.State.Jobs[i].Name; got != want || took[i] != time.Duration(8*(i+1))*time.Millisecond {
			t.Errorf("the one at %d is %s and takes %v, want %s", i, got, took[i], want)
		}
	}
}

// TestRefusedInput: impossible input is refused before anything runs, and the error names its place.
func TestRefusedInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good.txt", "4 1\n1 0 1 0 1 1:1\n")
	for _, tc := range []struct {
		name, trace, fabric, policy, want string
	}{
		{"an id twice", file("twice.txt", "4 2\n1 0 1 0 1 1:1\n1 5 1 0 1 1:1\n"), "crossbar:ports=4", "sebf",
			"twice.txt:3:1: id 1 was used in line 2"},
		{"no bytes", file("none.txt", "4 1\n1 0 1 0 1 1:0\n"), "crossbar:ports=4", "sebf",
			`none.txt": no coflow is left of 1: take a larger width, or a trace that sends bytes`},
		{"bytes below zero", file("below.txt", "4 1\n1 0 1 0 1 1:-1\n"), "crossbar:ports=4", "sebf",
			"below.txt:2:13: reducer 1 of 1: megabytes: -1 is not within 0"},
		{"more than all memory", file("huge.txt", "4 1\n1 0 1 0 1 1:99999999999\n"), "crossbar:ports=4", "sebf",
			"huge.txt:2:13"},
		{"no dark time", good, "hybrid:racks=4,dark=0ms", "fair",
			"dark: 0s is not above zero: write dark=1ns for an ideal " +
				"switch"},
		{"a dark time of a day", good, "hybrid:racks=4,dark=24h", "fair",
			"dark: 24h0m0s is longer than any mirror moves: " +
				"write 1h0m0s or less"},
		{"a schedule that lights an output twice", good, "crossbar:ports=4,dark=10ms", "schedule:" +
			file("twice.sched", "ports 4\nnight 10ms\nday 90ms 0>1 2>1\n"), "twice.sched:3:14: 2>1 lights output 1 twice"},
		{"a schedule that lights an input twice", good, "crossbar:ports=4,dark=10ms", "schedule:" +
			file("in.sched", "ports 4\nnight 10ms\nday 90ms 0>1 0>2\n"), "in.sched:3:14: 0>2 lights input 0 twice"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := scenario.Prepare(scenario.Options{Trace: tc.trace, Fabric: tc.fabric, On: scenario.OnFlowsim,
				Policies: []string{tc.policy},
				Speedup:  1, Seed: 1}, 1)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestTimeBeyondAllRuns: a run longer than instants can represent is an error, never a time that has
// wrapped around.
func TestTimeBeyondAllRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.txt")
	if err := os.WriteFile(file, []byte("4 2\n1 0 1 0 1 1:900000000\n2 3153600000000 1 0 1 1:900000000\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"sebf", "fifo", "tcp", "maxmin", "dclas", "bssi", "fairport"} {
		s, err := scenario.Prepare(scenario.Options{Trace: file, Fabric: "crossbar:ports=4,rate=1Kbps",
			On:       scenario.OnFlowsim,
			Policies: []string{policy}, Speedup: 1, Seed: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil); err == nil {
			t.Errorf("%s: ends at %v", policy, o.End)
		} else if !strings.Contains(err.Error(), "would take more than 70 years") {
			t.Errorf("%s: %v", policy, err)
		}
	}
}

// FuzzIntegerTime: whatever sizes, rates, arrivals and divisors are, coflows end at their bound or
// after it, and all instants are in order; or there is an error.
func FuzzIntegerTime(f *testing.F) {
	f.Add(uint64(1e6), uint64(5), int64(0), int64(1e9), 1.0, 1.0, uint8(0))
	f.Add(uint64(30e12), uint64(1), int64(3_153_600_000_000), int64(1), 1e-3, 1e6, uint8(1))
	f.Add(uint64(1), uint64(1e15), int64(1), int64(1e14), 1e6, 1e-3, uint8(2))
	f.Add(uint64(1e15), uint64(1e15), int64(1), int64(1e3), 1.0, 1e-3, uint8(3))
	f.Add(uint64(30e12), uint64(1), int64(1), int64(1), 1e-3, 1.0, uint8(4))
	f.Add(uint64(1e15), uint64(1e15), int64(1), int64(1e14), 1e6, 1e-3, uint8(5))
	f.Fuzz(func(t *testing.T, a, b uint64, arrival, rate int64, scale, speedup float64, policy uint8) {
		if !(scale >= 1e-6 && scale <= 1e12) || !(speedup >= 1e-3 && speedup <= 1e6) ||
			rate <= 0 || arrival < 0 {
			t.Skip("flags refuse such divisors, rates and arrivals")
		}
		const most = 1 << 50
		trace := "3 2\n1 0 1 0 1 1:" + inMegabytes(1+a%most) + "\n2 " + itoa(arrival%3_153_600_000_000) + " 1 0 1 2:" +
			inMegabytes(1+b%most) + "\n"
		file := filepath.Join(t.TempDir(), "t.txt")
		if err := os.WriteFile(file, []byte(trace), 0o644); err != nil {
			t.Fatal(err)
		}
		names := []string{"sebf", "tcp", "fifo", "dclas", "maxmin", "fair"}
		s, err := scenario.Prepare(scenario.Options{Trace: file, Fabric: "crossbar:ports=3,rate=" +
			pathmap.BitsPerSecond(rate).
				String(), On: scenario.OnFlowsim, Policies: []string{names[int(policy)%len(names)]}, Speedup: speedup, Seed: 1},
			scale)
		if err != nil {
			return
		}
		o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
		if err != nil {
			return
		}
		for i, c := range o.ResultOf(s).Coflows {
			if c.Arrival < 0 || c.Start < c.Arrival || c.End < c.Start || c.End > o.End ||
				o.State.Coflows[i].Ended == state.Unset {
				t.Fatalf("%s at %v: coflow %d: %+v", trace, pathmap.BitsPerSecond(rate), i, c)
			}
			if low := float64(c.Bound) * (1 - 1e-6); float64(c.CCT()) < low-1e3 {
				t.Fatalf("%s at %v: coflow %d takes %v, its bound is %v", trace,
					pathmap.BitsPerSecond(rate), i, c.CCT(), c.Bound)
			}
		}
		if math.IsNaN(reportedCCT(s, o)) {
			t.Fatal("a mean is no number")
		}
	})
}

// reportedCCT is the mean completion time of a report of one outcome.
func reportedCCT(s *scenario.Prepared, o *outcome.Outcome) float64 {
	return labtest.Figures(s, o).CCT.Mean
}

// inMegabytes writes bytes as the trace format has them.
func inMegabytes(b uint64) string {
	frac := itoa(int64(b%1e6) + 1e6)[1:]
	return itoa(int64(b/1e6)) + "." + frac
}

func itoa(n int64) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
