package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"lightloom/controller/replica/chaos"
)

// TestPatience: a timeout grows with usual gaps up to a bound, and neither with a single pause nor with
// the silence between two leaders.
func TestPatience(t *testing.T) {
	const timeout = 400 * time.Millisecond
	for _, tc := range []struct {
		name string
		gap  func(i int) time.Duration
		want time.Duration
	}{
		{"idle", func(i int) time.Duration { return time.Duration(40+i%41) * time.Millisecond }, timeout},
		{"busy", func(int) time.Duration { return 120 * time.Millisecond }, 600 * time.Millisecond},
		{"every other one is late", func(i int) time.Duration {
			return time.Duration(60+60*(i%2)) * time.Millisecond
		}, 600 * time.Millisecond},
		{"stopped once", func(i int) time.Duration {
			if i == 50 {
				return 3 * time.Second
			}
			return 60 * time.Millisecond
		}, timeout},
		{"hardly heard", func(int) time.Duration { return time.Second }, 1600 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, now := newContacts(), time.Now()
			for i := range 100 {
				c.heard("a", 1, now)
				if i == 10 && c.patience(timeout) != timeout {
					t.Error("few gaps are taken for many")
				}
				now = now.Add(tc.gap(i))
			}
			if got := c.patience(timeout); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
	c, now := newContacts(), time.Now()
	for term := range uint64(100) {
		c.heard("a", term, now.Add(time.Duration(term)*time.Second))
	}
	if got := c.patience(timeout); got != timeout {
		t.Errorf("%v with a leader after the other", got)
	}
	if _, known := c.since("a", 98, now); known {
		t.Error("what was heard in another term counts")
	}
	if silent, known := c.since("a", 99, now.Add(100*time.Second)); !known || silent != time.Second {
		t.Errorf("silent for %v, %v", silent, known)
	}
}

// TestLateAnswersEndNoLeader: where messages take up to half a second for some time, and came ever later
// before, the same leader goes on; small entries are taken meanwhile. Once they are quick again, a dead
// leader is replaced as soon as ever.
func TestLateAnswersEndNoLeader(t *testing.T) {
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			c := newClusterOn(t, chaos.NewNetwork(seed, 5*time.Second), Limits{})
			defer c.close()
			ctx := within(t, time.Hour)
			first := c.leader(ctx)
			c.present(ctx)
			_, _, term := c.nodes[first].Leader()
			for late := range 10 {
				c.net.SetFaults(chaos.Faults{Delay: time.Duration(late+1) * 50 * time.Millisecond})
				<-time.After(10 * time.Second)
			}
			for range 60 {
				if _, err := c.nodes[first].Append(ctx, []byte("small")); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			for i, n := range c.nodes {
				if _, _, now := n.Leader(); now != term {
					t.Errorf("seed %d: replica %d is in term %d, not %d", seed, i, now, term)
				}
			}
			c.net.SetFaults(chaos.Faults{})
			<-time.After(20 * time.Second)
			begun := time.Now()
			c.kill(first)
			c.leader(ctx)
			if took := time.Since(begun); took > 3*DefaultTimeouts().Heartbeat {
				t.Errorf("seed %d: the next leader after %v", seed, took)
			}
		})
	}
}

// TestCutOffLeaderGivesUp: where answers come late, a leader that nobody answers any more gives its
// place up nevertheless.
func TestCutOffLeaderGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClusterOn(t, chaos.NewNetwork(7, 5*time.Second), Limits{})
		defer c.close()
		ctx := within(t, time.Hour)
		for late := range 10 {
			c.net.SetFaults(chaos.Faults{Delay: time.Duration(late+1) * 50 * time.Millisecond})
			<-time.After(10 * time.Second)
		}
		first := c.leader(ctx)
		c.net.Isolate(raft.ServerAddress(c.peers[first].Addr))
		begun := time.Now()
		for c.nodes[first].raft.State() == raft.Leader {
			<-time.After(10 * time.Millisecond)
		}
		if took := time.Since(begun); took > (mostPatience+1)*DefaultTimeouts().Lease+time.Second {
			t.Errorf("it leads for %v more", took)
		}
	})
}
