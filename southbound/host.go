package southbound

import (
	"time"

	"lightloom/pathmap"
)

// Task asks a host to compute for a while. A task holds one slot of its host from its placement to its end.
type Task struct {
	Task    TaskID
	Host    HostID
	Compute time.Duration
}

// Start declares the bundles of a coflow: row i carries Size[i] bytes of payload from Src[i] to Dst[i]. Rows are sorted
// by (Dst, Src), sizes are above zero, and no row has Src == Dst. The slices are borrowed for the call.
type Start struct {
	Coflow CoflowID
	Src    []HostID
	Dst    []HostID
	Size   []pathmap.Bytes
	Tag    []Tag // one a row: where it goes first
}

// Steer moves a bundle to another path, also in mid-flow.
type Steer struct {
	BundleKey
	Tag Tag
}

// Pace lets all bundles of a coflow that are on packets end together at Until, an instant of the run; 0 holds them.
type Pace struct {
	Coflow CoflowID
	Until  time.Duration
}

// PairRate gives every live bundle of the class (Src, Dst, Tag) that layer-2 rate.
type PairRate struct {
	Src, Dst HostID
	Tag      Tag
	Rate     pathmap.BitsPerSecond
}

// Rates says how fast bundles may send, as of now. It replaces what was said before, except Pairs, which merge. No link
// is ever given more than its capacity.
type Rates struct {
	Fair  bool       // hosts share by themselves (TCP; the simulator models max-min); the rest must be empty
	Pace  []Pace     // complete: a coflow not named here or in a class below holds
	Pairs []PairRate // a delta, by class; a rate of 0 holds the class
}

// Left is what a coflow has still to send, as far as known: row i has Base[i]*F bytes left.
type Left struct {
	F    float64
	Base []float64 // borrowed until the next call on the same source
	At   time.Duration
}

// Row returns what is left of a row, in bytes.
func (l *Left) Row(i int32) float64 { return l.Base[i] * l.F }

// EventKind says what an Event tells.
type EventKind uint8

// What hosts report.
const (
	TaskEnded   EventKind = iota + 1
	BundleEnded           // the receiver has the last byte
	HostLost              // the host cannot be reached; its tasks and bundles are void
)

// Event is one report of a host. Events are sorted by (At, Kind, Coflow, Row, Task).
type Event struct {
	At   time.Duration // instant of the run
	Kind EventKind
	BundleKey
	Task TaskID
	Host HostID
}

// Host is all the hosts of a fabric behind one door: a driver sends each word to the agent it concerns. Every call is
// idempotent: a known task or coflow is left as it is, so a new leader repeats what stands in its log.
//
// Calls return when they are handed over; what came of them is told by events.
type Host interface {
	Run(tasks []Task) error
	Start(starts []Start) error
	Steer(steers []Steer) error
	SetRates(r *Rates) error
	// Left returns what is known to be left of a coflow, false if the coflow is not known.
	Left(c CoflowID) (Left, bool)
}
