package replica

import (
	"os"
	"slices"
	"testing"
	"time"

	"lightloom/controller/replica/rollcall"
	"lightloom/southbound/guard/guardtest"
)

// TestElectionAmongSilentSockets: silent connections occupy every raft port, more than there are slots,
// and the death of a leader is detected and repaired as usual. LIGHTLOOM_MEASURE=sockets holds 10,000 a
// port and kills 100 leaders; it needs the machine for itself.
func TestElectionAmongSilentSockets(t *testing.T) {
	const among = 300
	full := os.Getenv("LIGHTLOOM_MEASURE") == "sockets"
	cfgs, err := realCluster(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range cfgs {
		if cfgs[i].Limits.Handshakes = 32; full {
			cfgs[i].Limits.Handshakes = 0
		}
		addr := cfgs[i].Listener.Addr().String()
		cfgs[i].Bind = addr
	}
	nodes, err := startAll(cfgs)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, n := range nodes {
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	for _, c := range cfgs {
		if full {
			guardtest.Process(t, c.Bind, 10_000, 3*time.Second)
		} else {
			guardtest.Hold(t, c.Bind, among, time.Second)
		}
	}
	rounds := 2
	if full {
		rounds = 100
	}
	ctx := within(t, time.Duration(1+rounds/10)*hanging)
	var took []time.Duration
	for i := range rounds {
		lead, _, err := appended(ctx, nodes, string(rune('A'+i)))
		if err != nil {
			t.Fatal(err)
		}
		k := slices.Index(nodes, lead)
		begun := time.Now()
		if err := lead.Close(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := appended(ctx, slices.Delete(slices.Clone(nodes), k, k+1),
			string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(begun))
		c := cfgs[k]
		c.Listener, c.Machine, c.Start = nil, &ledger{}, Existing
		if nodes[k], err = New(c); err != nil {
			t.Fatal(err)
		}
		for waits := true; waits; { // before it takes part no other may fail
			standing, why := nodes[k].Standing()
			if waits = standing == rollcall.Waiting; waits && !pass(ctx, 10*time.Millisecond) {
				t.Fatal("it waits: ", why)
			}
		}
	}
	slices.Sort(took)
	p99 := percentile(took, .99)
	t.Logf("%d leaders closed: an entry of the next after p50 %v, p99 %v", rounds, percentile(took, .5), p99)
	if full && p99 > time.Second {
		t.Errorf("p99 %v, want at most a second", p99)
	}
}
