package joint_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// whole writes a plan down to the last bit, rates and counts of moves too.
func whole(p *controller.Plan) string {
	c := *p
	c.Share = nil
	return fmt.Sprintf("%+v %+v", c, p.Share)
}

// fail takes a cable and a host away from a view of running jobs, just now, or has the cable come back.
func fail(v *controller.View, rng *rand.Rand) {
	v.Down, v.Changed = make([]bool, len(v.Fabric.Topology.Links())), make([]bool,
		len(v.Fabric.Topology.Links()))
	var inner []pathmap.LinkID
	for _, n := range v.Fabric.ToRNode {
		for _, l := range v.Fabric.Topology.Out(n) {
			if !slices.Contains(v.Fabric.HostNode, v.Fabric.Topology.Link(l).To) {
				inner = append(inner, l)
			}
		}
	}
	l := inner[rng.IntN(len(inner))]
	v.Changed[l], v.Changed[pathmap.Reverse(l)] = true, true
	if rng.IntN(3) > 0 {
		v.Down[l], v.Down[pathmap.Reverse(l)] = true, true
	}
	if len(v.Running) == 0 {
		return
	}
	gone := v.Running[rng.IntN(len(v.Running))].Hosts[0]
	v.Lost, v.Free[gone] = []southbound.HostID{gone}, 0
	for _, r := range v.Running {
		if !slices.Contains(r.Hosts, gone) {
			continue
		}
		h := controller.Evicted{Job: r.Job, Hosts: slices.Clone(r.Hosts), Ended: make([]bool, len(r.Hosts))}
		for t, at := range h.Hosts {
			if at == gone {
				h.Hosts[t], h.Ended[t] = controller.NoHost, rng.IntN(4) == 0
			}
		}
		v.Evicted = append(v.Evicted, h)
	}
}

// TestJointIsCrossLayerBitByBit: on packets alone the two give the same plans, rates and counts of
// moves too, of one instance each that decides about one view after the other: streams and batches,
// waiting and running, links and hosts that fail.
func TestJointIsCrossLayerBitByBit(t *testing.T) {
	t.Parallel()
	both := map[string]controller.Policy{}
	for _, name := range []string{"joint", "crosslayer"} {
		p, err := policy.New(name, policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		both[name] = p
	}
	held := map[string]int{}
	compare := func(what string, v *controller.View) {
		t.Helper()
		if got, want := whole(both["joint"].Decide(v, nil)), whole(both["crosslayer"].Decide(v,
			nil)); got != want {
			t.Fatalf("%s: joint\n%s\ncrosslayer\n%s", what, got, want)
		}
		for name, has := range map[string]bool{
			"jobs that wait": len(v.Waiting) > 0, "jobs that run": len(v.Running) > 0, "lost hosts": len(v.Evicted) > 0,
			"dark links":         v.Down != nil,
			"links that changed": v.Changed != nil, "streams": slices.ContainsFunc(v.Waiting, streams),
			"bandwidth reservations": v.ReservedBandwidth != nil,
		} {
			if has {
				held[name]++
			}
		}
	}
	for seed := range tries.Of[uint64](600, 1200) {
		if v := policytest.View(seed); !v.Fabric.HasOCS() {
			compare(fmt.Sprintf("view %d", seed), v)
		}
	}
	for _, spec := range []string{"fattree:k=6,hosts=30,rate=1Gbps",
		"jellyfish:switches=10,degree=4,hosts=30,rate=1Gbps",
		"leafspine:racks=8,hosts=2,spines=2,nic=500Mbps,eps=50Mbps"} {
		for _, text := range []string{"storm:jobs=9", "hadoop:jobs=9,maps=6,reduces=4"} {
			for seed := range tries.Of[uint64](4, 12) {
				v := crowd(t, spec, workloadOf(t, text, []int{1, 4, 9}[seed%3]), seed)
				if seed%2 == 1 {
					fail(v, rand.New(rand.NewPCG(seed, 5)))
				}
				compare(fmt.Sprintf("%s on %s, seed %d", text, spec, seed), v)
			}
		}
	}
	for _, name := range []string{"jobs that wait", "jobs that run", "lost hosts", "dark links",
		"links that changed",
		"streams", "bandwidth reservations"} {
		if held[name] < 20 {
			t.Errorf("only %d views have %s", held[name], name)
		}
	}
	t.Log(held)
}

func streams(j *controller.Job) bool { return slices.Contains(j.Streaming(), true) }
