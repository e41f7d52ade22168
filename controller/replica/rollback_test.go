package replica

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/chaos"
	"lightloom/controller/replica/rollcall"
	"lightloom/pathmap/tries"
)

// home is the directory of a node.
func (c *cluster) home(i int) string { return filepath.Join(c.dir, c.peers[i].ID) }

// keep copies the directory of a node, and returns the copy.
func (c *cluster) keep(i int) string {
	c.t.Helper()
	to := filepath.Join(c.t.TempDir(), c.peers[i].ID)
	if err := os.CopyFS(to, os.DirFS(c.home(i))); err != nil {
		c.t.Fatal(err)
	}
	return to
}

// rollBack puts old copies in the place of those files of a node that are named. A file that the copy
// lacks goes.
func (c *cluster) rollBack(i int, old string, names []string) {
	c.t.Helper()
	for _, name := range names {
		at := filepath.Join(c.home(i), name)
		b, err := os.ReadFile(filepath.Join(old, name))
		if errors.Is(err, fs.ErrNotExist) {
			err = os.Remove(at)
		} else if err == nil {
			err = os.WriteFile(at, b, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.t.Fatal(err)
		}
	}
}

// filesIn are the files of directories, those of one or the other, in order.
func filesIn(t *testing.T, dirs ...string) (names []string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				names = append(names, strings.TrimPrefix(path, dir+"/"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fill appends through a leader, and returns what it has acknowledged.
func (c *cluster) fill(ctx context.Context, lead int, name string, n int) (all []string) {
	c.t.Helper()
	for k := range n {
		e := fmt.Sprintf("%s %d %s", name, k, strings.Repeat("x", 40))
		if _, err := c.nodes[lead].Append(ctx, []byte(e)); err != nil {
			c.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// aged is a cluster whose replica old is stopped, with a copy of its directory from before it
// acknowledged entries with witness alone. The third is stopped, and whole.
type aged struct {
	*cluster
	old, witness, third int
	copied              string
	acknowledged        []string
}

func newAged(ctx context.Context, t *testing.T, seed uint64) *aged {
	t.Helper()
	c := onDisk(t, seed, Limits{Trailing: 8})
	a := &aged{cluster: c}
	lead := c.leader(ctx)
	a.old, a.witness, a.third = (lead+1)%3, lead, (lead+2)%3
	add := func(name string, n int) {
		a.acknowledged = append(a.acknowledged, c.fill(ctx, c.leader(ctx), name, n)...)
	}
	add("first", 20)
	c.agree(ctx)
	if err := c.nodes[a.old].Snapshot(); err != nil {
		t.Fatal(err)
	}
	add("second", 10)
	c.agree(ctx)
	c.kill(a.old)
	a.copied = c.keep(a.old)
	c.start(a.old)
	c.agree(ctx)
	c.present(ctx)
	c.kill(a.third)
	add("while the third is down", 36)
	c.agree(ctx)
	if err := c.nodes[a.old].Snapshot(); err != nil {
		t.Fatal(err)
	}
	add("behind that", 10)
	c.agree(ctx)
	c.kill(a.old)
	return a
}

// whole wants every replica to hold all that was acknowledged, once and in order.
func (a *aged) whole(ctx context.Context) {
	a.t.Helper()
	a.agree(ctx)
	for _, n := range a.nodes {
		if got := n.ledger(); !slices.Equal(got, a.acknowledged) {
			a.t.Errorf("%s holds %d entries, of %d that were acknowledged", n.ID(), len(got), len(a.acknowledged))
		}
	}
}

// startOld starts the replica with the old copy. One that does not start says that its disk is damaged,
// and joins with an empty directory.
func (a *aged) startOld(change func(*Config)) (damaged bool) {
	a.t.Helper()
	n, err := a.tryStart(a.old, Existing, change)
	if errors.Is(err, ErrDamaged) {
		damaged = true
		if err = os.RemoveAll(a.home(a.old)); err == nil {
			n, err = a.tryStart(a.old, Existing, func(cfg *Config) {
				cfg.Learner = &Learner{Done: func() error { return nil }}
			})
		}
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.set(a.old, n)
	return damaged
}

// TestOldDisk: a replica acknowledges entries with one other, whose disk stays whole, and then gets an
// old copy of its own. While that other is down nobody can know what is missing: nobody leads. With it
// nothing is lost.
func TestOldDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := within(t, 10*time.Minute)
		a := newAged(ctx, t, 1)
		defer a.close()
		a.kill(a.witness)
		a.rollBack(a.old, a.copied, filesIn(t, a.copied, a.home(a.old)))
		a.start(a.old)
		a.start(a.third)
		quiet, cancel := context.WithTimeout(ctx, 20*time.Second) // many elections
		defer cancel()
		if id, _, _, err := a.nodes[a.third].AwaitLeader(quiet); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q was elected by a replica that has gone back: %v", id, err)
		}
		if s, why := a.nodes[a.old].Standing(); s != rollcall.Waiting ||
			!strings.Contains(why, a.peers[a.witness].ID) {
			t.Errorf("it is %s: %s", s, why)
		}
		a.start(a.witness)
		a.whole(ctx)
	})
}

// TestOldFiles: old copies of every subset of a replica's files. It starts as a learner, or holds all,
// or does not start and says that its disk is damaged. Nothing is lost in any case, and it votes again.
func TestOldFiles(t *testing.T) {
	smallSegments(t)
	few := tries.Of(20, 1<<8)
	rng := rand.New(rand.NewPCG(1, 7))
	damaged, learns, files := 0, 0, 0
	for try := range few {
		synctest.Test(t, func(t *testing.T) {
			ctx := within(t, 10*time.Minute)
			a := newAged(ctx, t, 1)
			defer a.close()
			names := filesIn(t, a.copied, a.home(a.old))
			files = len(names)
			subset := uint64(try)
			if few < 1<<files {
				subset = rng.Uint64N(1 << files)
			}
			var some []string
			for k, name := range names {
				if subset&(1<<k) != 0 {
					some = append(some, name)
				}
			}
			a.rollBack(a.old, a.copied, some)
			a.start(a.third)
			if a.startOld(nil) {
				damaged++
			} else if a.learns(ctx, a.old) {
				learns++
			}
			a.whole(ctx)
			a.needed(ctx)
			if t.Failed() {
				t.Fatalf("old copies of %q", some)
			}
		})
	}
	t.Logf("old copies of some of %d files, %d times: %d are damage, %d learn", files, few, damaged, learns)
	if damaged == 0 || learns == 0 {
		t.Error("the test damages nothing, or nothing goes back")
	}
}

// learns waits until a node takes part somehow, and reports whether it learns first.
func (a *aged) learns(ctx context.Context, i int) bool {
	a.t.Helper()
	for {
		s, _ := a.nodes[i].Standing()
		if s == rollcall.Learning {
			return true
		}
		if s != rollcall.Waiting {
			return errors.Is(a.nodes[i].Failed(), ErrBack)
		}
		if !pass(ctx, time.Millisecond) {
			a.t.Fatal("it takes no part in time")
		}
	}
}

// needed has the cluster go on without the witness: the vote of the replica that had gone back is needed.
func (a *aged) needed(ctx context.Context) {
	a.t.Helper()
	for s := rollcall.Standing(""); s != rollcall.Voting; s, _ = a.nodes[a.old].Standing() {
		if !pass(ctx, 10*time.Millisecond) {
			a.t.Fatal("it never votes again")
		}
	}
	a.kill(a.witness)
	a.acknowledged = append(a.acknowledged, a.fill(ctx, a.leader(ctx), "without the witness", 2)...)
	a.start(a.witness)
	a.whole(ctx)
}

// complete fails if a node leads that does not hold all that was acknowledged.
func (a *aged) complete(ctx context.Context) {
	a.t.Helper()
	for i, n := range a.nodes {
		if n == nil || n.raft.State() != raft.Leader {
			continue
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		err := n.Barrier(short)
		cancel()
		if err != nil || n.Failed() != nil {
			continue
		}
		if held := n.ledger(); len(held) < len(a.acknowledged) ||
			!slices.Equal(held[:len(a.acknowledged)], a.acknowledged) {
			a.t.Errorf("r%d leads with %d entries, and %d were acknowledged", i, len(held), len(a.acknowledged))
		}
	}
}

// TestElectionsWithOldFiles: at each operation of its disk while a replica with old copies of files
// comes back, the leader is cut off, or the replica itself dies and starts again. Nobody leads without
// all that was acknowledged.
func TestElectionsWithOldFiles(t *testing.T) {
	t.Parallel()
	elections := 0
	for _, classes := range [][]string{{"vote"}, {"log"}, {"vote", "log"}, {"vote", "snapshots"},
		{"vote", "log", "snapshots"}} {
		for _, dies := range []bool{false, true} {
			step := int64(tries.Of(15, 1))
			for at := int64(1); electAt(t, classes, dies, at); at += step {
				elections++
			}
		}
	}
	if t.Logf("%d elections", elections); elections < 20 {
		t.Errorf("only %d elections", elections)
	}
}

// electAt is one of them. It returns false if there are fewer operations than that.
func electAt(t *testing.T, classes []string, dies bool, at int64) (reached bool) {
	synctest.Test(t, func(t *testing.T) {
		ctx := within(t, 10*time.Minute)
		a := newAged(ctx, t, uint64(at))
		defer a.close()
		names := slices.DeleteFunc(filesIn(t, a.copied, a.home(a.old)), func(name string) bool {
			class, _, _ := strings.Cut(name, "/")
			return !slices.Contains(classes, class)
		})
		a.rollBack(a.old, a.copied, names)
		a.start(a.third)
		var ops atomic.Int64
		now := make(chan struct{})
		a.startOld(func(cfg *Config) {
			cfg.fault = func(string) error {
				if ops.Add(1) == at {
					close(now)
					if !dies {
						a.net.Isolate(raft.ServerAddress(a.peers[a.witness].Addr))
					}
				}
				return nil
			}
		})
		waited, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		select {
		case <-now:
			reached = true
		case <-waited.Done():
		}
		if reached && dies {
			a.kill(a.old)
			a.startOld(nil)
			a.net.Isolate(raft.ServerAddress(a.peers[a.witness].Addr))
		}
		for range 20 {
			pass(ctx, 100*time.Millisecond)
			a.supervise()
			a.complete(ctx)
		}
		a.net.Heal()
		a.whole(ctx)
		a.needed(ctx)
		if t.Failed() {
			t.Fatalf("old %q, dies %v, at operation %d", classes, dies, at)
		}
	})
	return reached
}

// TestFalseAccuser: a replica has gone back, learnt and counts anew; then another goes back to a disk
// that remembers the starts of the first from before. Nobody is shut out for what that one remembers.
func TestFalseAccuser(t *testing.T) {
	t.Parallel()
	for seed := range uint64(tries.Of(8, 100)) {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { accuseFalsely(t, seed) })
		})
	}
}

func accuseFalsely(t *testing.T, seed uint64) {
	ctx := within(t, 10*time.Minute)
	c := onDisk(t, seed, Limits{})
	defer c.close()
	c.net.SetFaults(chaos.Faults{Delay: 10 * time.Millisecond})
	lead := c.leader(ctx)
	first, second := (lead+1)%3, (lead+2)%3
	again := func(i int, old string) (was string) {
		c.kill(i)
		was = c.keep(i)
		if old != "" {
			c.rollBack(i, old, filesIn(t, old, c.home(i)))
		}
		c.start(i)
		c.past(ctx, rollcall.Waiting, rollcall.Learning) // two old disks at once are not promised
		return was
	}
	acknowledged := c.fill(ctx, c.leader(ctx), "one", 3)
	before := again(first, "")
	again(first, "")
	remembers := again(second, "")
	acknowledged = append(acknowledged, c.fill(ctx, c.leader(ctx), "two", 3)...)
	again(first, before)
	again(second, remembers)
	acknowledged = append(acknowledged, c.fill(ctx, c.leader(ctx), "three", 3)...)
	c.agree(ctx)
	for _, n := range c.nodes {
		if got := n.ledger(); !slices.Equal(got, acknowledged) {
			t.Errorf("%s holds %d entries, of %d that were acknowledged", n.ID(), len(got), len(acknowledged))
		}
	}
}
