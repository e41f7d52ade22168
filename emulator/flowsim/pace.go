package flowsim

import (
	"slices"
	"time"

	"lightloom/emulator/des"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// paces is the host flows that follow the pace of their coflow, and so end together.
type paces struct {
	*state
	where   []int32   // by link, zero between calls
	asked   []float64 // by link, bits a second: what all paces ask for, as long as no finish instant changes
	anew    bool      // asked is to be added up again
	members []int32   // host flows that fill has passed to the solver
}

// pace is how the rows of a coflow that follow it come to their end. They have part × factor bytes
// left; the factor falls in a line to zero at the finish instant, so all of them cost one event.
type pace struct {
	factor float64 // at instant at
	at     time.Duration
	on     int32 // rows on the pace
	late   int32 // rows that have fallen out of it
	finish des.Event
}

// followsPace reports whether host flows with a tag follow the pace of their coflow: those on packets do.
func (st *state) followsPace(t southbound.Tag) bool {
	return !st.overCircuit[t] && t != southbound.TagHold
}

func (co *coflow) running(now time.Duration) bool { return co.kind == paced && co.until > now }

// factorAt returns the pace's factor at an instant.
func (co *coflow) factorAt(now time.Duration) float64 {
	if co.kind != paced || co.until <= co.at {
		return co.factor
	}
	return co.factor * float64(max(co.until-now, 0)) / float64(co.until-co.at)
}

// slope returns how fast the factor falls, a nanosecond.
func (co *coflow) slope(now time.Duration) float64 {
	if !co.running(now) {
		return 0
	}
	return co.factorAt(now) / float64(co.until-now)
}

// rateOf returns the rate at which a host flow ends with its coflow's pace, in bits a second.
func (ps *paces) rateOf(co *coflow, left float64) float64 {
	if co.until == 0 {
		return 0
	}
	return left / float64(co.until-ps.clock.Now()) / ps.perBit
}

// join lets a host flow follow its coflow's pace, which holds or is to finish in the future.
func (ps *paces) join(co *coflow, b int32, left float64) {
	now := ps.clock.Now()
	ps.rebase(co)
	ps.hostFlows[b].class = onPace
	ps.parts[b] = left / co.factor
	co.on++
	ps.put(co, b, ps.parts[b])
	if co.on == 1 && co.running(now) {
		ps.schedule(&co.finish, ps.grid(co.until), event{kind: paceEnds, index: ps.hostFlows[b].coflow})
	}
	ps.disturb()
}

// leave takes a host flow off its coflow's pace and returns what is left of it.
func (ps *paces) leave(co *coflow, b int32) float64 {
	left := ps.parts[b] * co.factorAt(ps.clock.Now())
	ps.put(co, b, -ps.parts[b])
	ps.parts[b] = 0
	if co.on--; co.on == 0 {
		ps.clock.Cancel(co.finish)
	}
	ps.relax()
	return left
}

// put adds a row that joins its coflow's pace (part above zero) to sums, or takes one out that leaves.
func (ps *paces) put(co *coflow, b int32, part float64) {
	var hosts [2]pathmap.LinkID
	links := ps.tightOf(&ps.hostFlows[b], &hosts)
	co.Add(links, part)
	if ps.anew = ps.anew || co.Stale; ps.anew || len(ps.asked) == 0 {
		return
	}
	if slope := co.slope(ps.clock.Now()) / ps.perBit; slope > 0 {
		for _, l := range links {
			ps.asked[l] += part * slope
		}
	}
}

// rebase makes now the factor's instant, and the factor 1 if it is too small to divide by or nothing
// depends on it.
func (ps *paces) rebase(co *coflow) {
	now := ps.clock.Now()
	co.factor, co.at = co.factorAt(now), now
	if co.on > 0 && co.factor > 1e-3 {
		return
	}
	if co.on > 0 {
		for b := co.first; b < co.end; b++ {
			if ps.hostFlows[b].class == onPace {
				ps.parts[b] *= co.factor
			}
		}
		co.Stale, ps.anew = true, true
	}
	co.factor = 1
}

// set gives a paced coflow another finish instant. Rows that have fallen out stay so.
func (ps *paces) set(index int32, until time.Duration) {
	co := &ps.coflows[index]
	ps.rebase(co)
	co.until, ps.anew = until, true
	switch {
	case co.on == 0:
	case co.running(ps.clock.Now()):
		ps.schedule(&co.finish, ps.grid(until), event{kind: paceEnds, index: index})
	default:
		ps.clock.Cancel(co.finish)
	}
	ps.disturb()
}

// end ends the rows of a coflow that follow its pace: their finish instant has come.
func (ps *paces) end(index int32) {
	co := &ps.coflows[index]
	co.on, co.Stale, ps.anew = 0, true, true
	for b := co.first; b < co.end; b++ {
		if ps.hostFlows[b].class == onPace {
			ps.parts[b] = 0
			ps.finish(b, ps.hostFlows[b].route)
		}
	}
	ps.relax()
}

// addTo adds what paces ask for to the loads of links.
func (ps *paces) addTo(d *linkDemand) {
	if d.few {
		ps.refresh()
		for l, bits := range ps.asked {
			d.load[l] += bits
		}
		return
	}
	for _, i := range ps.live {
		co := &ps.coflows[i]
		if co.on == 0 {
			continue
		}
		slope := co.slope(ps.clock.Now()) / ps.perBit
		if slope == 0 {
			continue
		}
		d.PutPace(co.Load, slope, ps.wide)
	}
}

// refresh brings the sums of all paces up to date, which are kept on fabrics of few links: a row that goes to
// its end at a steady pace asks for the same until it leaves.
func (ps *paces) refresh() {
	if !ps.anew && ps.quantum == 0 && len(ps.asked) == len(ps.capacity) {
		return
	}
	ps.asked, ps.anew = slices.Grow(ps.asked[:0], len(ps.capacity))[:len(ps.capacity)], false
	clear(ps.asked)
	for _, i := range ps.live {
		co := &ps.coflows[i]
		if co.on == 0 {
			continue
		}
		if slope := co.slope(ps.clock.Now()) / ps.perBit; slope > 0 {
			for _, u := range co.Load {
				ps.asked[u.Link] += u.Base * slope
			}
		}
	}
}

// fill passes the host flows that follow paces to the solver, one by one.
func (ps *paces) fill(d *linkDemand) {
	ps.members = ps.members[:0]
	for _, i := range ps.live {
		co := &ps.coflows[i]
		slope := co.slope(ps.clock.Now()) / ps.perBit
		if co.on == 0 || slope == 0 {
			continue
		}
		for b := co.first; b < co.end; b++ {
			if ps.hostFlows[b].class == onPace {
				ps.members = append(ps.members, b)
				d.Add(ps.tight(&ps.routes[ps.hostFlows[b].route]), 1, ps.parts[b]*slope)
			}
		}
	}
}

// loads brings up to date what each unit of a coflow's factor puts on each link, in payload bytes.
func (ps *paces) loads(co *coflow) {
	if !co.Stale {
		return
	}
	ps.anew = true
	where := co.Begin(len(ps.capacity), &ps.where)
	for b := co.first; b < co.end; b++ {
		if ps.hostFlows[b].class == onPace {
			co.Put(where, ps.tight(&ps.routes[ps.hostFlows[b].route]), ps.parts[b])
		}
	}
	co.End(where)
}
