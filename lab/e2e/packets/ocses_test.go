package packets

import (
	"context"
	"io"
	"testing"
	"time"

	"lightloom/controller/state"
	"lightloom/lab/labtest"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
)

// TestParallelOCSesOnPackets: eight racks under four OCSes carry coflows in both dataplanes, every byte once, while one
// OCS loses power and comes back. Each of the others has circuits, which light ports of its own alone.
func TestParallelOCSesOnPackets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, ability string
		rootless      bool
	}{{"root", "netns", false}, {"rootless", "userns", true}} {
		t.Run(tt.name, func(t *testing.T) {
			labtest.ShareNetns(t, tt.ability, tt.rootless)
			s := labtest.WithFaults(t, "hybrid:racks=8,hosts=1,spines=2,eps=20Mbps,ocs=100Mbps,dark=10ms,ocses=4",
				"random+ecmp+sunflow-every", "300ms fail switch ocs1\n1500ms heal switch ocs1\n", func(o *scenario.Options) {
					o.On, o.Demo, o.Coflows, o.Seed = scenario.OnNetns, true, 12, 3
				})
			ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
			defer cancel()
			o, _, err := replay.OnPackets(ctx, s, s.Rows[0], emulated.Options{Rootless: tt.rootless, Stderr: io.Discard})
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckPackets(t, s, o)
			f, by := s.Fabric, map[string]int{}
			for _, l := range o.Lit {
				if !f.SamePlane(int32(l.In), int32(l.Out)) {
					t.Errorf("light from port %d to port %d", l.In, l.Out)
				}
			}
			for _, m := range o.State.Moves {
				if ocs, _ := f.OCSAt(int32(m.In)); m.InService != state.Unset {
					by[f.Topology.Node(ocs).Name]++
				}
			}
			if by["ocs0"]*by["ocs2"]*by["ocs3"] == 0 || o.OCS == 0 {
				t.Errorf("circuits by OCS: %v, %d bytes over them", by, o.OCS)
			}
		})
	}
}

// TestRailsOnPackets: NICs of two rails carry coflows, each over the OCS of its rail alone, while the OCS of the second
// loses power and comes back, and takes longer than the other.
func TestRailsOnPackets(t *testing.T) {
	labtest.ShareNetns(t, "netns", false)
	s := labtest.WithFaults(t, "hybrid:racks=8,hosts=1,spines=2,eps=20Mbps,ocs=100Mbps,dark=10ms,rails=2,dark@1=40ms",
		"random+ecmp+sunflow-every", "300ms fail switch ocs1\n1500ms heal switch ocs1\n", func(o *scenario.Options) {
			o.On, o.Demo, o.Coflows, o.Seed = scenario.OnNetns, true, 12, 3
		})
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
	defer cancel()
	o, _, err := replay.OnPackets(ctx, s, s.Rows[0], emulated.Options{Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	labtest.CheckPackets(t, s, o)
	f, lit := s.Fabric, 0
	for _, l := range o.Lit {
		a, b := f.OCSRack(int32(l.In)), f.OCSRack(int32(l.Out))
		ocs, _ := f.OCSAt(int32(l.In))
		if lit++; a%2 != b%2 || int(ocs-f.OCSNode) != int(a%2) {
			t.Errorf("%s lights racks %d and %d", f.Topology.Node(ocs).Name, a, b)
		}
		want := 10 * time.Millisecond
		if a%2 == 1 {
			want = 40 * time.Millisecond
		}
		if l.Took.Known && l.Took.Dark != want {
			t.Errorf("a circuit of %s was dark for %v, want %v", f.Topology.Node(ocs).Name, l.Took.Dark, want)
		}
	}
	if lit == 0 || o.OCS == 0 {
		t.Errorf("%d intervals of light, %d bytes over them", lit, o.OCS)
	}
}
