package flowsim

import (
	"time"

	"lightloom/emulator/des"
	"lightloom/southbound"
)

// coflow is the rows that were declared together. Those that follow its pace have part × factor bytes left; the factor
// falls in a line to zero at the finish instant, so all of them cost one event.
type coflow struct {
	id         southbound.CoflowID
	rows       int32
	first, end int32 // rows among the bundles; once all have ended, these may be another's
	live       int32 // rows that have not ended
	pos        int32 // in fluid.live

	kind   kind
	extra  []southbound.Extra    // by row
	from   []southbound.HostRate // of a spread, by host
	to     []southbound.HostRate
	until  time.Duration // the finish instant; 0 holds
	factor float64       // at instant at
	at     time.Duration
	on     int32 // rows on the pace
	late   int32 // rows that have fallen out of it
	finish des.Event
	want   order // what setRates of epoch named asks for
	named  uint64
	heard  uint64 // the check of rates that last met it

	caps []ceiling // by row; nil: none has one
	leg  int32     // its row is this leg, and one; 0: it is a coflow
	legs []int32   // legs of its rows that are under way

	off   []int32               // rows that left lends out as off the pace
	lefts []float64             // what left lends out where there is no pace; nil until asked for
	warm  []int32               // from then on: rows that may be sending, so that lefts must be found anew for them
	load  []southbound.LinkLoad // of the rows on the pace, per unit of factor
	where []int32               // by link: its place in load, and one; nil on fabrics of many links
	stale bool                  // load is to be summed up again
	sums  uint64                // version of load
}

// kind says what rates were last set for a coflow.
type kind uint8

const (
	free    kind = iota // its bundles have the rates of their pairs
	paced               // they end together
	spread              // they have rates by their two hosts
	leveled             // likewise, and all others have the same
)

// order is what rates ask of one coflow.
type order struct {
	kind     kind
	until    time.Duration
	from, to []southbound.HostRate // borrowed
	extra    []southbound.Extra    // borrowed
}

// paces says whether bundles with a tag follow the pace of their coflow: those on packets do.
func paces(t southbound.Tag) bool { return t != southbound.TagCircuit && t != southbound.TagHold }

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

// joinPace lets a bundle follow its coflow's pace, which holds or is to finish in the future.
func (f *fluid) joinPace(co *coflow, b int32, left float64) {
	now := f.clock.Now()
	f.rebase(co)
	f.bundles[b].class = onPace
	f.parts[b] = left / co.factor
	co.on++
	f.addLoad(co, &f.routes[f.bundles[b].route], f.parts[b])
	if co.on == 1 && co.running(now) {
		f.schedule(&co.finish, f.grid(co.until), event{kind: paceEnds, index: f.bundles[b].coflow})
	}
	f.disturb()
}

// leavePace takes a bundle off its coflow's pace and returns what is left of it.
func (f *fluid) leavePace(co *coflow, b int32) float64 {
	left := f.parts[b] * co.factorAt(f.clock.Now())
	f.addLoad(co, &f.routes[f.bundles[b].route], -f.parts[b])
	f.parts[b] = 0
	if co.on--; co.on == 0 {
		f.clock.Cancel(co.finish)
	}
	f.relax()
	return left
}

// rebase makes now the instant that the factor is told for, and the factor 1 where it has become too small to divide
// by or nothing hangs on it.
func (f *fluid) rebase(co *coflow) {
	now := f.clock.Now()
	co.factor, co.at = co.factorAt(now), now
	if co.on > 0 && co.factor > 1e-3 {
		return
	}
	if co.on > 0 {
		for b := co.first; b < co.end; b++ {
			if f.bundles[b].class == onPace {
				f.parts[b] *= co.factor
			}
		}
		co.stale = true
	}
	co.factor = 1
}

// pace gives a paced coflow another finish instant, and sets in again what had fallen out.
func (f *fluid) pace(index int32, until time.Duration) {
	co := &f.coflows[index]
	now := f.clock.Now()
	f.rebase(co)
	held := co.until == 0
	co.until = until
	switch {
	case co.on == 0:
	case co.running(now):
		f.schedule(&co.finish, f.grid(until), event{kind: paceEnds, index: index})
	default:
		f.clock.Cancel(co.finish)
	}
	f.disturb()
	overdue := until > 0 && until <= now
	if co.late == 0 && !held && !overdue {
		return
	}
	for b := co.first; b < co.end; b++ {
		switch class := f.bundles[b].class; {
		case class == gone:
		case class >= 0 && f.classes[class].alone,
			class == onPace && until > 0 && (overdue || f.routes[f.bundles[b].route].fate != arrives):
			f.again(b)
		}
	}
}

// follow puts every row of a coflow to where an order wants it.
func (f *fluid) follow(index int32, o *order) {
	co := &f.coflows[index]
	f.tmp.members = f.tmp.members[:0]
	f.tmp.amounts = f.tmp.amounts[:0]
	for b := co.first; b < co.end; b++ {
		if f.bundles[b].class != gone {
			f.tmp.amounts = append(f.tmp.amounts, f.pull(b))
			f.tmp.members = append(f.tmp.members, b)
		}
	}
	co.take(o)
	co.factor, co.at = 1, f.clock.Now()
	for i, b := range f.tmp.members {
		f.place(b, f.tmp.amounts[i])
	}
}

// paceEnd ends the rows of a coflow that follow its pace: their finish instant has come.
func (f *fluid) paceEnd(index int32) {
	co := &f.coflows[index]
	co.on, co.stale = 0, true
	for b := co.first; b < co.end; b++ {
		if f.bundles[b].class == onPace {
			f.parts[b] = 0
			f.finish(b, f.bundles[b].route)
		}
	}
	f.relax()
}
