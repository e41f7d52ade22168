package state

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/cabling"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Unset is an instant that has not come.
const Unset = time.Duration(-1)

// Job is a job and how far it is.
type Job struct {
	controller.Job
	Hosts       []southbound.HostID `json:"hosts,omitempty"` // by task; nil before placement
	Placed      time.Duration       `json:"placed_ns"`
	Started     time.Duration       `json:"started_ns"` // its first stage or coflow
	Ended       time.Duration       `json:"ended_ns"`
	Stages      []Stage             `json:"stage_states,omitempty"`
	Open        int32               `json:"open"`                   // stages and coflows that have not ended
	PolicyState []int32             `json:"policy_state,omitempty"` // of the policy that places it
	// coflows that carry again what its edges have lost with a host
	Redo []southbound.CoflowID `json:"redo,omitempty"`
	// coflows that bring blocks to its tasks, from other racks
	Blocks []southbound.CoflowID `json:"blocks,omitempty"`

	Cancelled bool `json:"cancelled,omitempty"` // a user or its lifetime has ended it
	Expired   bool `json:"expired,omitempty"`   // its lifetime has

	Leaves time.Duration `json:"leaves_ns,omitempty"` // when it may leave the state; see Keep

	left    bool   // it is being taken out
	frozen  uint64 // State.frozen when this copy was made
	sum     *sum   // nil before the first Freeze
	changes uint64 // State.taskChanges when its tasks last can have changed; 0: not since a restore or its acceptance
}

// Stage is how far a stage is.
type Stage struct {
	Waits     int32 `json:"waits"`             // edges into it that have not delivered; streams are not waited for
	Remaining int32 `json:"remaining"`         // tasks that have not ended
	Streams   int32 `json:"streams,omitempty"` // ends of streams here that have not delivered: they hold its tasks
	Started   bool  `json:"started"`
}

// Task is where a task runs and how far it is; its instants are Unset until they come.
type Task = controller.TaskState

// Coflow is one edge of a job: a row of the transfer ledger.
type Coflow struct {
	ID        southbound.CoflowID  `json:"id"`
	Job       controller.JobID     `json:"job"`
	Edge      int32                `json:"edge"`
	Ready     time.Duration        `json:"ready_ns"` // when its host flows could have been sent: the arrival of a bare one
	Started   time.Duration        `json:"started_ns"`
	Ended     time.Duration        `json:"ended_ns"`
	Columns   controller.Columns   `json:"columns"` // empty before placement and after the end
	Tag       []southbound.Tag     `json:"tag,omitempty"`
	Routed    bool                 `json:"routed"`
	Done      []bool               `json:"done,omitempty"` // by row
	Remaining int32                `json:"remaining"`      // rows that have not ended
	Admission controller.Admission `json:"admission,omitempty"`

	Bytes     pathmap.Bytes `json:"bytes"` // of all host flows
	Local     pathmap.Bytes `json:"local"` // beside them: within one host
	Rack      pathmap.Bytes `json:"rack"`  // of Bytes: between two hosts of one rack
	HostFlows int64         `json:"host_flows"`
	Flows     int64         `json:"flows"`
	Routes    uint64        `json:"routes"` // hash of every routing that it was given: two runs compare their plans by it

	// Of a coflow that carries again what another one has lost with a host. Pairs name tasks of the job, or hosts where
	// the edge is Fixed. It waits while one of their hosts is lost or not chosen yet, and has no columns then.
	Resent bool                `json:"resent,omitempty"`
	Of     southbound.CoflowID `json:"of,omitempty"` // the edge's own
	Pairs  []controller.Flow   `json:"pairs,omitempty"`
	// It brings blocks to tasks. Edge is the number of the job's edges then, and pairs are from a host to a task that
	// still reads.
	Block bool `json:"block,omitempty"`
	// so does the coflow of an edge whose tasks are placed incrementally
	Waits bool `json:"waits,omitempty"`
	// by task: the hosts it was laid out between, once a task has left its own; nil: the job's
	Laid []southbound.HostID `json:"laid,omitempty"`

	derivedRows
}

// derivedRows follows from a coflow's Columns.
type derivedRows struct {
	byDst      byDst
	generation uint64 // no other rows of any coflow have it
}

// CircuitReservation is a reservation and whether its circuit has been asked for.
type CircuitReservation struct {
	controller.CircuitReservation
	Begun bool `json:"begun"`
}

// Circuit is what the ledger holds of one OCS input.
type Circuit struct {
	Out    southbound.Port         `json:"out"` // NoPort: none
	Phase  controller.CircuitPhase `json:"phase"`
	Coflow southbound.CoflowID     `json:"coflow"` // for whom it was last made
	Since  time.Duration           `json:"since_ns"`
	Move   int32                   `json:"move"` // index in Moves of the move that made it
}

// Move is the record of one circuit move, from intent to the end of the circuit.
type Move struct {
	In        southbound.Port     `json:"in"`
	Out       southbound.Port     `json:"out"`
	Coflow    southbound.CoflowID `json:"coflow"`
	Intent    time.Duration       `json:"intent_ns"`
	Stages    Stages              `json:"stages"`
	InService time.Duration       `json:"in_service_ns"` // Unset while moving, or where it failed
	Ended     time.Duration       `json:"ended_ns"`      // Unset while it stands
	Failed    bool                `json:"failed,omitempty"`
	Carried   bool                `json:"carried,omitempty"` // a reservation held it when it was in service
}

// PortRef names a port of a device.
type PortRef struct {
	Device southbound.DeviceID `json:"device"`
	Port   southbound.Port     `json:"port"`
}

// Data is all that is replicated: a snapshot is its JSON. Jobs and coflows are sorted by id, and tasks by job: ids are
// no places, since jobs that have ended can have left.
type Data struct {
	At       time.Duration               `json:"at_ns"` // of the last entry
	Applied  uint64                      `json:"applied"`
	Next     Next                        `json:"next"`
	Jobs     []*Job                      `json:"jobs"`
	Tasks    []Task                      `json:"tasks"`
	Coflows  []*Coflow                   `json:"coflows"`
	Ledger   []CircuitReservation        `json:"ledger"` // sorted by (In, NotBefore)
	Circuits []Circuit                   `json:"circuits"`
	Moves    []Move                      `json:"moves"`            // the latest; see KeepMoves
	Forgot   int64                       `json:"forgot,omitempty"` // moves before those, whose circuits have ended
	Down     []PortRef                   `json:"down"`             // sorted
	Lost     []southbound.HostID         `json:"lost,omitempty"`   // hosts that have failed, sorted
	Requests []Granted[controller.JobID] `json:"requests"`
	Wake     time.Duration               `json:"wake_ns"`
	Anneal   controller.AnnealCounts     `json:"anneal"`
	Migrated *Migrated                   `json:"migrated,omitempty"` // nil: no migration so far
	// when a job that has left was placed or ended last
	Turnover time.Duration `json:"turnover_ns,omitempty"`
	Cluster  *Cluster      `json:"cluster,omitempty"` // nil: it has had no leader

	// those that stand, by id
	BandwidthReservations    []controller.BandwidthReservation            `json:"bandwidth_reservations,omitempty"`
	LastBandwidthReservation controller.BandwidthReservationID            `json:"last_bandwidth_reservation,omitempty"`
	BandwidthRequests        []Granted[controller.BandwidthReservationID] `json:"bandwidth_requests,omitempty"`

	Grants []controller.Grant `json:"grants,omitempty"` // by name

	Slices []Slice `json:"slices,omitempty"` // in the order in which they were asked for
}

// State is the state machine. The zero value is not in service; New makes one. It is not safe for concurrent use.
type State struct {
	network
	knows Level // of this version
	d     Data

	// Derived: rebuilt from d alone by derive.
	ledger            ledger
	keep              int                     // moves; 0: all
	spare             [2][]Move               // memory of forget
	found             []found                 // by OCS input, or rack: of Rows
	rows              uint64                  // the latest generation of rows
	onForget          func([]Move)            // of KeepMoves; can be nil
	leads             []southbound.Port       // by OCS output: the input whose circuit leads there, NoPort for none
	reservedBandwidth []pathmap.BitsPerSecond // by link; nil: nothing is
	room
	active   []southbound.CoflowID // expanded and not ended, sorted
	stages   []StageRef            // ready to start
	ready    []southbound.CoflowID // ready to start
	turnover time.Duration         // when a job with tasks was placed, or one ended, last
	evicted  []controller.JobID    // jobs with tasks that have lost their hosts, sorted
	watched
	shown shown

	unplaced
	ends
	granted
	leavers
	sharing
	published
}

// watched are jobs that have not ended and are asked for at every decision, sorted.
type watched struct {
	mortal []controller.JobID // with a lifetime
	loaded []controller.JobID // placed ones with loads
}

// published is what others are told while entries are applied.
type published struct {
	counts      atomic.Pointer[Counts]
	observe     func(*Entry) // nil: nobody is told
	taskChanges uint64
	allChanged  uint64 // taskChanges when an entry last can have changed tasks of any job
}

// unplaced are the jobs that have not been placed, or not as a whole, sorted.
type unplaced struct {
	waiting []controller.JobID
	blocked []controller.JobID // wait for what they read
	pinned  bool               // there was a job that names its hosts
	sliced  bool               // there was a job that asks for a slice
	staged  bool               // there was a job with stages
	// incremental jobs that are placed in part or whole, and have not ended, sorted
	partly []controller.JobID
}

// ends counts what has ended.
type ends struct {
	finished int // jobs
	ended    int // coflows
}

// StageRef names a stage of a job.
type StageRef struct {
	Job   controller.JobID
	Stage int32
}

// New returns the empty state of a fabric.
func New(f *topo.Fabric) *State { return NewAs(f, Newest) }

// NewAs is New as a version would do it that knows feature levels up to knows, for tests of upgrades.
func NewAs(f *topo.Fabric, knows Level) *State {
	s := &State{network: network{founded: f}, knows: knows, keep: keptMoves, d: Data{Wake: southbound.Never}}
	s.become(f)
	if f.HasOCS() {
		s.d.Circuits = noCircuits(f.OCSPorts())
	}
	s.derive()
	return s
}

func noCircuits(ports int) []Circuit {
	return slices.Repeat([]Circuit{{Out: southbound.NoPort, Coflow: controller.AnyCoflow, Move: -1}}, ports)
}

// Fabric returns the fabric that the state is about, as it is now. It can be called between entries.
func (s *State) Fabric() *topo.Fabric { return s.current.Load() }

// Founded returns the fabric that the state was made for.
func (s *State) Founded() *topo.Fabric { return s.founded }

// Data returns what is replicated. It is borrowed: callers must not write to it.
func (s *State) Data() *Data {
	s.write()
	return &s.d
}

// Live returns what Data does, except that its Ledger can be out of date: callers at every step avoid the cost of
// writing it each time.
func (s *State) Live() *Data { return &s.d }

// Active returns the coflows that are expanded and have not ended, by id. Borrowed.
func (s *State) Active() []southbound.CoflowID { return s.active }

// Coflow returns a coflow; nil if there never was one, or it has left the state. Borrowed.
func (s *State) Coflow(c southbound.CoflowID) *Coflow { return s.d.Coflow(c) }

// ReadyStages returns the stages that can start: placed, with every edge into them delivered. Borrowed.
func (s *State) ReadyStages() []StageRef { return s.stages }

// ReadyCoflows returns the coflows that can start: expanded, and their stage has ended. Borrowed.
func (s *State) ReadyCoflows() []southbound.CoflowID { return s.ready }

// Finished returns how many jobs have ended.
func (s *State) Finished() int { return s.finished }

// RackOf returns the rack of a host.
func (s *State) RackOf(h southbound.HostID) southbound.RackID {
	return southbound.RackID(s.fabric.RackOf(int32(h)))
}

// Snapshot returns the state in a form that Restore reads.
func (s *State) Snapshot() ([]byte, error) {
	return s.Data().snapshot()
}

// Digest is that of Freeze: equal digests mean equal states.
func (s *State) Digest() [32]byte { return s.Freeze().Digest() }

// Restore replaces the state by a snapshot of the same founded fabric. On an error nothing has changed.
func (s *State) Restore(b []byte) error {
	d := Data{}
	if err := json.Unmarshal(b, &d); err != nil {
		return fmt.Errorf("restore state: %w", err)
	}
	if err := d.Cluster.check(s.knows); err != nil {
		return fmt.Errorf("restore state: %w", err)
	}
	f := s.founded
	if c := d.Cluster; c != nil && c.Fabric != nil {
		var err error
		if f, err = cabling.Apply(f, c.Fabric.Cabling); err != nil {
			return fmt.Errorf("restore state: %w", err)
		}
	}
	if err := d.check(f); err != nil {
		return fmt.Errorf("restore state: %w", err)
	}
	s.d = d
	s.become(f)
	s.derive()
	return nil
}

// derive rebuilds what follows from d.
func (s *State) derive() {
	s.taskChanges++
	s.shown.all = true
	s.requests, s.bandwidthRequests = index(s.d.Requests), index(s.d.BandwidthRequests)
	s.frozen, s.sharedTasks, s.sharedMoves = 0, false, false
	s.deriveReservedBandwidth()
	s.room = newRoom(s.fabric)
	s.drain()
	s.derivePorts()
	s.deriveSlicing()
	s.unplaced = unplaced{}
	s.active, s.stages, s.ready, s.evicted, s.partly = nil, nil, nil, nil, nil
	s.turnover, s.mortal, s.loaded, s.leaving = s.d.Turnover, nil, nil, nil
	s.finished, s.ended = int(s.d.Next.Job)-len(s.d.Jobs), int(s.d.Next.Coflow)-len(s.d.Coflows) // those that have left
	for _, c := range s.d.Coflows {
		s.renew(c)
		if c.Ended != Unset {
			s.ended++
		}
	}
	for _, j := range s.d.Jobs {
		for i, t := range s.d.TasksOf(j) {
			if t.Host >= 0 && t.Ended == Unset {
				s.occupy(j, i)
			}
		}
	}
	for _, h := range s.d.Lost {
		s.room.lose(h)
	}
	for _, j := range s.d.Jobs {
		s.turn(j)
		s.noteMortal(j)
		s.pinned = s.pinned || j.Ended == Unset && j.Pinned()
		s.sliced = s.sliced || j.Ended == Unset && j.Slice != ""
		s.staged = s.staged || len(j.Job.Stages) > 0
		switch {
		case j.Ended != Unset:
			s.finished++
			if s.kept.Ended > 0 {
				s.queueLeaving(j)
			}
			continue
		case j.Placed == Unset:
			s.noteUnplaced(j)
			continue
		}
		for k := range j.Stages {
			s.noteStage(j, int32(k))
		}
		for e := range j.Edges {
			s.noteCoflow(j, j.FirstCoflow+southbound.CoflowID(e))
		}
		s.noteEvicted(j)
		for _, id := range slices.Concat(j.Redo, j.Blocks) {
			s.noteCoflow(j, id)
		}
	}
}

// derivePorts is the part of derive that is kept by ports of the OCS.
func (s *State) derivePorts() {
	s.leads = slices.Repeat([]southbound.Port{southbound.NoPort}, len(s.d.Circuits))
	for in, c := range s.d.Circuits {
		if c.Out != southbound.NoPort {
			s.leads[c.Out] = southbound.Port(in)
		}
	}
	s.found = make([]found, max(len(s.d.Circuits), s.fabric.Racks))
	s.ledger, _ = ledgerOf(s.d.Ledger, len(s.d.Circuits)) // none overlap: a snapshot in which some do is refused
}

// noteStage queues a stage that can start.
func (s *State) noteStage(j *Job, stage int32) {
	if j.Stages[stage].Waits == 0 && s.startable(j, stage) {
		s.queueStage(j, stage)
	}
}

// queueStage queues a stage with a task that may start, unless the stage waits for edges into it.
func (s *State) queueStage(j *Job, stage int32) {
	ref := StageRef{j.ID, stage}
	if j.Stages[stage].Waits == 0 && !slices.Contains(s.stages, ref) {
		s.stages = append(s.stages, ref)
	}
}

// noteCoflow enters a coflow of a placed job among the active and the ready ones, where it belongs.
func (s *State) noteCoflow(j *Job, id southbound.CoflowID) {
	c := s.Coflow(id)
	if c.Ended != Unset || c.Waits {
		return
	}
	if i, found := slices.BinarySearch(s.active, id); !found {
		s.active = slices.Insert(s.active, i, id)
	}
	if c.Started == Unset && j.mayStart(j.EdgeOf(c)) && s.housed(j, c) && !slices.Contains(s.ready, id) {
		s.ready = append(s.ready, id)
	}
}

// mayStart reports whether the host flows of an edge may send: its tasks have produced them, or run beside them.
func (j *Job) mayStart(e *controller.Edge) bool {
	switch {
	case e.Kind == controller.Fixed:
		return true
	case e.Stream:
		return j.Stages[e.From].Started && j.Stages[e.To].Started
	}
	return j.stageEnded(e.From)
}

func (j *Job) stageEnded(stage int) bool {
	return j.Stages[stage].Started && j.Stages[stage].Remaining == 0
}
