package flowsim

import (
	"time"

	"lightloom/emulator/des"
	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
	"lightloom/southbound"
)

const none = -1

// fluid is the bytes in motion: bundles, the routes they take, the classes and paces that say how fast they go. It
// knows nothing of devices: where a route leads is asked of find.
type fluid struct {
	clock  *des.Clock[event]
	find   finder
	tables uint64 // generation of all tables of all devices

	perBit   float64   // payload bytes a nanosecond that one bit a second at layer 2 carries
	capacity []float64 // by link, bits a second
	wide     []bool    // by link: carries all that the hosts behind it can send or take, and so binds nobody
	narrow   bool      // no link is wide

	fair     bool
	strained bool             // some bundle was given less than was asked for, at the last sharing
	dirty    bool             // rates are to be shared anew
	walked   uint64           // generation that routes are up to date with
	uneasy   []pathmap.NodeID // whose tables have changed since
	anywhere bool             // or anything may have
	watch    [][]int32        // by what finder.find says was asked: routes that must be walked again when it changes
	epoch    uint64           // counts calls of setRates
	checks   uint64           // counts checks of rates
	touched  []int32          // classes whose next end may have moved

	bundles []bundle
	parts   []float64 // by bundle: see bundle
	coflows []coflow
	byID    map[southbound.CoflowID]int32
	live    []int32 // coflows with bundles that have not ended
	over    []int32 // coflows whose places are to be spare, once nobody can be looking at them
	spare   rowSpans
	routes  []route
	byPair  *pairIndex
	active  []int32 // routes with bundles that have not ended, and are not withheld
	classes []class
	rests   []classRest      // by class
	doors   []pathmap.LinkID // of caps, which nobody has now
	free    []int32
	busy    []int32 // classes with bundles
	lane    lane
	relay   *relay  // nil: racks keep nothing for each other
	groups  []group // by seat, while links have levels: hosts share by themselves, or all were told the same of their ports
	levels  *maxmin.Levels
	seats   []int32                 // by link: its number among those that levels are of; none where it binds nobody
	even    bool                    // all coflows were told the same of their ports
	tell    []pathmap.BitsPerSecond // what they were told, by link
	aside   int                     // bundles in classes that are not even
	up      []pathmap.LinkID        // by host
	flat    bool                    // only links of hosts bind
	stale   []int32                 // groups whose next end may be another
	quantum time.Duration           // ends are told at its multiples; 0: when they come

	solver maxmin.Solver
	tmp    scratch

	events   []southbound.Event
	errs     []error
	payload  []pathmap.Bytes // by link, of what has been accounted for
	ends     int64
	solves   int64
	stalls   int64
	suspects []int32 // routes whose bundles may stand still
}

// scratch is memory that calls reuse. Nothing in it outlives a call.
type scratch struct {
	links   []pathmap.LinkID
	asked   []pathmap.NodeID
	load    []float64 // by link, zero between calls
	touched []pathmap.LinkID
	classes []maxmin.Class
	who     []int32 // the class of each of the first of classes
	rates   []float64
	members []int32
	amounts []float64
	extra   []southbound.Extra
	where   []int32 // by link, zero between calls
	tell    []pathmap.BitsPerSecond
	rows    []int32 // of the lane
	turns   []turn
	seen    uint32    // what foresee has read, for somebody must want it
	from    []float64 // by host
	to      []float64
}

// nothing is how many bytes are as good as none: a bundle with less left ends with its class's next end.
const nothing = 0.5

func newFluid(clock *des.Clock[event], hosts int, links []pathmap.Link, perBit float64, find finder) *fluid {
	f := &fluid{
		clock: clock, find: find, perBit: perBit,
		byID: map[southbound.CoflowID]int32{}, byPair: newPairIndex(hosts),
		capacity: make([]float64, len(links)), payload: make([]pathmap.Bytes, len(links)),
	}
	f.wide = make([]bool, len(links))
	f.tmp.load = make([]float64, len(links))
	for l := range links {
		f.capacity[l] = float64(links[l].Capacity)
	}
	return f
}

// add declares the rows of a coflow that is not known yet.
func (f *fluid) add(s *southbound.Start) {
	n, index := int32(len(s.Size)), int32(len(f.coflows))
	first := f.makeRows(n)
	f.byID[s.Coflow] = index
	f.coflows = append(f.coflows, coflow{id: s.Coflow, rows: n, first: first, end: first + n, live: n, at: f.clock.Now(), factor: 1})
	if n > 0 {
		f.coflows[index].pos = int32(len(f.live))
		f.live = append(f.live, index)
	}
	f.takeCaps(index, s.Cap)
	for i := range n {
		p := pair{s.Src[i], s.Dst[i], s.Tag[i]}
		r := f.routeOf(index, i, p)
		bu := &f.bundles[first+i]
		*bu = bundle{pair: p, size: s.Size[i], coflow: index, route: r, away: none}
		if bu.holds() {
			bu.away, bu.awayTag = f.byPair.find(pair{p.src, p.dst, southbound.TagCircuit}), southbound.TagCircuit
		} else {
			f.enter(r)
		}
		f.place(first+i, float64(s.Size[i]))
	}
	if f.relay != nil {
		f.relay.started(index)
	}
}

// place puts a bundle that is nowhere to where the rates in force want it.
func (f *fluid) place(b int32, left float64) {
	bu := &f.bundles[b]
	co, r := &f.coflows[bu.coflow], &f.routes[bu.route]
	if co.lefts != nil {
		f.rest(co, b, left)
	}
	now := f.clock.Now()
	switch {
	case bu.holds():
		f.hold(b, left)
	case r.capped && !f.fair && co.kind != free && paces(r.tag):
		f.enlane(b, left, min(f.wishOf(co, b, left), f.capacity[r.door]))
	case f.fair || co.kind == free || !paces(r.tag):
		f.join(f.shared(bu.route), b, left)
	case co.kind == leveled:
		f.join(f.leveled(bu.route), b, left)
	case co.kind == spread:
		f.enlane(b, left, co.spreadOf(&r.pair)+co.extraOf(b-co.first))
	case (co.until == 0 || co.until > now) && co.extraOf(b-co.first) > 0:
		f.enlane(b, left, f.paceOf(co, left)+co.extraOf(b-co.first))
	case co.until == 0 || r.fate == arrives && co.until > now:
		f.joinPace(co, b, left)
	case co.until > now:
		f.join(f.solo(bu.route, left/float64(co.until-now)/f.perBit), b, left)
		co.late++
	default:
		f.join(f.solo(bu.route, unbounded), b, left)
		co.late++
	}
}

// pull takes a bundle from where it is and returns what is left of it, in bytes.
func (f *fluid) pull(b int32) float64 {
	bu := &f.bundles[b]
	co := &f.coflows[bu.coflow]
	switch bu.class {
	case onPace:
		return f.leavePace(co, b)
	case onLane:
		return f.delane(b)
	case onHold:
		return bu.mark
	}
	if f.classes[bu.class].alone {
		co.late--
	}
	return f.leave(b)
}

// again puts a bundle to where it belongs now.
func (f *fluid) again(b int32) { f.place(b, f.pull(b)) }

// finish ends a bundle on a route that has been taken from its class or pace.
func (f *fluid) finish(b, route int32) {
	bu, r := &f.bundles[b], &f.routes[route]
	r.books += bu.size - bu.counted
	bu.counted = bu.size
	bu.class = gone
	f.exit(route)
	if f.relay == nil || !f.relay.keeps(b) {
		f.report(b)
	}
}

// report tells that a bundle's last byte has been received.
func (f *fluid) report(b int32) {
	bu := &f.bundles[b]
	co, r := &f.coflows[bu.coflow], &f.routes[bu.route]
	f.ends++
	f.events = append(f.events, southbound.Event{
		At: f.clock.Now(), Kind: southbound.BundleEnded, Host: r.dst,
		BundleKey: southbound.BundleKey{Coflow: co.id, Row: b - co.first},
	})
	f.lessLive(b)
}

// lessLive counts one live bundle of a coflow less.
func (f *fluid) lessLive(b int32) {
	index := f.bundles[b].coflow
	co := &f.coflows[index]
	if co.lefts != nil {
		f.cool(co, b, 0)
	}
	if co.live--; co.live == 0 {
		co.warm = nil
		f.dropCaps(co)
		co.load, co.where, co.lefts, co.extra, co.from, co.to = nil, nil, nil, nil, nil, nil
		f.unlive(index)
		f.over = append(f.over, index)
	}
}

// unlive takes a coflow off the list of those with live bundles.
func (f *fluid) unlive(index int32) {
	co := &f.coflows[index]
	last := f.live[len(f.live)-1]
	f.live[co.pos] = last
	f.coflows[last].pos = co.pos
	f.live = f.live[:len(f.live)-1]
	co.live = 0
}

// revive puts a coflow of one row on it.
func (f *fluid) revive(index int32) {
	f.coflows[index].pos, f.coflows[index].live = int32(len(f.live)), 1
	f.live = append(f.live, index)
}

// leftOf returns the bytes left of a bundle as of now.
func (f *fluid) leftOf(b int32) float64 {
	bu := &f.bundles[b]
	switch bu.class {
	case gone:
		return 0
	case onPace:
		return f.parts[b] * f.coflows[bu.coflow].factorAt(f.clock.Now())
	case onLane:
		return f.lane.rows[bu.pos].leftAt(f.clock.Now())
	case onHold:
		return bu.mark
	}
	return max(bu.mark-f.vOf(&f.classes[bu.class]), 0)
}

// left returns what is left of a coflow. The slice is borrowed until anything happens to the coflow.
func (f *fluid) left(co *coflow) southbound.Left {
	now := f.clock.Now()
	if l, ok := f.leftOnPace(co, now); ok {
		return l
	}
	if co.live == 0 {
		return southbound.Left{F: 1, Base: make([]float64, co.rows), At: now}
	}
	if co.lefts == nil {
		f.lend(co)
	}
	for _, row := range co.warm {
		co.lefts[row] = f.leftOf(co.first + row)
	}
	if len(co.legs) > 0 {
		f.relay.addKept(co)
	}
	return southbound.Left{F: 1, Base: co.lefts, At: now, Live: co.live}
}

// leftOnPace returns what is left of a coflow whose rows all follow its pace, but for some in the lane: the parts that
// the pace has anyway, ended rows having one of zero. Rows in the lane use none, so theirs is set for this.
func (f *fluid) leftOnPace(co *coflow, now time.Duration) (southbound.Left, bool) {
	if co.kind != paced || co.live == 0 || len(co.legs) > 0 {
		return southbound.Left{}, false
	}
	factor := co.factorAt(now)
	co.off = co.off[:0]
	if co.on < co.live {
		if factor <= 0 {
			return southbound.Left{}, false
		}
		for i := range co.extra {
			row := co.extra[i].Row
			b := co.first + row
			if bu := &f.bundles[b]; bu.class == onLane {
				f.parts[b] = f.lane.rows[bu.pos].leftAt(now)
				if factor != 1 {
					f.parts[b] /= factor
				}
				co.off = append(co.off, row)
			}
		}
		if int(co.live-co.on) != len(co.off) {
			return southbound.Left{}, false // others are late, or on circuits
		}
	}
	f.loads(co)
	return southbound.Left{F: factor, Base: f.parts[co.first:co.end:co.end], At: now, Live: co.live, Load: co.load, Off: co.off, Version: co.sums}, true
}

// settle brings routes and rates up to date with everything that was done at this instant. It costs nothing where
// nothing was.
func (f *fluid) settle() {
	if f.walked != f.tables {
		f.walked = f.tables
		f.rewalk()
	}
	if f.relay != nil {
		f.relay.step()
	}
	if f.dirty {
		f.dirty = false
		f.share()
	} else if f.even {
		f.sit() // what has ended is no longer counted when levels are told next
	}
	for _, c := range f.touched {
		f.reschedule(c)
	}
	f.touched = f.touched[:0]
	f.rescheduleGroups()
	f.rescheduleLane()
}

// slackness is by how much an end may miss the grid.
const slackness = 20 * time.Microsecond

// grid returns the instant at which an end is told. What misses an instant of the grid by less than slackness meets it:
// rates are whole bits a second, and a bundle that was to end there in exact arithmetic ends a little later.
func (f *fluid) grid(at time.Duration) time.Duration {
	if f.quantum <= 0 {
		return at
	}
	return max((at-slackness+f.quantum-1)/f.quantum*f.quantum, f.clock.Now())
}

// until is how long n bytes take at a rate in bytes a nanosecond, rounded up: a bundle never ends before its last byte.
// A ten-billionth of a millionth less counts as whole, so that a quotient that is integral in exact arithmetic stays so.
func until(n, rate float64) (time.Duration, bool) {
	ns := n / rate * (1 - 1e-14)
	if !(ns < float64(southbound.Never/2)) {
		return 0, false
	}
	d := time.Duration(ns)
	if float64(d) < ns {
		d++
	}
	return d, true
}
