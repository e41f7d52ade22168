package replica

import (
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// health is how a node's disk does. A sick one takes nothing at the moment: it is full, or writing
// fails. A dead one has answered something else than was written, and the process must end.
type health struct {
	mu       sync.Mutex
	sick     error
	dead     error
	failures uint64
	wiping   bool          // the log has lost its last entry, by a request that raft has not answered yet
	wiped    bool          // a peer's snapshot has taken the place of the whole log; not yet looked at
	changed  chan struct{} // holds one at most: look again
	closed   chan struct{}
	died     chan struct{} // closed with dead
}

func newHealth() *health {
	return &health{changed: make(chan struct{}, 1), closed: make(chan struct{}), died: make(chan struct{})}
}

func (h *health) notify() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// fail notes a failure that keeps the node from doing its part.
func (h *health) fail(err error) {
	h.mu.Lock()
	h.failures++
	h.sick = err
	h.mu.Unlock()
	h.notify()
}

// note notes a failure that the node can do without.
func (h *health) note() {
	h.mu.Lock()
	h.failures++
	h.mu.Unlock()
}

func (h *health) recover() {
	h.mu.Lock()
	h.sick = nil
	h.mu.Unlock()
	h.notify()
}

// wipe notes that the log has lost its last entry.
func (h *health) wipe() {
	h.mu.Lock()
	h.wiping = true
	h.mu.Unlock()
}

// answered notes that raft is done with a request: what has taken the log's place is written.
func (h *health) answered() {
	h.mu.Lock()
	was := h.wiping
	h.wiped, h.wiping = h.wiped || was, false
	h.mu.Unlock()
	if was {
		h.notify()
	}
}

// takeWiped reports, once, whether the log has lost its last entry.
func (h *health) takeWiped() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.wiped
	h.wiped = false
	return was
}

// die notes the first damage.
func (h *health) die(err error) {
	h.mu.Lock()
	if h.dead == nil {
		h.dead = err
		close(h.died)
	}
	h.mu.Unlock()
	h.notify()
}

func (h *health) state() (sick, dead error, failures uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sick, h.dead, h.failures
}

// quit ends the calling goroutine, which is one of raft's, after what its defers do: raft panics where
// its log or its term cannot be read or written, and a panic would take down the process without a word
// of ours. Node.Close still finds all of raft's goroutines ended.
func (h *health) quit(err error) {
	if err != nil {
		h.die(err)
	}
	runtime.Goexit()
}

// Disk returns why the node's disk takes nothing at the moment, an error that wraps ErrDisk, or nil. A
// replica whose disk is sick neither leads nor follows.
func (n *Node) Disk() error {
	sick, _, _ := n.store.health.state()
	return sick
}

// probeEvery is how often a sick disk is tried.
const probeEvery = 100 * time.Millisecond

// never is a timeout that does not pass: raft has no other way to keep a follower from standing.
const never = 1000 * time.Hour

// nurse keeps a node with a sick disk out of the cluster until the disk is well, and ends one whose
// disk is dead. It has a well one look for its leader in time.
func (n *Node) nurse() {
	h := n.store.health
	out := false
	leader := newLeaderTimeout(n.cfg.Timeouts.Heartbeat, time.Now())
	for {
		if h.takeWiped() {
			n.logIf("compare raft with its log", n.checkTail())
		}
		sick, dead, _ := h.state()
		if dead != nil {
			n.cfg.Logger.Error("the replica ends", "replica", n.cfg.ID, "err", dead)
			n.hold(true)
			if t, ok := n.cfg.Transport.(raft.WithClose); ok { // ours is hung up already
				n.logIf("close transport", t.Close())
			}
			n.track.fail(dead)
			return
		}
		if (sick != nil) != out {
			out = sick != nil
			n.hold(out)
			if out {
				n.cfg.Logger.Error("the replica stands back", "replica", n.cfg.ID, "err", sick)
			} else {
				n.cfg.Logger.Info("the disk is well again", "replica", n.cfg.ID)
			}
		}
		again := probeEvery
		if out {
			if n.store.probe() == nil {
				h.recover()
				continue
			}
			leader.begin(time.Now())
		} else {
			n.bear(leader)
			var over bool
			if over, again = leader.over(time.Now(), n.raft.State(), n.raft.LastContact()); over {
				n.logIf("look for the leader", n.checkLeader())
			}
			again = min(again, probeEvery)
		}
		select {
		case <-h.changed:
		case <-time.After(again):
		case <-h.closed:
			return
		}
	}
}

// hold keeps a node out of the cluster: its peers are hung up on, and it does not stand. False lets it
// in again.
func (n *Node) hold(out bool) {
	if n.wire != nil {
		n.wire.hangUp(out)
	}
	n.logIf("change election timeouts", n.stand(!out))
}

func (n *Node) logIf(doing string, err error) {
	if err != nil {
		n.cfg.Logger.Error(doing, "replica", n.cfg.ID, "err", err)
	}
}

// stand sets whether a follower that hears of no leader stands for election.
func (n *Node) stand(yes bool) error {
	c := n.raft.ReloadableConfig()
	c.HeartbeatTimeout, c.ElectionTimeout = n.heartbeat, max(n.heartbeat, n.cfg.Timeouts.Election)
	if !yes {
		c.HeartbeatTimeout, c.ElectionTimeout = never, never
	}
	return errors.Join(n.raft.ReloadConfig(c))
}
