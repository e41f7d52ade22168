package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller/replica/chaos"
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

// TestVotedInALaterTerm: a replica has gone back to a disk with which it had voted in a term that no other
// has reached. One of the others has started since, asks it, and lacks an entry that the third holds: the
// third is elected in a later term than that.
func TestVotedInALaterTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := within(t, time.Hour)
		c := onDisk(t, 1, Limits{})
		defer c.close()
		third := c.leader(ctx)
		old, behind := (third+1)%3, (third+2)%3
		c.agree(ctx)
		c.kill(behind)
		acknowledged := c.fill(ctx, third, "without the one behind", 1)
		c.agree(ctx)
		c.kill(old)
		d := &disk{dir: c.home(old), health: newHealth()}
		votes, err := openBallot(d, false)
		if err == nil {
			err = errors.Join(votes.SetUint64([]byte(keyTerm), c.nodes[third].raft.CurrentTerm()+5), votes.close())
		}
		if err != nil {
			t.Fatal(err)
		}
		copied := c.keep(old)
		c.start(old)
		pass(ctx, time.Second)
		c.kill(old)
		c.rollBack(old, copied, []string{VoteFile})
		c.start(behind)
		c.start(old)
		short, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		c.voting(short)
		c.agree(ctx)
		for _, n := range c.nodes {
			if got := n.ledger(); !slices.Equal(got, acknowledged) {
				t.Errorf("%s holds %q, of %q", n.ID(), got, acknowledged)
			}
		}
	})
}

// TestComesToWork: replicas are killed, one or all, cut off, load slowly, join anew, and get old copies of
// their directories or of some files, also from before they joined, at random instants. The disks of at
// most a minority have gone back at any one time. Then all are started and reach each other: all vote
// within half a minute, without an operator's word, and hold all that was acknowledged.
func TestComesToWork(t *testing.T) {
	t.Parallel()
	all := map[string]int{}
	longest := time.Duration(0)
	for seed := range tries.Of[uint64](8, 1000) {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPast(t, seed)
				defer p.close()
				longest = max(longest, p.comeToWork(within(t, time.Hour)))
				for what, n := range p.count {
					all[what] += n
				}
				if t.Failed() {
					t.Logf("seed %d: %q", seed, p.done)
				}
			})
		})
	}
	t.Logf("%v; at most %v until all vote", all, longest)
	for _, what := range []string{"append", "old copy", "some old files", "old vote", "empty", "restart all", "slow"} {
		if all[what] == 0 {
			t.Errorf("no history had %q: %v", what, all)
		}
	}
}

// comeToWork does that some times, and returns the longest time that all took to vote.
func (p *past) comeToWork(ctx context.Context) (longest time.Duration) {
	p.slows = true
	p.leader(ctx)
	for range 12 {
		p.net.SetFaults(chaos.Faults{Drop: .02, DropReply: .02, Double: .03, Delay: 8 * time.Millisecond})
		for range 1 + p.r.IntN(5) {
			p.strike(ctx)
			pass(ctx, time.Duration(p.r.IntN(400))*time.Millisecond)
			p.look(ctx)
		}
		p.net.SetFaults(chaos.Faults{Delay: 8 * time.Millisecond})
		p.net.Heal()
		for i, n := range p.nodes {
			if n == nil {
				p.goBack(i)
				p.revive(i)
			}
		}
		longest = max(longest, p.allVote(ctx))
		if p.t.Failed() {
			return longest
		}
	}
	p.whole(ctx)
	return longest
}

// strike draws what happens next: mostly a replica, or all, start anew, one of them perhaps with another
// disk.
func (p *past) strike(ctx context.Context) {
	order, back := p.r.Perm(len(p.nodes)), p.r.IntN(len(p.nodes))
	switch k := p.r.IntN(6); {
	case k < 2:
		p.step(ctx)
		return
	case k < 5:
		order = []int{back}
		p.note("restart", back)
	default:
		p.note("restart all", back)
	}
	for _, i := range order {
		if p.nodes[i] != nil {
			p.kill(i)
		}
	}
	copied := p.keep(back)
	p.goBack(back)
	p.copies[back] = append(p.copies[back], copied)
	for _, i := range order {
		p.revive(i)
	}
}

// allVote waits until all replicas vote, and returns how long that took.
func (p *past) allVote(ctx context.Context) time.Duration {
	p.note("work", 0)
	short, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	begun := time.Now()
	for {
		p.again()
		voting := 0
		said := ""
		for _, n := range p.nodes {
			s, why := n.Standing()
			voting += btoi(s == rollcall.Voting)
			said += fmt.Sprintf("%s: %s %s %v; ", n.ID(), s, why, n.Troubles())
		}
		if voting == len(p.nodes) {
			p.leader(short)
			clear(p.bad)
			return time.Since(begun)
		}
		if !pass(short, 10*time.Millisecond) {
			p.t.Fatalf("not all vote in time: %s after %q", said, p.done)
		}
	}
}
