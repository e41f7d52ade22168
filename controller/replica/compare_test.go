package replica

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestApart: a replica whose state is another than the leader's ends when the leader's digest comes
// through the log, and the others say so. One that was not there at the entry before, or whose state is
// the same, goes on.
func TestApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := onDisk(t, 1, Limits{})
		defer c.close()
		ctx := within(t, time.Minute)
		i := c.leader(ctx)
		lead, apart, late := c.nodes[i], (i+1)%3, (i+2)%3
		compare := func() {
			t.Helper()
			_, _, term := lead.Leader()
			if err := lead.AppendDigest(ctx, term); err != nil {
				t.Fatal(err)
			}
			if _, err := lead.Append(ctx, []byte("between")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // all have hashed
		}
		compare()
		if lead.Compared() == 0 {
			t.Error("nothing was hashed")
		}
		c.kill(late)
		c.start(late)
		compare()
		c.agree(ctx)
		for _, n := range c.nodes {
			if err := n.Failed(); err != nil {
				t.Fatalf("%s ended: %v", n.ID(), err)
			}
		}
		n := c.nodes[apart]
		n.View(func(uint64) { n.cfg.Machine.(*ledger).chain[0] ^= 1 })
		compare()
		at := lead.Compared()
		compare()
		pass(ctx, time.Second)
		if err := n.Failed(); !errors.Is(err, ErrApart) {
			t.Errorf("it goes on with another state after entry %d: %v", at, err)
		}
		for _, k := range []int{i, late} {
			all := c.nodes[k].Troubles()
			if len(all) != 1 || all[0].Peer != n.ID() || all[0].Back ||
				!strings.Contains(all[0].Text, "has stopped") {
				t.Errorf("%s has seen %v", c.nodes[k].ID(), all)
			}
		}
		if _, err := lead.Append(ctx, []byte("after")); err != nil {
			t.Error(err)
		}
	})
}
