package replica

import (
	"math/rand/v2"
	"time"

	"github.com/hashicorp/raft"
)

// leaderTimeout is how long a follower bears with a leader that says nothing: once to twice the heartbeat
// timeout, at random, so that two followers seldom stand at once. Raft looks by itself, but at instants
// that are once to twice the timeout apart, and so after one to three of them; and none is elected
// before every follower that must vote has looked.
type leaderTimeout struct {
	timeout, patience time.Duration
	since             time.Time // it is not counted from before
}

func newLeaderTimeout(timeout time.Duration, now time.Time) *leaderTimeout {
	s := &leaderTimeout{timeout: timeout}
	s.begin(now)
	return s
}

// begin counts from now on.
func (s *leaderTimeout) begin(now time.Time) {
	s.since, s.patience = now, s.timeout+rand.N(max(s.timeout, 1))
}

// over reports whether patience is at an end, and after what time to ask again. A leader or a candidate
// waits for nobody.
func (s *leaderTimeout) over(now time.Time, state raft.RaftState, heard time.Time) (over bool,
	next time.Duration) {
	switch {
	case state != raft.Follower:
		s.begin(now)
	case heard.After(s.since):
		s.begin(heard)
	}
	silent := now.Sub(s.since)
	switch {
	case silent < s.timeout:
		return false, s.timeout - silent
	case silent < s.patience:
		return false, s.patience - silent
	}
	s.begin(now)
	return true, s.timeout
}

// checkLeader has raft look now whether its leader still speaks, which it does when its timeout becomes shorter.
func (n *Node) checkLeader() error {
	c := n.raft.ReloadableConfig()
	c.HeartbeatTimeout++
	if c.ElectionTimeout < c.HeartbeatTimeout {
		c.ElectionTimeout = c.HeartbeatTimeout
	}
	if err := n.raft.ReloadConfig(c); err != nil {
		return err
	}
	return n.stand(true)
}
