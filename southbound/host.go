package southbound

import (
	"time"

	"lightloom/pathmap"
)

// Task is a request to a host to compute for a while. A task holds one slot of its host from its
// placement to its end.
type Task struct {
	Task    TaskID
	Host    HostID
	Compute time.Duration
	// number of earlier tries, on hosts that have failed since or with other vCPUs; a later try voids the one before
	Try int32
	// MilliVCPUs are thousandths of vCPUs that its programs have together, where hosts limit them; 0: no limit.
	MilliVCPUs int32
}

// Start declares the host flows of a coflow: row i carries Size[i] bytes of payload from Src[i] to
// Dst[i]. Rows are sorted by (Dst, Src) and sizes are above zero. A row with Src == Dst is refused,
// except by a fabric configured to carry local traffic over both directions of the host's port. The
// slices are borrowed for the call.
type Start struct {
	Coflow CoflowID
	Src    []HostID
	Dst    []HostID
	Size   []pathmap.Bytes
	Tag    []Tag // one a row: its initial path
	// Cap is the largest layer-2 rate of a row, however it is paced, for a source that produces no more.
	// nil means no caps, 0 no cap for that row.
	Cap []pathmap.BitsPerSecond
}

// Steer moves a host flow to another path, also in mid-flow.
type Steer struct {
	HostFlowKey
	Tag Tag
}

// Pace makes all host flows of a coflow that are on packets end together at Until, an instant of the
// run; 0 holds them.
type Pace struct {
	Coflow CoflowID
	Until  time.Duration
}

// PairRate gives every live host flow of the class (Src, Dst, Tag) that layer-2 rate.
type PairRate struct {
	Src, Dst HostID
	Tag      Tag
	Rate     pathmap.BitsPerSecond
}

// Spread gives every live host flow of a coflow on packets the smaller of two layer-2 rates: its
// source's in From, its destination's in To. Both are sorted by host; a host that is not named has a
// rate of 0.
type Spread struct {
	Coflow   CoflowID
	From, To []HostRate
}

// EvenSpread gives each of its coflows, which ascend, the same spread, with the rates of all hosts.
type EvenSpread struct {
	Coflows  []CoflowID
	From, To []pathmap.BitsPerSecond // by host
}

// HostRate is a layer-2 rate of each host flow at one host.
type HostRate struct {
	Host HostID
	Rate pathmap.BitsPerSecond
}

// Extra is a layer-2 rate that back-filling gives one host flow on packets on top of its coflow's pace
// or spread. It and the rate that the pace gives the host flow at this instant hold until rates are set
// again.
type Extra struct {
	HostFlowKey
	Rate pathmap.BitsPerSecond // above zero
}

// Rates holds the rates at which host flows send from now on. It replaces earlier Rates, except Pairs,
// which merge. No link is ever given more than its capacity.
type Rates struct {
	Fair   bool       // hosts share by themselves (TCP; the simulator models max-min); the rest but Priority must be empty
	Pace   []Pace     // complete: a coflow not named here, in Spread or Even, or in a class below holds
	Spread []Spread   // complete; no coflow has both a pace and a spread
	Even   EvenSpread // complete, likewise; its coflows are not in Pace or Spread
	Extra  []Extra    // complete, sorted by (Coflow, Row); each of a coflow named in Pace, Spread or Even
	Pairs  []PairRate // a delta, by class; a rate of 0 holds the class
	// Priority is complete and sorted by coflow; only where Fair.
	Priority []Priority
}

// Remaining is the remaining bytes of a coflow, as far as known: row i has Base[i]*F bytes left.
type Remaining struct {
	F    float64
	Base []float64 // borrowed until the next call on the same source
	At   time.Duration

	// Optional sums, which save readers from adding up thousands of rows; borrowed likewise. Live is the
	// number of rows that have not ended, 0 if unknown. Load is the sum of Base by link over the live rows
	// on packets, except those in Off, as the fabric routes them now; nil if it was not computed. It can leave
	// out links between switches that carry all that the hosts behind them can send.
	Live int32
	Load []LinkLoad
	Off  []OffLoad // by row
	// Total is the bytes that all rows have left together; set where Base is nil, for callers that read
	// nothing else.
	Total float64
	// Version changes whenever Load does, so that a caller need not add it up again; 0 if unknown.
	Version uint64
	// Steady and Carried bound what has changed since an earlier reading. While Steady is the same, what the rows on
	// packets have left over a link of a host has not grown, and has fallen by no more bytes than Carried has grown by.
	// Steady is 0 if unknown.
	Steady  uint64
	Carried float64
	// Brief: Off is left out, and Base does not hold for its rows. All the rest does.
	Brief bool `json:",omitempty"`
}

// LinkLoad is the number of a coflow's host flows on a link, and the sum of their Base.
type LinkLoad struct {
	Link pathmap.LinkID
	Rows int32
	Base float64
}

// OffLoad is a live row that Load leaves out, with its hosts and its Base.
type OffLoad struct {
	Row      int32
	Src, Dst HostID
	Base     float64
}

// Row returns what is left of a row, in bytes.
func (l *Remaining) Row(i int32) float64 { return l.Base[i] * l.F }

// EventKind is the kind of an Event.
type EventKind uint8

// What hosts report.
const (
	TaskEnded     EventKind = iota + 1
	HostFlowEnded           // the receiver has the last byte
	// the host has failed: its tasks, and the host flows from it and to it, are void, without further events
	HostLost
	HostFound // it is back, and does nothing yet
)

// Event is one report of a host. Events are sorted by (At, Kind, Coflow, Row, Task).
type Event struct {
	At   time.Duration // instant of the run
	Kind EventKind
	HostFlowKey
	Task TaskID
	Try  int32 // of the task
	Host HostID
}

// Hosts is all the hosts of a fabric behind one interface: a driver sends each call to the agent that
// it concerns. Every call is idempotent: a known task or coflow is left as it is, so a new leader
// repeats the entries of its log.
//
// Calls return when they are queued; events report their results.
type Hosts interface {
	Run(tasks []Task) error
	Start(starts []Start) error
	Steer(steers []Steer) error
	SetRates(r *Rates) error
	// Remaining returns the known remaining bytes of a coflow, false if the coflow is unknown.
	Remaining(c CoflowID) (Remaining, bool)
}

// AgentState is how an agent of hosts is.
type AgentState struct {
	Addr  string
	Hosts []HostID // that it serves; nil: all
	Lost  bool     // its hosts count as failed
	Err   error    // why it is lost, or what it did not do of what it was last asked; nil: it does all
}
