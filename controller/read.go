package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// Read is what a stage reads before it starts: the output of another job, its parent, or a data set. An output is what
// the tasks of stages without edges to others have written, each an even part, on the hosts that they ran on.
type Read struct {
	// Job is the parent's name: the newest job of that name and user when the reader is accepted, or else the first that
	// comes. "": a data set.
	Job string `json:"job,omitempty"`
	// Kind is who reads what: OneToOne has each task read its even part of the bytes, in order, ScatterGather a part of
	// every part, and Broadcast all bytes.
	Kind EdgeKind `json:"kind"`
	// Hosts is where the even parts lie, in order. Of a parent, acceptance clears it, and its end fills it.
	Hosts []southbound.HostID `json:"hosts,omitempty"`

	// These are given by the state; what a user writes there is ignored.
	Known  bool  `json:"known,omitempty"` // Parent is
	Parent JobID `json:"parent,omitempty"`
	Ready  bool  `json:"ready,omitempty"` // what is read has been written
	// Since is when it had been written; 0 for a data set.
	Since time.Duration `json:"since_ns,omitempty"`
}

// Reading reports whether a job reads from others or from data sets.
func (j *Job) Reading() bool {
	return slices.ContainsFunc(j.Edges, func(e Edge) bool { return e.Reads != nil })
}

// Outputs returns the tasks of a job that write its output: those of stages that no edge leaves.
func (j *Job) Outputs() []int {
	var out []int
	for k := range j.Stages {
		if slices.ContainsFunc(j.Edges, func(e Edge) bool {
			return e.Kind != Fixed && e.From == k &&
				e.To != k
		}) {
			continue
		}
		first, end := j.StageTasks(k)
		for i := first; i < end; i++ {
			out = append(out, i)
		}
	}
	return out
}

// ReadBy returns the flows of an edge that reads, to has the hosts of the stage's tasks. There are none before the
// parent has ended.
func (e *Edge) ReadBy(to []southbound.HostID) []Flow {
	from := e.Reads.Hosts
	if len(from) == 0 {
		return nil
	}
	if e.Reads.Kind == OneToOne {
		return e.inOrder(from, to)
	}
	if e.Reads.Kind == ScatterGather {
		return e.byHost(from, to)
	}
	var flows []Flow
	for _, src := range countByHost(from) {
		part := portion(e.Bytes, uint64(src.tasks), uint64(len(from)))
		for _, dst := range to {
			flows = append(flows, Flow{Src: src.host, Dst: dst, Bytes: part, Count: 1})
		}
	}
	return flows
}

// inOrder has each task read its even part of the bytes, wherever that lies.
func (e *Edge) inOrder(from, to []southbound.HostID) []Flow {
	n, m := uint64(len(from)), uint64(len(to))
	flows := make([]Flow, 0, n+m)
	for at := uint64(0); at < n*m; { // in parts of 1/(n·m)
		i, k := at/m, at/n
		next := min((i+1)*m, (k+1)*n)
		flows = append(flows, Flow{Src: from[i], Dst: to[k], Count: 1,
			Bytes: portion(e.Bytes, next, n*m) - portion(e.Bytes, at, n*m)})
		at = next
	}
	return flows
}

// ReadSum returns how many flows an edge that reads has at most, and their bytes, where that many tasks read. A parent
// is taken to write on one host, since nothing is known of it.
func (e *Edge) ReadSum(tasks int) (flows int64, bytes pathmap.Bytes) {
	from := int64(max(len(e.Reads.Hosts), 1))
	switch e.Reads.Kind {
	case OneToOne:
		return from + int64(tasks) - 1, e.Bytes
	case Broadcast:
		return from * int64(tasks), e.Bytes * pathmap.Bytes(tasks)
	}
	return from * int64(tasks), e.Bytes
}

// MaxJobName bounds the name of a parent, in bytes.
const MaxJobName = 256

func (j *Job) checkRead(e *Edge, hosts int) error {
	r := e.Reads
	switch {
	case e.Kind != Fixed || e.Stream || e.Rate != 0 || e.Keys != 0 || e.KeepLocal || e.From != 0:
		return errors.New("reads, and so it is of kind fixed, no stream, and from no stage")
	case len(e.Flows) > 0:
		return errors.New("reads, and has fixed flows: where tasks run decides on the flows")
	case e.To < 0 || e.To >= len(j.Stages):
		return fmt.Errorf("is read by stage %d; the job's stages are 0 to %d", e.To, len(j.Stages)-1)
	case e.Bytes < 0 || e.Bytes > MaxBytes:
		return fmt.Errorf("reads %d bytes; take 0 to %d", e.Bytes, MaxBytes)
	case r.Kind != OneToOne && r.Kind != ScatterGather && r.Kind != Broadcast:
		return fmt.Errorf("reads by %v; take one-to-one, shuffle or all", r.Kind)
	case r.Kind == Broadcast && e.Bytes > MaxBytes/pathmap.Bytes(len(j.Stages[e.To].Tasks)):
		return fmt.Errorf("has each of %d tasks read %d bytes; take at most %d in all",
			len(j.Stages[e.To].Tasks), e.Bytes,
			MaxBytes)
	case r.Kind != OneToOne && hosts*len(j.Stages[e.To].Tasks) > MaxFlows:
		return fmt.Errorf("can have more than %d flows: have tasks read one-to-one, or make fewer", MaxFlows)
	case len(r.Job) > MaxJobName:
		return fmt.Errorf("reads from a job whose name has more than %d bytes", MaxJobName)
	case r.Job == "" && len(r.Hosts) == 0:
		return errors.New("reads from no job and from no hosts: name one")
	case len(r.Hosts) > MaxTasks:
		return fmt.Errorf("reads %d parts, at most %d are taken", len(r.Hosts), MaxTasks)
	}
	for _, h := range r.Hosts {
		if h < 0 || int(h) >= hosts {
			return fmt.Errorf("reads from host %d: the fabric's hosts are 0 to %d", h, hosts-1)
		}
	}
	return nil
}

// parent names a job that others read from. Users have names of their own.
type parent struct{ user, name string }

// ParentsFirst returns the order of a batch in which parents come before the jobs that read from them, as given where
// that is open. It returns a ParentsError if they wait for each other in a circle, or read from a name that two of them
// have.
func ParentsFirst(jobs []*Job) ([]int, error) {
	by := map[parent][]int{}
	for i, j := range jobs {
		by[parent{j.User, j.Name}] = append(by[parent{j.User, j.Name}], i)
	}
	next := make([][]int, len(jobs))
	for i, j := range jobs {
		for _, name := range j.ParentNames() {
			of := by[parent{j.User, name}]
			if len(of) > 1 {
				return nil, &ParentsError{i, fmt.Sprintf("job %q reads from %q, and %d jobs are called so: give each a name of "+
					"its own", j.Name, name, len(of))}
			}
			next[i] = append(next[i], of...)
		}
	}
	order, circle := Depend(next)
	if circle != nil {
		return nil, InCircle(circle, func(i int) string { return jobs[i].Name })
	}
	return order, nil
}

// ParentNames returns the names of the jobs that a job reads from, each once.
func (j *Job) ParentNames() []string {
	var out []string
	for i := range j.Edges {
		if r := j.Edges[i].Reads; r != nil && r.Job != "" && !slices.Contains(out, r.Job) {
			out = append(out, r.Job)
		}
	}
	return out
}

// Depend orders nodes so that those in next[i] come before i, the smaller number first where that is open; or returns
// a circle.
func Depend(next [][]int) (order, circle []int) {
	const (
		open = iota + 1
		done
	)
	mark := make([]int, len(next))
	type visit struct{ node, child int }
	for root := range next {
		var stack []visit
		if mark[root] == 0 {
			stack, mark[root] = append(stack, visit{root, 0}), open
		}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.child == len(next[top.node]) {
				mark[top.node] = done
				order = append(order, top.node)
				stack = stack[:len(stack)-1]
				continue
			}
			to := next[top.node][top.child]
			top.child++
			switch mark[to] {
			case 0:
				mark[to] = open
				stack = append(stack, visit{to, 0})
			case open:
				at := slices.IndexFunc(stack, func(v visit) bool { return v.node == to })
				for _, v := range stack[at:] {
					circle = append(circle, v.node)
				}
				return nil, append(circle, to)
			}
		}
	}
	return order, nil
}

// ParentsError is what is wrong with what a job of a list reads from others.
type ParentsError struct {
	Job     int // of the list
	problem string
}

func (e *ParentsError) Error() string { return e.problem }

// InCircle is the error of jobs that wait for each other.
func InCircle(circle []int, name func(int) string) error {
	names := make([]string, len(circle))
	for i, n := range circle {
		names[i] = fmt.Sprintf("%q", name(n))
	}
	return &ParentsError{circle[0], "jobs read from each other in a circle, and none could begin: " +
		strings.Join(names, " reads from ")}
}
