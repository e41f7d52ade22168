package simulated_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/rollout"
	"lightloom/emulator/dataplane/dptest"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestGeneralInMemory: with the controller's tables in planes in memory, a packet of every two hosts
// and every path goes over just the links of that path.
func TestGeneralInMemory(t *testing.T) {
	texts := []string{labtest.FatTree30, "fattree:k=4,hosts=5", "jellyfish:switches=12,degree=3,hosts=20",
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
			f := labtest.FabricOf(t, text)
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

// TestGeneralOnFlowsim: every policy without circuits runs on a fat-tree with a rack that is not full,
// on a Jellyfish with ten paths and fewer hosts than switches, and on a file's fabric; and the report
// is the same twice.
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
					s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 3,
						Policies: []string{policy}, Fabric: text,
						Scale:   1,
						Speedup: 1, Coflows: 25, On: scenario.OnFlowsim}, 1)
					if err != nil {
						t.Fatal(err)
					}
					o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
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
				labtest.CheckOutcome(t, s, o)
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

// TestGeneralCircuits: a file's fabric has circuits where its OCS has ports, whatever hosts its racks
// have, for those who know traffic and those who estimate it.
func TestGeneralCircuits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ring.yaml")
	text := strings.Replace(ring, "links:\n", "  - {name: mirrors, role: ocs}\nlinks:\n"+
		"  - {ends: [mirrors, c], capacity: 1Gbps}\n  - {ends: [mirrors, b], capacity: 1Gbps}\n", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"random+ecmp+sunflow", "crosslayer+sunflow", "random+ecmp+edmonds"} {
		for _, know := range [][]demand.Options{nil, {{Source: demand.FromCounters}},
			{{Source: demand.FromBacklog}}} {
			t.Run(fmt.Sprint(policy, know), func(t *testing.T) {
				s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 3, Policies: []string{policy},
					Fabric: "file:" +
						file +
						",dark=1ms", Scale: 1, Speedup: 1, Coflows: 30, Demand: know, On: scenario.OnFlowsim}, 1)
				if err != nil {
					t.Fatal(err)
				}
				o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
				if err != nil {
					t.Fatal(err)
				}
				labtest.CheckOutcome(t, s, o)
				if o.OCS == 0 {
					t.Error("nothing goes over circuits")
				}
			})
		}
	}
}

// TestSeat: hosts of a grid come to the hosts of their rack.
func TestSeat(t *testing.T) {
	f := labtest.FabricOf(t, "fattree:k=6,hosts=10") // racks of 3, 3, 3 and 1
	r := rand.New(rand.NewPCG(1, 1))
	var flows []controller.Flow
	for range 500 {
		flows = append(flows, controller.Flow{Src: southbound.HostID(r.IntN(12)),
			Dst: southbound.HostID(r.IntN(12))})
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
	_, err := scenario.Prepare(scenario.Options{Seed: 1, Policies: []string{"random+ecmp"},
		Fabric:  "fattree:k=4,paths=10",
		Scale:   1,
		Speedup: 1, Coflows: 1, On: scenario.OnNetns}, 1)
	if err == nil || !strings.Contains(err.Error(), "names 6") {
		t.Errorf("ten paths on packets: %v", err)
	}
}
