package replica

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/chaos"
)

// TestReadsShareBarriers: callers who come together share one barrier, and nobody shares one that has
// begun before they came. Others than the leader refuse.
func TestReadsShareBarriers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, Limits{})
		defer c.close()
		ctx := within(t, time.Minute)
		i := c.leader(ctx)
		n := c.nodes[i]
		at, err := n.Append(ctx, []byte("a"))
		if err != nil {
			t.Fatal(err)
		}
		c.net.SetFaults(chaos.Faults{Delay: 10 * time.Millisecond}) // or all would come one after the other
		before := n.raft.LastIndex()
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if got, err := n.ReadIndex(ctx); err != nil || got != at {
					t.Errorf("index %d, %v, want %d", got, err, at)
				}
			})
		}
		wg.Wait()
		if took := n.raft.LastIndex() - before; took > 2 {
			t.Errorf("100 reads at once took %d barriers", took)
		}
		if _, err := c.nodes[(i+1)%3].ReadIndex(ctx); !errors.Is(err, ErrNotLeader) {
			t.Errorf("a follower answers %v", err)
		}

		c.net.Isolate(raft.ServerAddress(c.peers[i].Addr))
		cut := make(chan error, 1)
		go func() {
			_, err := n.ReadIndex(ctx)
			cut <- err
		}()
		synctest.Wait()
		if n.reads.next != nil {
			t.Error("who comes now would share a barrier that has begun")
		}
		if err := <-cut; err == nil {
			t.Error("a leader that is cut off answers")
		}
		c.net.Heal()
		late, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := n.ReadIndex(late); err == nil {
			t.Error("no error after the caller has gone")
		}
		c.agree(ctx)
	})
}
