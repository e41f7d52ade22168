package torus

// State is where a slice is in its life.
type State string

// The states, which are those of the public Slice resource.
const (
	Pending    State = "Pending"    // it waits for room
	Activating State = "Activating" // its circuits are asked for
	Ready      State = "Ready"      // all of them are lit
	Incomplete State = "Incomplete" // it was Ready, and lacks a cube or a circuit
	Failed     State = "Failed"     // it can never be had, and is kept only to be read
)

// States lists them.
func States() []State { return []State{Pending, Activating, Ready, Incomplete, Failed} }

// Reason says in one word why a slice is in its state. The reasons of the public resource are not all published: these
// are ours.
type Reason string

// The reasons.
const (
	NoRoom          Reason = "NoRoom"          // Pending: it does not fit now
	JustAsked       Reason = "JustAsked"       // Pending: nothing is decided yet
	BehindOthers    Reason = "BehindOthers"    // Pending: one that was asked for earlier does not fit
	SettingCircuits Reason = "SettingCircuits" // Activating
	CircuitsLit     Reason = "CircuitsLit"     // Ready
	CubeAway        Reason = "CubeAway"        // Incomplete: no spare cube has room
	SwappingCube    Reason = "SwappingCube"    // Incomplete: circuits to a spare cube are asked for
	Moving          Reason = "Moving"          // Incomplete: it makes room, and circuits at its new place are asked for
	CircuitDark     Reason = "CircuitDark"     // Incomplete: a circuit went dark, and is asked for again
	SwitchAway      Reason = "SwitchAway"      // Activating, Incomplete: a switch that has some of its circuits has failed
	ShapeImpossible Reason = "ShapeImpossible" // Failed
	CubesImpossible Reason = "CubesImpossible" // Failed: the cubes that it names make no such shape
	RackAway        Reason = "RackAway"        // Incomplete: no spare rack has the ports
	SwappingRack    Reason = "SwappingRack"    // Incomplete: circuits to a spare rack are asked for
	SwappingCircuit Reason = "SwappingCircuit" // Incomplete: circuits over other ports or switches are asked for
	RacksImpossible Reason = "RacksImpossible" // Failed: the racks that it names make no such shape
)

// Slice is one that was asked for.
type Slice struct {
	Name   string     `json:"name"`
	Shape  Shape      `json:"shape"`
	Cubes  []int      `json:"cubes,omitempty"` // where it was asked for, x-major, or racks; nil: wherever there is room
	State  State      `json:"state"`
	Reason Reason     `json:"reason"`
	Why    string     `json:"why,omitempty"`   // of a Failed one, for people
	Place  *Placement `json:"place,omitempty"` // nil while Pending, and once Failed
	Swaps  int        `json:"swaps,omitempty"` // cubes or racks that were replaced
	// Ring is racks of a fabric that is no pod, in place of a place: each has a circuit to the next, and the last to the
	// first, see RackCircuits. One that was asked for by hosts on a single switch has it from the start, and no shape of
	// racks. It holds their ports unless it is Pending.
	Ring []int32 `json:"ring,omitempty"`
	// Planes are those of its circuits, by lane and place in the ring; nil: the first.
	Planes [][]int32 `json:"planes,omitempty"`
}

// become sets the state, and reports whether that changes anything.
func (s *Slice) become(state State, reason Reason) bool {
	if s.State == state && s.Reason == reason {
		return false
	}
	s.State, s.Reason = state, reason
	return true
}

// Lack is what a placed slice lacks of its circuits.
type Lack struct {
	Dark   int  // circuits that have no light
	Switch bool // some of these lead through a switch that has failed
}

// kept is what became of the cubes or racks of a placed slice.
type kept struct {
	swapped, gone          bool   // some were swapped for others, some have none to be swapped for
	stuck                  bool   // a circuit is dark and cannot be led elsewhere
	awayReason, swapReason Reason // what to call that
}

// keep brings the state of a placed slice up to date, and reports whether the slice has changed.
func (s *Slice) keep(how kept, lack Lack) bool {
	was := s.State == Ready || s.State == Incomplete
	swapping := s.Reason == SwappingCube || s.Reason == SwappingRack || s.Reason == SwappingCircuit
	switch {
	case how.gone && !was:
		return s.become(Activating, how.awayReason) || how.swapped
	case how.gone:
		return s.become(Incomplete, how.awayReason) || how.swapped
	case how.swapped && was:
		s.become(Incomplete, how.swapReason)
		return true
	case how.swapped:
		return true
	case lack.Dark == 0:
		return s.become(Ready, CircuitsLit)
	case lack.Switch && was:
		return s.become(Incomplete, SwitchAway)
	case lack.Switch:
		return s.become(Activating, SwitchAway)
	case s.State == Ready || s.State == Incomplete && (how.stuck || !swapping && s.Reason != Moving):
		return s.become(Incomplete, CircuitDark)
	case s.State == Activating:
		return s.become(Activating, SettingCircuits)
	}
	return false
}
