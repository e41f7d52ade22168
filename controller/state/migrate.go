package state

import (
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// What a task takes with it when it is moved, and what that costs:
// docs/decisions/0033-migrate-when-gain-exceeds-cost.md.

// Migrated sums up what moving tasks of running jobs has cost.
type Migrated struct {
	Tasks   int64         `json:"tasks"`
	Bytes   pathmap.Bytes `json:"bytes"`      // sent before, and sent again
	Compute time.Duration `json:"compute_ns"` // begun before, and begun again
}

// checkMigration returns why a migration of tasks of a running job is invalid, or nil. held is that of
// CheckPlacement; slots that the tasks leave are free for what comes after.
func (s *State) checkMigration(j *Job, p *controller.Placement, held map[southbound.HostID]int32) error {
	switch {
	case j.Incremental:
		return fmt.Errorf("place job %d: it is placed incrementally, and its tasks are not moved", p.Job)
	case j.Ended != Unset || slices.Contains(j.Hosts, controller.NoHost):
		return ErrStale
	case p.Resent < 0:
		return fmt.Errorf("place job %d: %d bytes are sent again", p.Job, p.Resent)
	}
	for k, i := range p.Move {
		switch {
		case i < 0 || int(i) >= len(j.Hosts) || k > 0 && p.Move[k-1] >= i:
			return fmt.Errorf("place job %d: task %d of %d is moved twice, out of order, or does not exist", p.Job, i,
				len(j.Hosts))
		case s.task(j, int(i)).Reading:
			return fmt.Errorf("place job %d: task %d reads its block, and is not moved before all of it is there", p.Job, i)
		case s.task(j, int(i)).Ended != Unset || p.Hosts[i] == j.Hosts[i]:
			return ErrStale
		}
	}
	for i, h := range p.Hosts {
		switch _, moves := slices.BinarySearch(p.Move, int32(i)); {
		case h != j.Hosts[i] && !moves:
			return fmt.Errorf("place job %d: task %d runs on host %d and is not moved", p.Job, i, j.Hosts[i])
		case h < 0 || int(h) >= len(s.free):
			return fmt.Errorf("place job %d: host %d of %d", p.Job, h, len(s.free))
		case moves && s.Lost(h):
			return fmt.Errorf("place job %d: host %d is lost", p.Job, h)
		}
	}
	return s.takeSlots(j, p, held)
}

// takeSlots has moved tasks leave their slots and take new ones in held, if there are.
func (s *State) takeSlots(j *Job, p *controller.Placement, held map[southbound.HostID]int32) error {
	for _, i := range p.Move {
		held[j.Hosts[i]] -= s.size(j, int(i))
		held[p.Hosts[i]] += s.size(j, int(i))
	}
	for _, i := range p.Move {
		if h := p.Hosts[i]; held[h] > s.free[h] || s.isDrained(h) {
			return fmt.Errorf("place job %d: host %d has no slot left, or is drained", p.Job, h)
		}
	}
	return nil
}

// migrate has tasks leave their hosts; reschedule brings them to the next. What is on its way from or
// to one of them begins again, together with what shares its host flow; what has been received is kept.
func (s *State) migrate(j *Job, p *controller.Placement, e *Entry) {
	s.rememberLaid(j)
	for _, id := range coflowsOf(j) {
		c := s.Coflow(id)
		rows := s.rowsOf(j, c, p.Move)
		local := s.localPairs(j, c, func(t int, _ southbound.HostID) bool {
			_, moves := slices.BinarySearch(p.Move, int32(t))
			return moves
		})
		if len(rows)+len(local) > 0 {
			if s.lose(j, id, rows, local); j.spent(c) {
				s.endCoflow(j, id, c, e)
			}
		}
	}
	if s.d.Migrated == nil {
		s.d.Migrated = &Migrated{}
	}
	m := s.d.Migrated
	m.Bytes += p.Resent
	for _, i := range p.Move {
		t := s.task(j, int(i))
		s.vacate(j, int(i))
		m.Tasks++
		if t.Started != Unset && j.Stages[t.Stage].Streams == 0 {
			m.Compute += e.At - t.Started
		}
		t.Try++
		t.Started, t.Moved, t.Host, j.Hosts[i] = Unset, e.At, controller.NoHost, controller.NoHost
		t.MilliVCPUs = 0
		startAnew(t)
	}
}

// rowsOf returns the rows of a started coflow that have not been received and hold a pair with one of
// those tasks.
func (s *State) rowsOf(j *Job, c *Coflow, tasks []int32) (rows []int) {
	x := j.EdgeOf(c)
	if c.Started == Unset || c.Ended != Unset || !x.FollowsTasks() {
		return nil
	}
	moves := func(t southbound.HostID) bool {
		_, found := slices.BinarySearch(tasks, int32(t))
		return found
	}
	type ends [2]southbound.HostID
	touched, laid := map[ends]bool{}, c.laid(j)
	for _, p := range tasksOf(j, c) {
		if x.Reads == nil && moves(p.Src) || moves(p.Dst) {
			touched[ends{c.source(j, laid, p), laid[p.Dst]}] = true
		}
	}
	left := map[southbound.HostID]bool{} // by receivers of a coflow laid out by host, whose own pairs round
	if first, end := j.StageTasks(x.To); s.byHost(j, c) {
		for _, t := range tasks {
			if int(t) >= first && int(t) < end {
				left[laid[t]] = true
			}
		}
	}
	for r, done := range c.Done {
		if !done && (left[c.Columns.Dst[r]] || touched[ends{c.Columns.Src[r], c.Columns.Dst[r]}]) {
			rows = append(rows, r)
		}
	}
	return rows
}

// LeftBehind returns the rows that begin again when a placement moves tasks, by coflow and row.
func (s *State) LeftBehind(p *controller.Placement) (keys []southbound.HostFlowKey) {
	j := s.Job(p.Job)
	if j == nil || len(p.Move) == 0 {
		return nil
	}
	for _, id := range coflowsOf(j) {
		for _, r := range s.rowsOf(j, s.Coflow(id), p.Move) {
			keys = append(keys, southbound.HostFlowKey{Coflow: id, Row: int32(r)})
		}
	}
	return keys
}

// turn notes that a job has been placed or has ended.
func (s *State) turn(j *Job) {
	if len(j.Job.Stages) > 0 {
		s.turnover = max(s.turnover, j.Placed, j.Ended)
	}
}
