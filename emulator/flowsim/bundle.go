package flowsim

import (
	"lightloom/pathmap"
	"lightloom/southbound"
)

// bundle is a row of a coflow. Its mark says how much is left of it: in a class, the class clock at which it ends;
// withheld, the bytes. On its coflow's pace, fluid.parts has its part of the pace's factor; there, all others have zero but
// for what left writes. What steering looks at is in one line of a cache, and so it needs not see the route that it leaves.
type bundle struct {
	pair    // of its route
	awayTag southbound.Tag
	size    pathmap.Bytes
	counted pathmap.Bytes // of it already in its route's books
	mark    float64
	coflow  int32
	route   int32
	away    int32 // the route of its hosts with awayTag, which it is likely to be given next; none: it is not known
	class   int32 // onPace while it follows its coflow's pace, onLane with a rate of its own, onHold while it is withheld, gone once it has ended
	pos     int32 // in the heap of its class, or among the lane's rows
	warmth  int32 // its place among its coflow's warm rows, none for one at rest
}

const (
	onPace = -1
	gone   = -2
	onLane = -3
	onHold = -4
)
