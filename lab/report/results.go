package report

import (
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// PolicyResult holds the measurements of one run under one policy. Instants are of the run.
type PolicyResult struct {
	Name     string
	Jobs     []JobResult
	Coflows  []CoflowResult
	Circuits []CircuitInterval // in any order; of very many those that are drawn

	ByNetwork
	MoveTimes
	Packets
	Work
	Decided []Decision // what the policy decided; nil where that was not kept

	Faults   []FaultInterval // in the order in which they began
	Received []Received      // in the order of time; none where nothing failed

	Health *Health    // of real packets
	Links  *LinkLoads // what packet links carried; nil where nobody read that

	Notes []string // what a reader of this row must know
}

// MoveTimes are how long moves of circuits took.
type MoveTimes struct {
	ReconfigurationDelayAssumed time.Duration
	DarkAsked                   time.Duration
	DarkSource                  string // who measured: "probe", "device", "model"
	Moved                       *Moved // nil: there were none
}

// JobResult is one job.
type JobResult struct {
	ID      controller.JobID
	Name    string
	User    string
	Arrival time.Duration
	Start   time.Duration // its first task or host flow began
	End     time.Duration // its last task or host flow ended

	Delivered pathmap.Bytes // at its sinks: the stages that send nothing on; 0 for bare coflows
	Least     time.Duration // what the links of the sinks' hosts take for it
	Cancelled bool          // it did not end by itself: it has no completion time
}

// CoflowResult is one coflow.
type CoflowResult struct {
	ID      southbound.CoflowID
	Job     controller.JobID
	Name    string        // of its job
	Arrival time.Duration // its host flows might start: the job's arrival, or the end of the stage before
	Start   time.Duration
	End     time.Duration // the last receiver had its last byte

	Bytes     pathmap.Bytes // payload, all of it
	Local     pathmap.Bytes // of these, between tasks on one host
	Rack      pathmap.Bytes // of these, between two hosts of one rack
	HostFlows int32
	Flows     int64

	Weight   float64
	Deadline time.Duration // the instant by which it was to end; 0: none

	Width   int64         // flows, those within a host too
	Bound   time.Duration // what it takes with the fabric to itself; 0 where that is not known, or nothing
	Longest pathmap.Bytes // its longest flow as in the trace, before scaling; 0 where that is not known
	Proof   *Proof        // of its routes; nil where their policy proves nothing
}

// Proof is how far the decision on a coflow's routes is from the optimum at most. The objective is the
// policy's: when the last of its host flows ends or, of several coflows together, the sum of transfer
// times.
type Proof struct {
	Value     float64 `json:"value_seconds"`      // that the decision reaches
	Bound     float64 `json:"bound_seconds"`      // no decision is below it
	Gap       float64 `json:"proven_gap"`         // above the bound, as a part of it
	HostFlows int     `json:"host_flows_decided"` // together, those under way included
}

// CCT returns the coflow completion time.
func (c *CoflowResult) CCT() time.Duration { return c.End - c.Arrival }

// JCT returns the job completion time.
func (j *JobResult) JCT() time.Duration { return j.End - j.Arrival }

// CircuitInterval is one circuit from the start of its move to its end. InService is at or after End
// where the circuit was never used.
type CircuitInterval struct {
	In, Out                southbound.Port
	Coflow                 southbound.CoflowID // controller.AnyCoflow where it served all
	Moving, InService, End time.Duration
}
