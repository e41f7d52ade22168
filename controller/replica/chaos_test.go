package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/chaos"
	"lightloom/controller/replica/rollcall"
	"lightloom/pathmap/tries"
)

// attempt is one call of Append and what was said of it.
type attempt struct {
	entry string
	index uint64
	err   error
}

// client appends numbered entries, each until it is acknowledged, at the current leader. Every attempt
// has an entry of its own, so that the history shows the outcome of each.
type client struct {
	name    string
	history []attempt
}

func (cl *client) run(ctx context.Context, nodes func() []*Node, r *rand.Rand) {
	for seq := 0; ctx.Err() == nil; seq++ {
		for try := 0; ctx.Err() == nil; try++ {
			a := attempt{entry: fmt.Sprintf("%s %d %d", cl.name, seq, try)}
			living := nodes()
			n := living[r.IntN(len(living))]
			one, cancel := context.WithTimeout(ctx, 2*time.Second)
			a.index, a.err = n.Append(one, []byte(a.entry))
			cancel()
			cl.history = append(cl.history, a)
			if a.err == nil {
				break
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(1+r.IntN(20)) * time.Millisecond):
			}
		}
		select { // an arrival every few milliseconds, elections or not
		case <-ctx.Done():
		case <-time.After(time.Duration(r.IntN(8)) * time.Millisecond):
		}
	}
}

// check compares one client's history with the entries that all replicas agree on.
func (cl *client) check(t *testing.T, entries []string) (acknowledged int) {
	t.Helper()
	count, place := map[string]int{}, map[string]int{}
	for i, e := range entries {
		count[e]++
		place[e] = i
	}
	lastPlace, lastIndex := -1, uint64(0)
	for _, a := range cl.history {
		n := count[a.entry]
		switch {
		case a.err == nil:
			acknowledged++
			if n != 1 {
				t.Errorf("acknowledged entry %q is applied %d times", a.entry, n)
			}
			if place[a.entry] <= lastPlace || a.index <= lastIndex {
				t.Errorf("entry %q at place %d, index %d follows place %d, index %d", a.entry,
					place[a.entry], a.index, lastPlace,
					lastIndex)
			}
			lastPlace, lastIndex = place[a.entry], a.index
		case errors.Is(a.err, ErrNotLeader) && n != 0:
			t.Errorf("entry %q was said to have no effect and is applied %d times: %v", a.entry, n, a.err)
		case n > 1:
			t.Errorf("entry %q is applied %d times", a.entry, n)
		}
	}
	return acknowledged
}

// TestLeaderIsKilledAtRandomIndexes: over a network that loses, doubles, delays and
// reorders, the leader is killed at random committed indexes and comes back; once it is cut off
// instead. Arrivals go on throughout.
func TestLeaderIsKilledAtRandomIndexes(t *testing.T) {
	for seed := range tries.Of[uint64](10, 40) {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { killLeaders(t, seed) })
		})
	}
}

func killLeaders(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	c := newCluster(t, seed, Limits{SnapshotEvery: 50, Trailing: 8, Part: 4 * int(seed%2)})
	ctx := within(t, 5*time.Minute)
	first := c.leader(ctx)
	c.net.SetFaults(chaos.Faults{Drop: .03, DropReply: .03, Double: .05, Delay: 10 * time.Millisecond})

	var mu sync.Mutex // guards living against the clients
	living := slices.Clone(c.nodes)
	nodes := func() []*Node { mu.Lock(); defer mu.Unlock(); return living }
	update := func() {
		mu.Lock()
		defer mu.Unlock()
		living = slices.DeleteFunc(slices.Clone(c.nodes), func(n *Node) bool { return n == nil })
	}
	c.moved = update
	arrivals, stop := context.WithCancel(ctx)
	clients := []*client{{name: "a"}, {name: "b"}, {name: "c"}}
	var wg sync.WaitGroup
	for i, cl := range clients {
		wg.Go(func() { cl.run(arrivals, nodes, rand.New(rand.NewPCG(seed, uint64(100+i)))) })
	}

	// However short the random waits below are, enough is acknowledged for the checks to mean something.
	if err := c.nodes[first].WaitApplied(ctx, 20); err != nil {
		t.Fatal(err)
	}
	for round := range 4 {
		i := c.leader(ctx)
		at, _ := c.nodes[i].Digest()
		if err := c.nodes[i].WaitApplied(ctx, at+1+r.Uint64N(40)); err != nil {
			t.Fatal(err)
		}
		if round == 2 {
			c.net.Isolate(raft.ServerAddress(c.peers[i].Addr))
		} else {
			c.kill(i) // with clients inside
			update()
		}
		next := c.elsewhere(ctx, i)
		at, _ = c.nodes[next].Digest()
		if err := c.nodes[next].WaitApplied(ctx, at+r.Uint64N(40)); err != nil {
			t.Fatal(err)
		}
		if err := c.nodes[next].Snapshot(); err != nil {
			t.Fatal(err)
		}
		if round == 2 {
			c.net.Heal()
		} else {
			c.start(i)
			update()
			c.present(ctx)
		}
	}
	enough := 150 + 100*(seed%2) // an entry in parts takes more than one place
	if err := c.nodes[c.leader(ctx)].WaitApplied(ctx, enough); err != nil {
		t.Fatal(err)
	}
	stop()
	wg.Wait()
	c.net.SetFaults(chaos.Faults{})
	c.agree(ctx)

	entries := c.nodes[0].ledger()
	total := 0
	for _, cl := range clients {
		total += cl.check(t, entries)
	}
	sent, lost := c.net.Counts()
	if lost == 0 || total < 4*20 {
		t.Errorf("%d acknowledged, %d of %d messages lost: the test did not test", total, lost, sent)
	}
	changes, longest := 0, time.Duration(0)
	for _, n := range c.nodes {
		s := n.Stats()
		changes, longest = max(changes, s.LeaderChanges), max(longest, s.OutageLongest)
		if held := n.ledger(); !slices.Equal(held, entries) {
			t.Fatalf("replica %s holds %q, another %q", n.ID(), held, entries)
		}
	}
	if changes == 0 {
		t.Error("no change of leader was counted")
	}
	t.Logf("%d entries, %d acknowledged, %d of %d messages hit, %d leader changes, longest outage %v",
		len(entries), total, lost, sent, changes, longest)
	c.close()
}

// present waits until all nodes that run take part: before that nobody else may fail.
func (c *cluster) present(ctx context.Context) { c.past(ctx, rollcall.Waiting) }

// past waits until no replica has one of these standings.
func (c *cluster) past(ctx context.Context, standings ...rollcall.Standing) {
	c.t.Helper()
	for waiting := true; waiting; {
		c.supervise()
		waiting = slices.ContainsFunc(c.nodes, func(n *Node) bool {
			if n == nil {
				return false
			}
			s, _ := n.Standing()
			return slices.Contains(standings, s)
		})
		if !pass(ctx, 10*time.Millisecond) {
			for _, n := range c.nodes {
				if n != nil {
					s, why := n.Standing()
					c.t.Log(n.ID(), s, why, n.Troubles())
				}
			}
			c.t.Fatal("not all take part in time")
		}
	}
}

// elsewhere waits for a leader other than node i.
func (c *cluster) elsewhere(ctx context.Context, i int) int {
	c.t.Helper()
	for {
		c.supervise()
		for k, n := range c.nodes {
			if k != i && n != nil && n.raft.State() == raft.Leader && n.Barrier(ctx) == nil {
				return k
			}
		}
		select {
		case <-ctx.Done():
			c.t.Fatal("no other leader in time")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Over a faultless network, a killed leader is mostly replaced within the longest silence that a
// follower bears.
func TestOutageOfAKilledLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 77, Limits{})
		defer c.close()
		ctx := within(t, 5*time.Minute)
		var outages []time.Duration
		for range 50 {
			i := c.leader(ctx)
			c.kill(i)
			begun := time.Now()
			next := c.nodes[c.leader(ctx)]
			if _, err := next.Append(ctx, []byte("after")); err != nil {
				t.Fatal(err)
			}
			outages = append(outages, time.Since(begun))
			c.start(i)
			c.agree(ctx)
		}
		slices.Sort(outages)
		p50, worst := percentile(outages, .5), outages[len(outages)-1]
		if p50 > 2*DefaultTimeouts().Heartbeat || worst > 2*time.Second {
			t.Errorf("of 50 outages p50 was %v, the longest %v", p50, worst)
		}
		t.Logf("of 50 outages p50 was %v, the longest %v", p50, worst)
	})
}

func TestLeadershipRunsOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 8, Limits{})
		ctx := within(t, time.Minute)
		run, stop := context.WithCancel(ctx)
		var mu sync.Mutex
		var terms []uint64
		var log []string
		begun := make(chan struct{}, 64)
		var wg sync.WaitGroup
		for _, n := range c.nodes {
			wg.Go(func() {
				err := n.Leadership(run, func(ctx context.Context, term uint64) error {
					mu.Lock()
					terms = append(terms, term)
					mu.Unlock()
					if _, err := n.AppendIn(ctx, term, fmt.Appendf(nil, "term %d", term)); err != nil {
						return err
					}
					begun <- struct{}{}
					<-ctx.Done()
					mu.Lock()
					log = append(log, fmt.Sprint(term, " ", context.Cause(ctx) == ErrLost))
					mu.Unlock()
					return ctx.Err()
				})
				if err != nil {
					t.Errorf("%s: %v", n.ID(), err)
				}
			})
		}
		<-begun
		for range 5 {
			i := c.leader(ctx)
			c.net.Isolate(raft.ServerAddress(c.peers[i].Addr))
			<-begun
			c.net.Heal()
			c.agree(ctx)
		}
		if err := c.nodes[c.leader(ctx)].StepDown(); err != nil {
			t.Error(err)
		}
		<-begun
		stop()
		wg.Wait()
		c.agree(ctx)
		if !slices.IsSorted(terms) || len(slices.Compact(slices.Clone(terms))) != len(terms) || len(terms) < 7 {
			t.Errorf("led in terms %v, want at least 7, each once and in order", terms)
		}
		if len(log) < 7 || !strings.HasSuffix(log[0], "true") || !strings.HasSuffix(log[len(log)-1], "false") {
			t.Errorf("ends of leading: %v", log)
		}
		if got := c.nodes[0].ledger(); len(got) != len(terms) {
			t.Errorf("the leaders' entries: %v", got)
		}
		c.close()
	})
}

// A leader whose work fails must not keep the place.
func TestLeadershipEndsWithItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 9, Limits{})
		defer c.close()
		ctx := within(t, time.Minute)
		i := c.leader(ctx)
		broken := errors.New("out of paper")
		if err := c.nodes[i].Leadership(ctx, func(context.Context, uint64) error {
			return broken
		}); !errors.Is(err, broken) {
			t.Errorf("leadership ended with %v", err)
		}
		if next := c.elsewhere(ctx, i); next == i {
			t.Error("the place was kept")
		}
	})
}
