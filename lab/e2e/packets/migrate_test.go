package packets

import (
	"context"
	"testing"

	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
)

// TestMigrateOnPackets moves tasks under real packets: every job ends with all its bytes. Hosts have
// received at least the ledger's bytes, since bytes under way at a move come on top.
func TestMigrateOnPackets(t *testing.T) {
	labtest.ShareNetns(t, "netns", false)
	s := labtest.Migrating(t, 1, 1, func(o *scenario.Options) {
		o.On, o.Workload = scenario.OnNetns, "storm:jobs=5,rate=60/min"
	})
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
	defer cancel()
	o, err := labtest.Enter(ctx, s, s.Rows[0], emulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	labtest.CheckOutcome(t, s, o)
	labtest.CheckEdges(t, s, o)
	if o.State.Migrated == nil {
		t.Fatal("no task was moved")
	}
	t.Logf("end %v, %+v", o.End, *o.State.Migrated)
}
