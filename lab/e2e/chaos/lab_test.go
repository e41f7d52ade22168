package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lightloom/emulator/device"
	"lightloom/emulator/flowsim"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// lab is a simulated fabric that several controllers reach at once. Its clock is the wall's (in a test
// the bubble's), and its hosts keep their events until they are acknowledged. Switches refuse former
// leaders as gNMI targets do: a switch knows the leaders that have claimed or set it, a host all that
// have called.
type lab struct {
	sim   *flowsim.Sim
	began time.Time
	poke  chan struct{} // one token: something may be due sooner

	mu      sync.Mutex // goes before the simulator's own lock
	r       *rand.Rand
	faults  bool // calls get lost and streams break
	events  []southbound.Event
	base    uint64 // number of events[0]; numbers begin at 1
	more    chan struct{}
	fences  map[southbound.DeviceID]uint64 // largest term known to each device; to the hosts under hostsDoor
	readers map[southbound.DeviceID]uint64 // latest term in which a leader has read each device back
	cut     map[southbound.DeviceID]bool   // switches that nobody reaches
	streams map[southbound.DeviceID][]context.CancelFunc
	refused int      // calls of leaders of the past
	stale   []string // Sets accepted that no device should have
	tally   deliveries
	err     error
}

const hostsDoor southbound.DeviceID = pathmap.None

var (
	errUnreachable = errors.New("no answer")
	errGone        = errors.New("the caller is dead")
)

func newLab(sim *flowsim.Sim, seed uint64) *lab {
	return &lab{sim: sim, began: time.Now(), poke: make(chan struct{}, 1), r: rand.New(rand.NewPCG(seed, 31)),
		faults: true,
		base:   1, more: make(chan struct{}), fences: map[southbound.DeviceID]uint64{},
		readers: map[southbound.DeviceID]uint64{},
		tally:   newDeliveries(), cut: map[southbound.DeviceID]bool{},
		streams: map[southbound.DeviceID][]context.CancelFunc{}}
}

func (l *lab) now() time.Duration { return time.Since(l.began) }

// run lets time pass until ctx ends.
func (l *lab) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		l.mu.Lock()
		l.pass()
		l.mu.Unlock()
		wait := time.Hour
		if at, ok := l.sim.Next(); ok {
			wait = max(at-l.now(), 0)
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-l.poke:
		case <-timer.C:
		}
	}
}

// pass advances the fabric to this instant and stores what its hosts report. The lock is held.
func (l *lab) pass() {
	ev, _, err := l.sim.Advance(max(l.now(), l.sim.Now()), nil, nil)
	l.err = errors.Join(l.err, err)
	for _, e := range ev {
		l.tally.add(e)
	}
	if len(ev) > 0 {
		l.events = append(l.events, ev...)
		close(l.more)
		l.more = make(chan struct{})
	}
}

// do admits a leader at a device or host and calls f at this instant.
func (l *lab) do(g *grip, door southbound.DeviceID, f func() error) error {
	return l.fenced(g, door, func() error {
		if door != hostsDoor && g.term != l.readers[door] {
			l.stale = append(l.stale, fmt.Sprintf("%v: a Set of term %d to device %d, which was read back in term %d", l.now(),
				g.term, door, l.readers[door]))
		}
		return f()
	})
}

// fenced refuses a former leader, remembers any other, and calls f at this instant.
func (l *lab) fenced(g *grip, door southbound.DeviceID, f func() error) error {
	return l.at(g, func() error {
		if g.term < l.fences[door] {
			l.refused++
			return fmt.Errorf("term %d: %w", g.term, southbound.ErrNotLeader)
		}
		l.fences[door] = g.term
		return f()
	})
}

// at calls f at this instant, if the leader's process exists and runs.
func (l *lab) at(g *grip, f func() error) error {
	g.stop.wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.dead.Load() {
		return errGone
	}
	l.pass()
	err := f()
	l.pass()
	select {
	case l.poke <- struct{}{}:
	default:
	}
	return err
}

// draw returns how long a call is under way, and whether it or its answer is lost.
func (l *lab) draw() (under time.Duration, lost, answerLost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	under = time.Duration(l.r.Int64N(int64(3 * time.Millisecond)))
	return under, l.faults && l.r.IntN(30) == 0, l.faults && l.r.IntN(30) == 0
}

// trouble makes switches restart empty, change slowly, report false state and fail to make circuits,
// until ctx ends or that many times.
func (l *lab) trouble(ctx context.Context, r *rand.Rand, times int) {
	all := l.sim.Devices()
	for range times {
		if !pauseFor(ctx, time.Duration(50+r.IntN(500))*time.Millisecond) {
			return
		}
		d, kind := all[r.IntN(len(all))], device.FaultKind(r.IntN(int(device.Lie)+1))
		boot := time.Duration(1+r.IntN(100)) * time.Millisecond
		l.mu.Lock()
		l.pass()
		l.sim.Do(d, func(now time.Duration, dev *device.Device) {
			if kind == 0 {
				dev.Restart(now, boot)
				return
			}
			dev.Fault(device.Fault{Kind: kind, Port: southbound.NoPort, Times: 1, Delay: boot})
		})
		l.pass()
		l.mu.Unlock()
	}
}

// grip is the connection of one term of one leader to the lab's hosts.
type grip struct {
	lab  *lab
	term uint64
	dead *atomic.Bool // the replica's process is gone: nothing of it gets out any more
	stop *stop
}

// tell calls the hosts.
func (g *grip) tell(f func() error) error {
	g.stop.reach(queued, hostsDoor)
	g.stop.reach(sent, hostsDoor)
	err := g.lab.do(g, hostsDoor, f)
	g.stop.reach(acknowledged, hostsDoor)
	return err
}

func (g *grip) Run(tasks []southbound.Task) error {
	return g.tell(func() error { return g.lab.sim.Host().Run(tasks) })
}

func (g *grip) Start(starts []southbound.Start) error {
	return g.tell(func() error { return g.lab.sim.Host().Start(starts) })
}

func (g *grip) Steer(steers []southbound.Steer) error {
	return g.tell(func() error { return g.lab.sim.Host().Steer(steers) })
}

func (g *grip) SetRates(r *southbound.Rates) error {
	return g.tell(func() error { return g.lab.sim.Host().SetRates(r) })
}

func (g *grip) Remaining(c southbound.CoflowID) (left southbound.Remaining, ok bool) {
	g.lab.mu.Lock()
	defer g.lab.mu.Unlock()
	left, ok = g.lab.sim.Host().Remaining(c)
	left.Base = slices.Clone(left.Base) // two leaders may ask at one time
	return left, ok
}

// Events implements leader.Hosts.
func (g *grip) Events(ctx context.Context, from uint64, sink func(uint64, southbound.Event)) error {
	for {
		g.lab.mu.Lock()
		from = max(from, g.lab.base)
		news, more := slices.Clone(g.lab.events[from-g.lab.base:]), g.lab.more
		g.lab.mu.Unlock()
		for _, e := range news {
			sink(from, e)
			from++
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil
		}
	}
}

// Ack implements leader.Hosts.
func (g *grip) Ack(through uint64) error {
	return g.tell(func() error {
		if n := through + 1 - g.lab.base; through >= g.lab.base && n <= uint64(len(g.lab.events)) {
			g.lab.events, g.lab.base = g.lab.events[n:], through+1
		}
		return nil
	})
}

// labDevice is one switch, reached over the fabric's network with its delays and losses.
type labDevice struct {
	*grip
	id southbound.DeviceID
}

// call calls do after a delay, unless the call is lost. What a stopped process has sent arrives once it
// runs again, even if no caller waits for the answer.
func (d labDevice) call(ctx context.Context, do func() error) error {
	under, lost, answerLost := d.lab.draw()
	if !pauseFor(ctx, under) && !d.stop.is() {
		return context.Cause(ctx)
	}
	if lost || d.lab.isCut(d.id) {
		return errUnreachable
	}
	err := do()
	if err == nil && answerLost {
		return errUnreachable
	}
	return err
}

// Set implements southbound.Device.
func (d labDevice) Set(ctx context.Context, c *southbound.Change) error {
	d.stop.reach(queued, d.id)
	return d.call(ctx, func() error {
		d.stop.reach(sent, d.id)
		err := d.lab.do(d.grip, d.id, func() error { return d.lab.sim.Device(d.id).Set(context.WithoutCancel(ctx), c) })
		d.stop.reach(acknowledged, d.id)
		return err
	})
}

// Claim implements southbound.Claiming.
func (d labDevice) Claim(ctx context.Context) error {
	return d.call(ctx, func() error { return d.lab.fenced(d.grip, d.id, func() error { return nil }) })
}

// Read implements southbound.Device.
func (d labDevice) Read(ctx context.Context) (seen southbound.Seen, err error) {
	err = d.call(ctx, func() error {
		return d.lab.at(d.grip, func() (err error) {
			d.lab.readers[d.id] = max(d.lab.readers[d.id], d.term)
			seen, err = d.lab.sim.Device(d.id).Read(ctx)
			return err
		})
	})
	return seen, err
}

// Watch implements southbound.Device. Now and then the stream breaks.
func (d labDevice) Watch(ctx context.Context, sink func(southbound.DeviceEvent)) error {
	under, breaks, _ := d.lab.draw()
	life := time.Hour
	if breaks {
		life = 50 * under
	}
	short, cancel := context.WithTimeout(ctx, life)
	defer cancel()
	if !d.lab.stream(d.id, cancel) {
		pauseFor(ctx, under)
		return errUnreachable
	}
	err := d.lab.sim.Device(d.id).Watch(short, sink)
	if ctx.Err() == nil && err == nil {
		return errUnreachable
	}
	return err
}

// pauseFor waits, and reports whether ctx lasted that long.
func pauseFor(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
