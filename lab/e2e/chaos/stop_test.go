package chaos

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"lightloom/controller/leader"
	"lightloom/controller/workload"
	"lightloom/emulator/fault"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// point is where a leader is stopped: the decision is made; it is in the log; its call is queued for
// the device, has left, has left ahead of the log because a port went dark, or has been answered.
type point int32

const (
	stepped point = iota
	committed
	queued
	sent
	urgent
	acknowledged
	points
)

func (p point) String() string {
	return [...]string{"stepped", "committed", "queued", "sent", "urgent", "acknowledged"}[p]
}

// stop stops the process of a leader, as SIGSTOP does, when it reaches a point: from then on it sends
// and receives nothing. When it continues, messages under way arrive first.
type stop struct {
	mu      sync.Mutex
	at      point
	doors   []southbound.DeviceID // one of them, where it is at a door
	armed   bool
	stopped chan struct{} // closed once it is
	running chan struct{} // closed while it runs
}

// wait returns at once, or when the process runs again.
func (s *stop) wait() {
	s.mu.Lock()
	running := s.running
	s.mu.Unlock()
	<-running
}

// reachAny is reach where no door is gone to.
func (s *stop) reachAny(at point) {
	s.stopIf(func() bool { return at == s.at })
}

// reach stops the process if this is the chosen point, and waits while it is stopped.
func (s *stop) reach(at point, door southbound.DeviceID) {
	s.stopIf(func() bool { return at == s.at && slices.Contains(s.doors, door) })
}

// stopIf stops the process where it is to be stopped. here is called with the lock held.
func (s *stop) stopIf(here func() bool) {
	s.mu.Lock()
	if s.armed && here() {
		s.armed, s.running = false, make(chan struct{})
		close(s.stopped)
	}
	s.mu.Unlock()
	s.wait()
}

// arm stops the process when it next reaches a point.
func (s *stop) arm(at point, doors []southbound.DeviceID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.doors, s.armed = at, doors, true
	if at == urgent { // what leaves next, for a port of the ToR has just gone dark
		s.at = sent
	}
}

// disarm lets the process pass.
func (s *stop) disarm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = false
}

// goOn lets the process run again.
func (s *stop) goOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.running:
	default:
		close(s.running)
	}
}

// is reports whether the process is stopped or has been; messages from before are then under way.
func (s *stop) is() bool {
	select {
	case <-s.stopped:
		return true
	default:
		return false
	}
}

func newStop() *stop {
	s := &stop{stopped: make(chan struct{}), running: make(chan struct{})}
	close(s.running)
	return s
}

// TestLeaderStopped stops the process of a leader at every point of its work on a ToR, the optical
// switch and the hosts. Another leader takes over, then the first continues: its delayed calls arrive,
// and no device takes a Set that its leader did not read it back for. Devices lose calls, break streams
// and restart meanwhile. In the end every byte has arrived once and the replicas agree.
func TestLeaderStopped(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	doors := [...]string{"tor", "ocs", "hosts"}
	combinations := uint64(points) * uint64(len(doors))
	for seed := range combinations * tries.Of[uint64](1, 20) {
		at, door := point(seed%uint64(points)), doors[seed/uint64(points)%uint64(len(doors))]
		t.Run(fmt.Sprintf("seed_%d/%v/%s", seed, at, door), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { stopLeader(t, chaosFabric, seed, at, door, nil) })
		})
	}
}

// stopLeader stops a leader at a point of its work. ill, if not nil, makes parts of the lab fail meanwhile.
func stopLeader(t *testing.T, fabric string, seed uint64, at point, name string,
	ill func(context.Context, *chaosCluster)) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	jobs, err := workload.Synthetic(workload.SyntheticOptions{Seed: seed, Jobs: 60, Racks: 4, HostsPerRack: 2,
		Window: 9 * time.Second, Elephant: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	c := newChaosCluster(ctx, t, fabric, seed, "random+ecmp+sunflow", seed%2 == 0)
	defer c.close(cancel)
	c.wg.Go(func() { c.lab.run(ctx) })
	c.wg.Go(func() { c.lab.trouble(ctx, rand.New(rand.NewPCG(seed, 23)), 4) })
	var illness sync.WaitGroup
	if ill != nil {
		illness.Go(func() { ill(ctx, c) })
	}
	var arrivals sync.WaitGroup
	come := func(i int, at time.Duration) {
		arrivals.Go(func() {
			pauseFor(ctx, at)
			c.submit(&jobs[i], fmt.Sprintf("job-%d", i), rand.New(rand.NewPCG(seed, uint64(1000+i))))
		})
	}
	came := len(jobs) / 3 // the others come until the point is reached
	for i := range came {
		come(i, jobs[i].Arrival)
	}
	doors, r := []southbound.DeviceID{hostsDoor}, rand.New(rand.NewPCG(seed, 61))
	switch name {
	case "tor":
		doors = c.fabric.ToRNode
	case "ocs":
		doors = nil
		for i := range c.fabric.OCSes() {
			doors = append(doors, c.fabric.OCSNode+southbound.DeviceID(i))
		}
	}
	c.await("a leader that is ready", func() bool { return c.leads(nil) != nil })
	pauseFor(ctx, time.Duration(r.IntN(500))*time.Millisecond)
	breaks, link := newBreaker(c.lab, c), fault.Fault{Kind: fault.Link, Name: "tor0-spine0"}
	if at == urgent {
		breaks.strike(link, false)
	}
	for _, m := range c.members {
		m.stop.arm(at, doors)
	}
	var old *member
	c.await("a leader to be stopped", func() bool {
		for _, m := range c.members {
			if m.stop.is() {
				old = m
			}
		}
		if old == nil && came < len(jobs) && c.finished(came) {
			came++
			come(came-1, 0)
		}
		return old != nil
	})
	c.net.Isolate(raft.ServerAddress(c.peers[old.place].Addr))
	for _, m := range c.members {
		m.stop.disarm()
	}
	if at == urgent {
		breaks.strike(link, true)
	}
	c.await("another leader to take over", func() bool { return c.leads(old) != nil })
	pauseFor(ctx, time.Duration(r.IntN(300))*time.Millisecond)
	old.stop.goOn()
	pauseFor(ctx, time.Duration(r.IntN(20))*time.Millisecond)
	c.net.Heal()
	arrivals.Wait()
	illness.Wait()
	if ill != nil {
		c.depose()
	}
	c.await("all jobs to end", func() bool { return c.finished(came) })
	c.agree()
	c.check(jobs[:came])
	t.Logf("ended after %v; %d calls of leaders of the past refused", c.lab.now(), c.lab.refused)
}

// depose has another replica lead, which reads all switches back: what one has lied about comes out.
func (c *chaosCluster) depose() {
	var old *member
	c.await("a leader", func() bool { old = c.leads(nil); return old != nil })
	c.net.Isolate(raft.ServerAddress(c.peers[old.place].Addr))
	c.await("another leader", func() bool { return c.leads(old) != nil })
	c.net.Heal()
}

// finished reports whether n jobs have ended on every replica.
func (c *chaosCluster) finished(n int) bool {
	return c.each(func(m *member) (ok bool) {
		m.node.View(func(uint64) { ok = m.state.Finished() == n })
		return ok
	})
}

// leads returns a member, other than but, that leads and is ready; nil if there is none.
func (c *chaosCluster) leads(but *member) *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.members {
		if m != but && m.current.Ready() {
			return m
		}
	}
	return nil
}

// stopLog is the log of a replica that can be stopped before an entry is appended, or once it is committed.
type stopLog struct {
	leader.Log
	g *grip
}

func (x stopLog) AppendIn(ctx context.Context, term uint64, entry []byte) (uint64, error) {
	x.g.stop.reachAny(stepped)
	index, err := x.Log.AppendIn(ctx, term, entry)
	x.g.stop.reachAny(committed)
	return index, err
}

// TestAllLost kills all replicas at one instant and restarts them from their disks. The next leader's
// election id is larger than all before, so devices that remember ids accept it.
func TestAllLost(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		c := newChaosCluster(ctx, t, chaosFabric, 1, "random+ecmp+sunflow", true)
		defer c.close(cancel)
		c.wg.Go(func() { c.lab.run(ctx) })
		for range 5 {
			c.await("a leader that is ready", func() bool { return c.leads(nil) != nil })
			before := c.known()
			for i, m := range c.members {
				m.dead.Store(true)
				if err := m.node.Close(); err != nil {
					t.Fatal(err)
				}
				c.start(i)
			}
			c.await("the next leader", func() bool { return c.leads(nil) != nil })
			claims := c.leads(nil).current.Leader().Claims()
			if len(claims) != len(c.lab.sim.Devices()) {
				t.Errorf("%d claims of %d devices", len(claims), len(c.lab.sim.Devices()))
			}
			for _, x := range claims {
				if after := c.known(); x.State != leader.Fenced || after[x.Device] <= before[x.Device] {
					t.Errorf("device %d is %v (%v), with term %d after %d", x.Device, x.State, x.Err, after[x.Device],
						before[x.Device])
				}
			}
		}
	})
}

// known returns the largest term that each device knows.
func (c *chaosCluster) known() map[southbound.DeviceID]uint64 {
	c.lab.mu.Lock()
	defer c.lab.mu.Unlock()
	return maps.Clone(c.lab.fences)
}
