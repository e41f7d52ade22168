package pushbox

import (
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// Task is a waiting task.
type Task struct {
	Index   int     // in the job
	Input   float64 // bytes that it receives before it computes
	Compute float64 // seconds
	Local   bool    // it reads a block of the machine's rack, or nothing
	Blocks  bool    // it reads a block, here or elsewhere

	begun bool // others of its stage hold slots and wait for it
	stage *Stage
	part  float64 // of the mean input of its stage
}

// Stage is the waiting tasks of a stage that may start.
type Stage struct {
	First, End int     // its tasks in the job
	Input      float64 // of each task, bytes, as estimated
	// Parts are of the mean input, by its task: what each receives; nil: all alike.
	Parts []float64
	Reads bool // its tasks read blocks
	// Block is how many bytes a task reads over the network where its machine's rack has no copy; nil: it reads beside it.
	Block   func(task int) float64
	Compute func(task int, local bool) time.Duration
	// All tells that its tasks receive once each has a slot, and Begun that one has: no other test keeps
	// the rest waiting.
	All, Begun bool
	// Outputs is where its input is, and Sends that others receive what its tasks make. Only ShuffleWatcher
	// and NEAT ask.
	Outputs func() []Output
	Sends   bool

	next  int    // no task before it waits
	holds held   // Outputs, once asked for
	homes []bool // of ShuffleWatcher, once asked for
}

// Job is a job with tasks that wait and may start.
type Job struct {
	ID      int
	Queue   *Queue
	Arrival time.Duration
	Weight  float64
	Running int
	Coflow  float64             // bytes that its present stage receives in all, as estimated
	Stages  []*Stage            // the critical first
	Hosts   []southbound.HostID // by task; below zero where it waits
	Copies  []southbound.RackID // where the blocks of its tasks are, Replicas by task; nil: nowhere

	// Receivers counts, by machine, tasks that receive and have or had a slot. Only ShuffleWatcher asks.
	Receivers func() []int

	Skipped int  // slots that it could have had since it last took one near its data
	Patient bool // it has waited long enough for a slot near its data

	begun     bool // tasks of it hold slots and wait for others of their stage
	at        int  // stage that is looked at first
	receivers []int
}

// Queue is the jobs of one user.
type Queue struct {
	Name    string
	FIFO    bool
	Running int
	Last    time.Duration // when a task of it last began
	Jobs    []*Job
}

// Replicas is how many copies of a block there are.
const Replicas = controller.Replicas

// critical returns the first stage with a waiting task, and that task; nil where no task waits. Stages
// are in the order of the longest path to the exit, and so of the input of their tasks where they
// compute the same.
func (j *Job) critical() (*Stage, int) {
	for ; j.at < len(j.Stages); j.at++ {
		s := j.Stages[j.at]
		for s.next = max(s.next, s.First); s.next < s.End; s.next++ {
			if j.Hosts[s.next] < 0 {
				return s, s.next
			}
		}
	}
	return nil, 0
}

// selectTask is Algorithm 1's selectTask: a task whose data are near, where its stage has such; once
// the job has been skipped often enough, or others of the stage wait in their slots for it, any of
// them; else the largest. ShuffleWatcher skips slots beside a job's homes in the same way.
func (o *Scheduler) selectTask(j *Job, rack southbound.RackID) (Task, bool) {
	s, first := j.critical()
	if s == nil {
		return Task{}, false
	}
	first = j.largest(s, first)
	if !s.Reads {
		return j.task(s, first, true), true
	}
	patient := s.Begun || j.Patient || j.Skipped >= o.Skips
	if patient || o.Rule != ShuffleWatcher || !s.Sends || o.home(j, s, rack) {
		for t := first; t < s.End; t++ {
			if j.Hosts[t] < 0 && j.near(t, rack) {
				return j.task(s, t, true), true
			}
		}
	}
	if patient {
		return j.task(s, first, false), true
	}
	j.Skipped++
	return Task{}, false
}

// largest returns the waiting task of a stage that receives most, of those from first on.
func (j *Job) largest(s *Stage, first int) int {
	if s.Parts == nil {
		return first
	}
	for t := first + 1; t < s.End; t++ {
		if j.Hosts[t] < 0 && s.Parts[t-s.First] > s.Parts[first-s.First] {
			first = t
		}
	}
	return first
}

func (j *Job) task(s *Stage, t int, local bool) Task {
	input, part := s.Input, 1.0
	if s.Parts != nil {
		part = s.Parts[t-s.First]
		input *= part
	}
	if !local && s.Block != nil {
		input += s.Block(t)
	}
	return Task{Index: t, Input: input, Compute: s.Compute(t, local).Seconds(), Local: local && s.Input <= 0,
		Blocks: s.Reads, begun: s.Begun, stage: s, part: part}
}

// coflow is how many bytes the coflow that a task receives has in all: a block that it reads is one of its own.
func (j *Job) coflow(t Task) float64 {
	if t.Blocks && !t.Local {
		return max(j.Coflow, t.Input)
	}
	return j.Coflow
}

// near reports whether a rack has a copy of a task's block.
func (j *Job) near(task int, rack southbound.RackID) bool {
	return slices.Contains(j.block(task), rack)
}

// block is the racks with a copy of a task's block; nil where it has none.
func (j *Job) block(task int) []southbound.RackID {
	if len(j.Copies) < Replicas*(task+1) {
		return nil
	}
	return j.Copies[Replicas*task : Replicas*task+Replicas]
}
