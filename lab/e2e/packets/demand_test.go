package packets

import (
	"context"
	"testing"
	"time"

	"lightloom/controller/demand"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap/tries"
)

// TestDemandOnPackets replays on packets with demand from backlog and from counters: every byte
// arrives, and some over circuits.
func TestDemandOnPackets(t *testing.T) {
	t.Parallel()
	for _, from := range []demand.Source{demand.FromBacklog, demand.FromCounters}[:tries.Of(1, 2)] {
		t.Run(string(from), func(t *testing.T) {
			labtest.ShareNetns(t, "netns", false)
			opt := labtest.PacketOptions("random+ecmp+sunflow")
			opt.Seed, opt.Speedup, opt.Coflows, opt.Replicas = 2, 1, 12, 1
			opt.Demand = []demand.Options{{Source: from, Period: 100 * time.Millisecond}}
			s, err := scenario.Prepare(opt, 1)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
			defer cancel()
			o, err := labtest.Enter(ctx, s, s.Rows[0], emulated.Options{})
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckPackets(t, s, o)
			if o.OCS == 0 {
				t.Error("nothing went over circuits")
			}
			t.Logf("end %v, %d bytes over circuits, %d over packets, %d moves", o.End, o.OCS, o.EPS,
				len(o.State.Moves))
		})
	}
}
