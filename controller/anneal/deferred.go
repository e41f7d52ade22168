package anneal

import (
	"math/rand/v2"
	"slices"

	"lightloom/pathmap"
)

// deferral lets flows change their paths in name alone until something is asked of the network: mode paper draws all
// paths of a job anew far more often than it asks.
type deferral struct {
	on    []int32 // by link of the fabric: the flows that would be on it by now
	moves []reroute

	begun       int64 // the work that had been done before
	steps, done int64 // of the upper level
}

// postpone has turn and layOut wait for settle from now on. Work is then counted as if each flow on a link had to be
// visited whenever one comes or goes: never less than what doing it at once visits.
func (s *NetworkState) postpone() {
	s.later = &deferral{on: make([]int32, len(s.net.capacity)), begun: s.net.work, steps: int64(s.opt.Steps)}
	for l, p := range s.net.lists {
		s.later.on[s.net.id[l]] = p.len
	}
}

// fewSteps are too few, of the upper level, to tell what the rest will count.
const fewSteps = 4

// hopeless reports whether all steps would count more than is allowed, at the pace of those done.
func (y *deferral) hopeless(work, end int64) bool {
	return y.done > fewSteps && (work-y.begun)*y.steps > (end-y.begun)*y.done
}

// leave and join count a flow that goes from links and comes to them.
func (s *NetworkState) leave(links []pathmap.LinkID) {
	for _, l := range links {
		s.later.on[l]--
		s.net.work += 1 + int64(s.later.on[l])
	}
}

func (s *NetworkState) join(links []pathmap.LinkID) {
	for _, l := range links {
		s.net.work += 1 + int64(s.later.on[l])
		s.later.on[l]++
	}
}

// due puts a flow that is not on its path down for the next settle.
func (s *NetworkState) due(c *choice) {
	if c.settled != c.at {
		s.later.moves = append(s.later.moves, reroute{c.flow, c.current().Links})
		c.settled = c.at
	}
}

// settle sends the flows that are due over their paths.
func (s *NetworkState) settle() {
	s.net.reroute(s.later.moves)
	s.later.moves = s.later.moves[:0]
}

// deferred is the lower level of mode paper, step for step, on a network that waits. Nearly every step chooses the
// flow that the step before has chosen: what each path gives that flow, and what everything is worth with the flow
// there, is found once.
type deferred struct {
	*routing
	focus   focus
	epoch   int   // counts what changes other flows than that of the focus
	savedAt int   // the epoch of the last Save
	known   int64 // the utility of what Save remembered, which Restore comes back to; unknown: not kept
}

// focus is the flow that moves while all others stand still.
type focus struct {
	choice int32 // none: no flow, and others may be due
	at     int   // among the choices
	gets   []int64
	worth  []int64 // by path: the utility, or unknown
	worst  []int32 // by path: what worst finds, or unknown
}

const unknown = -1

// deferred returns r as one that waits, with the memory of the last time.
func (r *routing) deferred() *deferred {
	if r.waits == nil {
		r.waits = &deferred{routing: r}
	}
	d := r.waits
	d.focus.choice, d.savedAt, d.known = unknown, unknown, unknown
	return d
}

// lose ends a focus: several flows are about to change.
func (d *deferred) lose() {
	d.focus.choice = unknown
	d.epoch++
}

// Reset implements Problem.
func (d *deferred) Reset(restart int, rng *rand.Rand) {
	d.lose()
	d.routing.Reset(restart, rng)
}

// Move implements Problem.
func (d *deferred) Move(rng *rand.Rand) bool {
	k := d.next()
	if k != d.focus.choice {
		d.look(k)
	}
	c := &d.all[k]
	to := draw(d.focus.gets, rng)
	d.last.choice, d.last.from = k, c.at
	d.s.leave(c.current().Links) // counted as the network at once counts them: path lifts the flow and lays it again
	d.s.join(c.current().Links)
	if to != c.at {
		d.turn(k, to)
	}
	return true
}

// next returns the flow that is to move.
func (d *deferred) next() int32 {
	f := &d.focus
	if f.choice == unknown {
		d.settle()
		return d.worst(d.choices)
	}
	at := d.all[f.choice].at
	if f.worst[at] == unknown {
		d.settle()
		f.worst[at] = d.worst(d.choices)
	}
	return f.worst[at]
}

// look makes a flow that of the focus.
func (d *deferred) look(k int32) {
	d.settle()
	d.epoch++
	c, f := &d.all[k], &d.focus
	f.choice = k
	f.at, _ = slices.BinarySearch(d.choices, k)
	f.gets, f.worth, f.worst = f.gets[:0], f.worth[:0], f.worst[:0]
	for range c.candidates {
		f.worth, f.worst = append(f.worth, unknown), append(f.worst, unknown)
	}
	for _, w := range shortest(c.candidates) {
		f.gets = append(f.gets, d.s.net.without(c.current().Links, w.Links))
	}
	f.worst[c.at] = k
}

// settle brings the network in line with the flows.
func (d *deferred) settle() {
	if k := d.focus.choice; k != unknown {
		d.s.due(&d.all[k])
	} else {
		for k := range d.all {
			d.s.due(&d.all[k])
		}
	}
	d.s.settle()
}

// Utility implements Problem.
func (d *deferred) Utility() int64 {
	f := &d.focus
	if f.choice == unknown {
		d.settle()
		return d.routing.Utility()
	}
	at := d.all[f.choice].at
	if f.worth[at] == unknown {
		d.settle()
		f.worth[at] = d.routing.Utility()
	}
	return f.worth[at]
}

// Save implements Problem.
func (d *deferred) Save() {
	f := &d.focus
	d.known = unknown
	if f.choice != unknown {
		d.known = f.worth[d.all[f.choice].at]
	}
	if d.savedAt == d.epoch && f.choice != unknown {
		d.routing.saved[f.at] = d.all[f.choice].at
		return
	}
	d.routing.Save()
	d.savedAt = d.epoch
}

// Restore implements Problem.
func (d *deferred) Restore() {
	d.lose()
	d.routing.Restore()
}
