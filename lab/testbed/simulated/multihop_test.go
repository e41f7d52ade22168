package simulated_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/explain"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
)

// line is three racks whose packet network is a hundredth of a circuit.
const line = "hybrid:racks=3,hosts=1,spines=2,eps=10Mbps,ocs=1Gbps,dark=10ms,nic=4Gbps"

// onLine runs what rack 0 has for racks 1 and 2, and rack 1 for rack 2, as one coflow, while circuits stand from 0 to 1
// and from 1 to 2 alone.
func onLine(t *testing.T, route, faults string) (o *outcome.Outcome, why string) {
	t.Helper()
	dir := t.TempDir()
	circuits := filepath.Join(dir, "line")
	if err := os.WriteFile(circuits, []byte("ports 3\nnight 10ms\nday 1000s 0>1 1>2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if faults != "" {
		text := faults
		faults = filepath.Join(dir, "faults")
		if err := os.WriteFile(faults, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	job := controller.Job{Name: "line", Edges: []controller.Edge{{Kind: controller.Fixed, Flows: []controller.Flow{
		{Src: 0, Dst: 1, Bytes: 100e6, Count: 1}, {Src: 0, Dst: 2, Bytes: 50e6, Count: 1},
		{Src: 1, Dst: 2, Bytes: 50e6, Count: 1}}}}}
	s, err := scenario.Prepare(scenario.Options{Fabric: line, On: scenario.OnFlowsim, Seed: 1, Scale: 1, Speedup: 1,
		Policies: []string{"random+" + route + "+schedule:" + circuits}, Given: []controller.Job{job}, Faults: faults}, 1)
	if err != nil {
		t.Fatal(err)
	}
	out, err := explain.Create(filepath.Join(dir, "why.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if o, err = labtest.Run(t.Context(), s, s.Rows[0], out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return o, labtest.Read(t, filepath.Join(dir, "why.txt"))
}

// TestMultihopLine: from rack 0 to rack 2 both circuits are taken, and shared with what they were lit for. Each of the
// three flows has half a circuit until 50 MB have gone over it, and the rest of the first has all of it: 0.8 and 0.4 s.
// Over packets 50 MB take 40 s.
func TestMultihopLine(t *testing.T) {
	for _, tc := range []struct {
		route      string
		least, top time.Duration
	}{{"ecmp", 39 * time.Second, 43 * time.Second}, {"ecmp-multihop", 1200 * time.Millisecond, 1300 * time.Millisecond}} {
		o, why := onLine(t, tc.route, "")
		if says := strings.Contains(why, "from tor0 to tor2, most of it of coflow 0, by tor0 ocs tor1 ocs tor2: "); says !=
			(tc.route != "ecmp") {
			t.Errorf("%s: told %q", tc.route, why)
		}
		if cct := o.State.Coflows[0].Ended - o.State.Coflows[0].Ready; cct < tc.least || cct > tc.top {
			t.Errorf("%s: CCT %v, want %v to %v", tc.route, cct, tc.least, tc.top)
		}
		// 50 MB go over two circuits, and count at each; what was sent before they were lit goes over packets.
		if m := o.Multihop; tc.route == "ecmp" && m != nil || tc.route != "ecmp" && (m == nil || m.Stood != 1 ||
			m.Onward < 49e6 || m.Onward > 50e6) {
			t.Errorf("%s: paths %+v", tc.route, m)
		}
	}
}

// TestMultihopOCSDies: the OCS dies while flows take both circuits. They go on over packets, where 100 MB and more are
// left for links of 10 Mb/s.
func TestMultihopOCSDies(t *testing.T) {
	o, _ := onLine(t, "ecmp-multihop", "300ms fail switch ocs\n")
	c := o.State.Coflows[0]
	if cct := c.Ended - c.Ready; c.Ended < 0 || cct < 20*time.Second || cct > 120*time.Second {
		t.Errorf("CCT %v", cct)
	}
	if m := o.Multihop; m == nil || m.Stood != 1 || m.Lost != 1 || m.Onward > 30e6 {
		t.Errorf("paths %+v", m)
	}
}

// TestMultihopPolicies runs random coflows over paths of several circuits under every policy for parallel OCSes, with
// the tables verified as circuits move and paths come and go, while an OCS dies and comes back: all jobs end.
func TestMultihopPolicies(t *testing.T) {
	faults := filepath.Join(t.TempDir(), "faults")
	if err := os.WriteFile(faults, []byte("500ms fail switch ocs1\n1500ms heal switch ocs1\n800ms fail link tor2-spine1\n"+
		"1800ms heal link tor2-spine1\n2s fail controller controller0\n2500ms heal controller controller0\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	stood := int64(0)
	for _, name := range parallelPolicies(t) {
		name, routed := strings.CutPrefix(name, "random+ecmp+")
		if !routed {
			continue
		}
		t.Run(name[:strings.IndexByte(name+":", ':')], func(t *testing.T) {
			full := "random+ecmp-multihop+" + name
			s, err := scenario.Prepare(scenario.Options{Fabric: fourOCSes, On: scenario.OnFlowsim, Policies: []string{full},
				Given: forPolicy(full, 6, randomCoflows(3, 12)), Seed: 1, Scale: 1, Speedup: 1, Faults: faults, Replicas: 3}, 1)
			if err != nil {
				t.Fatal(err)
			}
			o, err := labtest.Simulate(t.Context(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			circuitsByOCS(t, fabricOf(t, fourOCSes), o)
			stood += o.Multihop.Stood
			t.Logf("paths %+v until %v", *o.Multihop, o.End)
		})
	}
	if stood < 10 {
		t.Errorf("only %d paths", stood)
	}
}

// TestMultihopWithoutCircuits: where no circuit stands, all is as without such paths.
func TestMultihopWithoutCircuits(t *testing.T) {
	ends := func(name string) string {
		var all []time.Duration
		for _, c := range onFourOCSes(t, name, "", randomCoflows(1, 12)).State.Coflows {
			all = append(all, c.Ended)
		}
		return fmt.Sprint(all)
	}
	if got, want := ends("random+ecmp-multihop"), ends("random+ecmp"); got != want {
		t.Errorf("coflows end at %s, want %s", got, want)
	}
}

// TestMultihopRefused: what has no paths over several circuits says so, and what works instead.
func TestMultihopRefused(t *testing.T) {
	hybrid := "hybrid:racks=4,hosts=1,spines=2"
	for _, tc := range []struct{ fabric, policy, want string }{
		{"leafspine:racks=4,hosts=1,spines=2", "random+ecmp-multihop", "no optical circuit switch"},
		{"fattree:k=4,hosts=16", "random+ecmp-multihop", "no optical circuit switch"},
		{"pod:cubes=4,side=2,spines=2", "random+ecmp-multihop", "belong to its slices"},
		{"crossbar:ports=4,rate=1Gbps,dark=1ms", "random+ecmp-multihop+sunflow", "none of racks and spines"},
		{hybrid, "random+ecmp-multihop+sunflow+maxmin", "maxmin sets them without knowing of paths over several circuits"},
		{hybrid, "random+ecmp-multihop+rotor-vlb", "both have racks pass on what is not theirs"},
	} {
		_, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 1, Policies: []string{tc.policy}, Fabric: tc.fabric,
			Scale: 1, Speedup: 1, Coflows: 2, On: scenario.OnFlowsim}, 1)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s on %s: %v, want %q", tc.policy, tc.fabric, err, tc.want)
		}
	}
}
