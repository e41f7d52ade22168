package packets

import (
	"os"
	"testing"

	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
)

// TestZooOnPackets brings twenty graphs of the Topology Zoo up on packets, of all sizes from the
// smallest to some fifty nodes, with a host at each node, and runs jobs on each. It takes minutes:
// LIGHTLOOM_MEASURE=zoo runs it, with LIGHTLOOM_DATA.
func TestZooOnPackets(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "zoo" {
		t.Skip("LIGHTLOOM_MEASURE=zoo runs it")
	}
	dir := os.Getenv("LIGHTLOOM_DATA")
	if dir == "" {
		t.Skip("LIGHTLOOM_DATA names no directory of public data")
	}
	labtest.NeedNetns(t, "netns", false)
	const graphs, most, seed = 20, 50, 1
	all := labtest.Zoo(t, dir, "topozoo", most)
	if len(all) < graphs {
		t.Fatalf("%d graphs of %d nodes at most", len(all), most)
	}
	ran := 0
	for i := range graphs {
		g := all[i*(len(all)-1)/(graphs-1)]
		t.Run(g.Name, func(t *testing.T) {
			opt := scenario.Options{Fabric: g.Fabric(t), On: scenario.OnNetns, Seed: seed, Speedup: 1,
				Policies: []string{"random+ecmp"}, Replicas: 1}
			var err error
			if opt.Scale, _, err = scenario.PacketScale(t.Context(), opt); err != nil {
				t.Fatal(err)
			}
			opt.Given = labtest.ThereAndBack(g)
			p, err := scenario.Prepare(opt, opt.Scale)
			if err != nil {
				t.Fatal(err)
			}
			o, err := labtest.Enter(t.Context(), p, p.Rows[0], emulated.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := o.ResultOf(p)
			if want := 2 * p.Jobs[0].Edges[0].Flows[0].Bytes; len(r.Jobs) != 1 || o.Received != want ||
				o.DroppedDark != 0 {
				t.Errorf("%d jobs ended, %d of %d bytes came, %d packets met dark or unmatched ports",
					len(r.Jobs), o.Received,
					want, o.DroppedDark)
			}
			t.Logf("%d nodes, %d links, scale %v: %d bytes came, in %v", g.Nodes,
				len(p.Fabric.Topology.Links())/2-p.Fabric.Hosts(), opt.Scale, o.Received, r.Coflows[0].CCT())
			ran++
		})
	}
	if ran != graphs {
		t.Errorf("%d of %d graphs ran", ran, graphs)
	}
}
