package route

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/topoeng"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Why is why one task or one host flow went where it did, or how good a decision is; the others are nil.
type Why struct {
	Job  *controller.Job // of the task, or nil
	Task *anneal.TaskWhy
	Rack *RackWhy // of a task that goes where its job's data is

	Coflow   southbound.CoflowID
	Src, Dst southbound.HostID
	Flow     *anneal.FlowWhy

	Slot *SlotWhy // why a task took a slot, or nil

	Multihop *MultihopWhy // of all host flows from one rack to another, or nil
	Topology *TopologyWhy // why circuits move, or stay; nil for others

	Clearance *ClearanceWhy // of a schedule over all switches, or nil

	// of the tasks with loads of Job; or, without one, of all host flows that one decision routed
	// together, Coflow being the first of theirs
	Proof *Proof
}

// TopologyWhy is why circuits over all switches move, or stay: how much demand has none, in seconds of a circuit, how
// many circuits that stand are disturbed, and what that gains.
type TopologyWhy struct {
	Left, Disturbed topoeng.Certificate
	Decision        topoeng.Decision
}

// ClearanceWhy is how good a schedule is that carries pairs of racks over all switches.
type ClearanceWhy struct {
	Makespan topoeng.Certificate // nanoseconds until all of them are carried
	Pairs    int
	Reserved time.Duration // so much of it is reserved; what is left then is in the next schedule
}

// SlotWhy is why a scheduler of slots gave a task of a job its slot.
type SlotWhy struct {
	Stage, Task int // of the job
	Host        southbound.HostID
	Input       float64 // bytes that it receives
	Reason      string
}

// RackWhy is why a task went to its rack.
type RackWhy struct {
	Task, Stage int
	Host        southbound.HostID
	Preferred   int           // rack of its stage
	Traffic     pathmap.Bytes // between racks that the stage causes there
	ForChildren bool          // it is preferred for the jobs that read what the stage writes
	Load        float64       // share of the racks' uplinks in use
	Saturated   bool          // and that is above the threshold
}

// Proof is how far a decision is from the optimum at most: what it reaches and what no decision is
// below, in seconds of its objective. A bound of zero or less proves nothing.
type Proof struct {
	Coflows      []southbound.CoflowID // that the decision routed; empty if it set rates alone, or placed
	Flows        int                   // those under way included
	Tasks        int
	Value, Bound float64
}

// Above returns how far the decision is above the optimum at most, as a part of the bound; false if
// nothing is proven.
func (p *Proof) Above() (gap float64, proven bool) {
	if !(p.Bound > 0) {
		return 0, false
	}
	return max(0, p.Value/p.Bound-1), true
}

// Explainer gets the reasons, in the order of decisions, while Decide runs. It changes nothing.
type Explainer func(v *controller.View, w Why)

// And tells both; each can be nil.
func (t Explainer) And(other Explainer) Explainer {
	if t == nil {
		return other
	}
	if other == nil {
		return t
	}
	return func(v *controller.View, w Why) {
		t(v, w)
		other(v, w)
	}
}

// Tell has every decision explained from now on, which makes each take about twice as long.
func (a *Annealed) Tell(to Explainer) { a.tell, a.Options.Explain = to, to != nil }

// told passes on why host flows take the paths they do.
func (a *Annealed) told(v *controller.View, todo []coflow, why []anneal.FlowWhy) {
	if a.tell == nil {
		return
	}
	for i := range why {
		w := &why[i]
		c := &todo[w.Coflow]
		// Rows that circuits carry were left out: find the one that is meant.
		row := -1
		for left := w.Row; left >= 0; left-- {
			for row++; c.lit[row]; row++ {
			}
		}
		a.tell(v, Why{Coflow: c.id, Src: c.rows[row].Src, Dst: c.rows[row].Dst, Flow: w})
	}
}
