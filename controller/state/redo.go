package state

import (
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// lose takes rows that have not been received out of a started coflow, and adds a coflow that carries
// them again, from their first byte, once both of their ends have a host. local are pairs of a stream
// with a rate that shared a host which one of them leaves.
func (s *State) lose(j *Job, id southbound.CoflowID, rows []int, local []controller.Flow) {
	c := s.Coflow(id)
	if len(rows)+len(local) == 0 {
		return
	}
	pairs := pairsOf(j, c, rows)
	if s.byHost(j, c) {
		pairs = splitRows(j, c, rows)
	}
	pairs = append(pairs, local...)
	for _, p := range local {
		c.Local -= p.Bytes
	}
	s.takeOut(c, rows)
	j.Redo = append(j.Redo, s.append(&Coflow{Job: c.Job, Edge: c.Edge, Ready: c.Ready,
		Started: Unset, Ended: Unset,
		Resent: true, Of: id, Pairs: pairs, Waits: true}))
	j.Open++
	switch x := &j.Edges[c.Edge]; {
	case x.Stream:
		j.Stages[x.From].Streams++
		j.Stages[x.To].Streams++
	case x.FollowsTasks():
		j.Stages[x.To].Waits++
	}
}

// takeOut ends rows that have not been received, without their bytes.
func (s *State) takeOut(c *Coflow, rows []int) {
	for _, r := range rows {
		c.Done[r] = true
		c.Remaining--
		c.Bytes -= c.Columns.Size[r]
		c.HostFlows--
		c.Flows -= int64(c.Columns.Flows[r])
		if s.RackOf(c.Columns.Src[r]) == s.RackOf(c.Columns.Dst[r]) {
			c.Rack -= c.Columns.Size[r]
		}
	}
}

// lostRows returns the rows of a coflow that are not received and have lost an end.
func (s *State) lostRows(c *Coflow) (rows []int) {
	if len(s.d.Lost) == 0 {
		return nil
	}
	for r, done := range c.Done {
		if !done && (s.Lost(c.Columns.Src[r]) || s.Lost(c.Columns.Dst[r])) {
			rows = append(rows, r)
		}
	}
	return rows
}

// pairsOf returns what rows of a coflow hold: pairs of tasks, or of hosts where the edge is Fixed.
func pairsOf(j *Job, c *Coflow, rows []int) []controller.Flow {
	x := &j.Edges[c.Edge]
	var out []controller.Flow
	if len(rows) == 0 {
		return nil
	}
	if !x.FollowsTasks() {
		for _, r := range rows {
			out = append(out, controller.Flow{Src: c.Columns.Src[r], Dst: c.Columns.Dst[r],
				Bytes: c.Columns.Size[r],
				Count: c.Columns.Flows[r]})
		}
		return out
	}
	type ends [2]southbound.HostID
	lost := map[ends]bool{}
	for _, r := range rows {
		lost[ends{c.Columns.Src[r], c.Columns.Dst[r]}] = true
	}
	laid := c.laid(j)
	for _, p := range tasksOf(j, c) {
		if lost[ends{c.source(j, laid, p), laid[p.Dst]}] {
			out = append(out, p)
		}
	}
	return out
}

// byHost reports whether a coflow was laid out host by host, and the bytes of its rows are split exactly. They are not
// the sums of what pairs of tasks have by themselves, since each rounds. Before the levels named here a byte could get
// lost with a host, or be carried twice.
func (s *State) byHost(j *Job, c *Coflow) bool {
	x, from := &j.Edges[c.Edge], RetentionSet.Level()
	shuffles := j.Incremental && x.Kind == controller.ScatterGather
	if x.Reads != nil {
		shuffles, from = x.Reads.Kind == controller.ScatterGather, rereadLevel
	}
	return shuffles && !c.Resent && (s.d.Cluster == nil || s.Level() >= from)
}

// splitRows shares the bytes of rows out evenly over the pairs of tasks between their hosts. What a job reads is sent
// by the host itself.
func splitRows(j *Job, c *Coflow, rows []int) (out []controller.Flow) {
	x, laid := &j.Edges[c.Edge], c.laid(j)
	at := func(stage int, h southbound.HostID) (tasks []southbound.HostID) {
		for i, end := j.StageTasks(stage); i < end; i++ {
			if laid[i] == h {
				tasks = append(tasks, southbound.HostID(i))
			}
		}
		return tasks
	}
	for _, r := range rows {
		senders, receivers := []southbound.HostID{c.Columns.Src[r]}, at(x.To, c.Columns.Dst[r])
		if x.Reads == nil {
			senders = at(x.From, c.Columns.Src[r])
		}
		if x.Reducers != nil {
			out = splitSkewed(j, x, c.Columns.Size[r], senders, receivers, out)
			continue
		}
		left := c.Columns.Size[r]
		for i := len(senders)*len(receivers) - 1; i >= 0; i-- {
			if part := left / pathmap.Bytes(i+1); part > 0 {
				out = append(out, controller.Flow{Src: senders[i/len(receivers)], Dst: receivers[i%len(receivers)],
					Bytes: part, Count: 1})
				left -= part
			}
		}
	}
	return out
}

// splitSkewed is splitRows of one row whose receivers have unlike parts.
func splitSkewed(j *Job, x *controller.Edge, size pathmap.Bytes, senders, receivers []southbound.HostID,
	out []controller.Flow) []controller.Flow {
	first, _ := j.StageTasks(x.To)
	part := controller.Edge{Kind: controller.ScatterGather, To: 1, Bytes: size}
	for _, t := range receivers {
		part.Reducers = append(part.Reducers, x.Reducers[int(t)-first])
	}
	pairs := controller.Expand(&controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, len(senders))},
		{Tasks: make([]controller.Task, len(receivers))}}}, &part, slices.Concat(senders, receivers))
	for i := range pairs.Src {
		out = append(out, controller.Flow{Src: pairs.Src[i], Dst: pairs.Dst[i], Bytes: pairs.Size[i], Count: 1})
	}
	return out
}

// source returns the host that a pair of tasks is sent from: what a job reads is sent by hosts, not by
// its tasks.
func (c *Coflow) source(j *Job, laid []southbound.HostID, p controller.Flow) southbound.HostID {
	if j.Edges[c.Edge].Reads != nil {
		return p.Src
	}
	return laid[p.Src]
}

// laid returns the hosts by task that a coflow was laid out between: the job's, but for tasks that have
// left theirs since.
func (c *Coflow) laid(j *Job) []southbound.HostID {
	if c.Laid != nil {
		return c.Laid
	}
	return j.Hosts
}

// rememberLaid keeps between which hosts the started coflows of a job were laid out, before any of them
// changes: a pair of tasks would be looked for in another pair's row else, and what has been received
// be carried once more.
func (s *State) rememberLaid(j *Job) {
	for _, id := range coflowsOf(j) {
		c := s.Coflow(id)
		if c.Laid == nil && c.Started != Unset && c.Ended == Unset && j.EdgeOf(c).FollowsTasks() {
			c.Laid = slices.Clone(j.Hosts)
		}
	}
}

// tasksOf returns the flows of a coflow between tasks of its job, by their numbers. What a job reads
// has hosts as its sources.
func tasksOf(j *Job, c *Coflow) []controller.Flow {
	if c.Resent {
		return c.Pairs
	}
	numbers := make([]southbound.HostID, len(j.Hosts))
	for i := range numbers {
		numbers[i] = southbound.HostID(i)
	}
	if x := &j.Edges[c.Edge]; x.Reads != nil {
		first, end := j.StageTasks(x.To)
		return slices.DeleteFunc(x.ReadBy(numbers[first:end]),
			func(f controller.Flow) bool { return f.Bytes == 0 })
	}
	columns := controller.Expand(&j.Job, &j.Edges[c.Edge], numbers)
	out := make([]controller.Flow, len(columns.Src))
	for i := range out {
		out[i] = controller.Flow{Src: columns.Src[i], Dst: columns.Dst[i], Bytes: columns.Size[i],
			Count: columns.Flows[i]}
	}
	return out
}

// expand lays out what a coflow carries again between the hosts as they are now. Where one is lost or
// not chosen yet it waits.
func (s *State) expand(j *Job, id southbound.CoflowID) {
	c := s.Coflow(id)
	x := &j.Edges[c.Edge]
	flows := slices.Clone(c.Pairs)
	for i := range flows {
		f := &flows[i]
		switch {
		case x.Reads != nil:
			f.Dst = j.Hosts[f.Dst]
		case x.Kind != controller.Fixed:
			f.Src, f.Dst = j.Hosts[f.Src], j.Hosts[f.Dst]
		}
		if f.Src < 0 || f.Dst < 0 || s.Lost(f.Src) || s.Lost(f.Dst) {
			s.unlay(c)
			return
		}
	}
	c.Waits = false
	s.fill(c, controller.Gather(flows, x.KeepLocal))
	s.noteCoflow(j, id)
}

// unlay has a coflow that was laid out and has not begun wait again.
func (s *State) unlay(c *Coflow) {
	if c.Waits || s.d.Cluster != nil && s.Level() < rereadLevel {
		return
	}
	c.Waits = true
	s.fill(c, controller.Columns{})
	if i, found := slices.BinarySearch(s.active, c.ID); found {
		s.active = slices.Delete(s.active, i, i+1)
	}
	s.ready = slices.DeleteFunc(s.ready, func(id southbound.CoflowID) bool { return id == c.ID })
}

// expandWaiting lays out what waited for a host that is back. Only flows that name their hosts do.
func (s *State) expandWaiting() {
	for _, j := range s.d.Jobs {
		if j.Ended != Unset {
			continue
		}
		for _, id := range j.Redo {
			if c := s.Coflow(id); c.Waits && j.Edges[c.Edge].Kind == controller.Fixed {
				s.expand(j, id)
			}
		}
	}
}

// Reason returns why a job that has not ended does not go on, if failed hosts are the reason; otherwise
// "". name returns a host's name.
func (s *State) Reason(j *Job, name func(southbound.HostID) string) string {
	switch {
	case j.Ended != Unset:
		return ""
	case j.Placed == Unset:
		return s.awaitsParents(j, name)
	}
	for _, id := range j.Redo {
		c := s.Coflow(id)
		if !c.Waits || j.Edges[c.Edge].Kind != controller.Fixed {
			continue
		}
		for _, f := range c.Pairs {
			ends := []southbound.HostID{f.Src, f.Dst}
			if j.Edges[c.Edge].Reads != nil {
				ends = ends[:1]
			}
			for _, h := range ends {
				if s.Lost(h) {
					return "its flows name host " + name(h) + ", which is lost: they begin again when it is back"
				}
			}
		}
	}
	switch {
	case !slices.Contains(j.Hosts, controller.NoHost):
		return ""
	case j.Incremental:
		return s.awaits(j)
	default:
		return "tasks have lost their host and wait for slots on another"
	}
}
