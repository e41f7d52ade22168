package controller

import (
	"errors"
	"time"

	"lightloom/controller/multihop"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Placement gives every task of a job a host, by task of the job. Tasks of an incremental job can still have NoHost,
// and placed ones keep their host.
type Placement struct {
	Job   JobID               `json:"job"`
	Hosts []southbound.HostID `json:"hosts"`
	// tasks placed here whose rack has no copy of their block, ascending
	NonLocal []int32 `json:"non_local,omitempty"`
	// ReadFrom is the host that each of NonLocal reads its block from, over the network, before it computes. NoHost, or
	// nil for all: it takes its NonLocal time in place of that, as where no copy is left.
	ReadFrom []southbound.HostID `json:"read_from,omitempty"`
	// MilliVCPUs are the thousandths of vCPUs that each task with a load is given, by task; 0, or nil for all: its share.
	MilliVCPUs []int32 `json:"milli_vcpus,omitempty"`
	// of an incremental job: state that the policy gets back; nil: unchanged
	PolicyState []int32 `json:"policy_state,omitempty"`

	// Move names the tasks of a placed job which move to their hosts in Hosts, ascending: they have not ended, and restart
	// there. Hosts is unchanged for all others. Move is empty for an incremental job, and for a job that has lost hosts.
	Move []int32 `json:"move,omitempty"`
	// Resent is how much of the restarted host flows had been sent before. The loop sets it when it commits the placement;
	// a policy leaves it at zero.
	Resent pathmap.Bytes `json:"resent,omitempty"`
}

// Fallback is what the host flows of a reservation do while its circuit is not in service.
type Fallback uint8

// The fallbacks.
const (
	Packets Fallback = iota // go on over packets
	Hold                    // send nothing
)

// CircuitReservation requests the circuit In→Out for [NotBefore, NotAfter), the reconfiguration delay of setting it up
// included. It carries the host flows of Coflow from rack In to rack Out; AnyCoflow carries every host flow between the
// two.
type CircuitReservation struct {
	NotBefore time.Duration       `json:"not_before_ns"`
	NotAfter  time.Duration       `json:"not_after_ns"`
	In        southbound.Port     `json:"in"`
	Out       southbound.Port     `json:"out"`
	Coflow    southbound.CoflowID `json:"coflow"`
	Fallback  Fallback            `json:"fallback,omitempty"`
	// it does not cover all that its pair has: bytes left when it runs out are expected
	Partial bool `json:"partial,omitempty"`
}

// AnyCoflow stands for every coflow.
const AnyCoflow southbound.CoflowID = -1

// Routing gives every row of a coflow its tag while it is on packets.
type Routing struct {
	Coflow southbound.CoflowID `json:"coflow"`
	Tags   []southbound.Tag    `json:"tags"`
}

// ErrUndecided marks a Plan's Err. A leader whose policy cannot decide ends.
var ErrUndecided = errors.New("the policy cannot decide")

// ErrPolicyFailed marks a policy that panics or breaks a law: it is not called again.
var ErrPolicyFailed = errors.New("the policy fails")

// Plan is a policy's answer: changes to the current state. It is borrowed until the policy's next Decide.
//
// The order of effect is Withdraw, Preempt, then Reserve. A new reservation must not overlap another on either port
// after the first two: Apply refuses it.
type Plan struct {
	Place      []Placement
	Withdraw   []southbound.CoflowID // unbegun reservations of these coflows go
	Preempt    []southbound.Port     // begun reservations of these inputs end now
	Reserve    []CircuitReservation  // sorted by (In, NotBefore)
	Resize     []Resize              // takes effect before Place
	Route      []Routing
	Admissions []AdmissionDecision // of coflows that have started and have no admission decision, sorted by coflow
	Share      *southbound.Rates   // nil: unchanged. Never logged.
	// Multihop are the paths over several circuits of all pairs of racks that are to have one, sorted; they begin and end
	// as circuits allow. nil: unchanged; empty: none. Never logged.
	Multihop multihop.Paths
	Wake     time.Duration // call again then at the latest; southbound.Never for no wish

	// Counts of moves evaluated and accepted at both annealing levels in this decision. For the report.
	Anneal AnnealCounts

	// Err is why the policy cannot decide, now or ever again; nothing of the plan is carried out then. Only policies that
	// are programs of their own have reason to set it.
	Err error
}

// AnnealCounts counts moves of the two annealing levels.
type AnnealCounts struct {
	Place, Route MoveCounts
}

// MoveCounts counts moves of one annealer.
type MoveCounts struct {
	Evaluated int64 `json:"evaluated"`
	Accepted  int64 `json:"accepted"`
}

// Add adds another count.
func (m *MoveCounts) Add(o MoveCounts) { m.Evaluated += o.Evaluated; m.Accepted += o.Accepted }

// Reset empties p and keeps its memory.
func (p *Plan) Reset() {
	*p = Plan{Place: p.Place[:0], Resize: p.Resize[:0], Withdraw: p.Withdraw[:0], Preempt: p.Preempt[:0],
		Reserve: p.Reserve[:0], Route: p.Route[:0], Admissions: p.Admissions[:0], Wake: southbound.Never}
}

// Kind is something that happened.
type Kind uint8

// The kinds of events worth a decision.
const (
	JobArrived              Kind = iota + 1 // a job waits for placement, or bare coflows for routes
	CoflowStarted                           // its host flows may send
	HostFlowEnded                           // one host flow has been received
	CoflowEnded                             // all of them have
	SlotsFreed                              // tasks ended
	CircuitReservationEnded                 // a reservation ended, and was not preempted
	CircuitInService                        // host flows move to their circuit
	FabricChanged                           // a link, port or device came or went
	WakeReached                             // the instant that the last plan asked for
	// a reservation ended early by more than a reconfiguration delay, with bytes left, or for its circuit failed
	PortsFreed
	TrafficRead  // there is a new estimate of traffic; not if it was empty and still is
	LoadsStarted // tasks with loads have begun
)

// KindSet is a set of kinds.
type KindSet uint16

// Kinds makes a set.
func Kinds(kinds ...Kind) KindSet {
	var s KindSet
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Has reports whether k is in s.
func (s KindSet) Has(k Kind) bool { return s&(1<<k) != 0 }

// Event is what happened since the policy's last decision. It is only a hint: the View holds all there is to know.
type Event struct {
	At     time.Duration
	Kind   Kind
	Job    JobID
	Coflow southbound.CoflowID
	Row    int32
}

// Policy decides. The same view gives the same plan, also from a fresh instance, whatever the events were.
type Policy interface {
	// Wants returns the events that require a Decide.
	Wants() KindSet
	// Capabilities returns what the policy can do and what it requires. It never changes.
	Capabilities() Capabilities
	// Decide answers for the view. Neither v nor anything it holds is written to or kept.
	Decide(v *View, ev []Event) *Plan
}
