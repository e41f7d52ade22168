package flowsim

import (
	"lightloom/pathmap"
	"lightloom/southbound"
)

// hostFlow is a row of a coflow. Its mark says how much is left of it: in a class, the class clock at
// which it ends; withheld, the bytes. On its coflow's pace, state.parts has its part of the pace's
// factor; there, all others have zero but for what left writes. What steering looks at is in one line
// of a cache, and so it needs not see the route that it leaves.
type hostFlow struct {
	pair    // of its route
	awayTag southbound.Tag
	size    pathmap.Bytes
	counted pathmap.Bytes // of it already in its route's bytes
	mark    float64
	coflow  int32
	route   int32
	away    int32 // the route of its hosts with awayTag, which it is likely to be given next; none: it is not known
	// onPace while it follows its coflow's pace, onIndividual with a rate of its own, onSpread among the rows of
	// spreads, onBackfilled among those of backfilled, onHold while it is withheld or awaits the grid, gone once it
	// has ended
	class  int32
	pos    int32 // in the heap of its class, or among the rows of individualRates
	warmth int32 // its place among its coflow's warm rows, none for one at rest
}

const (
	onPace       = -1
	gone         = -2
	onIndividual = -3
	onHold       = -4
	onSpread     = -5
	onBackfilled = -6
)

// If every byte waits for a circuit, nearly all host flows are withheld. A withheld host flow needs no
// class, whose clock would stand still, and no links: its mark is the bytes that it has left.

// hold puts a host flow with left bytes left on a route that sends nothing. Where its last byte has come, its end is
// reported all the same.
func (st *state) hold(b int32, left float64) {
	bu := &st.hostFlows[b]
	bu.class, bu.mark = onHold, left
	if st.awaits(left) {
		st.clock.At(st.grid(st.clock.Now()), event{kind: heldEnds, index: b})
	}
	st.disturb()
}

// endHeld ends a host flow whose last byte had come before it was withheld, unless it is elsewhere by now.
func (st *state) endHeld(b int32) {
	if bu := &st.hostFlows[b]; bu.class == onHold && st.awaits(bu.mark) {
		st.finish(b, bu.route)
	}
}

// newRoute returns the route of a pair, without host flows. What its tag withholds is so whatever
// tables say.
func newRoute(p pair) route {
	r := route{pair: p, shared: none, even: none, pos: none}
	if r.holds() {
		r.fate = withheld
	}
	return r
}

// holds reports whether a host flow is to send nothing, which is known without its route.
func (p *pair) holds() bool { return p.tag == southbound.TagHold }
