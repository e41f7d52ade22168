package replica

import (
	"math/rand/v2"
	"time"

	"github.com/hashicorp/raft"
)

// leaderTimeout is how long a follower bears with a leader that says nothing: once to twice the heartbeat
// timeout, at random, so that two followers seldom stand at once, and longer where heartbeats come late
// for some time. Raft looks by itself, but at instants that are once to twice the timeout apart, and so
// after one to three of them; and none is elected before every follower that must vote has looked.
type leaderTimeout struct {
	base    time.Duration
	timeout time.Duration // base, or longer
	extra   time.Duration // drawn
	since   time.Time     // it is not counted from before
}

func newLeaderTimeout(timeout time.Duration, now time.Time) *leaderTimeout {
	s := &leaderTimeout{base: timeout, timeout: timeout}
	s.begin(now)
	return s
}

// begin counts from now on.
func (s *leaderTimeout) begin(now time.Time) { s.since, s.extra = now, rand.N(max(s.base, 1)) }

// adapt takes another timeout, and reports whether it differs by enough.
func (s *leaderTimeout) adapt(to time.Duration) bool {
	if to == s.timeout || to != s.base && (to-s.timeout).Abs() < s.base/4 {
		return false
	}
	s.timeout = to
	return true
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
	case silent < s.timeout+s.extra:
		return false, s.timeout + s.extra - silent
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

// bear has a follower wait for its leader as long as heartbeats have shown it to be right. Who leads
// sends them at the distance of the shortest timeout.
func (n *Node) bear(leader *leaderTimeout) {
	want := leader.base
	if n.raft.State() == raft.Follower {
		want = n.contacts.patience(want)
	}
	if leader.adapt(want) {
		n.heartbeat = want
		n.logIf("change election timeouts", n.stand(true))
	}
}
