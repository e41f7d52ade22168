package replica

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller/replica/rollcall"
	"lightloom/pathmap/tries"
)

// slow is an Archive of nothing that takes its time to load. So long a node that starts answers others
// and does not ask them, as one with a long log.
type slow time.Duration

func (slow) Save(io.Writer) error { return nil }

func (s slow) Load(io.Reader) error {
	<-time.After(time.Duration(s))
	return nil
}

// voting waits until all replicas vote.
func (c *cluster) voting(ctx context.Context) {
	c.t.Helper()
	c.past(ctx, rollcall.Waiting, rollcall.Learning, rollcall.Following)
}

// restart kills a node and starts it with that configuration.
func (c *cluster) restart(i int, change func(*Config)) {
	c.t.Helper()
	if c.nodes[i] != nil {
		c.kill(i)
	}
	n, err := c.tryStart(i, Existing, change)
	if err != nil {
		c.t.Fatal(err)
	}
	c.set(i, n)
}

// joinAnew has a node join with an empty directory, and start once more after that.
func (c *cluster) joinAnew(ctx context.Context, i int) {
	c.t.Helper()
	c.kill(i)
	if err := os.RemoveAll(c.home(i)); err != nil {
		c.t.Fatal(err)
	}
	c.restart(i, func(cfg *Config) { cfg.Learner = &Learner{Done: func() error { return nil }} })
	c.voting(ctx)
	c.restart(i, nil)
	c.voting(ctx)
}

// TestOldMemory: two of three replicas join anew, one after the other. Then the third goes back to a
// disk, or to a vote file, that remembers starts of both from before, and answers them before it asks
// them itself, for it loads a long log while they run, or while they start too. It alone has gone back,
// so all vote again.
func TestOldMemory(t *testing.T) {
	for _, tt := range []struct {
		name string
		all  bool // files go back, not the vote alone
		at   func(c *cluster, old int)
	}{
		{"old disk, loading", true, func(c *cluster, old int) {
			c.restart(old, func(cfg *Config) { cfg.Archive = slow(5 * time.Second) })
		}},
		{"old vote, loading", false, func(c *cluster, old int) {
			c.restart(old, func(cfg *Config) { cfg.Archive = slow(5 * time.Second) })
		}},
		{"old disk, all start", true, startAround},
		{"old vote, all start", false, startAround},
	} {
		for seed := range tries.Of[uint64](1, 20) {
			t.Run(fmt.Sprintf("%s, seed %d", tt.name, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := onDisk(t, seed, Limits{})
					defer c.close()
					rememberOld(within(t, time.Hour), c, tt.all, tt.at)
				})
			})
		}
	}
}

// startAround starts the two others together with an old one, which says hello last.
func startAround(c *cluster, old int) {
	for i := range c.nodes {
		if i != old {
			c.kill(i)
			c.start(i)
		}
	}
	c.restart(old, func(cfg *Config) { cfg.Archive = slow(time.Second) })
}

func rememberOld(ctx context.Context, c *cluster, all bool, start func(c *cluster, old int)) {
	old := (c.leader(ctx) + 1) % 3
	first, second := (old+1)%3, (old+2)%3
	for range 3 {
		for _, i := range []int{first, second} {
			c.restart(i, nil)
			c.voting(ctx)
		}
	}
	acknowledged := c.fill(ctx, c.leader(ctx), "before", 5)
	c.agree(ctx)
	if err := c.nodes[old].Snapshot(); err != nil {
		c.t.Fatal(err)
	}
	c.kill(old)
	copied := c.keep(old)
	c.start(old)
	c.voting(ctx)
	c.joinAnew(ctx, first)
	c.joinAnew(ctx, second)
	acknowledged = append(acknowledged, c.fill(ctx, c.leader(ctx), "after", 5)...)
	c.agree(ctx)
	c.kill(old)
	names := []string{VoteFile}
	if all {
		names = filesIn(c.t, copied, c.home(old))
	}
	c.rollBack(old, copied, names)
	start(c, old)
	short, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	c.voting(short)
	c.agree(ctx)
	if start := c.nodes[old].Started(); !strings.HasPrefix(start, "100") { // the first of a new life
		c.t.Errorf("nobody has found out that the disk of %s is old: its start is %s", c.nodes[old].ID(), start)
	}
	for _, n := range c.nodes {
		if got := n.ledger(); !slices.Equal(got, acknowledged) {
			c.t.Errorf("%s holds %d entries, of %d that were acknowledged", n.ID(), len(got), len(acknowledged))
		}
	}
}
