package simulated_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/controller/workload"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
)

// facebook reads the published trace where it is at hand, else the test is skipped, or fails where data
// is a must.
func facebook(t testing.TB) *workload.Trace {
	t.Helper()
	f, err := os.Open(labtest.FacebookTrace(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := workload.ReadTrace(f, f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// crossbarSetup is the cut small400 on the fabric of Sunflow's own simulator: 150 ports of 1 Gb/s, δ 10 ms.
func crossbarSetup(t testing.TB, policy string) *scenario.Prepared {
	t.Helper()
	return foldedSetup(t, 150, 0, policy)
}

// foldedSetup is crossbarSetup with fewer ports, or fewer coflows; 0 takes all.
func foldedSetup(t testing.TB, ports, coflows int, policy string) *scenario.Prepared {
	t.Helper()
	s := &scenario.Prepared{Options: scenario.Options{Seed: 1, Speedup: 1, Scale: 1, On: scenario.OnFlowsim,
		Policies: []string{policy}}}
	var err error
	if s.Spec, err = topo.FromArgument(fmt.Sprintf("crossbar:ports=%d,rate=1Gbps,dark=10ms", ports)); err != nil {
		t.Fatal(err)
	}
	s.Spec = s.Spec.WithDefaults()
	if s.Delays, err = scenario.ParseDelays("", s.Spec); err != nil {
		t.Fatal(err)
	}
	if s.Jobs, s.Fold, err = facebook(t).Jobs(workload.FoldOptions{Racks: ports, HostsPerRack: 1, MaxWidth: 400,
		Coflows: coflows}); err != nil {
		t.Fatal(err)
	}
	if err := s.Choose(s.Spec); err != nil {
		t.Fatal(err)
	}
	return s
}

// ratios returns the mean CCT in seconds, wholly local coflows included, and the mean of CCT ÷ T(C) of
// the others.
func ratios(s *scenario.Prepared, o *outcome.Outcome) (cct, over float64) {
	n := 0
	for _, c := range o.State.Coflows {
		cct += (c.Ended - c.Ready).Seconds() / float64(len(o.State.Coflows))
		if b := circuitBound(&s.Jobs[c.Job], s.Spec); b > 0 {
			over += float64(c.Ended-c.Ready) / float64(b)
			n++
		}
	}
	return cct, over / float64(n)
}

// circuitBound is T(C) with δ: the longest sum over any port of reconfiguration delay and transfer time.
func circuitBound(j *controller.Job, f topo.Spec) time.Duration {
	in, out := make([]time.Duration, f.Racks), make([]time.Duration, f.Racks)
	t := time.Duration(0)
	c := controller.Expand(j, &j.Edges[0], nil)
	for i := range c.Src {
		x := f.Dark + c.Size[i].Over(f.OCS)
		in[c.Src[i]] += x
		out[c.Dst[i]] += x
		t = max(t, in[c.Src[i]], out[c.Dst[i]])
	}
	return t
}

// TestRatesOfCircuits: where every byte takes a circuit, a host flow without one takes no part of a port, and max-min
// fair rates and equal parts of ports are what hosts find by themselves.
func TestRatesOfCircuits(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(trace, []byte("3 2\n1 0 1 0 2 1:100 2:100\n2 5 1 0 1 1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, circuits := range []string{"sunflow", "sunflow-turning", "solstice", "edmonds", "rotor"} {
		t.Run(circuits, func(t *testing.T) {
			t.Parallel()
			var want []time.Duration
			for _, share := range []string{"tcp", "maxmin", "fairport"} {
				s := labtest.WithFaults(t, "crossbar:ports=3,rate=1Gbps,dark=10ms", "random+ecmp+"+circuits+"+"+share, "",
					func(o *scenario.Options) { o.Trace = trace })
				o, err := labtest.Simulate(t.Context(), s, s.Rows[0], nil)
				if err != nil {
					t.Fatal(err)
				}
				var ends []time.Duration
				for _, c := range o.State.Coflows {
					ends = append(ends, c.Ended)
				}
				if want == nil {
					want = ends
				}
				for i := range ends {
					if d := ends[i] - want[i]; d.Abs() > time.Microsecond {
						t.Errorf("%s: coflow %d ended at %v, under tcp at %v", share, i, ends[i], want[i])
					}
				}
			}
		})
	}
}

// TestRatesOfCircuitTakenOver: a coflow that takes over the circuit of another one, between other hosts of the same
// racks, is told its rates, although no circuit moves.
func TestRatesOfCircuitTakenOver(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(trace, []byte("3 2\n1 0 1 2 1 1:7.3\n2 1 1 2 1 1:7.3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, share := range []string{"tcp", "maxmin", "fairport", "sebf", "bssi", "dclas", "priority", "optba", "onfroba"} {
		t.Run(share, func(t *testing.T) {
			t.Parallel()
			s := labtest.WithFaults(t, "hybrid:racks=3,hosts=3,spines=3,eps=333Mbps,ocs=10Gbps,dark=100us",
				"random+ecmp+sunflow+"+share, "",
				func(o *scenario.Options) { o.Trace, o.Until = trace, time.Second })
			o, err := labtest.Simulate(t.Context(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			if ended := countEnded(s, o); ended != 2 {
				t.Errorf("%d of 2 jobs ended", ended)
			}
			for _, c := range o.State.Coflows {
				if c.Ended-c.Ready > 50*time.Millisecond {
					t.Errorf("coflow %d took %v", c.ID, c.Ended-c.Ready)
				}
			}
		})
	}
}

// TestSunflowFigures holds the whole controller on the simulator against Sunflow's own simulator:
// average CCT and mean of CCT over the bound, all coflows together, within 1 %.
func TestSunflowFigures(t *testing.T) {
	t.Parallel()
	s := crossbarSetup(t, "sunflow")
	o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	labtest.CheckOutcome(t, s, o)
	if o.EPS != 0 {
		t.Errorf("%d bytes went over packets", o.EPS)
	}
	cct, over := ratios(s, o)
	t.Logf("CCT %.5f s, over the bound %.4f", cct, over)
	within(t, "average CCT", cct, 1.02096)
	within(t, "mean of CCT over the bound", over, 1.0131)
}

func within(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got < 0.99*want || got > 1.01*want {
		t.Errorf("%s is %.5f, the reference %.5f", what, got, want)
	}
}

// TestCircuitPolicies lets every circuit policy carry the first coflows of the cut: all of it, over
// circuits alone.
func TestCircuitPolicies(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sunflow", "sunflow-turning", "solstice", "eclipse", "bvn",
		"edmonds", "edmonds-backlog",
		"rotor"} {
		t.Run(name, func(t *testing.T) {
			s := foldedSetup(t, tries.Of(40, 150), tries.Of(25, 60), name)
			began := time.Now()
			o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckOutcome(t, s, o)
			var sum pathmap.Bytes
			for _, c := range o.State.Coflows {
				if c.Ended == state.Unset {
					t.Errorf("coflow of job %d has not ended", c.Job)
				}
				sum += c.Bytes
			}
			if o.OCS != sum || o.EPS != 0 {
				t.Errorf("%d bytes over circuits and %d over packets, want %d and none", o.OCS, o.EPS, sum)
			}
			cct, over := ratios(s, o)
			t.Logf("CCT %.4f s, over the bound %.4f, %d moves, %d decisions in %v", cct, over,
				len(o.State.Moves), o.Decisions,
				time.Since(began))
		})
	}
}

// TestCrashesOnCircuitsOnly kills controllers where ToRs hold the rules of all circuits: every byte
// goes over circuits all the same.
func TestCrashesOnCircuitsOnly(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sunflow", "sunflow-turning", "solstice"} {
		t.Run(name, func(t *testing.T) {
			s := foldedSetup(t, tries.Of(40, 150), tries.Of(15, 25), name)
			r := rand.New(rand.NewPCG(2, 7))
			o, lives, err := labtest.SimulateCrashes(s, func() bool { return r.IntN(tries.Of(40, 60)) == 0 })
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckOutcome(t, s, o)
			var sum pathmap.Bytes
			for _, c := range o.State.Coflows {
				sum += c.Bytes
			}
			if o.OCS < sum || o.EPS != 0 || lives < 10 {
				t.Errorf("%d bytes over circuits and %d over packets, want %d and none; %d controllers",
					o.OCS, o.EPS, sum, lives)
			}
		})
	}
}

// TestCircuitPoliciesBesidePackets plays the demo's jobs, elephants on circuits and the rest on
// packets, under every circuit policy, and kills controllers on the way.
func TestCircuitPoliciesBesidePackets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nights")
	if err := os.WriteFile(file, []byte("ports 8\nnight 20ms\nday 80ms 0>1 1>0 2>3 3>2 4>5 5>4 6>7 7>6\nnight 20ms\nday "+
		"80ms 0>2 2>4 4>6 6>0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"solstice", "eclipse", "bvn", "edmonds", "edmonds-backlog",
		"rotor", "static", "topology",
		"schedule:" + file} {
		t.Run(strings.TrimSuffix(name, file), func(t *testing.T) {
			s := labtest.Demo(t, 2, "random+ecmp+"+name)
			o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckOutcome(t, s, o)
			if o.OCS == 0 || o.EPS == 0 {
				t.Errorf("%d bytes over circuits, %d over packets: want some of both", o.OCS, o.EPS)
			}
			t.Logf("ends at %v, %.2f of the bytes over circuits, %d moves, %d decisions", o.End,
				float64(o.OCS)/float64(o.OCS+o.EPS), len(o.State.Moves), o.Decisions)
			r := rand.New(rand.NewPCG(1, 7))
			o, lives, err := labtest.SimulateCrashes(s, func() bool { return r.IntN(100) == 0 })
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckOutcome(t, s, o)
			if lives < 3 {
				t.Errorf("only %d controllers: nothing was tried", lives)
			}
		})
	}
}

// BenchmarkCircuitPolicies runs the whole cut small400 under each policy: the figures of
// docs/bench/circuits.
func BenchmarkCircuitPolicies(b *testing.B) {
	for _, name := range []string{"sunflow", "sunflow-turning", "eclipse", "bvn", "solstice",
		"edmonds", "edmonds-backlog",
		"rotor"} {
		b.Run(name, func(b *testing.B) {
			s := crossbarSetup(b, name)
			var o *outcome.Outcome
			for b.Loop() {
				var err error
				if o, err = labtest.Simulate(context.Background(), s, s.Rows[0], nil); err != nil {
					b.Fatal(err)
				}
			}
			cct, over := ratios(s, o)
			b.ReportMetric(cct, "CCT-s")
			b.ReportMetric(over, "CCT/T(C)")
			b.ReportMetric(float64(len(o.State.Moves)), "moves")
			b.ReportMetric(float64(o.Decisions), "decisions")
		})
	}
}
