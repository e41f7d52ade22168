package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/rollout"
	"lightloom/controller/workload"
	"lightloom/emulator/dataplane/dptest"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
	"lightloom/southbound/noise"
)

// The document's two networks at 30 hosts, at rates that two cores carry.
const (
	fatTree30   = "fattree:k=6,hosts=30,rate=50Mbps,slots=8"
	jellyfish30 = "jellyfish:switches=30,degree=4,hosts=30,rate=50Mbps,slots=8"
)

func fabricOf(t testing.TB, text string) *topo.Fabric {
	t.Helper()
	spec, err := topo.FromArgument(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestGeneralInMemory: with the controller's tables in planes in memory, a packet of every two hosts and every path
// goes over just the links of that path.
func TestGeneralInMemory(t *testing.T) {
	texts := []string{fatTree30, "fattree:k=4,hosts=5", "jellyfish:switches=12,degree=3,hosts=20",
		"jellyfish:switches=15,degree=4,hosts=9,paths=10"}
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 21))
		texts = append(texts, fmt.Sprintf("jellyfish:switches=%d,degree=%d,hosts=%d,seed=%d,paths=%d", 6+r.IntN(8),
			3+r.IntN(2), 2+r.IntN(12), seed+1, 1+r.IntN(12)))
		if seed%5 == 0 {
			texts = append(texts, fmt.Sprintf("fattree:k=4,hosts=%d,paths=%d", 3+r.IntN(14), 1+r.IntN(12)))
		}
	}
	for _, text := range texts {
		t.Run(text, func(t *testing.T) {
			f := fabricOf(t, text)
			m, err := f.PathMap(f.Spec.PathsKept(), 5)
			if err != nil {
				t.Fatal(err)
			}
			n := dptest.NewMemory(f)
			base := rollout.NewBase(f, m)
			for _, d := range base.Devices() {
				if err := n.Plane(d).SetRules(base.Rules(d, nil), nil, true); err != nil {
					t.Fatal(err)
				}
			}
			var before []uint64
			for src := range southbound.HostID(f.Hosts()) {
				for dst := range southbound.HostID(f.Hosts()) {
					s, d := int(f.RackOf(int32(src))), int(f.RackOf(int32(dst)))
					for i := 0; src != dst && s != d && i < m.Paths(s, d); i++ {
						before, err = n.Carried()
						if err != nil {
							t.Fatal(err)
						}
						if got, err := n.Send(src, dst, southbound.PathTag(i), 1); got != 1 || err != nil {
							t.Fatalf("host %d to %d by path %d: %d arrive, %v", src, dst, i, got, err)
						}
						checkCarried(t, n, before, append(m.AppendPath(nil, s, d, i), f.Topology.Out(f.HostNode[src])[0],
							pathmap.Reverse(f.Topology.Out(f.HostNode[dst])[0])))
					}
				}
			}
		})
	}
}

func checkCarried(t *testing.T, n *dptest.Memory, before []uint64, path []pathmap.LinkID) {
	t.Helper()
	after, err := n.Carried()
	if err != nil {
		t.Fatal(err)
	}
	for l := range after {
		want := uint64(0)
		if slices.Contains(path, pathmap.LinkID(l)) {
			want = 1
		}
		if after[l]-before[l] != want {
			t.Fatalf("link %d carried %d packets, want %d", l, after[l]-before[l], want)
		}
	}
}

// TestGeneralOnFlowsim: every policy without circuits runs on a fat-tree with a rack that is not full, on a Jellyfish
// with ten paths and fewer hosts than switches, and on a file's fabric; and the report is the same twice.
func TestGeneralOnFlowsim(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ring.yaml")
	if err := os.WriteFile(file, []byte(ring), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"fattree:k=4,hosts=7,rate=100Mbps",
		"jellyfish:switches=12,degree=4,hosts=10,rate=100Mbps,paths=10", "file:" + file} {
		for _, policy := range []string{"random", "random+ecmp", "random+ecmp+tcp", "random+ecmp+maxmin",
			"random+anneal+maxmin", "random+ecmp+sebf", "crosslayer", "crosslayer-paper"} {
			t.Run(text+"/"+policy, func(t *testing.T) {
				run := func() (string, *outcome.Outcome, *scenario.Prepared) {
					s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 3, Policies: []string{policy}, Fabric: text,
						Scale:   1,
						Speedup: 1, Coflows: 25, On: scenario.OnFlowsim}, 1)
					if err != nil {
						t.Fatal(err)
					}
					o, err := simulate(context.Background(), s, s.Rows[0], nil)
					if err != nil {
						t.Fatal(err)
					}
					b, err := json.Marshal(o.State)
					if err != nil {
						t.Fatal(err)
					}
					return string(b), o, s
				}
				one, o, s := run()
				checkOutcome(t, s, o)
				if o.DroppedDark != 0 {
					t.Errorf("%d host flows met no way", o.DroppedDark)
				}
				if two, _, _ := run(); one != two {
					t.Error("a second run ends in another state")
				}
			})
		}
	}
}

// ring is a file's fabric: four switches in a ring, whose hosts are not alike.
const ring = `kind: topology
capacity: 100Mbps
nodes:
  - {name: a, role: switch}
  - {name: b, role: switch}
  - {name: c, role: switch}
  - {name: d, role: switch}
  - {name: ann, role: host}
  - {name: bob, role: host}
  - {name: bill, role: host}
  - {name: carl, role: host}
links:
  - {ends: [a, b]}
  - {ends: [b, c]}
  - {ends: [c, d]}
  - {ends: [d, a]}
  - {ends: [ann, a]}
  - {ends: [bob, b]}
  - {ends: [bill, b]}
  - {ends: [carl, c]}
`

// TestGeneralCircuits: a file's fabric has circuits where its OCS has ports, whatever hosts its racks have, for those
// who know traffic and those who estimate it.
func TestGeneralCircuits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ring.yaml")
	text := strings.Replace(ring, "links:\n", "  - {name: mirrors, role: ocs}\nlinks:\n"+
		"  - {ends: [mirrors, c], capacity: 1Gbps}\n  - {ends: [mirrors, b], capacity: 1Gbps}\n", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"random+ecmp+sunflow", "crosslayer+sunflow", "random+ecmp+edmonds"} {
		for _, know := range [][]demand.Options{nil, {{Source: demand.FromCounters}}, {{Source: demand.FromBacklog}}} {
			t.Run(fmt.Sprint(policy, know), func(t *testing.T) {
				s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 3, Policies: []string{policy}, Fabric: "file:" +
					file +
					",dark=1ms", Scale: 1, Speedup: 1, Coflows: 30, Demand: know, On: scenario.OnFlowsim}, 1)
				if err != nil {
					t.Fatal(err)
				}
				o, err := simulate(context.Background(), s, s.Rows[0], nil)
				if err != nil {
					t.Fatal(err)
				}
				checkOutcome(t, s, o)
				if o.OCS == 0 {
					t.Error("nothing goes over circuits")
				}
			})
		}
	}
}

// TestSeat: hosts of a grid come to the hosts of their rack.
func TestSeat(t *testing.T) {
	f := fabricOf(t, "fattree:k=6,hosts=10") // racks of 3, 3, 3 and 1
	r := rand.New(rand.NewPCG(1, 1))
	var flows []controller.Flow
	for range 500 {
		flows = append(flows, controller.Flow{Src: southbound.HostID(r.IntN(12)), Dst: southbound.HostID(r.IntN(12))})
	}
	jobs := []controller.Job{{Edges: []controller.Edge{{Flows: slices.Clone(flows)}}}}
	scenario.FitHosts(f, jobs)
	for i, got := range jobs[0].Edges[0].Flows {
		for _, h := range [][2]southbound.HostID{{flows[i].Src, got.Src}, {flows[i].Dst, got.Dst}} {
			want := min(h[0], 9) // 9, 10 and 11 are the last rack's
			if h[1] != want {
				t.Errorf("host %d of the grid is seated at %d, want %d", h[0], h[1], want)
			}
		}
	}
}

func TestTagsOfPackets(t *testing.T) {
	_, err := scenario.Prepare(scenario.Options{Seed: 1, Policies: []string{"random+ecmp"}, Fabric: "fattree:k=4,paths=10",
		Scale:   1,
		Speedup: 1, Coflows: 1, On: scenario.OnNetns}, 1)
	if err == nil || !strings.Contains(err.Error(), "names 6") {
		t.Errorf("ten paths on packets: %v", err)
	}
}

// general is a run of few bare coflows on one of the fabrics.
func general(t *testing.T, text, policy string, coflows int, window time.Duration) *scenario.Prepared {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 4, Policies: []string{policy}, Fabric: text, Scale: 1,
		Speedup: 1,
		Coflows: 1, On: scenario.OnNetns, Replicas: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s.Jobs, err = workload.Bare(workload.BareOptions{Seed: 4, Coflows: coflows, Racks: s.Spec.Racks,
		HostsPerRack: s.Spec.Hosts,
		Link:         s.Spec.EPS, Window: window}); err != nil {
		t.Fatal(err)
	}
	scenario.FitHosts(s.Fabric, s.Jobs)
	return s
}

// TestGeneralOnPackets: a Jellyfish, whose rules name sources, in both dataplanes, and a fat-tree of a few racks
// carry coflows, every byte once.
func TestGeneralOnPackets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, ability, spec string
		rootless            bool
	}{
		{"Jellyfish", "netns", "jellyfish:switches=6,degree=3,hosts=8,rate=50Mbps,slots=8", false},
		{"Jellyfish, rootless", "userns", "jellyfish:switches=6,degree=3,hosts=8,rate=50Mbps,slots=8", true},
		{"fat-tree", "netns", "fattree:k=4,hosts=9,rate=50Mbps,slots=8", false}, // TestUpGeneral has one, too
	}[:tries.Of(2, 3)] {
		t.Run(tt.name, func(t *testing.T) {
			shareNetns(t, tt.ability, tt.rootless)
			s := general(t, tt.spec, "random+ecmp+maxmin", 6, time.Second)
			ctx, cancel := context.WithTimeout(context.Background(), hanging)
			defer cancel()
			var cost report.PolicyRun
			r := running(s)
			r.rootless = tt.rootless
			o, err := r.onPackets(ctx, s.Rows[0], nil, &cost)
			if err != nil {
				t.Fatal(err)
			}
			checkPackets(t, s, o)
		})
	}
}

// TestGeneralAgreement holds packets against the fluid model on the document's networks of 30 hosts, as TestAgreement
// does on a leaf-spine: LIGHTLOOM_MEASURE=agreement runs it.
func TestGeneralAgreement(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "agreement" {
		t.Skip("it measures, and wants the machine for itself: set LIGHTLOOM_MEASURE=agreement")
	}
	for name, text := range map[string]string{"fat-tree": fatTree30, "Jellyfish": jellyfish30} {
		t.Run(name, func(t *testing.T) {
			needNetns(t, "netns", false)
			s := general(t, text, "random+ecmp+maxmin", 24, 6*time.Second)
			sim, err := simulate(context.Background(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			noise.Measure(t, 3, func() error {
				ctx, cancel := context.WithTimeout(context.Background(), hanging)
				defer cancel()
				s.Options.Demo = false // a run that others disturb is made again
				var cost report.PolicyRun
				real, err := running(s).onPackets(ctx, s.Rows[0], nil, &cost)
				if err != nil {
					t.Fatal(err)
				}
				checkPackets(t, s, real)
				off := apart(sim.State, real.State, 0)
				median, p90 := report.Percentile(off, 0.5), report.Percentile(off, 0.9)
				t.Logf("%d coflows, load %.2f, |netns ÷ flowsim − 1|: median %.4f, p90 %.4f, worst %.4f; stolen %.2f core; first "+
					"difference of plans: %q",
					len(off), sim.Busiest, median, p90, off[len(off)-1], cost.StolenCores, firstDifference(sim.State, real.State))
				if median > 0.05 || p90 > 0.15 {
					return fmt.Errorf("median %.4f (at most 0.05), p90 %.4f (at most 0.15)", median, p90)
				}
				return nil
			})
		})
	}
}

// TestUpGeneral keeps a fat-tree of 30 hosts up, and pings from every host to every other.
func TestUpGeneral(t *testing.T) {
	upNetns(t)
	if _, err := exec.LookPath("ping"); err != nil {
		t.Skipf("needs ping: %v", err)
	}
	f := fabricOf(t, fatTree30)
	began := time.Now()
	up := exec.Command("/proc/self/exe", upCommand, fatTree30)
	up.Stderr = os.Stderr
	out, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	defer up.Process.Kill()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "up: fattree") {
		t.Fatalf("up says %q, want that it is up", lines.Text())
	}
	t.Logf("30 hosts and %d switches are up after %.1f s", len(f.Topology.Nodes())-f.Hosts(), time.Since(began).Seconds())
	for h := range int32(f.Hosts()) {
		var script strings.Builder
		for to := range int32(f.Hosts()) {
			rack, i := f.Place(to)
			fmt.Fprintf(&script, "ping -q -c 1 -W 2 %v >/dev/null || echo h%d-%d\n", southbound.Addr(southbound.RackID(rack), i),
				rack, i)
		}
		name := f.Topology.Node(f.HostNode[h]).Name
		got, err := exec.Command("/proc/self/exe", execCommand, name, "sh", "-c", script.String()).CombinedOutput()
		if err != nil || len(bytes.TrimSpace(got)) > 0 {
			t.Errorf("%s does not reach %q, %v", name, got, err)
		}
	}
	if err := up.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := up.Wait(); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
}
