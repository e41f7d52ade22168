package simulated_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// fourOCSes is six racks of one host under four OCSes, with some packets beside.
const fourOCSes = "hybrid:racks=6,hosts=1,spines=2,eps=100Mbps,ocs=1Gbps,dark=10ms,nic=4Gbps,ocses=4"

// randomCoflows draws jobs of one coflow each among six racks.
func randomCoflows(seed uint64, n int) []controller.Job {
	rng := rand.New(rand.NewPCG(seed, 38))
	var jobs []controller.Job
	for i := range n {
		j := controller.Job{Name: fmt.Sprintf("job%d", i),
			Arrival: time.Duration(rng.IntN(3000)) * time.Millisecond, Edges: []controller.Edge{{Kind: controller.Fixed}}}
		for range 2 + rng.IntN(12) {
			src, dst := rng.IntN(6), rng.IntN(5)
			if dst >= src {
				dst++
			}
			j.Edges[0].Flows = append(j.Edges[0].Flows, controller.Flow{Src: southbound.HostID(src),
				Dst: southbound.HostID(dst), Bytes: pathmap.Bytes(1e6 + rng.IntN(6e7)), Count: 1})
		}
		jobs = append(jobs, j)
	}
	slices.SortStableFunc(jobs, func(a, b controller.Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return jobs
}

// forPolicy returns jobs of fixed flows as a policy knows what to do with: under one that goes by stages, each coflow
// is between two stages with a task on every host.
func forPolicy(name string, hosts int, jobs []controller.Job) []controller.Job {
	if !byStages(name) {
		return jobs
	}
	var all []southbound.HostID
	for h := range hosts {
		all = append(all, southbound.HostID(h))
	}
	out := slices.Clone(jobs)
	for i := range out {
		for _, name := range []string{"before", "after"} {
			out[i].Stages = append(out[i].Stages,
				controller.Stage{Name: name, Tasks: make([]controller.Task, hosts), Hosts: all})
		}
		out[i].Edges = []controller.Edge{{Kind: controller.Pairs, To: 1, Flows: jobs[i].Edges[0].Flows}}
	}
	return out
}

// circuitsByOCS fails where a port was lit twice at once, or a circuit joined ports of two OCSes or planes; it counts
// the circuits of each OCS that came into service.
func circuitsByOCS(t *testing.T, f *topo.Fabric, o *outcome.Outcome) map[string]int {
	t.Helper()
	if err := device.CheckLit(o.Lit); err != nil {
		t.Error(err)
	}
	by := map[string]int{}
	for _, m := range o.State.Moves {
		if !f.SamePlane(int32(m.In), int32(m.Out)) {
			t.Errorf("a circuit from port %d to port %d", m.In, m.Out)
		}
		if ocs, _ := f.OCSAt(int32(m.In)); m.InService != state.Unset {
			by[f.Topology.Node(ocs).Name]++
		}
	}
	for i, j := range o.State.Jobs {
		if j.Ended == state.Unset {
			t.Errorf("job %d has not ended", i)
		}
	}
	return by
}

func fabricOf(t *testing.T, text string) *topo.Fabric {
	t.Helper()
	spec, err := topo.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// onFourOCSes runs jobs on the simulator under a policy, with a file of faults where there is one.
func onFourOCSes(t *testing.T, policy, faults string, jobs []controller.Job) *outcome.Outcome {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Fabric: fourOCSes, On: scenario.OnFlowsim, Policies: []string{policy},
		Given: jobs, Seed: 1, Scale: 1, Speedup: 1, Faults: faults}, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := labtest.Simulate(t.Context(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// parallelPolicies are those that light circuits of parallel OCSes.
func parallelPolicies(t *testing.T) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "turns")
	if err := os.WriteFile(file, []byte("ports 6\nnight 10ms\nday 90ms 0>1 1>2 ocs1:2>0 ocs3:0>4 ocs2:5>3\nnight 10ms\n"+
		"day 90ms 3>4 ocs1:4>5 ocs1:0>3 ocs2:1>5 ocs3:2>1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := []string{"joint", "apart", "random+ecmp+schedule:" + file}
	for _, p := range policy.Parts() {
		if slices.Equal(p.Questions, []policy.Question{policy.Circuits}) && p.Wavelengths {
			all = append(all, "random+ecmp+"+p.Name)
		}
	}
	return append(all, "coscheduler+sunflow", "fair+anneal+sunflow-turning+sebf")
}

// TestPoliciesOnParallelOCSes runs random coflows under every policy for parallel OCSes, with the tables verified at
// each move: all jobs end, no port is lit twice, each circuit is of one OCS, and each OCS has some.
func TestPoliciesOnParallelOCSes(t *testing.T) {
	for _, name := range parallelPolicies(t) {
		t.Run(policy.Shown(name), func(t *testing.T) {
			ran := onFourOCSes(t, name, "", forPolicy(name, 6, randomCoflows(1, 12)))
			if by := circuitsByOCS(t, fabricOf(t, fourOCSes), ran); len(by) != 4 {
				t.Errorf("circuits by OCS: %v, want some of each", by)
			}
			t.Logf("%d circuits until %v", len(ran.State.Moves), ran.End)
		})
	}
}

// TestOCSDies: one of four OCSes dies and comes back while coflows are under way. It takes its own circuits only: no
// move of another fails, and all jobs end.
func TestOCSDies(t *testing.T) {
	f := fabricOf(t, fourOCSes)
	for _, name := range []string{"random+ecmp+sunflow", "random+ecmp+rotor", "random+ecmp+solstice",
		"random+ecmp+parallel", "joint"} {
		t.Run(name, func(t *testing.T) {
			faults := filepath.Join(t.TempDir(), "faults")
			if err := os.WriteFile(faults, []byte("500ms fail switch ocs1\n1500ms heal switch ocs1\n"),
				0o600); err != nil {
				t.Fatal(err)
			}
			ran := onFourOCSes(t, name, faults, randomCoflows(2, 12))
			by := circuitsByOCS(t, f, ran)
			for k := range 4 {
				if name := fmt.Sprintf("ocs%d", k); by[name] == 0 && k != 1 {
					t.Errorf("%s had no circuit: %v", name, by)
				}
			}
			ended := map[string]int{}
			for _, m := range ran.State.Moves {
				ocs, _ := f.OCSAt(int32(m.In))
				if m.Failed && m.Intent >= 500*time.Millisecond {
					ended[f.Topology.Node(ocs).Name]++
				}
			}
			for ocs := range ended {
				if ocs != "ocs1" {
					t.Errorf("moves of %s fail: %v", ocs, ended)
				}
			}
		})
	}
}

// TestFanOverOCSes: a coflow from one rack to four others takes a P-th of the time with P OCSes.
func TestFanOverOCSes(t *testing.T) {
	job := controller.Job{Name: "fan", Edges: []controller.Edge{{Kind: controller.Fixed}}}
	for to := range southbound.HostID(4) {
		job.Edges[0].Flows = append(job.Edges[0].Flows, controller.Flow{Src: 0, Dst: to + 1, Bytes: 50e6, Count: 1})
	}
	one := time.Duration(0)
	for _, ocses := range []int{1, 2, 4} {
		ran, err := (&replay.Case{Options: scenario.Options{
			Fabric: strings.Replace(wavesFabric(ocses), "wavelengths", "ocses", 1), On: scenario.OnFlowsim,
			Policies: []string{"random+ecmp+sunflow"}, Given: []controller.Job{job}, Seed: 1,
		}}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cct := ran.State.Coflows[0].Ended - ran.State.Coflows[0].Ready
		if one == 0 {
			one = cct
		}
		if ratio := float64(one) / float64(cct) / float64(ocses); ratio < 0.97 || ratio > 1.03 {
			t.Errorf("%d OCSes: CCT %v, with one %v", ocses, cct, one)
		}
	}
}

// TestOCSesRefused: what works on one OCS only says so, and what works instead.
func TestOCSesRefused(t *testing.T) {
	for _, tc := range []struct{ on, policy, want string }{
		{scenario.OnFlowsim, "random+ecmp+rotor-vlb", "rotor-vlb sets up one circuit a rack, and on this fabric a rack has " +
			"4 optical switches"},
	} {
		_, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 1, Policies: []string{tc.policy},
			Fabric: fourOCSes, Scale: 1, Speedup: 1, Coflows: 2, On: tc.on}, 1)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s on %s: %v, want %q", tc.policy, tc.on, err, tc.want)
		}
	}
}

// TestPerCircuitNamesOCS: the file of circuits names the switch of each, with its own numbers of ports.
func TestPerCircuitNamesOCS(t *testing.T) {
	o := onFourOCSes(t, "random+ecmp+sunflow", "", randomCoflows(1, 12))
	file := filepath.Join(t.TempDir(), "c.csv")
	if err := outcome.WritePerCircuit(file, []*outcome.Outcome{o}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if !strings.HasSuffix(lines[0], ",policy,switch") || len(lines) != 1+len(o.State.Moves) {
		t.Fatalf("%d lines, the first %s", len(lines), lines[0])
	}
	f := fabricOf(t, fourOCSes)
	want := map[string]bool{}
	for _, m := range o.State.Moves {
		ocs, in := f.OCSAt(int32(m.In))
		_, out := f.OCSAt(int32(m.Out))
		want[fmt.Sprintf("%d,%d,%s", in, out, f.Topology.Node(ocs).Name)] = true
	}
	for _, l := range lines[1:] {
		c := strings.Split(l, ",")
		if key := c[0] + "," + c[1] + "," + c[len(c)-1]; !want[key] {
			t.Errorf("%s: no such circuit was made", l)
		}
	}
}
