package loop

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// transitions does what is due: reservations end and begin, stages and coflows start, moves go on.
func (l *Loop) transitions(s *state.State, now time.Duration) {
	dead := s.Dead(now)
	if l.endDue(s, now) && (len(dead) > 0 || !l.goesOn(s, now)) {
		return
	}
	if len(dead) > 0 {
		for _, id := range dead {
			l.cancel(s, now, id, true)
		}
		return
	}
	l.beginDue(s, now)
	l.steering.settle(s, &l.pass, &l.reservations)
	l.expire(s, now)
	l.dropUnused(s, now)
	for _, st := range sorted(s.ReadyStages(), func(a, b state.StageRef) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Stage, b.Stage))
	}) {
		l.pass.add(state.Entry{Kind: state.StageStarted, At: now, JobID: st.Job, Stage: st.Stage})
		if s.Held(st.Job, st.Stage) {
			continue // its tasks do nothing but send and receive
		}
		j := s.Job(st.Job)
		first, end := j.StageTasks(int(st.Stage))
		tasks := s.Live().TasksOf(j)
		if stage := &j.Job.Stages[st.Stage]; l.pending.wants.Has(controller.LoadsStarted) &&
			slices.ContainsFunc(stage.Tasks, func(t controller.Task) bool { return t.Load > 0 }) {
			l.pending.note(controller.LoadsStarted, now, j.ID, -1, 0)
		}
		for i := first; i < end; i++ {
			if id := j.FirstTask + southbound.TaskID(i); tasks[i].MayStart() {
				l.run(s, id)
			}
		}
	}
	for _, id := range sorted(s.ReadyCoflows(), cmp.Compare[southbound.CoflowID]) {
		l.pass.add(state.Entry{Kind: state.CoflowStarted, At: now, Coflow: id})
		l.pending.note(controller.CoflowStarted, now, s.Coflow(id).Job, id, 0)
		l.start(s, id)
		if s.Coflow(id).Remaining == 0 || len(s.Live().Lost) > 0 { // it can end at once
			l.pending.touch(id)
		}
	}
	l.layPaths(s, now)
	l.move(s, now)
}

func sorted[T any](in []T, by func(a, b T) int) []T {
	if len(in) == 0 {
		return nil // as nearly always
	}
	out := slices.Clone(in)
	slices.SortFunc(out, by)
	return out
}
