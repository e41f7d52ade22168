package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/chaos"
	"lightloom/controller/replica/rollcall"
	"lightloom/pathmap/tries"
)

// past is a history of a cluster whose disks go back in time, one at a time: the next may once the first
// has learnt. Of five, one more can be lost meanwhile.
type past struct {
	*cluster
	r            *rand.Rand
	copies       map[int][]string // of directories, by node, the oldest first
	bad          map[int]string   // whose disks are not whole, and what befell them
	newcomer     []atomic.Bool    // by node: it joins
	slows        bool             // some nodes load slowly
	acknowledged []string
	count        map[string]int
	done         []string // what was drawn, for who reads of a failure
}

// TestHistoriesWithOldDisks: replicas stop and start, are cut off, get old copies of all or some of
// their files, and lose them, while a client appends. With a witness or without one: whoever leads
// holds all that was acknowledged, no two replicas differ, and in the end nothing is lost.
func TestHistoriesWithOldDisks(t *testing.T) {
	t.Parallel()
	all := map[string]int{}
	for seed := range tries.Of[uint64](24, 1000) {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPast(t, seed)
				defer p.close()
				p.run(within(t, time.Hour))
				for what, n := range p.count {
					all[what] += n
				}
				if t.Failed() {
					t.Logf("seed %d: %q", seed, p.done)
				}
			})
		})
	}
	t.Logf("%v", all)
	for _, what := range []string{"append", "old copy", "some old files", "damaged", "learns",
		"waits", "empty"} {
		if all[what] == 0 {
			t.Errorf("no history had %q: %v", what, all)
		}
	}
}

func newPast(t *testing.T, seed uint64) *past {
	c := &cluster{t: t, net: chaos.NewNetwork(seed, 100*time.Millisecond),
		limit: Limits{Trailing: 8, SnapshotEvery: 40},
		dir:   t.TempDir(), begun: map[int]bool{}, config: func(cfg *Config) { cfg.NoSync = true }}
	size := 3
	if seed%4 == 3 {
		size = 5
	}
	for i := range size {
		id := fmt.Sprintf("r%d", i)
		c.peers = append(c.peers, Peer{ID: id, Addr: id + ":1"})
		c.disks, c.nodes = append(c.disks, nil), append(c.nodes, nil)
	}
	p := &past{cluster: c, r: rand.New(rand.NewPCG(seed, 11)), copies: map[int][]string{},
		bad: map[int]string{}, newcomer: make([]atomic.Bool, size), count: map[string]int{}}
	for i := range c.nodes {
		c.start(i)
	}
	return p
}

func (p *past) note(what string, i int) {
	p.count[what]++
	p.done = append(p.done, fmt.Sprintf("%s %d", what, i))
}

func (p *past) run(ctx context.Context) {
	p.leader(ctx)
	p.net.SetFaults(chaos.Faults{Drop: .02, DropReply: .02, Double: .03, Delay: 8 * time.Millisecond})
	for range 40 {
		p.step(ctx)
		pass(ctx, time.Duration(p.r.IntN(400))*time.Millisecond)
		p.look(ctx)
		if p.t.Failed() {
			return
		}
	}
	p.net.SetFaults(chaos.Faults{})
	p.net.Heal()
	for i, n := range p.nodes {
		if n == nil {
			p.revive(i)
		}
	}
	p.whole(ctx)
}

// whole wants all replicas to agree, and to hold all that was acknowledged, once and in order.
func (p *past) whole(ctx context.Context) {
	p.agree(ctx)
	held := p.nodes[p.leader(ctx)].ledger()
	at := -1
	for _, e := range p.acknowledged {
		k := slices.Index(held, e)
		if k <= at || slices.Contains(held[k+1:], e) {
			p.t.Fatalf("%q was acknowledged, and is at place %d behind %d, or there twice", e, k, at)
		}
		at = k
	}
}

// step draws what happens next.
func (p *past) step(ctx context.Context) {
	i := p.r.IntN(len(p.nodes))
	n := p.nodes[i]
	switch k := p.r.IntN(12); {
	case k < 4:
		p.append(ctx)
	case k < 6 && n != nil:
		p.note("stop", i)
		p.kill(i)
		if p.r.IntN(2) == 0 {
			p.copies[i] = append(p.copies[i], p.keep(i))
		}
	case k < 9 && n == nil:
		p.goBack(i)
		p.note("start", i)
		p.revive(i)
	case k == 9:
		p.note("cut off", i)
		p.net.Isolate(raft.ServerAddress(p.peers[i].Addr))
	case k == 10:
		p.note("heal", i)
		p.net.Heal()
	case k == 11 && n != nil && n.Failed() == nil:
		if err := n.Snapshot(); err != nil && n.Failed() == nil {
			p.t.Fatal(err)
		}
	}
}

// goBack may put old copies of files into the place of those of a node that is stopped, or take all away.
func (p *past) goBack(i int) {
	old := p.copies[i]
	if len(old) == 0 {
		return
	}
	copied := old[p.r.IntN(len(old))]
	names := filesIn(p.t, copied, p.home(i))
	what := []string{"old copy", "old copy", "some old files", "some old files", "old vote", "empty", "empty",
		""}[p.r.IntN(8)]
	switch what {
	case "some old files":
		names = slices.DeleteFunc(names, func(string) bool { return p.r.IntN(2) == 0 })
	case "empty":
		copied = p.t.TempDir()
	case "old vote":
		names = []string{VoteFile}
	}
	if what == "" || !p.may(i, what) {
		return
	}
	p.note(what, i)
	p.bad[i] = what
	p.rollBack(i, copied, names)
}

// may reports whether that can befall a disk while those of others are not whole.
func (p *past) may(i int, what string) bool {
	others, old := 0, btoi(what != "empty")
	for k, befell := range p.bad {
		if k != i {
			others++
			old += btoi(befell != "empty")
		}
	}
	return others == 0 || others+1 <= (len(p.nodes)-1)/2 && old <= 1
}

// revive starts a node; one that says that its disk is damaged, or empty, joins.
func (p *past) revive(i int) {
	change := func(cfg *Config) {
		if p.newcomer[i].Load() {
			cfg.Learner = &Learner{Done: func() error { p.newcomer[i].Store(false); return nil }}
		}
		if p.slows && p.r.IntN(4) == 0 {
			p.note("slow", i)
			cfg.Archive = slow(p.r.IntN(3000)) * slow(time.Millisecond)
		}
	}
	n, err := p.tryStart(i, Existing, change)
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrEmpty) {
		if p.bad[i] == "" {
			p.t.Fatalf("the disk of %d is whole: %v", i, err)
		}
		p.note("damaged", i)
		p.newcomer[i].Store(true)
		if err = os.RemoveAll(p.home(i)); err == nil {
			n, err = p.tryStart(i, Existing, change)
		}
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.set(i, n)
}

// append appends some entries, each until it is acknowledged or somebody else has to be asked.
func (p *past) append(ctx context.Context) {
	for range 1 + p.r.IntN(6) {
		e := fmt.Sprintf("e%d", p.count["append"])
		p.count["append"]++
		for try := range 2 * len(p.nodes) {
			n := p.nodes[(try+p.count["append"])%len(p.nodes)]
			if n == nil {
				continue
			}
			one, cancel := context.WithTimeout(ctx, time.Second)
			_, err := n.Append(one, []byte(e))
			cancel()
			if err == nil {
				p.acknowledged = append(p.acknowledged, e)
				break
			}
			if !errors.Is(err, ErrNotLeader) {
				break // it may be in the log
			}
		}
	}
}

// look compares all replicas, and wants a leader to hold all that was acknowledged.
func (p *past) look(ctx context.Context) {
	p.again()
	var longest []string
	for i, n := range p.nodes {
		if n == nil {
			continue
		}
		s, _ := n.Standing()
		switch s {
		case rollcall.Waiting:
			p.count["waits"]++
		case rollcall.Learning:
			p.count["learns"]++
		case rollcall.Voting:
			if len(n.ledger()) >= len(p.acknowledged) {
				delete(p.bad, i)
			}
		}
		held := n.ledger()
		both := min(len(held), len(longest))
		if !slices.Equal(held[:both], longest[:both]) {
			p.t.Fatalf("two replicas differ: %q and %q", held, longest)
		}
		if len(held) > len(longest) {
			longest = held
		}
		if n.raft.State() != raft.Leader {
			continue
		}
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		err := n.Barrier(short)
		cancel()
		if held = n.ledger(); err != nil || n.Failed() != nil {
			continue
		}
		for _, e := range p.acknowledged {
			if !slices.Contains(held, e) {
				p.t.Fatalf("%d leads without %q, which was acknowledged", i, e)
			}
		}
	}
}

// again starts nodes that have ended for that.
func (p *past) again() {
	for i, n := range p.nodes {
		if n != nil && (errors.Is(n.Failed(), ErrTail) || errors.Is(n.Failed(), ErrBack)) {
			p.kill(i)
			p.revive(i)
		}
	}
}
