package simulated_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/emulator/device"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/southbound"
)

// differingOCSes is six racks under four OCSes: the second takes 50 ms and more to move, and only four racks have a
// port on the last.
const differingOCSes = "hybrid:racks=6,hosts=1,spines=2,eps=100Mbps,ocs=1Gbps,dark=10ms,nic=4Gbps,ocses=4," +
	"apply@1=2ms,dark@1=50ms,lock@1=1ms,ports@0=5,ports@3=4"

// onDifferingOCSes runs random coflows under a policy.
func onDifferingOCSes(t *testing.T, policy, delays, faults string) *outcome.Outcome {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Fabric: differingOCSes, On: scenario.OnFlowsim,
		Policies: []string{policy}, Given: forPolicy(policy, 6, randomCoflows(1, 12)), Seed: 1, Scale: 1,
		Speedup: 1, Delays: delays, Record: true, Faults: faults}, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := labtest.Simulate(t.Context(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestOCSesDiffer: under every policy for parallel OCSes each OCS takes its own delays and lights ports of its own
// alone.
func TestOCSesDiffer(t *testing.T) {
	f := fabricOf(t, differingOCSes)
	for _, name := range parallelPolicies(t) {
		t.Run(policy.Shown(name), func(t *testing.T) {
			o := onDifferingOCSes(t, name, "", "")
			if by := circuitsByOCS(t, f, o); by["ocs0"]*by["ocs1"] == 0 {
				t.Errorf("circuits by OCS: %v", by)
			}
			for _, l := range o.Lit {
				ocs, in := f.OCSAt(int32(l.In))
				_, out := f.OCSAt(int32(l.Out))
				want := device.Took{Known: true, Dark: 10 * time.Millisecond}
				switch f.Topology.Node(ocs).Name {
				case "ocs1":
					want = device.Took{Known: true, Apply: 2 * time.Millisecond, Dark: 50 * time.Millisecond,
						Lock: time.Millisecond}
				case "ocs3":
					if in >= 4 || out >= 4 {
						t.Errorf("ocs3 joins %d and %d", in, out)
					}
				}
				if l.Took != want {
					t.Fatalf("a circuit of %s took %+v, want %+v", f.Topology.Node(ocs).Name, l.Took, want)
				}
			}
		})
	}
}

// TestPoliciesCountWithEachOCSsDelay: reservations of the slow OCS are made with its delay, and those of others with
// theirs; delays of the command line for one OCS come after those of the fabric.
func TestPoliciesCountWithEachOCSsDelay(t *testing.T) {
	f := fabricOf(t, differingOCSes)
	for _, tc := range []struct {
		delays     string
		slow, fast time.Duration
	}{
		{"", 50 * time.Millisecond, 40 * time.Millisecond},
		{"dark=10ms,dark@1=uniform(80ms,81ms)", 80 * time.Millisecond, 70 * time.Millisecond},
	} {
		for _, name := range []string{"random+ecmp+sunflow", "joint", "random+ecmp+rotor", "random+ecmp+solstice",
			"random+ecmp+parallel"} {
			t.Run(name+tc.delays, func(t *testing.T) {
				o := onDifferingOCSes(t, name, tc.delays, "")
				slow := 0
				longest := map[bool]time.Duration{}
				for _, u := range o.Usages {
					ocs, _ := f.OCSAt(int32(u.In))
					is := f.Topology.Node(ocs).Name == "ocs1"
					longest[is] = max(longest[is], u.NotAfter-u.NotBefore)
					if is {
						if slow++; u.Delta < tc.slow {
							t.Fatalf("a circuit of ocs1 was reserved with a delay of %v", u.Delta)
						}
					} else if u.Delta > tc.fast {
						t.Fatalf("a circuit of %s was reserved with a delay of %v", f.Topology.Node(ocs).Name, u.Delta)
					}
				}
				if slow == 0 {
					t.Error("no reservation of ocs1")
				}
				// A slot of a rotor is ten delays.
				if strings.HasSuffix(name, "rotor") && (longest[true] < 10*tc.slow || longest[false] > 10*tc.fast) {
					t.Errorf("slots of ocs1 last %v, of others %v", longest[true], longest[false])
				}
			})
		}
	}
}

// TestDifferingOCSDies: the slow OCS dies and comes back; no move of another fails.
func TestDifferingOCSDies(t *testing.T) {
	f := fabricOf(t, differingOCSes)
	faults := filepath.Join(t.TempDir(), "faults")
	if err := os.WriteFile(faults, []byte("500ms fail switch ocs1\n1500ms heal switch ocs1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := onDifferingOCSes(t, "random+ecmp+sunflow", "", faults)
	circuitsByOCS(t, f, o)
	for _, m := range o.State.Moves {
		if ocs, _ := f.OCSAt(int32(m.In)); m.Failed && f.Topology.Node(ocs).Name != "ocs1" {
			t.Errorf("a move of %s fails", f.Topology.Node(ocs).Name)
		}
	}
}

// TestFastOCSDies: what is left takes 500 times as long to move as circuits did on the whole. The run ends.
func TestFastOCSDies(t *testing.T) {
	faults := filepath.Join(t.TempDir(), "faults")
	if err := os.WriteFile(faults, []byte("700ms fail switch ocs0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"parallel", "solstice"} {
		s, err := scenario.Prepare(scenario.Options{Fabric: "crossbar:ports=16,ocses=2,dark=50us,dark@1=25ms",
			On: scenario.OnFlowsim, Policies: []string{"random+ecmp+" + name}, Seed: 1, Scale: 1,
			Speedup: 1, Faults: faults}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := labtest.Simulate(t.Context(), s, s.Rows[0], nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// rails is three units of two servers with four NICs each.
const rails = "hybrid:racks=12,hosts=2,spines=2,eps=100Mbps,ocs=1Gbps,dark=10ms,rails=4,dark@2=30ms"

// TestRailsUnderEveryPolicy: circuits join racks of one rail alone, each rail's by its own OCS, and all jobs end.
func TestRailsUnderEveryPolicy(t *testing.T) {
	f := fabricOf(t, rails)
	var jobs []controller.Job
	for i := range 12 { // each rail has an all-to-all of its NICs, and one flow goes to another rail
		j := controller.Job{Name: fmt.Sprintf("job%d", i), Arrival: time.Duration(i) * 100 * time.Millisecond,
			Edges: []controller.Edge{{Kind: controller.Fixed}}}
		add := func(src, dst int) {
			j.Edges[0].Flows = append(j.Edges[0].Flows, controller.Flow{Src: southbound.HostID(src),
				Dst: southbound.HostID(dst), Bytes: 5e7, Count: 1})
		}
		for k := range 4 {
			for u := range 3 {
				add(2*(4*u+k)+i%2, 2*(4*((u+1)%3)+k)+i%2)
			}
		}
		add(0, 2)
		jobs = append(jobs, j)
	}
	for _, name := range parallelPolicies(t) {
		if strings.Contains(name, "schedule:") {
			continue // a file of other ports
		}
		t.Run(policy.Shown(name), func(t *testing.T) {
			s, err := scenario.Prepare(scenario.Options{Fabric: rails, On: scenario.OnFlowsim, Policies: []string{name},
				Given: forPolicy(name, f.Hosts(), jobs), Seed: 1, Scale: 1, Speedup: 1}, 1)
			if err != nil {
				t.Fatal(err)
			}
			o, err := labtest.Simulate(t.Context(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			if by := circuitsByOCS(t, f, o); len(by) != 4 {
				t.Errorf("circuits by OCS: %v, want some of each", by)
			}
			for _, m := range o.State.Moves {
				if a, b := f.OCSRack(int32(m.In)), f.OCSRack(int32(m.Out)); a%4 != b%4 {
					t.Errorf("a circuit joins racks %d and %d", a, b)
				}
			}
		})
	}
}

// TestOwnDelaysRefused: a stage of a switch that is not there, or that no optical switch has.
func TestOwnDelaysRefused(t *testing.T) {
	for _, tc := range []struct{ delays, want string }{
		{"dark@4=5ms", `"dark@4": there is no OCS 4: OCSes are 0 to 3`},
		{"dark@x=5ms", `"dark@x" is no stage of a switch: write dark@1=50ms`},
		{"detect@1=5ms", `"detect@1": optical switches have their own apply, dark and lock alone`},
		{"dark@1=soon", `stage "dark"`},
	} {
		_, err := scenario.Prepare(scenario.Options{Fabric: differingOCSes, On: scenario.OnFlowsim, Seed: 1,
			Policies: []string{"joint"}, Demo: true, Scale: 1, Speedup: 1, Coflows: 2, Delays: tc.delays}, 1)
		if err == nil || !strings.Contains(fmt.Sprint(err), tc.want) {
			t.Errorf("%s: %v, want %s", tc.delays, err, tc.want)
		}
	}
}
