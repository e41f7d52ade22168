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
)

// Slice is one that was asked for.
type Slice struct {
	Name   string     `json:"name"`
	Shape  Shape      `json:"shape"`
	Cubes  []int      `json:"cubes,omitempty"` // where it was asked for, x-major; nil for wherever there is room
	State  State      `json:"state"`
	Reason Reason     `json:"reason"`
	Why    string     `json:"why,omitempty"`   // of a Failed one, for people
	Place  *Placement `json:"place,omitempty"` // nil while Pending, and once Failed
	Swaps  int        `json:"swaps,omitempty"` // cubes that were replaced
	// Ring is racks of a fabric that is no pod, in place of all of the above but the first: each has a circuit to the
	// next, and the last to the first. It holds their ports unless it is Pending.
	Ring []int32 `json:"ring,omitempty"`
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
