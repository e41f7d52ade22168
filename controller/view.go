package controller

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"lightloom/controller/multihop"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// View is what a policy sees: a read-only window on the state. All slices are borrowed for the call of Decide and must
// not be written to (the conformance suite hashes a view before and after).
type View struct {
	Now               time.Duration
	Seed              uint64 // of the run; a policy draws from Rand
	Fabric            *topo.Fabric
	Paths             *pathmap.Map            // between racks, over packets
	ReservedBandwidth []pathmap.BitsPerSecond // by link, layer 2: what outside schedulers hold; nil: nothing. See Room
	Down              []bool                  // by link: no light, or a dead end; nil: all are up

	News

	// Links are the recent link rates from the switches' counters; nil if switches do not count. They are not replicated:
	// two leaders can have different values.
	Links []LinkRate `json:",omitempty"`

	Waiting []*Job              // accepted and not placed, in order of acceptance
	Blocked []*Job              // accepted, and wait for jobs whose output they read, in order of acceptance
	Free    []int32             // free slots, by host; none on a host that is lost
	VCPUs   []int64             // thousandths of vCPUs that no task has, by host; nil: as free slots say
	Lost    []southbound.HostID // hosts that have failed, sorted
	Evicted []Evicted           // placed jobs that have lost hosts, by id; not incremental ones
	Partial []Partial           // incremental jobs with a task placed, not ended, by id
	Running []Running           // placed jobs with stages that have coflows among Coflows, by id
	Loaded  []Running           // placed jobs with loads, not ended, by id: vCPUs decide how long they take
	Coflows []CoflowView        // expanded and not ended, by id: started, or waiting for their stage

	Movement
	Circuits []CircuitView        // by OCS input; nil without an OCS
	Reserved []CircuitReservation // begun and not, sorted by (In, NotBefore)

	// Traffic is an estimate of the bytes between racks; nil if the bytes left of coflows are known. Circuit policies then
	// use Traffic, and ignore coflows.
	Traffic *Traffic

	Delta             time.Duration // the expected reconfiguration delay of a circuit move
	ElephantThreshold pathmap.Bytes // bytes of a rack pair and coflow from which a circuit is worth it
}

// News is what has changed since the last decision.
type News struct {
	// Changed says which links have come or gone since the last decision: host flows whose racks have a path over one of
	// them can find a better path now. nil: none.
	Changed []bool
	// Touched are the rack pairs that have a path over a Changed link, sorted; they come from the path map's index from
	// links to pairs. Without that index Touched is nil, and a policy inspects the paths themselves.
	Touched []pathmap.Pair

	Showing *Showing `json:"-"` // of coflows; nil: all of them can have changed
}

// Showing says what has changed since a view was shown before. The state writes it; policies only read it.
type Showing struct {
	Of       *View                 // that view: a copy can have been altered
	Number   uint64                // of the times that it was brought up to date
	Full     bool                  // anything can have changed
	Unrouted int                   // coflows that have host flows and no routes
	Changed  []southbound.CoflowID // unless Full: come, gone or changed, but for what they have left; sorted
}

// FindCoflow finds a coflow by its id where they are sorted, or where it would be.
func (v *View) FindCoflow(id southbound.CoflowID) (at int, found bool) {
	at = sort.Search(len(v.Coflows), func(i int) bool { return v.Coflows[i].ID >= id })
	return at, at < len(v.Coflows) && v.Coflows[at].ID == id
}

// Movement is how fast things go, and over what beside packets and single circuits.
type Movement struct {
	Pace
	// Multihop are the paths over several circuits that pairs of racks have, or are being given. They are not replicated:
	// a new leader begins with none.
	Multihop multihop.Paths `json:",omitempty"`
}

// Pace is how fast things go.
type Pace struct {
	Turnover time.Duration // when a job with tasks was placed, or one ended, last; 0: never
	// TaskChanges grows with every change to jobs, their tasks, slots and lost hosts; 0: nobody counts. It is not
	// replicated: two leaders can have counted differently.
	TaskChanges uint64 `json:"-"`
	// AllTaskChanges is TaskChanges when tasks of many jobs last can have changed at once, as with a lost host; 0: not
	// known.
	AllTaskChanges uint64 `json:"-"`
	// Unread fills in what the coflows of a view, this or a copy, have left, for a policy that has said that it would ask;
	// nil once that is there.
	Unread func(*View) `json:"-"`
	// Rest returns all that a coflow has left of which the view has only the brief, for View.Complete; nil: there is none.
	Rest func(southbound.CoflowID) (southbound.Remaining, bool) `json:"-"`
	// Deltas are the expected reconfiguration delays by OCS port, where OCSes differ; nil: all have View.Delta.
	Deltas []time.Duration `json:",omitempty"`
}

// ReadRemaining fills in what coflows have left, where that has been left out until somebody asks.
func (v *View) ReadRemaining() {
	if v.Unread != nil {
		v.Unread(v)
		v.Unread = nil
	}
}

// Complete fills in what a coflow of a view has left where it is brief. Where Rest does not know the coflow's rows, it
// has its sizes left, as in a view that was never brief. A brief report does not stay: it holds for some rows only.
func (v *View) Complete(c *CoflowView) {
	if c.Remaining.Brief {
		c.Remaining = c.LeftBy(v.Rest)
	}
}

// LeftBy returns what a coflow has left by left, and its sizes where left is nil or does not know its rows.
func (c *CoflowView) LeftBy(left func(southbound.CoflowID) (southbound.Remaining, bool)) southbound.Remaining {
	if c.Started && left != nil {
		if l, ok := left(c.ID); ok && len(l.Base) == len(c.Tag) {
			return l
		}
	}
	base := make([]float64, len(c.Tag))
	for i, b := range c.Size {
		base[i] = float64(b)
	}
	return southbound.Remaining{F: 1, Base: base, Live: c.LiveRows}
}

// DeltaAt returns the expected reconfiguration delay of a move of an OCS port's circuit.
func (v *View) DeltaAt(port southbound.Port) time.Duration {
	if v.Deltas == nil {
		return v.Delta
	}
	return v.Deltas[port]
}

// LeastDelta returns the expected reconfiguration delay of the fastest OCS.
func (v *View) LeastDelta() time.Duration {
	if v.Deltas == nil {
		return v.Delta
	}
	return slices.Min(v.Deltas)
}

// Traffic is an estimate of what racks have for each other, by counters or hosts' reports.
type Traffic struct {
	At    time.Duration     // when it was made
	Next  time.Duration     // when it will be made anew
	Ahead time.Duration     // it is of rates, for so long from then on; 0: it is of bytes that wait to be sent
	Bytes [][]pathmap.Bytes // payload, [source][destination]; zero on the diagonal
}

// LinkRate is what passed a link, at layer 2.
type LinkRate struct {
	Rate  pathmap.BitsPerSecond
	Drops uint64        // packets a second that found its queue full, rounded up; 0 on the links of hosts into the fabric
	Span  time.Duration // what Rate and Drops are the means of; 0: nothing is known of this link
	At    time.Duration // when the newer of the two samples came in
}

// NoHost is a host that is still to be chosen.
const NoHost southbound.HostID = -1

// Evicted is a placed job some of whose tasks' hosts are lost. Its new Placement names every task: the hosts of the
// others as they are, since what runs is not moved.
type Evicted struct {
	Job   *Job
	Hosts []southbound.HostID // by task of the job; NoHost where one is to be chosen
	Ended []bool              // by task: it has ended and takes no slot; its host is where what it wrote is read from
}

// Running is a placed job and where its tasks are.
type Running struct {
	Job   *Job
	Hosts []southbound.HostID // by task of the job; NoHost where one is to be chosen
	Tasks []TaskState         // by task of the job
}

// Partial is an incremental job that has begun to be placed. Slices are by task of the job.
type Partial struct {
	Job         *Job
	Hosts       []southbound.HostID // NoHost where one is to be chosen
	Tasks       []TaskState
	Waits       []bool  // by stage: edges into it have not delivered
	PolicyState []int32 // what the policy left with the job's last placement that had one
	// Changes grows whenever the job's tasks can have changed, to the Pace.TaskChanges of that time; 0: not known.
	Changes uint64 `json:"-"`
}

// TaskState is where a task runs and how far it is.
type TaskState struct {
	Job     JobID             `json:"job"`
	Stage   int32             `json:"stage"`
	Host    southbound.HostID `json:"host"` // NoHost before placement
	Started time.Duration     `json:"started_ns"`
	Ended   time.Duration     `json:"ended_ns"`
	// how often it was begun before, on hosts that have failed or that it has left
	Try      int32 `json:"try,omitempty"`
	NonLocal bool  `json:"non_local,omitempty"` // no copy of its block is in the host's rack
	// its block comes over the network, since ReadSince, and Reading until all of it is there
	OverNetwork bool          `json:"over_network,omitempty"`
	Reading     bool          `json:"reading,omitempty"`
	ReadSince   time.Duration `json:"read_since_ns,omitempty"`
	// thousandths of vCPUs that it was given; 0: its share
	MilliVCPUs int32 `json:"milli_vcpus,omitempty"`
	// thousandths beside them until others want them
	ExtraMilli int32 `json:"extra_milli_vcpus,omitempty"`
	// of its load: what it had done at Rated, when its vCPUs were changed last; 0: they never were
	Done  time.Duration `json:"done_ns,omitempty"`
	Rated time.Duration `json:"rated_ns,omitempty"`
	Moved time.Duration `json:"moved_ns,omitempty"` // when a plan had it leave its host last; 0: never
}

// MayStart reports whether a task has a host and is to begin there.
func (t *TaskState) MayStart() bool { return t.Host >= 0 && t.Started < 0 && t.Ended < 0 && !t.Reading }

// Slower reports whether a task takes its NonLocal time: it reads from another rack, and not over the network.
func (t *TaskState) Slower() bool { return t.NonLocal && !t.OverNetwork }

// Begun is when a task began to read its block over the network or, where it does not, to compute; below zero before.
func (t *TaskState) Begun() time.Duration {
	if t.OverNetwork {
		return t.ReadSince
	}
	return t.Started
}

// Running reports whether a task has begun and not ended.
func (t *TaskState) Running() bool { return t.Started >= 0 && t.Ended < 0 }

// CoflowView is a coflow as a policy sees it.
type CoflowView struct {
	ID      southbound.CoflowID
	Job     JobID
	Edge    int32         // of the job; the number of its edges where Block
	Block   bool          // it brings blocks to tasks of the job that read from other racks
	Arrival time.Duration // the job's
	Weight  float64
	// Deadline is the instant by which the job is to have ended; 0: it has none. A bare coflow is its job.
	Deadline  time.Duration
	Admission Admission // on its deadline
	Started   bool      // its host flows may send
	Start     time.Duration
	// Generation is raised by the maker of views when a coflow gets other rows: in two views, a coflow of the same id and
	// generation has the same Src, Dst, Size and Flows. 0 means unknown: read them again.
	Generation uint64
	Src        []southbound.HostID // by row, sorted by (Dst, Src)
	Dst        []southbound.HostID
	Size       []pathmap.Bytes
	Flows      []int32 // by row: pairs of tasks, or flows of the trace, that it holds; nil if unknown
	Ended      []bool
	LiveRows   int32                // rows that have not ended; 0: unknown
	Routed     bool                 // Tag has been decided
	Tag        []southbound.Tag     // by row: while on packets; other tags are another slice
	Remaining  southbound.Remaining // payload; before the start, the sizes
}

// LeftTotal returns the payload left of all rows together, in bytes.
func (c *CoflowView) LeftTotal() float64 {
	if c.Remaining.Base == nil {
		return c.Remaining.Total
	}
	sum := 0.0
	for r, over := range c.Ended {
		if !over {
			sum += c.Remaining.Row(int32(r))
		}
	}
	return sum
}

// LeftBytes returns the payload left of a row, zero once it has ended, rounded up.
func (c *CoflowView) LeftBytes(row int) pathmap.Bytes {
	if c.Ended[row] {
		return 0
	}
	l := c.Remaining.Row(int32(row))
	b := pathmap.Bytes(l)
	if float64(b) < l {
		b++
	}
	return b
}

// CircuitPhase is how far a circuit has come.
type CircuitPhase uint8

// The phases.
const (
	NoCircuit     CircuitPhase = iota
	Reconfiguring              // intended: draining, dark, or locking
	InService                  // lit and steered to
)

// CircuitView is the circuit of one OCS input.
type CircuitView struct {
	Out    southbound.Port // NoPort where there is none
	Phase  CircuitPhase
	Since  time.Duration
	Held   bool // a begun reservation holds it
	Coflow southbound.CoflowID
	Until  time.Duration // the reservation's NotAfter
}

// FreeVCPUs returns the thousandths of vCPUs that no task has on a host.
func (v *View) FreeVCPUs(h int) int64 {
	if v.VCPUs != nil {
		return max(0, v.VCPUs[h])
	}
	return int64(Share(v.Fabric, southbound.HostID(h), max(0, v.Free[h])))
}

// Wire returns the bytes that links carry for b bytes of payload: Wire's, or b itself on a crossbar, whose rates are
// counted in payload so that its figures compare with other flow-level simulators'.
func (v *View) Wire(b pathmap.Bytes) pathmap.Bytes {
	if v.Fabric.Spec.Kind == topo.Crossbar {
		return b
	}
	return Wire(b)
}

// CircuitsOnly reports whether every byte between racks goes over circuits: on a crossbar with an OCS. What has none is
// held.
func CircuitsOnly(f *topo.Fabric) bool { return f.Spec.Kind == topo.Crossbar && f.HasOCS() }

// HostRack returns the rack of a host.
func (v *View) HostRack(h southbound.HostID) southbound.RackID {
	return southbound.RackID(v.Fabric.RackOf(int32(h)))
}

// Rand returns the stream of random numbers of one purpose at one decision. The same seed, purpose and key give the
// same stream, so a fresh instance of a policy decides as the old one would have.
func (v *View) Rand(purpose string, key uint64) *rand.Rand {
	h := v.Seed ^ 0x9e3779b97f4a7c15
	for _, c := range []byte(purpose) {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return rand.New(rand.NewPCG(h, key))
}

// Payload of one full Ethernet frame at MTU 1500 and the frame itself: what TCP over IPv4 with timestamps carries.
const (
	FramePayload = 1448
	FrameBytes   = 1514
)

// Wire returns the layer-2 bytes that carry b bytes of payload, rounded up.
func Wire(b pathmap.Bytes) pathmap.Bytes {
	return b/FramePayload*FrameBytes + (b%FramePayload*FrameBytes+FramePayload-1)/FramePayload
}
