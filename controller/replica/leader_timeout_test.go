package replica

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// TestSilence: a follower looks for its leader once to twice the timeout after it has last heard it, or
// after it last looked; a leader and a candidate do not.
func TestSilence(t *testing.T) {
	const timeout = 400 * time.Millisecond
	begun := time.Now()
	for range 200 {
		s := newLeaderTimeout(timeout, begun)
		now, heard := begun, begun
		step := func(state raft.RaftState) bool {
			over, next := s.over(now, state, heard)
			if next <= 0 || next > timeout {
				t.Fatalf("asks again after %v", next)
			}
			now = now.Add(next)
			return over
		}
		for range 20 { // it is heard in time
			if step(raft.Follower) {
				t.Fatal("a leader that was heard is looked for")
			}
			heard = now.Add(-timeout / 10)
		}
		for range 2 {
			from := heard
			for !step(raft.Follower) {
			}
			at := now.Add(-timeout) // of the call that said so
			if d := at.Sub(from); d < timeout || d > 2*timeout {
				t.Fatalf("looks %v after it was heard", d)
			}
			heard = at // what is counted from next
		}
		for _, state := range []raft.RaftState{raft.Leader, raft.Candidate} {
			for range 5 {
				if step(state) {
					t.Fatalf("a %v looks", state)
				}
			}
		}
	}
}

// TestNextLeaderInTime: nearly always the next leader is elected within twice the heartbeat timeout, as
// neither of two followers waits for longer, and both must have noticed.
func TestNextLeaderInTime(t *testing.T) {
	var took []time.Duration
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, seed, Limits{})
			defer c.close()
			ctx := within(t, time.Hour)
			first := c.leader(ctx)
			<-time.After(time.Duration(seed) * 7 * time.Millisecond)
			begun := time.Now()
			c.kill(first)
			c.leader(ctx)
			took = append(took, time.Since(begun))
		})
	}
	slices.Sort(took)
	bound := 2*DefaultTimeouts().Heartbeat + 50*time.Millisecond
	if late := took[len(took)*9/10]; late > bound {
		t.Errorf("one of ten takes %v and more, want at most %v: %v", late, bound, took)
	}
}
