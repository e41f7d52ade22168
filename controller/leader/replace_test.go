package leader_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller"
	"lightloom/controller/leader"
	"lightloom/controller/state"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// site is a session with a device, which ends with all streams on it when it is closed.
type site struct {
	door
	closed context.Context
	close  context.CancelFunc
}

func (s *site) Close() error { s.close(); return nil }

func (s *site) Watch(ctx context.Context, tell func(southbound.DeviceEvent)) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(s.closed, end)()
	if err := s.door.Watch(ctx, tell); s.closed.Err() == nil {
		return err
	}
	return errLost
}

// places is where devices are, and can be others.
type places struct {
	mu    sync.Mutex
	at    map[southbound.DeviceID]*memDevice
	lines map[southbound.DeviceID]*gnmi.Lazy
}

// replaceable has all devices of a lab reached through lines that are redialled.
func replaceable(l *lab) *places {
	p := &places{at: map[southbound.DeviceID]*memDevice{}, lines: map[southbound.DeviceID]*gnmi.Lazy{}}
	for id, d := range l.devices {
		p.at[id] = d
		p.lines[id] = gnmi.NewLazy(func(context.Context) (gnmi.Line, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			s := &site{door: door{p.at[id], 1}}
			s.closed, s.close = context.WithCancel(context.Background())
			return s, nil
		}, nil)
		l.doors[id] = p.lines[id]
	}
	cfg := l.config(greedy{time.Second}, 1)
	cfg.Redial = func(id southbound.DeviceID) { p.lines[id].Redial() }
	l.leader = leader.New(cfg)
	return p
}

// replace puts another device in the place of one, and returns that.
func (p *places) replace(l *lab, id southbound.DeviceID) *memDevice {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.at[id]
	p.at[id] = newDevice(old.optical, 99)
	l.devices[id] = p.at[id]
	return old
}

// TestReplacedDevice: a device that is replaced while a job runs is claimed, read and brought into its
// state; the old one, whether it answers or not, gets nothing any more, and the job ends.
func TestReplacedDevice(t *testing.T) {
	for _, name := range []string{"tor0", "spine1", "ocs"} {
		for what, m := range map[string]mood{"alive": {}, "dead": {silent: true}} {
			t.Run(name+" "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { replaced(t, name, m) })
			})
		}
	}
}

func replaced(t *testing.T, name string, m mood) {
	l := newLab(t, 1, greedy{time.Second})
	if err := l.state.Apply(&state.Entry{Kind: state.ClusterFounded,
		Cluster: &state.Cluster{Epoch: 1, Level: state.Newest}}); err != nil {
		t.Fatal(err)
	}
	p := replaceable(l)
	id, _ := l.fabric.Topology.Named(name)
	l.run()
	<-l.leader.Ready()
	submit := func(job string) {
		t.Helper()
		if err := l.leader.Submit(t.Context(), offer(bare(job,
			controller.Flow{Src: 0, Dst: 1, Bytes: 1000}))); err != nil {
			t.Fatal(err)
		}
	}
	submit("a")
	l.until(100*time.Millisecond, "the circuit", l.inService(0))
	next := controller.FabricChange{Generation: 1,
		Devices: []controller.DeviceRecord{{Node: id, Record: "name: x"}}}
	if name == "ocs" { // not with a circuit: it is drained, and replaced once that is done with
		refused := func(why string) {
			t.Helper()
			if err := l.leader.Change(t.Context(), next); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%v, want %q", err, why)
			}
		}
		refused("circuit 0→1 is lit")
		drained := []southbound.DeviceID{id}
		if err := l.leader.Change(t.Context(), controller.FabricChange{Generation: 1,
			Drained: drained}); err != nil {
			t.Fatal(err)
		}
		next.Generation, next.Drained = 2, drained
		refused("circuit 0→1 is in use")
		l.until(3*time.Second, "the job to end", l.finished(1))
		l.until(3*time.Second, "the circuit to go", func() bool { return !l.inService(0)() })
	}
	l.devices[id].become(m)
	old := p.replace(l, id)
	if err := l.leader.Change(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	// Where an optical switch should hold nothing, the new one does so before the leader has left the old one.
	l.until(time.Second, "the new device to be claimed", func() bool { return l.devices[id].claimed() == 1 })
	l.until(time.Second, "the new device to hold what it should", func() bool { return l.astray() == "" })
	old.mu.Lock()
	sets := len(old.sets)
	old.mu.Unlock()
	l.until(3*time.Second, "the first job to end", l.finished(1))
	back := next
	back.Generation, back.Drained = next.Generation+1, nil
	if err := l.leader.Change(t.Context(), back); err != nil {
		t.Fatal(err)
	}
	l.until(time.Second, "the new device to be watched", l.devices[id].watched)
	submit("b")
	l.until(time.Second, "a circuit again", l.inService(0))
	l.until(3*time.Second, "the second job to end", l.finished(2))
	if claimed := l.devices[id].claimed(); claimed != 1 {
		t.Errorf("the new device has been claimed in term %d", claimed)
	}
	old.mu.Lock()
	if len(old.sets) != sets {
		t.Error("the old device gets Sets")
	}
	old.mu.Unlock()
	l.end()
	for _, line := range p.lines {
		line.Close()
	}
}

// TestReplacedOCSOfSeveral: an optical switch without circuits is replaced while another one has some. These stay in
// service, their switch is told nothing, and the new one is claimed.
func TestReplacedOCSOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLabOn(t, "hybrid:racks=4,hosts=1,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms,slots=4,ocses=2", 1,
			greedy{3 * time.Second})
		if err := l.state.Apply(&state.Entry{Kind: state.ClusterFounded,
			Cluster: &state.Cluster{Epoch: 1, Level: state.Newest}}); err != nil {
			t.Fatal(err)
		}
		p := replaceable(l)
		with, _ := l.fabric.Topology.Named("ocs0")
		id, _ := l.fabric.Topology.Named("ocs1")
		l.run()
		<-l.leader.Ready()
		if err := l.leader.Submit(t.Context(), offer(bare("a",
			controller.Flow{Src: 0, Dst: 1, Bytes: 1000}))); err != nil {
			t.Fatal(err)
		}
		l.until(100*time.Millisecond, "the circuit", l.inService(0))
		sets := func(d *memDevice) int { d.mu.Lock(); defer d.mu.Unlock(); return len(d.sets) }
		replace := func(d southbound.DeviceID) error {
			return l.leader.Change(t.Context(), controller.FabricChange{Generation: 1,
				Devices: []controller.DeviceRecord{{Node: d, Record: "name: x"}}})
		}
		if err := replace(with); err == nil || !strings.Contains(err.Error(), "circuit 0→1 is lit") {
			t.Errorf("the switch of the circuit: %v", err)
		}
		before := sets(l.devices[with])
		old := p.replace(l, id)
		gone := sets(old)
		if err := replace(id); err != nil {
			t.Fatal(err)
		}
		l.until(time.Second, "the new switch to be claimed", func() bool { return l.devices[id].claimed() == 1 })
		if !l.inService(0)() || sets(l.devices[with]) != before || sets(old) != gone {
			t.Errorf("the circuit is in service: %v; its switch got %d Sets more, the old one %d", l.inService(0)(),
				sets(l.devices[with])-before, sets(old)-gone)
		}
		l.until(5*time.Second, "the job to end", l.finished(1))
		l.end()
		for _, line := range p.lines {
			line.Close()
		}
	})
}

// TestRemovedDevice: a switch that is removed is neither called nor waited for, also not by a
// leadership that begins meanwhile, and gets its tables when it is added again, as another one.
func TestRemovedDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 1, greedy{time.Second})
		if err := l.state.Apply(&state.Entry{Kind: state.ClusterFounded,
			Cluster: &state.Cluster{Epoch: 1, Level: state.Newest}}); err != nil {
			t.Fatal(err)
		}
		p := replaceable(l)
		id, _ := l.fabric.Topology.Named("spine1")
		one := []southbound.DeviceID{id}
		l.run()
		<-l.leader.Ready()
		change := func(c controller.FabricChange) {
			t.Helper()
			c.Generation = l.state.Change().Generation + 1
			if err := l.leader.Change(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		change(controller.FabricChange{Drained: one})
		change(controller.FabricChange{Drained: one, Removed: one})
		l.until(time.Second, "no claim", func() bool { return !claimed(l, id) })
		old := p.replace(l, id)
		calls := func() int { old.mu.Lock(); defer old.mu.Unlock(); return old.calls }
		synctest.Wait() // for calls that had begun
		before := calls()
		if err := l.leader.Submit(t.Context(), offer(bare("a",
			controller.Flow{Src: 0, Dst: 2, Bytes: 1}))); err != nil {
			t.Fatal(err)
		}
		l.until(3*time.Second, "the job to end", l.finished(1))
		l.stop()
		if err := <-l.ended; err != nil {
			t.Fatal(err)
		}
		cfg := l.config(greedy{time.Second}, 1)
		cfg.Redial = func(id southbound.DeviceID) { p.lines[id].Redial() }
		l.leader = leader.New(cfg)
		began := l.clock()
		l.run()
		<-l.leader.Ready()
		if took := l.clock() - began; took >= 50*time.Millisecond || calls() != before || claimed(l, id) {
			t.Errorf("ready after %v, %d calls of the removed switch", took, calls()-before)
		}
		change(controller.FabricChange{Drained: one})
		l.until(time.Second, "a claim", func() bool { return claimed(l, id) })
		change(controller.FabricChange{})
		l.until(time.Second, "the new switch to hold what it should", func() bool { return l.astray() == "" })
		if calls() != before {
			t.Error("the removed switch is called")
		}
		l.end()
		for _, line := range p.lines {
			line.Close()
		}
	})
}

// claimed reports whether a device is claimed, as the leader lists it.
func claimed(l *lab, id southbound.DeviceID) bool {
	for _, c := range l.leader.Claims() {
		if c.Device == id {
			return c.State == leader.Fenced
		}
	}
	return false
}
