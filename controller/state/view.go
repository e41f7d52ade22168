package state

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// FillView writes what the state holds into v and leaves the rest of v alone. left returns what is left
// of a started coflow, or false if that is unknown (then the sizes are taken). Everything that v points
// to afterwards is borrowed.
func (s *State) FillView(v *controller.View, left func(southbound.CoflowID) (southbound.Remaining, bool)) {
	s.fillView(v)
	s.FillRemaining(v, left)
}

// FillBlindView is FillView for callers that read only the number of rows that coflows have left.
func (s *State) FillBlindView(v *controller.View) {
	changed := s.fillView(v)
	if s.shown.blind && !v.Showing.Full {
		for _, id := range changed {
			if i, found := v.FindCoflow(id); found {
				blind(&v.Coflows[i])
			}
		}
		return
	}
	for i := range v.Coflows {
		blind(&v.Coflows[i])
	}
	s.shown.blind = true
}

func blind(c *controller.CoflowView) { c.Remaining = southbound.Remaining{Live: c.LiveRows} }

// FillRemaining completes what FillBlindView wrote.
func (s *State) FillRemaining(v *controller.View, left func(southbound.CoflowID) (southbound.Remaining, bool)) {
	s.shown.blind = false
	for i := range v.Coflows {
		c := &v.Coflows[i]
		c.Remaining = c.LeftBy(left)
	}
}

// FillTotalsView is FillView for callers that read only how much coflows have left in total; total
// returns it in bytes.
func (s *State) FillTotalsView(v *controller.View, total func(southbound.CoflowID) (float64, bool)) {
	s.fillView(v)
	s.shown.blind = false
	for i := range v.Coflows {
		c := &v.Coflows[i]
		c.Remaining = southbound.Remaining{Live: c.LiveRows, Total: totalOf(c, total)}
	}
}

func totalOf(c *controller.CoflowView, total func(southbound.CoflowID) (float64, bool)) float64 {
	if c.Started {
		if left, ok := total(c.ID); ok {
			return left
		}
	}
	sum := 0.0
	for _, b := range c.Size {
		sum += float64(b)
	}
	return sum
}

// fillView returns the coflows that can have changed, as View.Showing has them.
func (s *State) fillView(v *controller.View) (changed []southbound.CoflowID) {
	v.Fabric = s.fabric
	v.Free, v.VCPUs = s.offered()
	v.Waiting = v.Waiting[:0]
	for _, id := range s.waiting {
		if j := s.Job(id); j.Slice == "" && !j.Pinned() { // others have their hosts
			v.Waiting = append(v.Waiting, &j.Job)
		}
	}
	v.Blocked = v.Blocked[:0]
	for _, id := range s.blocked {
		v.Blocked = append(v.Blocked, &s.Job(id).Job)
	}
	changed = s.showCoflows(v)
	if v.Running = v.Running[:0]; s.staged {
		s.viewRunning(v)
	}
	v.Loaded = v.Loaded[:0]
	for _, id := range s.loaded {
		j := s.Job(id)
		v.Loaded = append(v.Loaded, controller.Running{Job: &j.Job, Hosts: j.Hosts, Tasks: s.d.TasksOf(j)})
	}
	v.Turnover = s.turnover
	v.Circuits = v.Circuits[:0]
	for _, c := range s.d.Circuits {
		v.Circuits = append(v.Circuits, controller.CircuitView{Out: c.Out, Phase: c.Phase, Since: c.Since,
			Coflow: controller.AnyCoflow})
	}
	v.Reserved = v.Reserved[:0]
	for in := range s.ledger.byIn {
		all := s.ledger.byIn[in].Live()
		for i := range all {
			r := &all[i]
			v.Reserved = append(v.Reserved, r.CircuitReservation)
			if r.Begun {
				at := &v.Circuits[in]
				at.Held, at.Coflow, at.Until = true, r.Coflow, r.NotAfter
			}
		}
	}
	s.viewDown(v)
	v.ReservedBandwidth = s.reservedBandwidth
	s.viewEvicted(v)
	s.viewPartial(v)
	return changed
}

// viewCoflow shows a coflow of a job in place of what was shown there, but for what is left of it.
func viewCoflow(out *controller.CoflowView, c *Coflow, j *Job) {
	out.ID, out.Job, out.Edge, out.Block = c.ID, c.Job, c.Edge, c.Block
	out.Arrival, out.Weight, out.Deadline = j.Arrival, j.Weight, 0
	out.Admission, out.Started, out.Start = c.Admission, c.Started != Unset, c.Started
	out.Generation = c.generation
	out.Src, out.Dst, out.Size, out.Flows = c.Columns.Src, c.Columns.Dst, c.Columns.Size, c.Columns.Flows
	out.Ended, out.LiveRows, out.Routed, out.Tag = c.Done, c.Remaining, c.Routed, c.Tag
	if j.Deadline > 0 {
		out.Deadline = j.Arrival + j.Deadline
	}
}

// viewRunning names the jobs with stages that coflows belong to.
func (s *State) viewRunning(v *controller.View) {
	sorted := true
	for _, id := range s.active {
		j := s.Job(s.Coflow(id).Job)
		n := len(v.Running)
		if len(j.Job.Stages) == 0 || n > 0 && v.Running[n-1].Job.ID == j.ID {
			continue
		}
		sorted = sorted && (n == 0 || v.Running[n-1].Job.ID < j.ID)
		v.Running = append(v.Running, controller.Running{Job: &j.Job, Hosts: j.Hosts,
			Tasks: s.d.TasksOf(j)})
	}
	if !sorted { // coflows that carry again what was lost have ids of their own
		slices.SortFunc(v.Running, func(a, b controller.Running) int { return cmp.Compare(a.Job.ID, b.Job.ID) })
		v.Running = slices.CompactFunc(v.Running,
			func(a, b controller.Running) bool { return a.Job.ID == b.Job.ID })
	}
}

// FillDown writes the links without light into v, and nothing else.
func (s *State) FillDown(v *controller.View) { s.viewDown(v) }

func (s *State) viewDown(v *controller.View) {
	v.Down = nil
	for _, p := range slices.Concat(s.d.Down, s.drains.ports) {
		if v.Down == nil {
			v.Down = make([]bool, len(s.fabric.Topology.Links()))
		}
		if l := s.fabric.Topology.OutPort(p.Device, int32(p.Port)); l >= 0 {
			v.Down[l], v.Down[l^1] = true, true
		}
	}
}

// delayWindow is how many of the last moves correct the model's reconfiguration delay; fewer than a
// quarter of them do not yet.
const delayWindow = 32

// ReconfigurationDelay returns the expected reconfiguration delay of a circuit move: the p90 (nearest
// rank) of the last moves that came into service, or model until there are some.
func (s *State) ReconfigurationDelay(model time.Duration) time.Duration {
	return s.delayOf(pathmap.None, len(s.d.Moves), model)
}

// ReconfigurationDelays returns the same by OCS port, where models has one for each OCS; nil where models is
// nil. It uses the memory of to.
func (s *State) ReconfigurationDelays(to, models []time.Duration) []time.Duration {
	if models == nil {
		return nil
	}
	each := s.fabric.OCSPorts() / len(models)
	for ocs, model := range models {
		// A switch that seldom moves is not looked for through all records.
		d := s.delayOf(s.fabric.OCSNode+pathmap.NodeID(ocs), delayWindow*len(models)*2, model)
		for range each {
			to = append(to, d)
		}
	}
	return to
}

// delayOf is ReconfigurationDelay of moves of one OCS, or of all; most is how many are looked at.
func (s *State) delayOf(ocs pathmap.NodeID, most int, model time.Duration) time.Duration {
	var last [delayWindow]time.Duration
	n := 0
	for i := len(s.d.Moves) - 1; i >= max(0, len(s.d.Moves)-most) && n < delayWindow; i-- {
		m := &s.d.Moves[i]
		if m.InService == Unset {
			continue
		}
		if ocs != pathmap.None {
			if at, _ := s.fabric.OCSAt(int32(m.In)); at != ocs {
				continue
			}
		}
		last[n] = m.InService - m.Intent
		n++
	}
	if n < delayWindow/4 {
		return model
	}
	slices.Sort(last[:n])
	return last[(n*9+9)/10-1]
}
