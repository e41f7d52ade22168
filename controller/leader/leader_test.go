package leader_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"lightloom/controller"
	"lightloom/controller/leader"
	"lightloom/controller/loop"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab is a leader over devices and hosts in memory.
type lab struct {
	t       *testing.T
	fabric  *topo.Fabric
	paths   *pathmap.Map
	state   *state.State
	log     *memLog
	hosts   *memHosts
	devices map[southbound.DeviceID]*memDevice
	doors   map[southbound.DeviceID]southbound.Device // of the first leader
	leader  *leader.Leader
	ended   chan error
	stop    context.CancelFunc
	began   time.Time
}

func newLab(t *testing.T, seed uint64, p controller.Policy) *lab {
	t.Helper()
	return newLabOn(t, "hybrid:racks=4,hosts=1,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms,slots=4", seed, p)
}

// newLabOn is newLab on a fabric of one's own.
func newLabOn(t *testing.T, fabric string, seed uint64, p controller.Policy) *lab {
	t.Helper()
	spec, err := topo.ParseSpec(fabric)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, devices: map[southbound.DeviceID]*memDevice{}, began: time.Now()}
	if l.fabric, err = topo.New(spec); err != nil {
		t.Fatal(err)
	}
	if l.paths, err = l.fabric.PathMap(2, 1); err != nil {
		t.Fatal(err)
	}
	l.state = state.New(l.fabric)
	l.log = &memLog{m: state.Machine{State: l.state}}
	l.hosts = newHosts(l.clock, 200*time.Millisecond)
	l.doors = map[southbound.DeviceID]southbound.Device{}
	for i, n := range l.fabric.Topology.Nodes() {
		if n.Role != pathmap.Host {
			d := newDevice(n.Role == pathmap.OCS, seed<<8|uint64(i))
			l.devices[southbound.DeviceID(i)], l.doors[southbound.DeviceID(i)] = d, door{d, 1}
		}
	}
	l.leader = leader.New(l.config(p, seed))
	return l
}

// config is what the first leader is made of.
func (l *lab) config(p controller.Policy, seed uint64) leader.Config {
	return leader.Config{State: l.state, Log: l.log, Devices: l.doors, Hosts: l.hosts, Clock: l.clock,
		SetTimeout: 100 * time.Millisecond, Retry: 5 * time.Millisecond, Sample: 20 * time.Millisecond,
		Loop: loop.Config{Policy: p, Paths: l.paths, Seed: seed, Delta: 15 * time.Millisecond,
			ElephantThreshold: 1,
			Verify:            true,
			Patience:          50 * time.Millisecond,
			Rollout: rollout.Options{Drain: time.Millisecond, Timeout: 500 * time.Millisecond,
				Retry: 5 * time.Millisecond}}}
}

func (l *lab) clock() time.Duration { return time.Since(l.began) }

// run starts the leadership.
func (l *lab) run() { l.runIn(1) }

func (l *lab) runIn(term uint64) {
	ctx, cancel := context.WithCancel(l.t.Context())
	l.stop, l.ended = cancel, make(chan error, 1)
	go func() { l.ended <- l.leader.Run(ctx, term) }()
}

// end stops the leadership and waits until all of it has ended.
func (l *lab) end() {
	l.t.Helper()
	l.stop()
	if err := <-l.ended; err != nil {
		l.t.Errorf("the leadership ended with %v, want nil", err)
	}
	for id, d := range l.devices {
		for _, what := range d.broken {
			l.t.Errorf("%s: %s", l.fabric.Topology.Node(id).Name, what)
		}
	}
}

// until waits for a condition, at most for so long.
func (l *lab) until(most time.Duration, what string, ok func() bool) {
	l.t.Helper()
	for end := time.Now().Add(most); !ok(); {
		if time.Now().After(end) {
			l.stop()
			<-l.ended
			l.t.Fatalf("waited %v for %s", most, what)
		}
		wait(context.Background(), time.Millisecond)
	}
}

func (l *lab) finished(n int) func() bool {
	return func() (ok bool) {
		l.log.View(func(uint64) { ok = l.state.Finished() == n })
		return ok
	}
}

func (l *lab) inService(in southbound.Port) func() bool {
	return func() (ok bool) {
		l.log.View(func(uint64) { ok = l.state.Circuit(in).Phase == controller.InService })
		return ok
	}
}

// greedy routes and places whatever comes and reserves a circuit for the first host flow of each coflow
// whose ports are free.
type greedy struct{ lasts time.Duration }

func (greedy) Wants() controller.KindSet { return ^controller.KindSet(0) }

func (greedy) Capabilities() controller.Capabilities { return controller.Capabilities{Circuits: true} }

func (g greedy) Decide(v *controller.View, _ []controller.Event) *controller.Plan {
	p := &controller.Plan{Wake: southbound.Never}
	for _, j := range v.Waiting {
		hosts := make([]southbound.HostID, j.Tasks())
		for i := range hosts {
			hosts[i] = southbound.HostID(i % v.Fabric.Hosts())
		}
		p.Place = append(p.Place, controller.Placement{Job: j.ID, Hosts: hosts})
	}
	used := map[southbound.Port]bool{}
	for _, r := range v.Reserved {
		used[r.In], used[r.Out+100] = true, true
	}
	for i := range v.Coflows {
		c := &v.Coflows[i]
		in, out := southbound.Port(v.HostRack(c.Src[0])), southbound.Port(v.HostRack(c.Dst[0]))
		if c.Started && !c.Ended[0] && in != out && !used[in] && !used[out+100] {
			used[in], used[out+100] = true, true
			p.Reserve = append(p.Reserve, controller.CircuitReservation{In: in, Out: out,
				NotBefore: v.Now, NotAfter: v.Now +
					g.lasts,
				Coflow: c.ID})
		}
	}
	slices.SortFunc(p.Reserve, func(a, b controller.CircuitReservation) int { return int(a.In - b.In) })
	return p
}

func bare(name string, flows ...controller.Flow) *controller.Job {
	return &controller.Job{Name: name, Edges: []controller.Edge{{Kind: controller.Fixed, Flows: flows}}}
}

func offer(j *controller.Job) []controller.Offer {
	return []controller.Offer{{Job: j, Request: j.Name}}
}

// TestJobs runs a bare coflow and a shuffle from Submit to their ends, the first over a circuit.
func TestJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		l.run()
		<-l.leader.Ready()
		if l.clock() >= 50*time.Millisecond {
			t.Errorf("ready only after %v, with devices that answer at once", l.clock())
		}
		err := l.leader.Submit(t.Context(), append(offer(bare("big",
			controller.Flow{Src: 0, Dst: 1, Bytes: 1000})),
			offer(&controller.Job{Name: "sort",
				Stages: []controller.Stage{{Tasks: make([]controller.Task, 2)}, {Tasks: make([]controller.Task, 1)}},
				Edges:  []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 100}}})...))
		if err != nil {
			t.Fatal(err)
		}
		l.until(100*time.Millisecond, "the circuit", l.inService(0))
		synctest.Wait()
		if tag := l.hosts.tag(southbound.HostFlowKey{}); tag != southbound.TagCircuit {
			t.Errorf("the host flow is sent with tag %d, want the circuit's", tag)
		}
		l.until(2*time.Second, "both jobs to end", l.finished(2))
		synctest.Wait()
		if got := l.hosts.acknowledged(); got != 6 {
			t.Errorf("%d events are acknowledged, want 6: 3 tasks, 1 and 2 host flows", got)
		}
		l.end()
	})
}

// TestSilentDevice holds that a device that never answers does not delay the others, and is brought
// into its state once it answers.
func TestSilentDevice(t *testing.T) {
	for _, name := range []string{"tor3", "spine1", "ocs"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, 1, greedy{time.Second})
				id, _ := l.fabric.Topology.Named(name)
				l.devices[id].become(mood{silent: true})
				l.run()
				<-l.leader.Ready()
				if got := l.clock(); got != 50*time.Millisecond {
					t.Errorf("ready after %v, want the patience of 50ms", got)
				}
				if err := l.leader.Submit(t.Context(),
					offer(bare("big", controller.Flow{Src: 0, Dst: 1, Bytes: 1000}))); err != nil {
					t.Fatal(err)
				}
				if name != "ocs" {
					l.until(30*time.Millisecond, "a circuit that has nothing to do with the device", l.inService(0))
				}
				l.until(time.Second, "the job to end", l.finished(1))
				l.devices[id].become(mood{})
				l.until(time.Second, "the device to hold what it should", func() bool { return l.astray() == "" })
				l.end()
			})
		})
	}
}

// astray returns a device that does not hold what the state wants, or "".
func (l *lab) astray() string {
	steered := slices.Repeat([]southbound.Port{southbound.NoPort}, l.fabric.Racks)
	moving := false
	l.log.View(func(uint64) {
		for in, c := range l.state.Data().Circuits {
			if moving = moving || c.Phase == controller.Reconfiguring; c.Phase == controller.InService {
				steered[in] = c.Out
			}
		}
	})
	if moving {
		return "a circuit is moving"
	}
	base := rollout.NewBase(l.fabric, l.paths)
	for _, id := range base.Devices() {
		got := l.devices[id].holds()
		if id != l.fabric.OCSNode && !slices.Equal(got.Rules, base.Rules(id, steered)) {
			return fmt.Sprintf("%s holds %v, want %v", l.fabric.Topology.Node(id).Name, got.Rules,
				base.Rules(id, steered))
		}
		if id == l.fabric.OCSNode {
			for _, c := range got.Connections {
				if steered[c.In] != c.Out {
					return fmt.Sprintf("the OCS holds %d→%d, which nobody wants", c.In, c.Out)
				}
			}
		}
	}
	return ""
}

// TestMoodyDevices has every device be slow, lose calls and answers, fall silent and break its stream,
// for fifty seeds, while jobs come: all of them end, and once the devices behave each holds exactly
// what it should.
func TestMoodyDevices(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { moody(t, seed) })
		})
	}
}

func moody(t *testing.T, seed uint64) {
	l := newLab(t, seed, greedy{60 * time.Millisecond})
	m := mood{slow: 20 * time.Millisecond, fail: .2}
	if seed%2 == 0 { // with every new stream the device is read, which heals much
		m.breaks = 100 * time.Millisecond
	}
	for id, d := range l.devices {
		m.silent = (uint64(id)+seed)%11 == 0
		d.become(m)
	}
	l.run()
	const jobs = 12
	for i := range jobs {
		src := southbound.HostID(i) % 4
		j := bare(fmt.Sprint("job", i), controller.Flow{Src: src,
			Dst: (src + 1 + southbound.HostID(i/4)) % 4, Bytes: 1000})
		if err := l.leader.Submit(t.Context(), offer(j)); err != nil {
			t.Fatal(err)
		}
		wait(t.Context(), 30*time.Millisecond)
	}
	l.until(5*time.Second, "all jobs to end", l.finished(jobs))
	for _, d := range l.devices {
		d.become(mood{slow: 2 * time.Millisecond})
	}
	last := ""
	defer func() {
		if t.Failed() {
			t.Log(last)
		}
	}()
	l.until(3*time.Second, "every device to hold what it should",
		func() bool { last = l.astray(); return last == "" })
	l.end()
}

// TestAckAfterCommit holds events back until what they led to is committed: a leader that dies in
// between leaves them to the next one.
func TestAckAfterCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		l.run()
		<-l.leader.Ready()
		if err := l.leader.Submit(t.Context(), offer(bare("one",
			controller.Flow{Src: 0, Dst: 1, Bytes: 10}))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		pass := make(chan struct{})
		l.log.mu.Lock()
		l.log.gate = func(ctx context.Context) error {
			if !l.hosts.reported() {
				return nil // the next entries are the event's
			}
			select {
			case <-pass:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		l.log.mu.Unlock()
		wait(t.Context(), time.Second) // the host flow has ended long since
		if got := l.hosts.acknowledged(); got != 0 {
			t.Errorf("event %d is acknowledged and not committed", got)
		}
		close(pass)
		l.until(time.Second, "the acknowledgement", func() bool { return l.hosts.acknowledged() == 1 })
		if !l.finished(1)() {
			t.Error("acknowledged, and the job has not ended")
		}
		l.end()
	})
}

// TestEventsFail: a stream of host events that breaks, with whatever error, ends no leadership. It is
// opened again, less and less often, and what was reported meanwhile is heard.
func TestEventsFail(t *testing.T) {
	for _, broken := range []error{errors.New("the agent is gone"), southbound.ErrNotLeader,
		southbound.ErrRefused} {
		t.Run(broken.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, 1, greedy{time.Second})
				l.hosts.broken = broken
				l.run()
				<-l.leader.Ready()
				if err := l.leader.Submit(t.Context(),
					offer(bare("one", controller.Flow{Src: 0, Dst: 1, Bytes: 10}))); err != nil {
					t.Fatal(err)
				}
				wait(t.Context(), time.Second)
				l.hosts.mu.Lock()
				if n := l.hosts.streams; n < 10 || n > 25 { // 5, 10, 20, 40 and then 80 ms apart
					t.Errorf("the stream was opened %d times in a second", n)
				}
				l.hosts.broken = nil
				l.hosts.mu.Unlock()
				l.until(time.Second, "the job to end", l.finished(1))
				l.end()
			})
		})
	}
}

// TestTakeover lets one leader begin and another one, on the same state, finish: what hosts and devices
// know already is not done twice.
func TestTakeover(t *testing.T) {
	for after := time.Duration(0); after < 40*time.Millisecond; after += time.Millisecond {
		t.Run(after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, 1, greedy{time.Second})
				l.run()
				if err := l.leader.Submit(t.Context(),
					offer(bare("one", controller.Flow{Src: 0, Dst: 1, Bytes: 10}))); err != nil {
					t.Fatal(err)
				}
				wait(t.Context(), after)
				l.end()
				second := newLab(t, 2, greedy{time.Second})
				l.leader = second.leaderOn(l)
				l.runIn(2)
				l.until(100*time.Millisecond, "the circuit", l.inService(0))
				synctest.Wait()
				if tag := l.hosts.tag(southbound.HostFlowKey{}); tag != southbound.TagCircuit {
					t.Errorf("the host flow is sent with tag %d, want the circuit's", tag)
				}
				l.until(time.Second, "the job to end", l.finished(1))
				if n := len(l.hosts.events); n != 1 {
					t.Errorf("hosts report %d events, want 1", n)
				}
				l.end()
			})
		})
	}
}

// leaderOn returns a new leader over what another lab has.
func (l *lab) leaderOn(o *lab) *leader.Leader {
	doors := map[southbound.DeviceID]southbound.Device{}
	for id, d := range o.devices {
		doors[id] = door{d, 2}
	}
	return leader.New(leader.Config{State: o.state, Log: o.log, Devices: doors, Hosts: o.hosts, Clock: o.clock,
		Loop: loop.Config{Policy: greedy{time.Second}, Paths: o.paths, Seed: 2, Verify: true,
			Patience: 50 * time.Millisecond,
			Rollout: rollout.Options{Drain: time.Millisecond, Timeout: 500 * time.Millisecond,
				Retry: 5 * time.Millisecond}}})
}
