package outcome

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/controller/workload"
	"lightloom/emulator/device"
	"lightloom/emulator/netns"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Outcome is the result of one row, on any fabric.
type Outcome struct {
	Row       scenario.Row   `json:"row"`
	State     *state.Data    `json:"state"`
	Assumed   time.Duration  `json:"assumed_ns"` // the reconfiguration delay that schedules reckoned with
	Steps     int64          `json:"steps"`
	Stalls    int64          `json:"stalls"`
	End       time.Duration  `json:"end_ns"`
	Dataplane string         `json:"dataplane"`
	Net       netns.Settings `json:"net"`
	Queues    []PortLoad     `json:"queues,omitempty"` // by link; empty if not requested
	Notes     []string       `json:"notes"`

	Health    *report.Health `json:"health,omitempty"`     // of real packets
	Usages    []loop.Usage   `json:"usages,omitempty"`     // of circuit reservations; empty if not requested
	HostFlows []HostFlow     `json:"host_flows,omitempty"` // likewise
	Proofs    Proofs         `json:"proofs,omitempty"`
	Read      BlocksRead     `json:"-"` // of State, once it is folded
	Traffic
	report.Packets
	report.Work // but for Anneal, which is in State
	Circuits
	Leaders
	Failures
}

// Traffic holds the bytes carried.
type Traffic struct {
	report.ByNetwork
	Received       pathmap.Bytes `json:"received"`         // payload, by the agents' own count, each byte once
	HostFlowsEnded int64         `json:"host_flows_ended"` // likewise
	// load of the busiest link between switches; the simulator alone knows it
	Busiest float64           `json:"busiest"`
	Links   *report.LinkLoads `json:"links,omitempty"` // nil if not requested
}

// Circuits holds the actions of the optical switch.
type Circuits struct {
	Lit        []device.LitInterval `json:"lit"`
	DarkSource string               `json:"dark_source"`       // who measured: model, device or probe
	Carried    []pathmap.Bytes      `json:"carried,omitempty"` // payload by move; empty if not measured

	// Sums replaces all but the last of State.Moves and Lit in a simulated run; nil: these hold all.
	Sums *MoveSums `json:"-"`
}

// Leaders counts the changes of the controller's leader.
type Leaders struct {
	LeaderChanges int64  `json:"leader_changes"`
	Digest        string `json:"digest"` // of the replicas' state
}

// Failures holds the faults of a run and their effects.
type Failures struct {
	Faults  []FaultSpan                 `json:"faults,omitempty"`
	Levels  []Sample                    `json:"levels,omitempty"`
	Reasons map[controller.JobID]string `json:"reasons,omitempty"` // why jobs have not ended
}

// ResultOf turns the outcome of a prepared run into a row of the report.
func (o *Outcome) ResultOf(s *scenario.Prepared) report.PolicyResult {
	r := o.Result()
	o.listed(s, &r)
	id, n := southbound.CoflowID(0), 0
	for i := range s.Jobs {
		for k := range s.Jobs[i].Edges {
			for n < len(r.Coflows) && r.Coflows[n].ID <= id {
				n++ // they ascend
			}
			if n > 0 && r.Coflows[n-1].ID == id {
				e := &s.Jobs[i].Edges[k]
				c := &r.Coflows[n-1]
				if c.Weight = s.Jobs[i].Weight; s.Jobs[i].Deadline > 0 {
					c.Deadline = s.Jobs[i].Arrival + s.Jobs[i].Deadline
				}
				c.Bound, c.Width = s.Bound(&s.Jobs[i], e), c.Flows
				if len(e.Flows) > 0 {
					c.Width = 0
				}
				for _, f := range e.Flows {
					c.Width += int64(max(f.Count, 1))
					c.Longest = max(c.Longest, pathmap.Bytes(float64(f.Bytes)/float64(max(f.Count,
						1))*s.Options.Scale*s.Options.Speedup))
				}
			}
			id++
		}
	}
	if s.KeepsDecisions() {
		r.Decided = o.decided()
	}
	if s.Background != nil {
		leaveBackground(&r)
	}
	return r
}

// leaveBackground removes jobs and coflows of background traffic from a result.
func leaveBackground(r *report.PolicyResult) {
	is := map[controller.JobID]bool{}
	for i := range r.Jobs {
		is[r.Jobs[i].ID] = r.Jobs[i].User == workload.BackgroundUser
	}
	r.Jobs = slices.DeleteFunc(r.Jobs, func(j report.JobResult) bool { return is[j.ID] })
	r.Coflows = slices.DeleteFunc(r.Coflows, func(c report.CoflowResult) bool { return is[c.Job] })
}

// Result turns an outcome into a row of a report, from the outcome alone.
func (o *Outcome) Result() report.PolicyResult {
	o.fold()
	r := report.PolicyResult{Name: o.Row.Name, ByNetwork: o.ByNetwork, Packets: o.Packets, Work: o.Work, Notes: o.Notes}
	r.Anneal = report.Anneal(o.State.Anneal)
	r.ReconfigurationDelayAssumed, r.DarkAsked, r.DarkSource = o.Assumed, o.Row.Spec.Dark, o.DarkSource
	r.QueueDepth, r.Health, r.Links = o.Depth(), o.Health, o.Links
	if !o.Row.Spec.HasOCS() {
		r.ReconfigurationDelayAssumed, r.DarkAsked, r.DarkSource = 0, 0, ""
	}
	if o.Stalls > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d times a host flow met a dark port and stood still until it was lit",
			o.Stalls))
	}
	if q := o.VOQs; q != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%d packets waited at ToRs for their circuit's light, in queues of %d bytes "+
			"for each rack: at most %d bytes in one; %d found theirs full and were dropped", q.Queued, q.Limit, q.Most,
			q.Dropped))
	}
	r.Faults, r.Received = intervals(o.Faults, o.End), received(o.Levels, drawnLevels)
	r.Notes = append(r.Notes, o.Unfinished()...)
	r.Notes = append(r.Notes, o.cancelled()...)
	r.Notes = append(r.Notes, o.Read.note()...)
	if m := o.State.Migrated; m != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%d tasks of running jobs were moved: %d bytes (as run) were sent again, and "+
			"%.3f s of computing repeated", m.Tasks, m.Bytes, m.Compute.Seconds()))
	}
	r.Jobs, r.Coflows = slices.Grow(r.Jobs, len(o.State.Jobs)), slices.Grow(r.Coflows, len(o.State.Coflows))
	for _, j := range o.State.Jobs {
		if j.Ended == state.Unset {
			continue
		}
		sinks, least := Delivered(o.State, j, o.Row.Spec.NIC)
		start := j.Started
		if start == state.Unset { // cancelled before it began
			start = j.Ended
		}
		r.Jobs = append(r.Jobs, report.JobResult{ID: j.ID, Name: j.Name, User: j.User,
			Arrival: j.Arrival, Start: start,
			End:       j.Ended,
			Delivered: sinks, Least: least, Cancelled: j.Cancelled})
	}
	for _, c := range o.State.Coflows {
		j := o.State.Job(c.Job)
		if j.Ended == state.Unset || j.Cancelled {
			continue
		}
		r.Coflows = append(r.Coflows, report.CoflowResult{ID: c.ID, Job: c.Job, Name: j.Name, Arrival: c.Ready,
			Start: c.Started, End: c.Ended, Bytes: c.Bytes + c.Local,
			Local: c.Local, Rack: c.Rack, HostFlows: int32(c.HostFlows), Flows: c.Flows, Proof: o.Proofs[c.ID]})
	}
	o.circuits(&r)
	return r
}

// circuits adds the moves: the length of each stage, and when each circuit was up.
func (o *Outcome) circuits(r *report.PolicyResult) {
	if o.Sums != nil {
		r.Moved, r.Circuits = &o.Sums.Sums, o.Sums.Sums.First()
	} else {
		r.Moved, r.Circuits = o.moves()
	}
	if made, all := r.Moved.ReconfigurationDelays.Count(), r.Moved.Circuits; made < all {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d circuit moves were given up or failed before they were in service",
			all-made, all))
	}
}

// moves sums up the moves of a run that lists them all, and returns their circuits.
func (o *Outcome) moves() (*report.Moved, []report.CircuitInterval) {
	moves, lit := slices.Clone(o.State.Moves), slices.Clone(o.Lit)
	slices.SortStableFunc(moves, func(a, b state.Move) int { return cmp.Compare(a.Intent, b.Intent) })
	slices.SortFunc(lit, compareLit)
	ports := 0
	for i := range moves {
		ports = max(ports, int(moves[i].In)+1, int(moves[i].Out)+1)
	}
	for _, l := range lit {
		ports = max(ports, int(l.In)+1, int(l.Out)+1)
	}

	x, next := NewMoveSums(ports), 0
	for _, l := range lit {
		for ; next < len(moves) && moves[next].Intent <= l.From; next++ {
			x.intend(&moves[next])
		}
		x.Lit(l)
	}
	var all []report.CircuitInterval
	for i := range moves {
		all = append(all, addMove(&x.Sums, &moves[i], o.End))
	}
	return &x.Sums, all
}
