package state

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Kind is what an Entry records.
type Kind uint8

// Facts, commitments and outcomes. Which fields of an Entry each uses is said beside it.
const (
	JobAccepted             Kind = iota + 1 // Job, Request
	Placed                                  // Placement
	Routed                                  // Routing
	StageStarted                            // JobID, Stage
	CoflowStarted                           // Coflow
	TaskEnded                               // Task
	HostFlowEnded                           // Coflow, Row
	Withdrawn                               // Coflow: its unbegun reservations go
	CircuitReserved                         // CircuitReservation
	CircuitReservationBegun                 // Port (input)
	CircuitReservationEnded                 // Port (input), Cause
	CircuitIntended                         // Port (input), Out, Coflow
	CircuitSettled                          // Port (input), Out, Stages, OK
	Planned                                 // Wake, Anneal
	PortSeen                                // Device, Port, OK (lit)
	HostSeen                                // Host, OK (up)
	CircuitDropped                          // Port (input), Out
	BandwidthReserved                       // BandwidthReservation, Request
	BandwidthReleased                       // BandwidthReservationID
	AdmissionDecided                        // Coflow, OK (admitted)
	JobCancelled                            // JobID, Sent, OK (its lifetime was over)
	ClusterFounded                          // Cluster: Epoch, Level
	MembersSeen                             // Cluster: Members
	LevelRaised                             // Cluster: Level
	GrantChanged                            // Grant
	MembersForgotten                        // Cluster: Members, by ID
	FabricChanged                           // Cluster: Fabric
	RetentionSet                            // Cluster: Retention
	TaskResized                             // Resize
	SliceSet                                // Slice
	SliceDeleted                            // Request (the slice's name)
	maxKind
)

var kindNames = [maxKind]string{"", "JobAccepted", "Placed", "Routed", "StageStarted",
	"CoflowStarted", "TaskEnded",
	"HostFlowEnded",
	"Withdrawn", "CircuitReserved", "CircuitReservationBegun", "CircuitReservationEnded", "CircuitIntended",
	"CircuitSettled", "Planned",
	"PortSeen", "HostSeen", "CircuitDropped",
	"BandwidthReserved", "BandwidthReleased", "AdmissionDecided", "JobCancelled",
	"ClusterFounded", "MembersSeen", "LevelRaised", "GrantChanged",
	"MembersForgotten", "FabricChanged", "RetentionSet", "TaskResized", "SliceSet", "SliceDeleted"}

func (k Kind) String() string {
	if k > 0 && k < maxKind {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Cause is why a reservation ended.
type Cause uint8

// The causes.
const (
	RanOut    Cause = iota + 1 // NotAfter came
	Delivered                  // nothing is left to carry
	Preempted                  // a plan said so
	Broken                     // its circuit failed
)

func (c Cause) String() string {
	if names := [...]string{RanOut: "RanOut", Delivered: "Delivered", Preempted: "Preempted",
		Broken: "Broken"}; c > 0 &&
		int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("cause(%d)", uint8(c))
}

// Stages are the parts of one circuit move, each the instant at which it was over. Zero is unknown.
type Stages struct {
	Cleared   time.Duration `json:"cleared_ns,omitempty"`   // nothing was steered to the ports any more
	Drained   time.Duration `json:"drained_ns,omitempty"`   // and they had emptied
	Accepted  time.Duration `json:"accepted_ns,omitempty"`  // the OCS took the Set
	Connected time.Duration `json:"connected_ns,omitempty"` // the OCS reported the circuit
}

// BeforeRPC splits the time from the intent to empty ports. If the end of steering was not recorded, all of it is
// commit.
func (s Stages) BeforeRPC(intent time.Duration) (commit, drain time.Duration) {
	cleared := cmp.Or(s.Cleared, s.Drained)
	return max(cleared-intent, 0), max(s.Drained-cleared, 0)
}

// Entry is one record of the log.
type Entry struct {
	Kind Kind          `json:"k"`
	At   time.Duration `json:"t"`

	Job *controller.Job `json:"job,omitempty"`
	// unique for each submitted job; "" for none
	Request            string                         `json:"request,omitempty"`
	Placement          *controller.Placement          `json:"placement,omitempty"`
	Routing            *controller.Routing            `json:"routing,omitempty"`
	CircuitReservation *controller.CircuitReservation `json:"circuit_reservation,omitempty"`

	Sent []Sent `json:"sent,omitempty"`

	BandwidthReservation   *controller.BandwidthReservation  `json:"bandwidth_reservation,omitempty"`
	BandwidthReservationID controller.BandwidthReservationID `json:"bandwidth_reservation_id,omitempty"`

	JobID  controller.JobID    `json:"j,omitempty"`
	Stage  int32               `json:"s,omitempty"`
	Task   southbound.TaskID   `json:"task,omitempty"`
	Coflow southbound.CoflowID `json:"c,omitempty"`
	Row    int32               `json:"r,omitempty"`
	Device southbound.DeviceID `json:"d,omitempty"`
	Port   southbound.Port     `json:"p,omitempty"`
	Out    southbound.Port     `json:"o,omitempty"`
	Host   southbound.HostID   `json:"h,omitempty"`
	OK     bool                `json:"ok,omitempty"`
	Cause  Cause               `json:"cause,omitempty"`
	Stages *Stages             `json:"stages,omitempty"`

	Grant *controller.Grant `json:"grant,omitempty"`

	Planning

	Cluster *Cluster `json:"cluster,omitempty"`
}

// Planning is what a plan leaves beside its changes, and what is decided about tasks and slices.
type Planning struct {
	Wake   time.Duration            `json:"wake,omitempty"`
	Anneal *controller.AnnealCounts `json:"anneal,omitempty"`
	Resize *controller.Resize       `json:"resize,omitempty"`
	Slice  *Slice                   `json:"slice,omitempty"`
}

// Sent is what the host flows of a coflow have carried so far.
type Sent struct {
	Coflow southbound.CoflowID `json:"c"`
	Bytes  pathmap.Bytes       `json:"b"`
	Rack   pathmap.Bytes       `json:"r,omitempty"` // of these, between two hosts of one rack
}

// MaxBatch bounds an encoded batch of entries, and is what one entry of the log can have at most.
const MaxBatch = 64 << 20

// Encode writes a batch for the log.
func Encode(batch []Entry) ([]byte, error) {
	b, err := json.Marshal(batch)
	if err == nil && len(b) > MaxBatch {
		err = fmt.Errorf("batch of %d bytes is above %d", len(b), MaxBatch)
	}
	if err != nil {
		return nil, fmt.Errorf("encode entries: %w", err)
	}
	return b, nil
}

// Decode reads what Encode wrote; it returns nil if that is no batch. Beside an error, an entry with a key or a value
// that this version does not know has no kind: Apply refuses it, and takes the rest of its batch. A newer version,
// which knows the key, refuses the same entry for the cluster's level.
func Decode(b []byte) ([]Entry, error) {
	if len(b) > MaxBatch {
		return nil, fmt.Errorf("decode entries: %d bytes are above %d", len(b), MaxBatch)
	}
	var batch []Entry
	if decodeFlows(b, &batch) || strict(b, &batch) == nil {
		return batch, nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return nil, fmt.Errorf("decode entries: %w", err)
	}
	batch = make([]Entry, len(parts))
	var errs []error
	for i, part := range parts {
		if err := strict(part, &batch[i]); err != nil {
			batch[i] = Entry{}
			errs = append(errs, fmt.Errorf("decode entry %d: %w", i, err))
		}
	}
	return batch, errors.Join(errs...)
}

// strict reads one JSON value that has no unknown keys.
func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows it")
	}
	return nil
}

func (e *Entry) wellFormed() error {
	if e.Kind == 0 || e.Kind >= maxKind {
		return fmt.Errorf("kind %d is unknown", uint8(e.Kind))
	}
	missing := ""
	switch e.Kind {
	case JobAccepted:
		missing = lacks(e.Job, "job")
	case Placed:
		missing = lacks(e.Placement, "placement")
	case Routed:
		missing = lacks(e.Routing, "routing")
	case CircuitReserved:
		missing = lacks(e.CircuitReservation, "circuit reservation")
	case BandwidthReserved:
		missing = lacks(e.BandwidthReservation, "bandwidth reservation")
	case ClusterFounded, MembersSeen, LevelRaised, MembersForgotten:
		missing = lacks(e.Cluster, "cluster")
	case RetentionSet:
		if missing = lacks(e.Cluster, "cluster"); missing == "" {
			missing = lacks(e.Cluster.Retention, "retention")
		}
	case TaskResized:
		missing = lacks(e.Resize, "resize")
	case SliceSet:
		missing = lacks(e.Slice, "slice")
	case GrantChanged:
		missing = lacks(e.Grant, "grant")
	case FabricChanged:
		if missing = lacks(e.Cluster, "cluster"); missing == "" {
			missing = lacks(e.Cluster.Fabric, "fabric")
		}
	}
	if missing != "" {
		return fmt.Errorf("%v without %s", e.Kind, missing)
	}
	return nil
}

// lacks returns the name of a missing part, and "" for one that is there.
func lacks[T any](part *T, name string) string {
	if part == nil {
		return name
	}
	return ""
}
