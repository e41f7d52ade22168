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

// Reason says in one word why a slice is in its state. The reasons of the public resource are not all published: these
// are ours.
type Reason string

// The reasons.
const (
	NoRoom          Reason = "NoRoom"          // Pending: it does not fit now
	BehindOthers    Reason = "BehindOthers"    // Pending: one that was asked for earlier does not fit
	SettingCircuits Reason = "SettingCircuits" // Activating
	CircuitsLit     Reason = "CircuitsLit"     // Ready
	CubeAway        Reason = "CubeAway"        // Incomplete: no spare cube has room
	SwappingCube    Reason = "SwappingCube"    // Incomplete: circuits to a spare cube are asked for
	CircuitDark     Reason = "CircuitDark"     // Incomplete: a circuit went dark, and is asked for again
	ShapeImpossible Reason = "ShapeImpossible" // Failed
	CubesImpossible Reason = "CubesImpossible" // Failed: the cubes that it names make no such shape
)

// Slice is one that was asked for.
type Slice struct {
	Name    string
	Shape   Shape
	State   State
	Reason  Reason
	Message string     // for people
	Place   *Placement // nil while Pending, and once Failed
	Swaps   int        // cubes that were replaced

	cubes []int            // asked for by number; nil for any
	want  map[Circuit]bool // circuits, and whether they are lit
	dark  int              // circuits that are not lit
	away  int              // cubes of it that are away
}

// Event is what has happened to the slices of a pod. One field is set.
type Event struct {
	Ask     *Ask
	Release string   // a slice has ended
	Lit     *Circuit // a switch reports light
	Dark    *Circuit // a switch reports that light has gone
	Away    *int     // a cube has failed
	Back    *int     // a cube is back
}

// Ask asks for a slice.
type Ask struct {
	Name  string
	Shape Shape
	Cubes []int // where to place it, x-major; nil for wherever there is room
}

// Action is a circuit to set or to delete.
type Action struct {
	Circuit Circuit
	Delete  bool
}
