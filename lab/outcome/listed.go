package outcome

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/southbound"
)

// listed renumbers a result's jobs and coflows by the list of jobs. Ids are assigned at acceptance, and
// on real packets jobs of one arrival are accepted in any order, so an id would name another coflow in
// each run. If two jobs have the same name, ids stay.
func (o *Outcome) listed(s *scenario.Prepared, r *report.PolicyResult) {
	if !slices.ContainsFunc(o.State.Jobs, func(j *state.Job) bool {
		return int(j.ID) >= len(s.Jobs) || s.Jobs[j.ID].Name != j.Name
	}) {
		return // they are in the list's order
	}
	index, ok := byName(s.Jobs)
	if !ok || len(o.State.Jobs) > len(s.Jobs) {
		return
	}
	first := make([]southbound.CoflowID, len(s.Jobs)) // by job of the list
	for i, n := 0, southbound.CoflowID(0); i < len(s.Jobs); i++ {
		first[i] = n
		n += southbound.CoflowID(len(s.Jobs[i].Edges))
	}
	jobs, coflows := map[controller.JobID]controller.JobID{}, map[southbound.CoflowID]southbound.CoflowID{}
	for _, j := range o.State.Jobs {
		i, known := index[j.Name]
		if !known {
			return
		}
		jobs[j.ID] = controller.JobID(i)
		for k := range j.Edges {
			coflows[j.FirstCoflow+southbound.CoflowID(k)] = first[i] + southbound.CoflowID(k)
		}
	}
	for i := range r.Jobs {
		r.Jobs[i].ID = jobs[r.Jobs[i].ID]
	}
	for i := range r.Coflows {
		c := &r.Coflows[i]
		c.ID, c.Job = coflows[c.ID], jobs[c.Job]
	}
	for i := range r.Circuits {
		if c := &r.Circuits[i]; c.Coflow != controller.AnyCoflow {
			c.Coflow = coflows[c.Coflow]
		}
	}
	slices.SortFunc(r.Jobs, func(a, b report.JobResult) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(r.Coflows, func(a, b report.CoflowResult) int { return cmp.Compare(a.ID, b.ID) })
}

// byName returns each job's position in the list; false if two jobs have the same name.
func byName(jobs []controller.Job) (map[string]int, bool) {
	index := make(map[string]int, len(jobs))
	for i := range jobs {
		if _, twice := index[jobs[i].Name]; twice {
			return nil, false
		}
		index[jobs[i].Name] = i
	}
	return index, true
}
