package replica

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/chaos"
)

// rejoin starts node i anew with an empty log. joined is closed once it votes.
func (c *cluster) rejoin(i int) (joined chan struct{}) {
	c.t.Helper()
	joined = make(chan struct{})
	c.disks[i] = NewMemory()
	n, err := New(Config{ID: c.peers[i].ID, Peers: c.peers, Memory: c.disks[i], Machine: &ledger{},
		Limits:    c.limit,
		Transport: c.net.Transport(raft.ServerAddress(c.peers[i].Addr)),
		Learner:   &Learner{Done: func() error { close(joined); return nil }}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.nodes[i] = n
	return joined
}

// TestLearner: a node whose disk was lost gives no vote before it holds all that was acknowledged, and
// votes then. Otherwise the entry would be lost: two of three nodes had acknowledged it, one of them
// forgot it, the other is down.
func TestLearner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1, Limits{})
		defer c.close()
		ctx := within(t, time.Minute)
		first := c.leader(ctx)
		behind, wiped := (first+1)%3, (first+2)%3
		for k := range 5 {
			if _, err := c.nodes[first].Append(ctx, fmt.Appendf(nil, "old-%d", k)); err != nil {
				t.Fatal(err)
			}
		}
		c.agree(ctx)
		c.kill(behind)
		if _, err := c.nodes[first].Append(ctx, []byte("acknowledged")); err != nil {
			t.Fatal(err)
		}
		at, want := c.nodes[first].Digest()
		c.kill(wiped)
		c.kill(first)

		joined := c.rejoin(wiped)
		c.start(behind)
		quiet, cancel := context.WithTimeout(ctx, 2*time.Second) // several elections
		defer cancel()
		if id, _, _, err := c.nodes[behind].AwaitLeader(quiet); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q was elected by a node that has forgotten: %v", id, err)
		}
		c.start(first)
		select {
		case <-joined:
		case <-ctx.Done():
			t.Fatal("it never joined")
		}
		if got, digest := c.nodes[wiped].Digest(); got < at || got == at && digest != want {
			t.Errorf("it has joined at entry %d with %x, want %d with %x", got, digest[:4], at, want[:4])
		}
		c.agree(ctx)
		c.kill(first) // now its vote is needed
		if _, err := c.nodes[c.leader(ctx)].Append(ctx, []byte("after")); err != nil {
			t.Error(err)
		}
	})
}

// TestLearnsUnderLoad: a newcomer votes soon, though entries come as fast as the leader sends them, so that
// it never holds the last.
func TestLearnsUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, Limits{})
		defer c.close()
		ctx := within(t, time.Hour)
		lead := c.leader(ctx)
		c.net.SetFaults(chaos.Faults{Delay: 15 * time.Millisecond})
		load, stop := context.WithCancel(ctx)
		var clients sync.WaitGroup
		defer clients.Wait()
		defer stop()
		for k := range 64 {
			clients.Go(func() {
				for i := 0; load.Err() == nil; i++ {
					_, _ = c.nodes[lead].Append(load, fmt.Appendf(nil, "%d %d", k, i))
					pass(load, time.Duration(i%3)*time.Millisecond)
				}
			})
		}
		pass(ctx, time.Second)
		c.kill((lead + 1) % 3)
		select {
		case <-c.rejoin((lead + 1) % 3):
		case <-time.After(10 * time.Second):
			s, why := c.nodes[(lead+1)%3].Standing()
			t.Errorf("it is %s: %s", s, why)
		}
	})
}

// TestLearnerHearsNobodyBefore: a node that does not know the others' terms takes no entry from
// anybody; it can be closed meanwhile.
func TestLearnerHearsNobodyBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2, Limits{})
		defer c.close()
		ctx := within(t, time.Minute)
		first := c.leader(ctx)
		wiped, away := (first+1)%3, (first+2)%3
		c.kill(wiped)
		c.net.Cut(raft.ServerAddress(c.peers[wiped].Addr), raft.ServerAddress(c.peers[away].Addr))
		c.rejoin(wiped)
		if _, err := c.nodes[first].Append(ctx, []byte("a")); err != nil {
			t.Fatal(err)
		}
		pass(ctx, 5*time.Second)
		if n := c.nodes[wiped].raft.LastIndex(); n != 0 {
			t.Errorf("it has taken %d entries from a leader that may be an old one", n)
		}
		c.net.Heal()
		c.agree(ctx)
	})
}
