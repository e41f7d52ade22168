package run

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/controller/workload"
	"lightloom/emulator/device"
	"lightloom/emulator/netns"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// outcome is what one row left behind, on whichever fabric.
type outcome struct {
	Row       row                  `json:"row"`
	State     *state.Data          `json:"state"`
	Assumed   time.Duration        `json:"assumed_ns"`
	Decisions int64                `json:"decisions"`
	Steps     int64                `json:"steps"`
	OCS       pathmap.Bytes        `json:"ocs"`
	EPS       pathmap.Bytes        `json:"eps"`
	Basis     string               `json:"basis"`
	Dropped   int64                `json:"dropped_dark"`
	Queue     int64                `json:"dropped_queue"`
	Retrans   int64                `json:"retransmissions"`
	Reordered int64                `json:"reordered"`
	Marked    int64                `json:"marked"`
	Stalls    int64                `json:"stalls"`
	Lit       []device.LitInterval `json:"lit"`
	Dark      []time.Duration      `json:"dark_ns"` // measured by the device; empty: taken from Lit
	// DarkSource says who measured dark times: model, device or probe.
	DarkSource    string         `json:"dark_source"`
	End           time.Duration  `json:"end_ns"`
	Busiest       float64        `json:"busiest"` // load of the busiest link between switches; the simulator alone knows it
	LeaderChanges int64          `json:"leader_changes"`
	LeaderOutage  time.Duration  `json:"leader_outage_ns"`
	Digest        string         `json:"digest"`
	Dataplane     string         `json:"dataplane"`
	Net           netns.Settings `json:"net"`
	Received      pathmap.Bytes  `json:"received"`      // payload, by the agents' own count, each byte once
	BundlesEnded  int64          `json:"bundles_ended"` // likewise
	Notes         []string       `json:"notes"`

	why   []explained // of a run on packets that is explained
	moved *moved      // of a simulated run: sums in the place of all but the last of State.Moves and Lit; nil: these hold all

	Carried []pathmap.Bytes             `json:"carried,omitempty"` // payload by move; empty where nobody has measured it
	Queues  []portLoad                  `json:"queues,omitempty"`  // by link; empty where nobody has asked
	Fullest *report.QueueDepth          `json:"fullest,omitempty"` // as switches that run by themselves have told
	Parked  *report.DarkQueues          `json:"parked,omitempty"`  // what waited at ToRs for light; nil where nothing may
	Faults  []faultSpan                 `json:"faults,omitempty"`
	Levels  []level                     `json:"levels,omitempty"`
	Reasons map[controller.JobID]string `json:"reasons,omitempty"` // why jobs have not ended
}

// result turns an outcome into a row of the report.
func (s *setup) result(o *outcome) report.PolicyResult {
	r := o.result()
	s.listed(o, &r)
	at := make(map[southbound.CoflowID]int, len(r.Coflows))
	for i := range r.Coflows {
		at[r.Coflows[i].ID] = i
	}
	id := southbound.CoflowID(0)
	for i := range s.jobs {
		for k := range s.jobs[i].Edges {
			if n, ended := at[id]; ended {
				e := &s.jobs[i].Edges[k]
				c := &r.Coflows[n]
				if c.Weight = s.jobs[i].Weight; s.jobs[i].Deadline > 0 {
					c.Deadline = s.jobs[i].Arrival + s.jobs[i].Deadline
				}
				c.Bound, c.Width = s.bound(&s.jobs[i], e), c.Flows
				if len(e.Flows) > 0 {
					c.Width = 0
				}
				for _, f := range e.Flows {
					c.Width += int64(max(f.Count, 1))
					c.Longest = max(c.Longest, pathmap.Bytes(float64(f.Bytes)/float64(max(f.Count, 1))*s.opt.Scale*s.opt.Speedup))
				}
			}
			id++
		}
	}
	s.leaveBackground(&r)
	return r
}

// leaveBackground takes jobs and coflows of background traffic out of a result.
func (s *setup) leaveBackground(r *report.PolicyResult) {
	if s.background == nil {
		return
	}
	is := map[controller.JobID]bool{}
	for i := range r.Jobs {
		is[r.Jobs[i].ID] = r.Jobs[i].User == workload.BackgroundUser
	}
	r.Jobs = slices.DeleteFunc(r.Jobs, func(j report.JobResult) bool { return is[j.ID] })
	r.Coflows = slices.DeleteFunc(r.Coflows, func(c report.CoflowResult) bool { return is[c.Job] })
}

func (o *outcome) result() report.PolicyResult {
	o.fold()
	r := report.PolicyResult{
		Name: o.Row.Name, BytesOCS: o.OCS, BytesEPS: o.EPS, BytesBasis: o.Basis, OutageAssumed: o.Assumed,
		DarkAsked: o.Row.Spec.Dark, DarkSource: o.DarkSource, DroppedDark: o.Dropped, DroppedQueue: o.Queue,
		Retransmissions: o.Retrans, Reordered: o.Reordered, Marked: o.Marked, DarkQueues: o.Parked, QueueDepth: o.depth(), Anneal: o.State.Anneal, Decisions: o.Decisions, LeaderOutage: o.LeaderOutage,
		Notes: o.Notes,
	}
	if !o.Row.Spec.HasOCS() {
		r.OutageAssumed, r.DarkAsked, r.DarkSource = 0, 0, ""
	}
	if o.Stalls > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d times a bundle met a dark port and stood still until it was lit", o.Stalls))
	}
	if q := o.Parked; q != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%d packets waited at ToRs for their circuit's light, in queues of %d bytes for each rack: at most %d bytes in one; %d found theirs full and were dropped", q.Parked, q.Limit, q.Most, q.Dropped))
	}
	r.Faults, r.Received = intervals(o.Faults, o.End), received(o.Levels, drawnLevels)
	r.Notes = append(r.Notes, o.unfinished()...)
	r.Notes = append(r.Notes, o.cancelled()...)
	if m := o.State.Migrated; m != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("%d tasks of running jobs were moved: %d bytes (as run) were sent again, and %.3f s of computing repeated", m.Tasks, m.Bytes, m.Compute.Seconds()))
	}
	for _, j := range o.State.Jobs {
		if j.Ended == state.Unset {
			continue
		}
		delivered, least := o.delivered(j)
		start := j.Started
		if start == state.Unset { // cancelled before it began
			start = j.Ended
		}
		r.Jobs = append(r.Jobs, report.JobResult{ID: j.ID, Name: j.Name, User: j.User, Arrival: j.Arrival, Start: start, End: j.Ended,
			Delivered: delivered, Least: least, Cancelled: j.Cancelled})
	}
	for i, c := range o.State.Coflows {
		if j := o.State.Jobs[c.Job]; j.Ended == state.Unset || j.Cancelled {
			continue
		}
		r.Coflows = append(r.Coflows, report.CoflowResult{ID: southbound.CoflowID(i), Job: c.Job,
			Name: o.State.Jobs[c.Job].Name, Arrival: c.Ready, Start: c.Started, End: c.Ended, Bytes: c.Bytes + c.Local,
			Local: c.Local, Rack: c.Rack, Bundles: int32(c.Bundles), Flows: c.Flows})
	}
	o.circuits(&r)
	return r
}

// circuits adds the moves: how long each stage took, and when each circuit stood.
func (o *outcome) circuits(r *report.PolicyResult) {
	all := int64(len(o.State.Moves))
	if o.moved != nil {
		o.moved.into(r)
		all = o.moved.all
	} else {
		o.listCircuits(r)
	}
	if r.Reconfigurations < all {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d circuit moves were given up or failed before they were usable", all-r.Reconfigurations, all))
	}
}

// listCircuits adds the moves one by one.
func (o *outcome) listCircuits(r *report.PolicyResult) {
	b := o.drawn()
	for i := range o.State.Moves {
		m := &o.State.Moves[i]
		end := m.Ended
		if end == state.Unset {
			end = o.End
		}
		r.Circuits = append(r.Circuits, interval(m, end))
		if m.Usable == state.Unset {
			continue
		}
		r.Reconfigurations++
		r.Outages = append(r.Outages, m.Usable-m.Intent)
		if s := m.Stages; s.Drained > 0 && s.Accepted > 0 && s.Connected > 0 {
			b.note(m.Intent, s, m.Usable)
		}
	}
	if len(r.Outages) > 0 {
		r.Stages = b.known()
	}
	r.Darks = o.Dark
	if len(r.Darks) == 0 {
		r.Darks = darks(o)
	}
}

// darks are the times without light of the moves that took a port from another circuit, by the OCS's own log: from the
// end of the light that the port had to the first of the new. A port that was dark before has no such time.
func darks(o *outcome) []time.Duration {
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
