package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"lightloom/controller"
	"lightloom/controller/leader"
	"lightloom/controller/loop"
	"lightloom/controller/policy"
	"lightloom/controller/replica"
	"lightloom/controller/replica/chaos"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/controller/workload"
	"lightloom/emulator/fault"
	"lightloom/emulator/flowsim"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestLeaderLost kills the leader twice at random committed indexes in mid-replay. Three replicas in
// one process share a simulated fabric, over a network that loses, doubles, delays and reorders. A
// leader dies with an entry committed and nothing of it done, dies halfway, or is cut off and acts on
// while another is elected. Jobs still arrive, and devices lose calls, break streams, restart empty,
// report false state and fail to make circuits. In the end every byte has arrived once, the replicas
// agree, and no port was lit twice.
func TestLeaderLost(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	policies := []string{"random+ecmp+sunflow", "crosslayer+sunflow", "random+ecmp+sunflow-preempt",
		"random+ecmp+maxmin"}
	seeds := tries.Of[uint64](10, 30)
	for seed := range seeds {
		name := policies[seed%uint64(len(policies))]
		t.Run(fmt.Sprintf("seed_%d/%s", seed, name), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { loseLeaders(t, seed, name, seed%3 != 0) })
		})
	}
}

const chaosFabric = "hybrid:racks=4,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms,nic=500Mbps,slots=8"

// The ways to lose a leader.
const (
	deadBeforeActing = iota // its entry is committed, and it does nothing of what follows
	deadInTheMidst
	cutOff // it runs on, and its messages do not reach the cluster
	waysToLose
)

// chaosCluster is three replicas of the whole controller over one lab.
type chaosCluster struct {
	t       *testing.T
	ctx     context.Context
	seed    uint64
	policy  string
	hold    bool
	lost    bool // hosts fail
	fabric  *topo.Fabric
	paths   *pathmap.Map
	lab     *lab
	net     *chaos.Network
	peers   []replica.Peer
	disks   []*replica.Memory
	target  atomic.Uint64 // index at which the leader is lost, 0 for none
	way     atomic.Int32
	losses  chan loss
	rejects *rejects

	mu      sync.Mutex
	members []*member
	wg      sync.WaitGroup
}

// loss is a leader that is to be lost at this point.
type loss struct {
	m     *member
	index uint64
}

// member is one life of a replica.
type member struct {
	place   int
	node    *replica.Node
	state   *state.State
	current leader.Current
	dead    atomic.Bool
	stop    *stop
}

func newChaosCluster(ctx context.Context, t *testing.T, fabric string, seed uint64, policy string,
	hold bool) *chaosCluster {
	spec, err := topo.ParseSpec(fabric)
	if err != nil {
		t.Fatal(err)
	}
	c := &chaosCluster{t: t, ctx: ctx, seed: seed, policy: policy, hold: hold, losses: make(chan loss, 1),
		net: chaos.NewNetwork(seed, 100*time.Millisecond), rejects: &rejects{}}
	if c.fabric, err = topo.New(spec); err != nil {
		t.Fatal(err)
	}
	if c.paths, err = c.fabric.PathMap(2, seed); err != nil {
		t.Fatal(err)
	}
	sim, err := flowsim.New(c.fabric, flowsim.Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	c.lab = newLab(sim, seed)
	for i := range 3 {
		id := fmt.Sprintf("r%d", i)
		c.peers = append(c.peers, replica.Peer{ID: id, Addr: id + ":1"})
		c.disks = append(c.disks, replica.NewMemory())
	}
	c.net.SetFaults(chaos.Faults{Drop: .02, DropReply: .02, Double: .03, Delay: 5 * time.Millisecond})
	c.members = make([]*member, len(c.peers))
	for i := range c.peers {
		c.start(i)
	}
	return c
}

// start starts a replica from the contents of its disk.
func (c *chaosCluster) start(i int) {
	m := &member{place: i, state: state.New(c.fabric), stop: newStop()}
	var err error
	as := replica.Existing
	if c.members[i] == nil {
		as = replica.Bootstrap
	}
	m.node, err = replica.New(replica.Config{ID: c.peers[i].ID, Start: as, Peers: c.peers, Memory: c.disks[i],
		Machine: state.Machine{State: m.state}, Transport: c.net.Transport(raft.ServerAddress(c.peers[i].Addr)),
		Limits: replica.Limits{SnapshotEvery: 40, Trailing: 8}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	c.members[i] = m
	c.mu.Unlock()
	c.wg.Go(func() {
		err := m.node.Leadership(c.ctx, func(ctx context.Context, term uint64) error {
			return c.lead(ctx, m, term)
		})
		if err != nil && !errors.Is(err, replica.ErrClosed) {
			c.t.Errorf("replica %d: %v", i, err)
		}
	})
}

func (c *chaosCluster) lead(ctx context.Context, m *member, term uint64) error {
	p, err := policy.New(c.policy, policy.Options{})
	if err != nil {
		return err
	}
	if c.hold {
		p = holding{p}
	}
	g := &grip{lab: c.lab, term: term, dead: &m.dead, stop: m.stop}
	devices := map[southbound.DeviceID]southbound.Device{}
	for _, id := range c.lab.sim.Devices() {
		devices[id] = labDevice{g, id}
	}
	ctl := rollout.DefaultControl()
	return m.current.Run(ctx, term, leader.New(leader.Config{State: m.state,
		Log:     trap{stopLog{m.node, g}, c, m},
		Devices: devices, Hosts: g,
		Clock: c.lab.now, Logger: slog.New(c.rejects), Retry: 20 * time.Millisecond,
		Loop: loop.Config{Policy: p, Paths: c.paths, Seed: c.seed,
			Delta:             ctl.Delta(c.fabric.Spec.Dark),
			ElephantThreshold: 1 << 20, Rollout: ctl.Options(0), Patience: time.Second, Verify: true}}))
}

// holding makes host flows wait for their circuit instead of using packets.
type holding struct{ controller.Policy }

func (h holding) Decide(v *controller.View, ev []controller.Event) *controller.Plan {
	p := h.Policy.Decide(v, ev)
	for i := range p.Reserve {
		p.Reserve[i].Fallback = controller.Hold
	}
	return p
}

// trap is the log of a replica that can die as soon as an entry is committed.
type trap struct {
	leader.Log
	c *chaosCluster
	m *member
}

func (x trap) AppendIn(ctx context.Context, term uint64, entry []byte) (uint64, error) {
	index, err := x.Log.AppendIn(ctx, term, entry)
	at := x.c.target.Load()
	if at == 0 || index < at || !x.c.target.CompareAndSwap(at, 0) {
		return index, err
	}
	x.c.losses <- loss{x.m, index}
	if x.c.way.Load() != deadBeforeActing {
		return index, err
	}
	x.m.dead.Store(true)
	<-ctx.Done()
	return 0, ctx.Err()
}

// lose loses the present leader. A replica that died restarts later with the contents of its disk.
func (c *chaosCluster) lose(l loss, r *rand.Rand) {
	addr := raft.ServerAddress(c.peers[l.m.place].Addr)
	way := c.way.Load()
	if way == deadInTheMidst {
		pauseFor(c.ctx, time.Duration(r.IntN(5000))*time.Microsecond)
	}
	c.net.Isolate(addr)
	if way == cutOff {
		pauseFor(c.ctx, 1500*time.Millisecond)
		c.net.Heal()
		return
	}
	l.m.dead.Store(true)
	if err := l.m.node.Close(); err != nil {
		c.t.Errorf("close replica %d: %v", l.m.place, err)
	}
	pauseFor(c.ctx, time.Duration(200+r.IntN(600))*time.Millisecond)
	c.net.Heal()
	c.start(l.m.place)
}

// submit submits a job to any replica that takes it, and repeats that under one request id until one does.
func (c *chaosCluster) submit(j *controller.Job, request string, r *rand.Rand) (tries int) {
	for c.ctx.Err() == nil {
		tries++
		c.mu.Lock()
		m := c.members[r.IntN(len(c.members))]
		c.mu.Unlock()
		ctx, cancel := context.WithTimeout(c.ctx, 300*time.Millisecond)
		err := m.current.Leader().Submit(ctx, []controller.Offer{{Job: j, Request: request}})
		cancel()
		if err == nil && !m.dead.Load() {
			return tries
		}
		pauseFor(c.ctx, 5*time.Millisecond)
	}
	return tries
}

// await polls a condition that no event announces.
func (c *chaosCluster) await(what string, ok func() bool) {
	c.t.Helper()
	for !ok() {
		if !pauseFor(c.ctx, 10*time.Millisecond) {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, m := range c.members {
				m.node.View(func(index uint64) {
					c.t.Logf("replica %d: entry %d: %s", m.place, index, unfinished(m.state))
				})
			}
			c.t.Fatalf("waited too long for %s", what)
		}
	}
}

// each reports whether ok holds for every replica.
func (c *chaosCluster) each(ok func(m *member) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(c.members, func(m *member) bool { return m.dead.Load() || !ok(m) })
}

func loseLeaders(t *testing.T, seed uint64, name string, hold bool) {
	loseLeadersAmong(t, seed, name, hold, nil)
}

// loseLeadersAmong loses leaders while parts of these kinds fail and recover.
func loseLeadersAmong(t *testing.T, seed uint64, name string, hold bool, kinds []fault.Kind) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	jobs, err := workload.Synthetic(workload.SyntheticOptions{Seed: seed, Jobs: 30, Racks: 4, HostsPerRack: 2,
		Window: 5 * time.Second, Elephant: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	const losses = 2
	c := newChaosCluster(ctx, t, chaosFabric, seed, name, hold)
	defer c.close(cancel)
	c.wg.Go(func() { c.lab.run(ctx) })
	c.wg.Go(func() { c.lab.trouble(ctx, rand.New(rand.NewPCG(seed, 23)), 8) })

	breaks := newBreaker(c.lab, c)
	var broken sync.WaitGroup
	if len(kinds) > 0 {
		c.lost = hostsLost(kinds)
		for k := range uint64(2) {
			broken.Go(func() { breaks.run(ctx, rand.New(rand.NewPCG(seed, 50+k)), kinds, 6) })
		}
	}

	var arrivals sync.WaitGroup
	var again atomic.Int64 // tries beyond the first
	arrive := func(i int, at time.Duration) {
		r := rand.New(rand.NewPCG(seed, uint64(1000+i)))
		arrivals.Go(func() {
			pauseFor(ctx, at)
			again.Add(int64(c.submit(&jobs[i], fmt.Sprintf("job-%d", i), r) - 1))
		})
	}
	for i := range jobs[:len(jobs)-losses] { // the others arrive the moment that a leader is lost
		arrive(i, jobs[i].Arrival)
	}
	r := rand.New(rand.NewPCG(seed, 17))
	for k := range losses {
		c.way.Store(int32((seed/4 + uint64(k)) % waysToLose))
		c.target.Store(c.applied() + 5 + r.Uint64N(40))
		select {
		case l := <-c.losses:
			arrive(len(jobs)-losses+k, 0)
			if len(kinds) > 0 {
				link := breaks.downLink(r)
				breaks.strike(link, false)
				broken.Go(func() {
					pauseFor(ctx, 2*time.Second) // the next leader finds it dark
					breaks.strike(link, true)
				})
			}
			c.lose(l, r)
		case <-ctx.Done():
			t.Fatal("no leader came to the entry at which it was to be lost")
		}
	}
	arrivals.Wait()
	broken.Wait()
	c.await("all jobs to end", func() bool {
		return c.each(func(m *member) (ok bool) {
			m.node.View(func(uint64) { ok = m.state.Finished() == len(jobs) })
			return ok
		})
	})
	c.agree()
	c.check(jobs)
	failed := 0
	c.members[0].node.View(func(uint64) {
		for _, m := range c.members[0].state.Data().Moves {
			if m.Failed {
				failed++
			}
		}
	})
	counts := c.lab.sim.Counters()
	t.Logf("ended after %v; %d tries more than jobs, %d calls of leaders of the past refused, %d moves failed, %d "+
		"stalls, %d bytes over circuits",
		c.lab.now(), again.Load(), c.lab.refused, failed, counts.Stalls, counts.OCS)
}

// close ends everything, also after a failure.
func (c *chaosCluster) close(cancel context.CancelFunc) {
	cancel()
	for _, m := range c.members {
		m.stop.disarm()
		m.stop.goOn()
	}
	for _, m := range c.members {
		if err := m.node.Close(); err != nil {
			c.t.Errorf("close replica %d: %v", m.place, err)
		}
	}
	c.wg.Wait()
}

// applied is the largest index that any replica has applied.
func (c *chaosCluster) applied() (most uint64) {
	c.each(func(m *member) bool {
		m.node.View(func(index uint64) { most = max(most, index) })
		return true
	})
	return most
}
