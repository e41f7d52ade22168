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
	Decisions int64          `json:"decisions"`
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
	Traffic
	report.Packets
	Circuits
	Leaders
	Failures
}

// Traffic holds the bytes carried.
type Traffic struct {
	OCS            pathmap.Bytes `json:"ocs"` // between racks over circuits
	EPS            pathmap.Bytes `json:"eps"` // and over packets
	Basis          string        `json:"basis"`
	Received       pathmap.Bytes `json:"received"`         // payload, by the agents' own count, each byte once
	HostFlowsEnded int64         `json:"host_flows_ended"` // likewise
	// load of the busiest link between switches; the simulator alone knows it
	Busiest float64           `json:"busiest"`
	Links   *report.LinkLoads `json:"links,omitempty"` // nil if not requested
}

// Circuits holds the actions of the optical switch.
type Circuits struct {
	Lit        []device.LitInterval `json:"lit"`
	Dark       []time.Duration      `json:"dark_ns"`           // measured by the device; empty: taken from Lit
	DarkSource string               `json:"dark_source"`       // who measured: model, device or probe
	Carried    []pathmap.Bytes      `json:"carried,omitempty"` // payload by move; empty if not measured

	// Sums replaces all but the last of State.Moves and Lit in a simulated run; nil: these hold all.
	Sums *MoveSums `json:"-"`
}

// Leaders counts the changes of the controller's leader.
type Leaders struct {
	LeaderChanges int64         `json:"leader_changes"`
	LeaderOutage  time.Duration `json:"leader_outage_ns"`
	Digest        string        `json:"digest"` // of the replicas' state
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
	at := make(map[southbound.CoflowID]int, len(r.Coflows))
	for i := range r.Coflows {
		at[r.Coflows[i].ID] = i
	}
	id := southbound.CoflowID(0)
	for i := range s.Jobs {
		for k := range s.Jobs[i].Edges {
			if n, ended := at[id]; ended {
				e := &s.Jobs[i].Edges[k]
				c := &r.Coflows[n]
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
	r := report.PolicyResult{Name: o.Row.Name, BytesOCS: o.OCS, BytesEPS: o.EPS, BytesBasis: o.Basis,
		Packets: o.Packets,
		Anneal:  o.State.Anneal, Decisions: o.Decisions, LeaderOutage: o.LeaderOutage, Notes: o.Notes}
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
	if m := o.State.Migrated; m != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%d tasks of running jobs were moved: %d bytes (as run) were sent again, and "+
			"%.3f s of computing repeated", m.Tasks, m.Bytes, m.Compute.Seconds()))
	}
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
	all := int64(len(o.State.Moves))
	if o.Sums != nil {
		o.Sums.into(r)
		all = o.Sums.All
	} else {
		o.listCircuits(r)
	}
	if r.Reconfigurations < all {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d circuit moves were given up or failed before they were in service",
			all-r.Reconfigurations, all))
	}
}

// listCircuits adds the moves one by one.
func (o *Outcome) listCircuits(r *report.PolicyResult) {
	b := o.drawn()
	for i := range o.State.Moves {
		m := &o.State.Moves[i]
		end := m.Ended
		if end == state.Unset {
			end = o.End
		}
		r.Circuits = append(r.Circuits, interval(m, end))
		if m.InService == state.Unset {
			continue
		}
		r.Reconfigurations++
		r.ReconfigurationDelays = append(r.ReconfigurationDelays, m.InService-m.Intent)
		if s := m.Stages; s.Drained > 0 && s.Accepted > 0 && s.Connected > 0 {
			b.note(m.Intent, s, m.InService)
		}
	}
	if len(r.ReconfigurationDelays) > 0 {
		r.Stages = b.known()
	}
	r.Darks = o.Dark
	if len(r.Darks) == 0 {
		r.Darks = darks(o)
	}
}

// darks returns the dark times of moves that took a port from another circuit, by the OCS's own log: from the end of
// the port's old light to the start of the new. A port that was dark before has none.
func darks(o *Outcome) []time.Duration {
	lit := slices.Clone(o.Lit)
	slices.SortFunc(lit, func(a, b device.LitInterval) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out))
	})
	last := map[[2]southbound.Port]time.Duration{} // (0, input) or (1, output) → when its light last ended
	intent := map[[2]southbound.Port][]time.Duration{}
	for i := range o.State.Moves {
		m := &o.State.Moves[i]
		pair := [2]southbound.Port{m.In, m.Out}
		intent[pair] = append(intent[pair], m.Intent)
	}
	var out []time.Duration
	for _, l := range lit {
		in, to := [2]southbound.Port{0, l.In}, [2]southbound.Port{1, l.Out}
		gone := max(last[in], last[to])
		// Only what this very move took away: light that ended before it was intended left the port idle.
		began := time.Duration(-1)
		for _, t := range intent[[2]southbound.Port{l.In, l.Out}] {
			if t <= l.From {
				began = max(began, t)
			}
		}
		if gone > 0 && began >= 0 && gone >= began {
			out = append(out, l.From-gone)
		}
		last[in], last[to] = max(last[in], l.To), max(last[to], l.To)
	}
	return out
}
