package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/southbound"
)

// weather is the faults of a world, and how likely each is.
type weather struct {
	Delay  time.Duration // of a message to or from a device or host
	Late   float64       // it takes up to three seconds instead
	Lose   float64       // a call to a device, or its answer, or the answer to a client
	Double float64       // a call to hosts comes twice
	Break  float64       // a device's stream ends with an event
	Stop   float64       // a leader is stopped at a point of its work
	Clock  time.Duration // how far off a restarted replica's clock is at most
	Whole  bool          // it is off by all of Clock, before or ahead, or not at all
	Known  time.Duration // of a request after it was granted, by the log's time; 0: for good
	Kinds  []string      // of what happens now and then, see happen
	Parts  []fault.Kind  // that fail
	Liar   bool          // one agent reports what is not so
	Lies   bool          // switches accept changes and nothing comes of them: only the next leader notices

	names  *fault.Names
	damage *fault.Damage
	liar   southbound.HostID
	until  time.Duration
	counts map[string]int
}

// storm is all of it.
func storm(seed uint64) weather {
	x := weather{Delay: 3 * time.Millisecond, Late: .004, Lose: .02, Double: .05, Break: .01, Stop: .002,
		Clock: 2 * time.Second,
		Kinds: []string{"kill", "kill", "kill all", "stop", "cut", "cut all", "deaf", "mute", "slow",
			"sick", "trouble",
			"trouble", "again"}}
	x.Lies = seed/4%2 == 0
	switch seed % 4 {
	case 1:
		x.Parts = []fault.Kind{fault.Link, fault.Port, fault.Switch}
	case 2:
		x.Liar = true
	case 3:
		x.Parts = []fault.Kind{fault.Link, fault.Host}
	}
	return x
}

func (x *weather) begin(w *world, until time.Duration) {
	x.until, x.counts = until, map[string]int{}
	x.liar = southbound.HostID(w.r.IntN(w.fabric.Hosts()))
	w.after(time.Second, func() { x.next(w) })
	w.sim.At(until, func() { x.clear(w) })
}

// clear ends all faults.
func (x *weather) clear(w *world) {
	w.note("faults end: %v", x.described())
	x.Late, x.Lose, x.Double, x.Break, x.Stop, x.Clock = 0, 0, 0, 0, 0, 0
	for _, s := range w.seats {
		s.deaf, s.mute, s.sick, s.fsync = false, false, false, 0
		w.start(s)
		s.follow()
	}
	for _, f := range x.damage.Failed() {
		x.strike(w, f, true)
	}
	for _, id := range w.sim.Devices() {
		w.doors[id].cut = false
		w.sim.Do(id, func(_ time.Duration, dev *device.Device) { dev.ClearFaults() })
	}
	if x.Lies {
		w.depose("another is to read all switches back")
	}
	w.elect()
}

func (x *weather) described() string {
	var all []string
	for what, n := range x.counts {
		all = append(all, fmt.Sprint(n, " ", what))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// delay draws how long a message is under way.
func (x *weather) delay(w *world) time.Duration {
	if w.chance(x.Late) {
		return w.upTo(3 * time.Second)
	}
	return w.upTo(x.Delay)
}

// step draws how far off the clock of a process that starts is.
func (x *weather) step(w *world) time.Duration {
	if x.Clock == 0 {
		return 0
	}
	if x.Whole {
		return time.Duration(w.r.IntN(3)-1) * x.Clock
	}
	return w.upTo(2*x.Clock) - x.Clock
}

// point is called where a leader comes to a point of its work.
func (x *weather) point(w *world, s *seat, p point) {
	if !w.chance(x.Stop) {
		return
	}
	x.counts["stopped at "+p.String()]++
	if w.chance(.3) {
		x.kill(w, s, p.String())
		return
	}
	w.pause(s, 500*time.Millisecond+w.upTo(2*time.Second), p.String())
}

// next has something happen, and then the next thing.
func (x *weather) next(w *world) {
	if w.now() >= x.until {
		return
	}
	x.happen(w, x.Kinds[w.r.IntN(len(x.Kinds))])
	if len(x.Parts) > 0 && w.chance(.5) {
		x.fail(w)
	}
	if x.Liar {
		for range w.r.IntN(4) {
			w.agents.say(w, x.lie(w))
		}
	}
	w.after(100*time.Millisecond+w.upTo(1500*time.Millisecond), func() { x.next(w) })
}

func (x *weather) happen(w *world, kind string) {
	x.counts[kind]++
	s := w.seats[w.r.IntN(len(w.seats))]
	if c := w.log.chosen; c != nil && w.chance(.5) {
		s = c.seat
	}
	w.note("%s, replica %d", kind, s.place)
	for1 := 200*time.Millisecond + w.upTo(2*time.Second)
	switch kind {
	case "kill":
		x.kill(w, s, "for no reason")
	case "kill all":
		for _, s := range w.seats {
			x.kill(w, s, "with all")
		}
	case "stop":
		w.pause(s, for1, "for no reason")
	case "cut", "deaf", "mute":
		s.deaf, s.mute = kind != "mute", kind != "deaf"
		w.suspect()
		w.after(for1, func() { s.deaf, s.mute = false, false; s.follow(); w.elect() })
	case "cut all":
		for _, s := range w.seats {
			s.deaf, s.mute = true, true
		}
		w.suspect()
		w.after(for1, func() { x.heal(w) })
	case "slow":
		s.fsync = w.upTo(300 * time.Millisecond)
		w.after(for1, func() { s.fsync = 0 })
	case "sick":
		s.sick = true
		w.suspect()
		w.after(for1, func() { s.sick = false; s.follow(); w.elect() })
	case "trouble":
		all := w.sim.Devices()
		x.trouble(w, all[w.r.IntN(len(all))])
	case "ocs":
		x.trouble(w, w.anOCS())
	case "part":
		x.part(w, w.anOCS(), for1)
	case "again":
		w.agents.again(w)
	}
}

// heal lets all replicas hear each other again.
func (x *weather) heal(w *world) {
	for _, s := range w.seats {
		s.deaf, s.mute = false, false
		s.follow()
	}
	w.elect()
}

// kill ends a process; it is started again later.
func (x *weather) kill(w *world, s *seat, why string) {
	w.kill(s, why)
	w.after(200*time.Millisecond+w.upTo(time.Second), func() { w.start(s) })
}

// trouble makes a switch restart empty, change slowly, report false state or fail to make a circuit.
func (x *weather) trouble(w *world, d southbound.DeviceID) {
	kinds := int(device.Lie)
	if x.Lies {
		kinds++
	}
	kind := device.FaultKind(w.r.IntN(kinds))
	boot := time.Millisecond + w.upTo(100*time.Millisecond)
	w.note("device %d: trouble %d for %v", d, kind, boot)
	w.sim.Do(d, func(now time.Duration, dev *device.Device) {
		if kind == 0 {
			dev.Restart(now, boot)
			return
		}
		dev.Fault(device.Fault{Kind: kind, Port: southbound.NoPort, Times: 1, Delay: boot})
	})
}

// part cuts a switch off from all replicas for a while; it goes on with what it has.
func (x *weather) part(w *world, d southbound.DeviceID, long time.Duration) {
	w.note("device %d: cut off for %v", d, long)
	w.doors[d].cut = true
	w.stream(southbound.DeviceEvent{At: w.now(), Device: d, Kind: southbound.Lost, In: southbound.NoPort,
		Out: southbound.NoPort})
	w.after(long, func() { w.doors[d].cut = false })
}

// anOCS draws one of the optical switches.
func (w *world) anOCS() southbound.DeviceID {
	return w.fabric.OCSNode + southbound.DeviceID(w.r.IntN(w.fabric.OCSes()))
}

// fail breaks a part, which is mended later.
func (x *weather) fail(w *world) {
	kind := x.Parts[w.r.IntN(len(x.Parts))]
	all := x.names.Known(kind)
	f := fault.Fault{Kind: kind, Name: all[w.r.IntN(len(all))]}
	x.counts[kind.String()]++
	x.strike(w, f, false)
	w.after(w.upTo(time.Second), func() { x.strike(w, f, true) })
}

func (x *weather) strike(w *world, f fault.Fault, heal bool) {
	w.note("%v, mended %v", f, heal)
	if err := strike(w.sim, x.damage, fault.Event{Fault: f, Heal: heal}); err != nil {
		w.fail("%v: %v", f, err)
	}
}

// lie draws what the agent of one host reports without it being so: ends of its own tasks and of
// transfers to it, ends of what there is not, and what other hosts alone know.
func (x *weather) lie(w *world) southbound.Event {
	e := southbound.Event{At: w.upTo(2 * w.now()), Host: x.liar, Kind: southbound.TaskEnded,
		Task: southbound.TaskID(w.r.IntN(4000) - 100), Try: int32(w.r.IntN(3) - 1)}
	e.Coflow, e.Row = southbound.CoflowID(w.r.IntN(2000)-50), int32(w.r.IntN(40)-2)
	if w.chance(.5) {
		e.Kind = southbound.HostFlowEnded
	}
	d := w.seats[w.r.IntN(len(w.seats))].state.Live()
	if len(d.Tasks) > 0 && w.chance(.5) {
		e.Task = southbound.TaskID(w.r.IntN(len(d.Tasks)))
		e.Try = d.Tasks[e.Task].Try
	}
	if len(d.Coflows) > 0 && w.chance(.5) {
		e.Coflow = southbound.CoflowID(w.r.IntN(len(d.Coflows)))
		e.Row = int32(w.r.IntN(1 + len(d.Coflows[e.Coflow].Done)))
	}
	return e
}
