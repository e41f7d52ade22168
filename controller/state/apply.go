package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// ErrStale marks an entry that repeats what already stands or speaks of something that is over. It
// changes nothing and is harmless: a new leader repeats what it cannot know to have been said.
var ErrStale = errors.New("already so")

// Apply makes one entry part of the state. On an error nothing has changed; the same entry in the same
// state gives the same error on every replica.
func (s *State) Apply(e *Entry) error {
	if err := s.admit(e); err != nil {
		return fmt.Errorf("apply entry: %w", err)
	}
	if err := s.apply(e); err != nil {
		return fmt.Errorf("apply %v at %v: %w", e.Kind, e.At, err)
	}
	if s.changesTasks(e) {
		s.countTaskChange(e)
	}
	s.noteShown(e)
	s.d.At = max(s.d.At, e.At)
	return nil
}

// TaskChanges grows with every change to jobs, their tasks, slots and lost hosts, and is above 0. It is not replicated.
func (s *State) TaskChanges() uint64 { return s.taskChanges }

// AllTaskChanges is TaskChanges when an entry last can have changed tasks of more than one job, and is above 0.
func (s *State) AllTaskChanges() uint64 { return max(s.allChanged, 1) }

// countTaskChange counts an entry that has been applied, and notes which job's tasks it can have changed.
func (s *State) countTaskChange(e *Entry) {
	s.taskChanges++
	switch j := s.jobOf(e); {
	case j != nil:
		j.changes = s.taskChanges
	case e.Kind != JobAccepted:
		s.allChanged = s.taskChanges
	}
}

// changesTasks reports whether an entry that has been applied can have changed jobs, tasks, slots or lost hosts, and
// not circuits, routes and bytes alone.
func (s *State) changesTasks(e *Entry) bool {
	switch e.Kind {
	case Routed, Withdrawn, CircuitReserved, CircuitReservationBegun, CircuitReservationEnded, CircuitIntended,
		CircuitSettled, CircuitDropped, Planned, BandwidthReserved, BandwidthReleased, AdmissionDecided:
		return false
	case CoflowStarted:
		c := s.Coflow(e.Coflow)
		return c == nil || c.Ended != Unset
	case HostFlowEnded:
		c := s.Coflow(e.Coflow)
		return c == nil || c.Block || c.Ended != Unset
	}
	return true
}

// ApplyAll applies a batch. It ignores stale entries; the first other error is returned, and the rest
// of the batch is still applied, as on every replica.
func (s *State) ApplyAll(batch []Entry) error {
	var first error
	was := s.d.At
	for i := range batch {
		err := s.Apply(&batch[i])
		switch {
		case err == nil && s.observe != nil:
			s.observe(&batch[i])
		case err != nil && !errors.Is(err, ErrStale) && first == nil:
			first = err
		}
	}
	s.d.Applied++
	if s.kept.Ended > 0 {
		s.leave()
	}
	if r, _ := s.Retention(); r.Requests > 0 {
		s.spareRequests(was)
		before := s.d.At - r.Requests
		s.d.Requests = s.requests.forget(s.d.Requests, before)
		s.d.BandwidthRequests = s.bandwidthRequests.forget(s.d.BandwidthRequests, before)
	}
	return first
}

// Observe has f called with each entry of a batch that has changed the state, right after it has; it
// reads what it likes, and changes nothing.
func (s *State) Observe(f func(*Entry)) { s.observe = f }

func (s *State) apply(e *Entry) error {
	s.copyOnWrite(e)
	switch e.Kind {
	case JobAccepted:
		return s.accept(e)
	case Placed:
		return s.place(e)
	case Routed:
		return s.route(e)
	case StageStarted:
		return s.startStage(e)
	case CoflowStarted:
		return s.startCoflow(e)
	case TaskEnded:
		return s.endTask(e)
	case HostFlowEnded:
		return s.endHostFlow(e)
	case Withdrawn:
		return s.withdraw(e)
	case CircuitReserved:
		return s.reserve(e)
	case CircuitReservationBegun:
		return s.begin(e)
	case CircuitReservationEnded:
		return s.end(e)
	case CircuitIntended:
		return s.intend(e)
	case CircuitSettled:
		return s.settle(e)
	case Planned:
		s.d.Wake = e.Wake
		if e.Anneal != nil {
			s.d.Anneal.Place.Add(e.Anneal.Place)
			s.d.Anneal.Route.Add(e.Anneal.Route)
		}
		return nil
	case PortSeen:
		return s.seePort(e)
	case BandwidthReserved:
		return s.reserveBandwidth(e)
	case BandwidthReleased:
		return s.releaseBandwidth(e)
	case HostSeen:
		return s.seeHost(e)
	case CircuitDropped:
		return s.drop(e)
	case AdmissionDecided:
		return s.decideAdmission(e)
	case JobCancelled:
		return s.cancel(e)
	case TaskResized:
		return s.resize(e)
	case SliceSet:
		return s.setSlice(e)
	case SliceDeleted:
		return s.deleteSlice(e)
	}
	return s.applyToCluster(e)
}

// applyToCluster applies entries of the cluster itself: its members, what it grants and keeps, and its
// fabric.
func (s *State) applyToCluster(e *Entry) error {
	switch e.Kind {
	case ClusterFounded:
		return s.foundCluster(e)
	case MembersSeen:
		return s.seeMembers(e)
	case LevelRaised:
		return s.raiseLevel(e)
	case MembersForgotten:
		return s.forgetMembers(e)
	case GrantChanged:
		return s.grant(e)
	case FabricChanged:
		return s.changeFabric(e)
	case RetentionSet:
		return s.setRetention(e)
	}
	panic(fmt.Sprintf("state: %v passed wellFormed", e.Kind))
}

func (s *State) accept(e *Entry) error {
	if _, dup := s.Requested(e.Request); dup {
		return ErrStale
	}
	if err := e.Job.CheckOn(s.fabric); err != nil {
		return err
	}
	if err := s.CheckParents([]*controller.Job{e.Job}); err != nil {
		return err
	}
	if err := s.CheckSliceNames(e.Job); err != nil {
		return err
	}
	j := &Job{Job: *e.Job, Placed: Unset, Started: Unset, Ended: Unset}
	n := &s.d.Next
	j.ID, j.FirstTask, j.FirstCoflow = n.Job, n.Task, n.Coflow
	n.Job++
	j.Job.Edges = slices.Clone(e.Job.Edges) // place drops the flows of fixed edges, and the caller keeps its own
	for k := range j.Edges {
		j.Edges[k].Bytes = j.Volume(&j.Edges[k])
	}
	j.Open = int32(len(j.Job.Stages) + len(j.Edges))
	for k := range j.Job.Stages {
		n := len(j.Job.Stages[k].Tasks)
		j.Stages = append(j.Stages, Stage{Remaining: int32(n)})
		for range n {
			s.d.Tasks = append(s.d.Tasks, Task{Job: j.ID, Stage: int32(k), Host: -1, Started: Unset, Ended: Unset})
		}
		s.d.Next.Task += southbound.TaskID(n)
	}
	for i := range j.Edges {
		switch e := &j.Edges[i]; {
		case e.Stream:
			j.Stages[e.From].Streams++
			j.Stages[e.To].Streams++
		case e.FollowsTasks():
			j.Stages[e.To].Waits++
		}
		s.append(&Coflow{Job: j.ID, Edge: int32(i), Ready: Unset, Started: Unset, Ended: Unset})
	}
	s.findParents(j)
	s.d.Jobs = append(s.d.Jobs, j)
	s.noteUnplaced(j)
	s.noteMortal(j)
	if s.frozen > 0 {
		j.frozen, j.sum = s.frozen, new(sum)
	}
	s.findChildren(j)
	s.d.Requests = s.requests.grant(s.d.Requests, e, j.ID)
	return nil
}

// append gives a coflow the next id.
func (s *State) append(c *Coflow) southbound.CoflowID {
	c.ID = s.d.Next.Coflow
	s.d.Next.Coflow++
	s.d.Coflows = append(s.d.Coflows, c)
	return c.ID
}

// Job returns a job; nil if there never was one, or it has left the state. Borrowed.
func (s *State) Job(id controller.JobID) *Job { return s.d.Job(id) }

// CheckPlacement returns why a placement is invalid, or nil. asked is what is before it in the same plan, and grows by
// what it takes.
func (s *State) CheckPlacement(p *controller.Placement, asked *Asked) error {
	j := s.Job(p.Job)
	switch {
	case j == nil:
		return fmt.Errorf("place job %d: %w", p.Job, s.lacksJob(p.Job))
	case j.Cancelled:
		return ErrStale
	case j.Placed == Unset && s.blocks(j):
		return fmt.Errorf("place job %d: it waits for what it reads", p.Job)
	case j.Placed != Unset:
		if err := s.checkIncremental(j, p); err != nil {
			return err
		}
		check := s.checkMoving
		if len(p.Move) > 0 {
			check = s.checkMigration
		}
		if err := check(j, p, asked.slots); err != nil {
			return err
		}
		return s.checkMovedVCPUs(j, p, asked)
	case len(p.Hosts) != j.Tasks():
		return fmt.Errorf("place job %d: %d hosts for %d tasks", p.Job, len(p.Hosts), j.Tasks())
	case len(p.Move) > 0:
		return fmt.Errorf("place job %d: it moves tasks of a job that is not placed", p.Job)
	}
	if err := s.checkIncremental(j, p); err != nil {
		return err
	}
	for i, h := range p.Hosts {
		if h == controller.NoHost && j.Incremental {
			continue
		}
		if h < 0 || int(h) >= len(s.free) {
			return fmt.Errorf("place job %d: host %d of %d", p.Job, h, len(s.free))
		}
		if err := s.take(j, i, h, asked.slots); err != nil {
			return err
		}
	}
	return s.checkVCPUs(j, p, asked)
}

func (s *State) place(e *Entry) error {
	p := e.Placement
	if err := s.CheckPlacement(p, alone()); err != nil {
		return err
	}
	j := s.Job(p.Job)
	for _, i := range p.NonLocal {
		s.task(j, int(i)).NonLocal = true
	}
	if p.PolicyState != nil {
		j.PolicyState = slices.Clone(p.PolicyState)
	}
	if j.Placed != Unset {
		if len(p.Move) > 0 {
			s.migrate(j, p, e)
		}
		s.read(j, p, e)
		s.reschedule(j, p.Hosts)
		return nil
	}
	s.read(j, p, e)
	j.Hosts, j.Placed = slices.Clone(p.Hosts), e.At
	s.turn(j)
	s.give(j, p)
	for i, h := range j.Hosts {
		s.task(j, i).Host = h
		if h != controller.NoHost {
			s.occupy(j, i)
		}
	}
	s.noteEvicted(j)
	s.noteUnplaced(j)
	s.noteLoaded(j)
	for i := range j.Edges {
		id := j.FirstCoflow + southbound.CoflowID(i)
		if j.Edges[i].FollowsTasks() {
			s.layOut(j, id)
			continue
		}
		c := s.Coflow(id)
		s.fill(c, controller.Expand(&j.Job, &j.Edges[i], nil))
		c.Ready = j.Arrival
		j.Edges[i].Flows = nil
		s.noteCoflow(j, id)
	}
	for k := range j.Stages {
		s.noteStage(j, int32(k))
	}
	return nil
}

// renew gives the rows of a coflow a generation of their own.
func (s *State) renew(c *Coflow) {
	s.rows++
	c.generation = s.rows
}

// fill gives a coflow its host flows.
func (s *State) fill(c *Coflow, columns controller.Columns) {
	n := len(columns.Src)
	c.Columns, c.Tag, c.Done, c.Routed, c.Laid = columns, make([]southbound.Tag, n), make([]bool,
		n), false, nil
	s.renew(c)
	c.Remaining, c.HostFlows, c.Local = int32(n), int64(n), columns.Local
	c.Bytes, c.Flows, c.Rack = 0, 0, 0
	for r := range n {
		c.Bytes += columns.Size[r]
		c.Flows += int64(columns.Flows[r])
		if s.RackOf(columns.Src[r]) == s.RackOf(columns.Dst[r]) {
			c.Rack += columns.Size[r]
		}
	}
}

func (s *State) coflow(id southbound.CoflowID) (*Coflow, error) {
	if c := s.Coflow(id); c != nil {
		return c, nil
	}
	if s.Knew(id) {
		return nil, ErrStale
	}
	return nil, fmt.Errorf("coflow %d: no such coflow", id)
}

// Knew reports whether there is or was a coflow of that id.
func (s *State) Knew(id southbound.CoflowID) bool { return id >= 0 && id < s.d.Next.Coflow }

// lacksJob returns why there is no job of that id: ErrStale if there was one.
func (s *State) lacksJob(id controller.JobID) error {
	if id >= 0 && id < s.d.Next.Job {
		return ErrStale
	}
	return errNoJob
}

var errNoJob = errors.New("no such job")

// CheckRouting returns why a routing is invalid, or nil. The coflow's job can be placed by one of
// placing, which come first.
func (s *State) CheckRouting(r *controller.Routing, placing []controller.Placement) error {
	c, err := s.coflow(r.Coflow)
	switch {
	case err != nil:
		return err
	case c.Ended != Unset:
		return ErrStale
	}
	rows := len(c.Tag)
	if i := slices.IndexFunc(placing, func(p controller.Placement) bool {
		return p.Job == c.Job
	}); i >= 0 && s.Job(c.Job).Placed == Unset {
		j := s.Job(c.Job)
		rows = len(controller.Expand(&j.Job, &j.Edges[c.Edge], placing[i].Hosts).Src)
	}
	if len(r.Tags) != rows {
		return fmt.Errorf("route coflow %d: %d tags for %d host flows", r.Coflow, len(r.Tags), rows)
	}
	for _, t := range r.Tags {
		if _, ok := t.Path(); !ok {
			return fmt.Errorf("route coflow %d: tag %d is not a packet path", r.Coflow, t)
		}
	}
	return nil
}

func (s *State) route(e *Entry) error {
	if err := s.CheckRouting(e.Routing, nil); err != nil {
		return err
	}
	c := s.Coflow(e.Routing.Coflow)
	copy(c.Tag, e.Routing.Tags)
	c.Routed = true
	for _, t := range e.Routing.Tags {
		c.Routes = (c.Routes ^ uint64(t)) * 0x100000001b3 // FNV-1a
	}
	return nil
}

func (s *State) startStage(e *Entry) error {
	j := s.Job(e.JobID)
	if j == nil {
		return fmt.Errorf("start stage %d of job %d: %w", e.Stage, e.JobID, s.lacksJob(e.JobID))
	}
	if e.Stage < 0 || int(e.Stage) >= len(j.Stages) {
		return fmt.Errorf("start stage %d of job %d: no such stage", e.Stage, e.JobID)
	}
	st := &j.Stages[e.Stage]
	again := st.Started
	switch {
	case j.Placed == Unset || st.Waits > 0:
		return fmt.Errorf("start stage %d of job %d: it waits for others", e.Stage, e.JobID)
	}
	if !s.startable(j, e.Stage) {
		return ErrStale
	}
	st.Started = true
	s.stages = slices.DeleteFunc(s.stages, func(r StageRef) bool { return r == StageRef{j.ID, e.Stage} })
	first, end := j.StageTasks(int(e.Stage))
	tasks := s.d.TasksOf(j)[first:end]
	for i := range tasks {
		if tasks[i].MayStart() {
			tasks[i].Started = e.At
		}
	}
	j.begin(e)
	if !again && st.Streams > 0 {
		s.openStreams(j, int(e.Stage), e)
	}
	return nil
}

func (j *Job) begin(e *Entry) {
	if j.Started == Unset {
		j.Started = e.At
	}
}

func (s *State) startCoflow(e *Entry) error {
	c, err := s.coflow(e.Coflow)
	if err != nil {
		return err
	}
	if c.Started != Unset || c.Ended != Unset {
		return ErrStale
	}
	j := s.Job(c.Job)
	i := slices.Index(s.ready, e.Coflow)
	if i < 0 {
		return fmt.Errorf("start coflow %d: its stage has not ended", e.Coflow)
	}
	s.ready = slices.Delete(s.ready, i, i+1)
	c.Started = e.At
	if c.Ready == Unset {
		c.Ready = e.At
	}
	j.begin(e)
	if c.Block {
		return nil // it has rows, and none of a lost host
	}
	s.lose(j, e.Coflow, s.lostRows(c), nil)
	if j.spent(c) {
		s.endCoflow(j, e.Coflow, c, e)
	}
	return nil
}

func (s *State) endTask(e *Entry) error {
	j, t := s.Task(e.Task)
	switch {
	case t == nil && e.Task >= 0 && e.Task < s.d.Next.Task:
		return ErrStale
	case t == nil:
		return fmt.Errorf("end task %d: no such task", e.Task)
	case t.Ended != Unset:
		return ErrStale
	case t.Started == Unset:
		return fmt.Errorf("end task %d: it has not started", e.Task)
	case j.Stages[t.Stage].Streams > 0:
		return fmt.Errorf("end task %d: streams hold it", e.Task)
	}
	s.closeTask(j, int(e.Task-j.FirstTask), e)
	return nil
}

// closeTask ends a task, and with the last of its stage lets what that has produced be sent.
func (s *State) closeTask(j *Job, i int, e *Entry) {
	t := s.task(j, i)
	t.Ended = e.At
	if t.Host >= 0 { // streams can end while one of their tasks has no host
		s.vacate(j, i)
	}
	st := &j.Stages[t.Stage]
	if st.Remaining--; st.Remaining > 0 {
		return
	}
	for i := range j.Edges {
		if x := &j.Edges[i]; x.Kind != controller.Fixed && !x.Stream && x.From == int(t.Stage) {
			id := j.FirstCoflow + southbound.CoflowID(i)
			s.Coflow(id).Ready = e.At
			s.noteCoflow(j, id)
		}
	}
	s.closeOne(j, e)
}

func (s *State) endHostFlow(e *Entry) error {
	c, err := s.coflow(e.Coflow)
	switch {
	case err != nil:
		return err
	case c.Ended != Unset:
		return ErrStale
	case c.Started == Unset:
		return fmt.Errorf("end host flow %d of coflow %d: the coflow has not started", e.Row, e.Coflow)
	case e.Row < 0 || int(e.Row) >= len(c.Done):
		return fmt.Errorf("end host flow %d of coflow %d: it has %d", e.Row, e.Coflow, len(c.Done))
	case c.Done[e.Row]:
		return ErrStale
	}
	c.Done[e.Row] = true
	if c.Block {
		s.arrived(s.Job(c.Job), c, int(e.Row))
	}
	if c.Remaining--; s.Job(c.Job).spent(c) {
		s.endCoflow(s.Job(c.Job), e.Coflow, c, e)
	}
	return nil
}

func (s *State) endCoflow(j *Job, id southbound.CoflowID, c *Coflow, e *Entry) {
	c.Ended = e.At
	s.ended++
	j.keepLocal(c, e)
	c.Columns, c.Tag, c.Done, c.Laid, c.byDst = controller.Columns{}, nil, nil, nil, byDst{}
	if i, found := slices.BinarySearch(s.active, id); found {
		s.active = slices.Delete(s.active, i, i+1)
	}
	c.Pairs = nil
	switch edge := j.EdgeOf(c); {
	case edge.Stream:
		s.closeStream(j, edge.From, e)
		s.closeStream(j, edge.To, e)
	case edge.FollowsTasks():
		if j.Stages[edge.To].Waits--; j.Stages[edge.To].Waits == 0 {
			s.noteStage(j, int32(edge.To))
		}
	}
	s.closeOne(j, e)
}

// closeOne counts one stage or coflow of a job as ended.
func (s *State) closeOne(j *Job, e *Entry) {
	if j.Open--; j.Open == 0 {
		j.Ended = e.At
		s.turn(j)
		s.noteEvicted(j)
		s.noteMortal(j)
		s.finished++
		s.over(j, e)
		s.deliver(j)
	}
}

func (s *State) seePort(e *Entry) error {
	ref := PortRef{e.Device, e.Port}
	if !leads(s.fabric, ref) {
		return fmt.Errorf("see port %d of device %d: no link leaves there", e.Port, e.Device)
	}
	i, down := slices.BinarySearchFunc(s.d.Down, ref, func(a, b PortRef) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Port, b.Port))
	})
	switch {
	case down == !e.OK:
		return ErrStale
	case e.OK:
		s.d.Down = slices.Delete(s.d.Down, i, i+1)
	default:
		s.d.Down = slices.Insert(s.d.Down, i, ref)
	}
	return nil
}
