package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/chaos"
	"lightloom/pathmap/tries"
)

// grow starts one more node, which knows itself and one other, and waits until it has a vote.
func (c *cluster) grow(ctx context.Context) {
	c.t.Helper()
	id := fmt.Sprintf("r%d", len(c.peers))
	self := Peer{ID: id, Addr: id + ":1"}
	c.lead(ctx, func(n *Node) error { return n.AddMember(ctx, self) })
	joined := make(chan struct{})
	last, disk := len(c.peers), NewMemory()
	c.mu.Lock()
	c.begun[last] = true
	c.peers, c.disks, c.nodes = append(c.peers, self), append(c.disks, disk), append(c.nodes, nil)
	c.mu.Unlock()
	c.joining = func() {
		n, err := New(Config{ID: id, Peers: []Peer{c.peers[0], self}, Memory: disk, Machine: &ledger{},
			Limits:    c.limit,
			Transport: c.net.Transport(raft.ServerAddress(self.Addr)),
			Learner:   &Learner{Done: func() error { close(joined); return nil }}})
		if err != nil {
			c.t.Fatal(err)
		}
		c.set(last, n)
	}
	c.joining()
	if m, in := c.nodes[last].member(id); in && m.Voter {
		c.t.Errorf("%s has a vote at once", id)
	}
	for waits := true; waits; {
		select {
		case <-joined:
			waits = false
		case <-ctx.Done():
			c.t.Fatal("it has not joined in time")
		case <-time.After(10 * time.Millisecond):
			c.supervise()
		}
	}
	c.joining = nil
	c.lead(ctx, func(n *Node) error { return n.Promote(ctx, id) })
}

// lead has the leader do something, whoever it is then.
func (c *cluster) lead(ctx context.Context, do func(*Node) error) {
	c.t.Helper()
	for {
		err := do(c.nodes[c.leader(ctx)])
		if err == nil {
			return
		}
		if !errors.Is(err, ErrNotLeader) && !errors.Is(err, ErrUncertain) {
			c.t.Fatal(err)
		}
	}
}

// names returns the members that have a vote, as a node knows them.
func names(n *Node) string {
	var all []string
	for _, m := range n.Members() {
		if m.Voter {
			all = append(all, m.ID)
		}
	}
	return strings.Join(all, " ")
}

// TestMembersChangeUnderLoad: a cluster of three grows to five and shrinks to three others, its leader
// among those that go, while clients append over a lossy network. Nothing acknowledged is lost, and
// appends never stop for two seconds.
func TestMembersChangeUnderLoad(t *testing.T) {
	for seed := range tries.Of[uint64](5, 20) {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { changeMembers(t, seed) })
		})
	}
}

func changeMembers(t *testing.T, seed uint64) {
	c := newCluster(t, seed, Limits{SnapshotEvery: 50, Trailing: 8})
	defer c.close()
	ctx := within(t, 5*time.Minute)
	c.leader(ctx)
	c.net.SetFaults(chaos.Faults{Drop: .01, DropReply: .01, Double: .02, Delay: 5 * time.Millisecond})
	arrivals, stop := context.WithCancel(ctx)
	var acknowledged []string
	longest, last := time.Duration(0), time.Now()
	var wg sync.WaitGroup
	wg.Go(func() {
		for k := 0; arrivals.Err() == nil; k++ {
			entry := fmt.Sprintf("e%d", k)
			nodes := c.snapshot()
			for i := 0; arrivals.Err() == nil; i++ {
				n := nodes[i%len(nodes)]
				if n == nil {
					continue
				}
				one, cancel := context.WithTimeout(arrivals, 500*time.Millisecond)
				_, err := n.Append(one, []byte(entry))
				cancel()
				if err == nil {
					acknowledged = append(acknowledged, entry)
					longest, last = max(longest, time.Since(last)), time.Now()
					break
				}
				if i%len(nodes) == len(nodes)-1 {
					pass(arrivals, 5*time.Millisecond)
				}
			}
			pass(arrivals, 2*time.Millisecond)
		}
	})
	c.grow(ctx)
	if err := c.nodes[c.leader(ctx)].Snapshot(); err != nil { // the next newcomer gets one
		t.Fatal(err)
	}
	c.grow(ctx)
	if got := names(c.nodes[c.leader(ctx)]); got != "r0 r1 r2 r3 r4" {
		t.Errorf("the voters are %q", got)
	}
	for range 2 {
		gone := c.leader(ctx)
		if gone > 2 {
			gone = slices.IndexFunc(c.nodes[:3], func(n *Node) bool { return n != nil })
		}
		c.lead(ctx, func(n *Node) error { return n.RemoveMember(ctx, c.peers[gone].ID) })
		n := c.nodes[gone]
		c.set(gone, nil)
		n.cfg.Transport.(*chaos.Transport).Close()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	stop()
	wg.Wait()
	c.net.SetFaults(chaos.Faults{})
	c.agree(ctx)
	lead := c.nodes[c.leader(ctx)]
	if got := names(lead); len(strings.Fields(got)) != 3 || !strings.HasSuffix(got, "r3 r4") {
		t.Errorf("the voters are %q", got)
	}
	held := lead.ledger()
	for _, e := range acknowledged {
		if !slices.Contains(held, e) {
			t.Fatalf("%q was acknowledged and is lost", e)
		}
	}
	if longest > 2*time.Second || len(acknowledged) < 20 {
		t.Errorf("%d acknowledged, longest pause %v", len(acknowledged), longest)
	}
	t.Logf("%d acknowledged, longest pause %v", len(acknowledged), longest)
}

// pass lets virtual time pass, unless ctx ends first.
func pass(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// TestMembers: repeated changes change nothing, the last voter stays, and only the leader changes members.
func TestMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4, Limits{})
		defer c.close()
		ctx := within(t, time.Minute)
		i := c.leader(ctx)
		lead, other := c.nodes[i], c.nodes[(i+1)%3]
		if err := other.AddMember(ctx, Peer{ID: "r9", Addr: "r9:1"}); !errors.Is(err, ErrNotLeader) {
			t.Errorf("a follower adds: %v", err)
		}
		if err := lead.RemoveMember(ctx, "r9"); err != nil {
			t.Errorf("a stranger goes: %v", err)
		}
		if err := lead.Promote(ctx, "r9"); err == nil {
			t.Error("a stranger is promoted")
		}
		for range 2 {
			if err := lead.AddMember(ctx, c.peers[(i+1)%3]); err != nil {
				t.Error(err)
			}
			if err := lead.RemoveMember(ctx, c.peers[(i+2)%3].ID); err != nil {
				t.Error(err)
			}
		}
		if got := len(lead.Members()); got != 2 {
			t.Errorf("%d members, want 2", got)
		}
		if err := lead.AddMember(ctx, Peer{ID: c.peers[(i+1)%3].ID, Addr: "elsewhere:1"}); err == nil {
			t.Error("a member is added again, elsewhere")
		}
		if err := lead.RemoveMember(ctx, other.ID()); err != nil {
			t.Error(err)
		}
		if err := lead.RemoveMember(ctx, lead.ID()); err == nil || errors.Is(err, ErrNotLeader) {
			t.Errorf("the last voter goes: %v", err)
		}
		if _, err := lead.Append(ctx, []byte("alone")); err != nil {
			t.Error(err)
		}
	})
}
