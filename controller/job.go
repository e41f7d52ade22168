package controller

import (
	"fmt"
	"slices"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// JobID is given when a job is accepted, dense from 0 in the order of acceptance.
type JobID int32

// Job is what is asked for: stages of tasks, and the edges that carry bytes between them. A bare coflow is a job
// without stages and with edges whose flows are fixed.
//
// ID, FirstTask and FirstCoflow are given at acceptance; what a user writes there is ignored.
type Job struct {
	ID          JobID               `json:"id"`
	FirstTask   southbound.TaskID   `json:"first_task"`
	FirstCoflow southbound.CoflowID `json:"first_coflow"`

	Name    string        `json:"name"`
	User    string        `json:"user,omitempty"`
	Arrival time.Duration `json:"arrival_ns"` // instant of the run; of the log's entry, unless it is of a recorded run
	Weight  float64       `json:"weight,omitempty"`
	// Deadline is how long after its arrival the job is to have ended; 0: it has none.
	Deadline time.Duration `json:"deadline_ns,omitempty"`
	Stages   []Stage       `json:"stages,omitempty"`
	Edges    []Edge        `json:"edges,omitempty"`
	// Lifetime is how long after its start a job with a rated stream is cancelled; 0 means that only a user cancels it. It
	// is 0 for jobs without such a stream.
	Lifetime time.Duration `json:"lifetime_ns,omitempty"`

	// Incremental lets tasks be placed one by one, as slots come free, in place of all at once: the waves of MapReduce.
	// Only what a stage receives still waits until each of its tasks has a slot.
	Incremental bool `json:"incremental,omitempty"`
	// Predicted is what earlier runs of a recurring job let expect of this one; nil: the job does not recur.
	Predicted *Prediction `json:"predicted,omitempty"`
	// Limits bound what the tasks with loads take together; nil: only the vCPUs there are do.
	Limits *Limits `json:"limits,omitempty"`
	// Slice is the shape of the slice of a pod that the job's tasks run on, such as "2x2x4"; empty: it has none. The slice
	// is made for the job, and ends with it.
	Slice string `json:"slice,omitempty"`
}

// Offer is a submitted job. Request is its request id, which stays the same however often the job is offered; "": it is
// offered once. Recorded has the job's Arrival believed: it is of a run that is replayed, and not what a client says.
type Offer struct {
	Job      *Job
	Request  string
	Recorded bool
}

// Prediction is what is expected of a recurring job of one map and one reduce stage. It can be wrong.
type Prediction struct {
	Input   pathmap.Bytes `json:"input"`
	Shuffle pathmap.Bytes `json:"shuffle"`
	Maps    int           `json:"maps"`
	Reduces int           `json:"reduces"`
	MapTime time.Duration `json:"map_ns"`    // of one map
	RedTime time.Duration `json:"reduce_ns"` // of one reduce
}

// Stage is a set of tasks that start together: once every edge into the stage has delivered.
type Stage struct {
	Name  string `json:"name"`
	Tasks []Task `json:"tasks"`
	// Efficiency is what part of a vCPU's work its tasks with loads get done, of hosts in turn, above 0; nil: all
	// of it everywhere.
	Efficiency []float64 `json:"efficiency,omitempty"`
	// Hosts are where its tasks run, in order; nil: the policy places them. All stages of a job have them, or none.
	Hosts []southbound.HostID `json:"hosts,omitempty"`
}

// Task computes for a while on slots of one host.
type Task struct {
	Compute time.Duration `json:"compute_ns"`
	Slots   int32         `json:"slots,omitempty"` // that it takes; 0 means 1
	Input   pathmap.Bytes `json:"input,omitempty"` // of a block that it reads from the file system
	// racks that hold a copy of the block, at most Replicas; nil: the policy places them
	Replicas []southbound.RackID `json:"replicas,omitempty"`
	// it takes longer by this where no copy of the block is in its rack, and it does not read over the network
	NonLocal time.Duration `json:"non_local_ns,omitempty"`
	// Load is how long it takes on one vCPU of a host of efficiency 1: more vCPUs make it shorter. In place of Compute.
	Load time.Duration `json:"load_ns,omitempty"`
}

// Size returns how many slots a task takes.
func (t *Task) Size() int32 { return max(t.Slots, 1) }

// Takes returns how long a task runs, far saying that no copy of its block is in its rack.
func (t *Task) Takes(far bool) time.Duration {
	if far {
		return t.Compute + t.NonLocal
	}
	return t.Compute
}

// EdgeKind is which tasks of an edge's stages exchange data.
type EdgeKind uint8

// The kinds of edges.
const (
	Fixed         EdgeKind = iota // the flows are given with their hosts: a bare coflow
	ScatterGather                 // every task to every task, bytes split evenly (a shuffle)
	OneToOne                      // task i to task i, bytes split evenly; stages of equal size
	Broadcast                     // every task sends all of its even share to every task
	Fields                        // every task to every task, split by a hash of Keys keys that occur alike
	Global                        // every task sends its even share to the first task
	Pairs                         // the flows are given, between tasks: Src and Dst count those of From and of To
	kinds
)

var kindNames = [kinds]string{"fixed", "shuffle", "one-to-one", "all", "fields", "global", "pairs"}

// String returns the word that job files use: stream groupings have the names that Storm gives them.
func (k EdgeKind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Edge is one coflow: it starts when all tasks of From have ended, and To starts when all of its edges have delivered.
//
// A stream knows no such barrier: it starts once the tasks of both of its stages have, and they hold their slots until
// every stream to or from their stage has delivered. Streams can lead in circles.
type Edge struct {
	Kind  EdgeKind      `json:"kind"`
	From  int           `json:"from"`            // index of a stage; unused where Fixed
	To    int           `json:"to"`              // index of a stage; unused where Fixed
	Bytes pathmap.Bytes `json:"bytes,omitempty"` // payload; unused where Fixed or Pairs
	Flows []Flow        `json:"flows,omitempty"` // Fixed and Pairs only

	Stream bool `json:"stream,omitempty"` // not where Fixed
	// Rate is what the senders of a stream make, payload bits a second together, on and on: in place of Bytes. Above zero
	// for streams alone.
	Rate pathmap.BitsPerSecond `json:"rate,omitempty"`
	Keys int32                 `json:"keys,omitempty"` // Fields only: how many keys; 0 means DefaultKeys

	// Reducers are the parts of the bytes that the tasks of To receive, in order and in any unit; nil: all alike. Only of
	// a shuffle.
	Reducers []int64 `json:"reducers,omitempty"`

	// KeepLocal makes host flows of flows between a host and itself too, on fabrics that carry them over both directions
	// of the host's port. Fixed only.
	KeepLocal bool `json:"keep_local,omitempty"`

	// Reads is what the tasks of To read before they start, from another job's output or a data set: in place of Flows.
	// Fixed only.
	Reads *Read `json:"reads,omitempty"`
}

// FollowsTasks reports whether the host flows of an edge depend on where tasks run, and its To waits for them.
func (e *Edge) FollowsTasks() bool { return e.Kind != Fixed || e.Reads != nil }

// Flow is payload between two hosts, or between two tasks of an edge of kind Pairs; Count is how many flows of the
// trace it stands for (0 means 1).
type Flow struct {
	Src   southbound.HostID `json:"src"`
	Dst   southbound.HostID `json:"dst"`
	Bytes pathmap.Bytes     `json:"bytes"`
	Count int32             `json:"count,omitempty"`
}

// Sizes returns how many slots each task of a job takes, by task of the job; nil where each takes one.
func (j *Job) Sizes() []int32 {
	var out []int32
	n := 0
	for i := range j.Stages {
		for k := range j.Stages[i].Tasks {
			if size := j.Stages[i].Tasks[k].Size(); size != 1 && out == nil {
				out = slices.Repeat([]int32{1}, j.Tasks())
				out[n] = size
			} else if out != nil {
				out[n] = size
			}
			n++
		}
	}
	return out
}

// Slots returns how many slots the tasks of all stages take together.
func (j *Job) Slots() int {
	n := 0
	for i := range j.Stages {
		for k := range j.Stages[i].Tasks {
			n += int(j.Stages[i].Tasks[k].Size())
		}
	}
	return n
}

// Tasks returns the number of tasks of all stages.
func (j *Job) Tasks() int {
	n := 0
	for i := range j.Stages {
		n += len(j.Stages[i].Tasks)
	}
	return n
}

// StageTasks returns the half-open range of a stage's tasks, counted within the job.
func (j *Job) StageTasks(stage int) (first, end int) {
	for i := range j.Stages[:stage] {
		first += len(j.Stages[i].Tasks)
	}
	return first, first + len(j.Stages[stage].Tasks)
}
