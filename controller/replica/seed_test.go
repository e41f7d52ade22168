package replica

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/chaos"
)

// TestSeed: a cluster begins behind a snapshot of another, and goes on from there; a directory with a
// log is left alone.
func TestSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := &ledger{}
		for _, e := range []string{"a", "b", "c"} {
			if err := from.Apply([]byte(e)); err != nil {
				t.Fatal(err)
			}
		}
		snap, err := from.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		c := &cluster{t: t, net: chaos.NewNetwork(1, 100*time.Millisecond), dir: t.TempDir(),
			begun: map[int]bool{0: true, 1: true, 2: true}, config: func(cfg *Config) { cfg.NoSync = true }}
		for _, id := range []string{"r0", "r1", "r2"} {
			c.peers = append(c.peers, Peer{ID: id, Addr: id + ":1"})
			c.disks, c.nodes = append(c.disks, nil), append(c.nodes, nil)
		}
		for i, p := range c.peers {
			if err := Seed(filepath.Join(c.dir, p.ID), c.peers, 4711, from.Digest(), snap); err != nil {
				t.Fatal(err)
			}
			c.start(i)
		}
		defer c.close()
		ctx := within(t, time.Minute)
		first := c.leader(ctx)
		if at, digest := c.nodes[first].Digest(); at != 4711 || digest != from.Digest() {
			t.Errorf("it begins at %d with %x", at, digest[:4])
		}
		if at, err := c.nodes[first].Append(ctx, []byte("d")); err != nil || at <= 4711 {
			t.Errorf("the next entry is %d: %v", at, err)
		}
		c.agree(ctx)
		c.kill(first)
		if err := Seed(filepath.Join(c.dir, c.peers[first].ID), c.peers, 4711, from.Digest(), snap); err == nil {
			t.Error("a log is overwritten")
		}
		c.start(first)
		c.present(ctx)
		c.net.Isolate(raft.ServerAddress(c.peers[(first+1)%3].Addr))
		if got := len(c.nodes[c.elsewhere(ctx, (first+1)%3)].ledger()); got != 4 {
			t.Errorf("%d entries, want 4", got)
		}
		c.net.Heal()
		c.agree(ctx)
	})
}
