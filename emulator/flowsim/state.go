package flowsim

import (
	"time"

	"lightloom/emulator/des"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// state is what all regimes of rates share: the host flows with their coflows and routes, the links,
// and the events to report. Regimes point to it, so a fluid is never copied.
type state struct {
	clock   *des.Clock[event]
	perBit  float64       // payload bytes a nanosecond that one bit a second at layer 2 carries
	quantum time.Duration // ends are reported at its multiples; 0: when they come

	fair     bool // hosts share by themselves
	strained bool // some host flow was given less than was asked for, at the last sharing
	dirty    bool // rates are to be shared anew

	overCircuit [1 << 8]bool // by tag

	hostFlows []hostFlow
	parts     []float64 // by host flow: see host flow
	coflowTable
	routeTable
	linkTable
	relay *relay // nil: racks keep nothing for each other

	events []southbound.Event
	errs   []error
	ends   int64 // host flows that have ended
	solves int64 // times that rates were shared by water-filling
}

// disturb records that every rate may have to change.
func (st *state) disturb() { st.dirty = true }

// relax records that a host flow sends less: others can have more, if they share or got less than they
// requested.
func (st *state) relax() { st.dirty = st.dirty || st.fair || st.strained }

// finish ends a host flow on a route that has been taken from its class or pace.
func (st *state) finish(b, route int32) {
	bu, r := &st.hostFlows[b], &st.routes[route]
	r.unposted += bu.size - bu.counted
	bu.counted = bu.size
	bu.class = gone
	st.exit(route)
	if st.relay == nil || !st.relay.keeps(b) {
		st.report(b)
	}
}

// report emits that a host flow's last byte has been received.
func (st *state) report(b int32) {
	bu := &st.hostFlows[b]
	co, r := &st.coflows[bu.coflow], &st.routes[bu.route]
	st.ends++
	st.events = append(st.events, southbound.Event{
		At: st.clock.Now(), Kind: southbound.HostFlowEnded, Host: r.dst,
		HostFlowKey: southbound.HostFlowKey{Coflow: co.id, Row: b - co.first},
	})
	st.lessLive(b)
}

// lessLive counts one live host flow of a coflow less.
func (st *state) lessLive(b int32) {
	index := st.hostFlows[b].coflow
	co := &st.coflows[index]
	if co.lefts != nil {
		st.cool(co, b, 0)
	}
	if co.live--; co.live == 0 {
		st.dropCaps(co)
		st.unlive(index)
		st.over = append(st.over, index)
	}
}

// exit counts one host flow of a route less. All that routes without host flows have received is posted.
func (st *state) exit(index int32) {
	r := &st.routes[index]
	if r.holds() {
		return
	}
	r.live--
	r.stuck = min(r.stuck, r.live)
	if r.live > 0 {
		return
	}
	st.post(r)
	st.deactivate(r)
	if st.recycles {
		st.idle = append(st.idle, index)
	}
}

// walk appends the links of a route as the tables stand.
func (st *state) walk(r *route, buf []pathmap.LinkID) (links []pathmap.LinkID, fate fate) {
	r.walked = st.tables
	var err error
	links, st.asked, fate, err = st.find.find(r.pair, buf, st.asked[:0])
	r.ask(st.asked)
	if err != nil && fate != r.fate { // reported once, however long it lasts
		st.errs = append(st.errs, err)
	}
	if r.hop != whole && fate == arrives {
		return st.relay.trim(r, links, len(buf))
	}
	return links, fate
}

// takeOut removes the entry at a place of an unordered list, and returns the entry that moved there.
func takeOut(list *[]int32, pos int32) (moved int32) {
	all := *list
	moved = all[len(all)-1]
	all[pos] = moved
	*list = all[:len(all)-1]
	return moved
}

// makeRows returns places for n host flows of a new coflow.
func (st *state) makeRows(n int32) (first int32) {
	if first, ok := st.reuse(n); ok {
		return first
	}
	first = int32(len(st.hostFlows))
	st.hostFlows = append(st.hostFlows, make([]hostFlow, n)...)
	st.parts = append(st.parts, make([]float64, n)...)
	return first
}

// slackness is by how much an end may miss the grid.
const slackness = 20 * time.Microsecond

// grid returns the instant at which an end is reported. An end less than slackness after an instant of
// the grid counts as at it: rates are whole bits a second, and a host flow due there in exact
// arithmetic ends a little later.
func (st *state) grid(at time.Duration) time.Duration {
	if st.quantum <= 0 {
		return at
	}
	return max((at-slackness+st.quantum-1)/st.quantum*st.quantum, st.clock.Now())
}

// awaits reports whether of a host flow with left bytes left only the end is to be reported, at the next instant of
// the grid. That happens whatever becomes of its route and its rate in between: who sets these takes it for ended.
func (st *state) awaits(left float64) bool { return st.quantum > 0 && left < nothing }

// endOf returns when the end of a host flow is reported that has left bytes left at an instant, and a rate in bytes a
// nanosecond since; southbound.Never where it has none.
func (st *state) endOf(left, rate float64, at time.Duration) time.Duration {
	if d, ok := until(left, rate); rate > 0 && ok {
		return st.grid(at + d)
	}
	if rate == 0 && st.awaits(left) {
		return st.grid(st.clock.Now())
	}
	return southbound.Never
}

// until is how long n bytes take at a rate in bytes a nanosecond, rounded up: a host flow never ends
// before its last byte. A ten-billionth of a millionth less counts as whole, so that a quotient that is
// integral in exact arithmetic stays so.
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

// schedule moves an event, or adds it where it is not pending.
func (st *state) schedule(e *des.Event, at time.Duration, ev event) {
	if !st.clock.Move(*e, at) {
		*e = st.clock.At(at, ev)
	}
}
