package flowsim

import (
	"time"

	"lightloom/emulator/des"
	"lightloom/pathmap"
	"lightloom/southbound"
)

const none = -1

// fluid is the bytes in motion. Each host flow is in one of the regimes that say how fast it goes:
// place puts it there, and pull takes it out. It knows nothing of devices: where a route leads is asked
// of find.
type fluid struct {
	state
	classes    classes // host flows at the rate of their pair, or at what links leave them
	levels     levels  // rates of classes while hosts share by themselves, or all have the rates of their ports
	paces      paces   // host flows that end together with their coflow
	individual individualRates
	spreads    spreads    // host flows of large coflows that are spread
	backfilled backfilled // host flows of paced coflows with extras
	demand     linkDemand // what all of them ask of links

	ranked       bool // hosts share by themselves, and some coflow has a priority
	rankedDemand rankedShares

	severed  bool   // some route has led nowhere in this run
	steadies uint64 // numbers what coflow.steady is set to

	epoch  uint64 // counts calls of setRates
	checks uint64 // counts checks of rates
	tmp    scratch
}

// scratch is memory that calls reuse. Nothing in it outlives a call.
type scratch struct {
	links    []pathmap.LinkID
	members  []int32
	amounts  []float64
	extra    []southbound.Extra
	reroutes []reroute
	from     []float64 // by host
	to       []float64
	wasFrom  []float64
	wasTo    []float64
	set      []uint64
	named    []int32    // by checkRates, for setRates: the coflows with a pace, then those that are spread
	turned   []toldKind // likewise: those that come to an even spread, or leave it
}

// nothing is how many bytes are as good as none: a host flow with less left ends with its class's next end.
const nothing = 0.5

func newFluid(clock *des.Clock[event], hosts int, links []pathmap.Link, perBit float64, find finder) *fluid {
	f := &fluid{state: state{clock: clock, perBit: perBit,
		routeTable: routeTable{find: find, byPair: newRouteIndex(hosts)},
		linkTable:  newLinkTable(links)}}
	f.classes.state, f.paces.state, f.individual.state = &f.state, &f.state, &f.state
	f.spreads.state, f.spreads.few = &f.state, fewRows
	f.backfilled.state, f.backfilled.few, f.rankedDemand.perBit = &f.state, fewRows, perBit
	f.levels.classes, f.classes.byPriority = &f.classes, map[[2]int32]int32{}
	return f
}

// add declares the rows of a coflow that is not known yet.
func (f *fluid) add(s *southbound.Start) {
	n := int32(len(s.Size))
	first := f.makeRows(n)
	index := f.append(coflow{id: s.Coflow, rows: n, first: first, end: first + n})
	f.byID.Set(s.Coflow, index)
	if n > 0 {
		f.revive(index, n, f.clock.Now())
	}
	f.takeCaps(index, s.Cap)
	for i := range n {
		p := pair{s.Src[i], s.Dst[i], s.Tag[i]}
		r := f.routeOf(index, i, p)
		bu := &f.hostFlows[first+i]
		*bu = hostFlow{pair: p, size: s.Size[i], coflow: index, route: r, away: none}
		if bu.holds() {
			bu.away, bu.awayTag = f.routeAt(pair{p.src, p.dst, southbound.TagCircuit}), southbound.TagCircuit
		} else {
			f.enter(r)
		}
		f.place(first+i, float64(s.Size[i]))
	}
	if f.relay != nil {
		f.relay.started(index)
	}
}

// place puts a host flow that is nowhere to where the rates in force want it.
func (f *fluid) place(b int32, left float64) {
	bu := &f.hostFlows[b]
	co, r := &f.coflows[bu.coflow], &f.routes[bu.route]
	if co.lefts != nil {
		f.rest(co, b, left)
	}
	now := f.clock.Now()
	switch {
	case bu.holds():
		f.hold(b, left)
	case r.capped && !f.fair && co.kind != free && f.followsPace(r.tag):
		f.individual.add(b, left, min(f.wishOf(co, b, left), f.capacity[r.door]))
	case f.fair || co.kind == free || !f.followsPace(r.tag):
		f.classes.join(f.classes.ranked(bu.route, co.priority.Of(b-co.first)), b, left)
	case co.kind == leveled:
		f.classes.join(f.classes.leveled(bu.route), b, left)
	case co.kind == spread && f.spreads.suits(co, r):
		f.spreads.add(co, f.tableOf(co), b, left)
	case co.kind == spread:
		f.individual.add(b, left, co.spreadOf(&r.pair)+co.extraOf(b-co.first))
	case (co.until == 0 || co.until > now) && co.extraOf(b-co.first) > 0:
		if wish := f.paces.rateOf(co, left) + co.extraOf(b-co.first); f.backfilled.suits(co, r) {
			f.backfilled.add(co, b, left, wish)
		} else {
			f.individual.add(b, left, wish)
		}
	case f.awaits(left) && (co.until == 0 || co.until > now): // no pace has anything to do with it any more
		f.hold(b, left)
	case co.until == 0 || r.fate == arrives && co.until > now:
		f.paces.join(co, b, left)
	case co.until > now:
		f.classes.join(f.classes.solo(bu.route, left/float64(co.until-now)/f.perBit), b, left)
		co.late++
	default:
		f.classes.join(f.classes.solo(bu.route, unbounded), b, left)
		co.late++
	}
}

// pull takes a host flow from where it is and returns what is left of it, in bytes.
func (f *fluid) pull(b int32) float64 {
	bu := &f.hostFlows[b]
	co := &f.coflows[bu.coflow]
	switch bu.class {
	case onPace:
		return f.paces.leave(co, b)
	case onIndividual:
		return f.individual.remove(b)
	case onSpread:
		return f.spreads.remove(b)
	case onBackfilled:
		return f.backfilled.remove(b)
	case onHold:
		return bu.mark
	}
	if f.classes.list[bu.class].alone {
		co.late--
	}
	return f.classes.leave(b)
}

// again puts a host flow to where it belongs now.
func (f *fluid) again(b int32) { f.place(b, f.pull(b)) }

// leftOf returns the bytes left of a host flow as of now.
func (f *fluid) leftOf(b int32) float64 {
	bu := &f.hostFlows[b]
	switch bu.class {
	case gone:
		return 0
	case onPace:
		return f.parts[b] * f.coflows[bu.coflow].factorAt(f.clock.Now())
	case onIndividual:
		return f.individual.rows[bu.pos].leftAt(f.clock.Now())
	case onSpread:
		return f.spreads.leftOf(&f.coflows[bu.coflow], b)
	case onBackfilled:
		return f.backfilled.leftOf(&f.coflows[bu.coflow], b)
	case onHold:
		return bu.mark
	}
	return max(bu.mark-f.classes.vOf(&f.classes.list[bu.class]), 0)
}

// left returns what is left of a coflow. The slice is borrowed until anything happens to the coflow.
func (f *fluid) left(co *coflow) southbound.Remaining {
	now := f.clock.Now()
	if l, ok := f.leftOnPace(co, now); ok {
		return l
	}
	if co.live == 0 {
		return southbound.Remaining{F: 1, Base: make([]float64, co.rows), At: now}
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
	return southbound.Remaining{F: 1, Base: co.lefts, At: now, Live: co.live}
}

// brief returns what is left of a coflow that holds, but of its rows with extras, all of which are backfilled. Readers
// do with that only if they can tell how far it can have changed.
func (f *fluid) brief(co *coflow) (southbound.Remaining, bool) {
	br := co.backfilled
	if co.kind != paced || co.until > 0 || co.live == 0 || len(co.legs) > 0 || co.factor <= 0 || br == nil ||
		len(br.rows) == 0 || int32(len(br.rows)) != co.live-co.on {
		return southbound.Remaining{}, false
	}
	f.paces.loads(co)
	steady, carried := f.steadyOf(co)
	return southbound.Remaining{F: co.factor, Base: f.parts[co.first:co.end:co.end], At: f.clock.Now(), Live: co.live,
		Load: co.Load, Version: co.Version, Steady: steady, Carried: carried, Brief: true}, steady > 0
}

// leftOnPace returns what is left of a coflow whose rows all follow its pace, but for some with
// individual rates: the parts that the pace has anyway, ended rows having one of zero. Other rows use
// none, so theirs is set for this.
func (f *fluid) leftOnPace(co *coflow, now time.Duration) (southbound.Remaining, bool) {
	if co.kind != paced || co.live == 0 || len(co.legs) > 0 {
		return southbound.Remaining{}, false
	}
	factor := co.factorAt(now)
	co.off = co.off[:0]
	if co.on < co.live {
		if factor <= 0 {
			return southbound.Remaining{}, false
		}
		f.lendExtras(co, factor)
		if int(co.live-co.on) != len(co.off) {
			return southbound.Remaining{}, false // others are late, or on circuits
		}
	}
	f.paces.loads(co)
	steady, carried := f.steadyOf(co)
	return southbound.Remaining{F: factor, Base: f.parts[co.first:co.end:co.end], At: now, Live: co.live, Load: co.Load,
		Off: co.off, Version: co.Version, Steady: steady, Carried: carried}, true
}

// lendExtras makes what rows with extras have left their parts, for a reader, and lists them.
func (f *fluid) lendExtras(co *coflow, factor float64) {
	if br := co.backfilled; br != nil && int32(len(br.rows)) == co.live-co.on {
		co.off = br.lend(f.parts[co.first:co.end], factor, f.clock.Now(), co.off)
		return
	}
	for i := range co.extra {
		row := co.extra[i].Row
		b := co.first + row
		if class := f.hostFlows[b].class; class == onIndividual || class == onBackfilled {
			f.parts[b] = f.leftOf(b)
			if factor != 1 {
				f.parts[b] /= factor
			}
			bu := &f.hostFlows[b]
			co.off = append(co.off, southbound.OffLoad{Row: row, Src: bu.src, Dst: bu.dst, Base: f.parts[b]})
		}
	}
}

// settle brings routes and rates up to date with all changes at this instant. Without changes it costs
// nothing.
func (f *fluid) settle() {
	if f.walked != f.tables {
		f.walked = f.tables
		f.refreshRoutes()
	}
	if f.relay != nil {
		f.relay.step()
	}
	if f.dirty {
		f.dirty = false
		f.share()
	} else if f.levels.even {
		f.levels.update() // host flows that have ended no longer count at the next update of levels
	}
	f.recycle()
	f.classes.reschedule()
	f.individual.reschedule()
	f.spreads.reschedule()
	f.backfilled.reschedule()
}
