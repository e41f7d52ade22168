package packets

import (
	"context"
	"io"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/lab/labtest"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
)

// TestMultihopOnPackets: of four racks joined to a ring, the first has 12 MB for the third, which real packets bring
// over two circuits in a row, in both dataplanes: each byte leaves two racks by a circuit, and takes a tenth of the
// time that packets at 10 Mb/s would. Where the OCS loses power meanwhile, they go on over packets until it is back.
func TestMultihopOnPackets(t *testing.T) {
	t.Parallel()
	const size = 12e6
	for _, tt := range []struct {
		name, ability string
		rootless      bool
		faults        string
	}{{"root", "netns", false, ""}, {"rootless", "userns", true, ""},
		{"dies", "netns", false, "500ms fail switch ocs\n1200ms heal switch ocs\n"}} {
		t.Run(tt.name, func(t *testing.T) {
			labtest.ShareNetns(t, tt.ability, tt.rootless)
			job := controller.Job{Name: "far", Edges: []controller.Edge{{Kind: controller.Fixed,
				Flows: []controller.Flow{{Src: 0, Dst: 2, Bytes: size, Count: 1}}}}}
			s := labtest.WithFaults(t, "hybrid:racks=4,hosts=1,spines=2,eps=10Mbps,ocs=100Mbps,dark=10ms",
				"random+ecmp-multihop+circulant", tt.faults, func(o *scenario.Options) {
					o.On, o.Given = scenario.OnNetns, []controller.Job{job}
				})
			ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
			defer cancel()
			o, _, err := replay.OnPackets(ctx, s, s.Rows[0], emulated.Options{Rootless: tt.rootless, Stderr: io.Discard})
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckPackets(t, s, o)
			c := o.State.Coflows[0]
			cct, slowest := c.Ended-c.Ready, 5*time.Second
			t.Logf("CCT %v, %d bytes over circuits, %d over packets", cct, o.OCS, o.EPS)
			if tt.faults == "" && o.OCS < 2*size*9/10 || o.OCS < size {
				t.Errorf("%d bytes over circuits, %d over packets", o.OCS, o.EPS)
			}
			if tt.faults == "" && cct > slowest {
				t.Errorf("CCT %v, want %v at most", cct, slowest)
			}
		})
	}
}
