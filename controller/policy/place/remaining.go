package place

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/guideline"
)

// ReportEvery is how often a running task reports its progress (Hadoop's
// mapreduce.task.progress-report.interval).
const ReportEvery = 3 * time.Second

// lengths are how long tasks took that have ended: all that a scheduler can know of those that have not
// reported.
type lengths struct {
	sum time.Duration
	n   int
}

func (l *lengths) add(d time.Duration) { l.sum, l.n = l.sum+d, l.n+1 }

func (l *lengths) mean() time.Duration { return l.sum / time.Duration(max(l.n, 1)) }

// estimates are the lengths of ended tasks: by job and stage, and of all stages that receive, or do not.
type estimates struct {
	stage map[*work][]lengths
	kind  [2]lengths
}

func (y *slotAllocator) estimates() *estimates {
	e := &estimates{stage: map[*work][]lengths{}}
	for _, w := range y.works {
		by := make([]lengths, len(w.open))
		for i := range w.tasks {
			if t := &w.tasks[i]; t.Ended >= 0 && t.Started >= 0 {
				by[t.Stage].add(t.Ended - t.Started)
				e.kind[w.kind(int(t.Stage))].add(t.Ended - t.Started)
			}
		}
		e.stage[w] = by
	}
	return e
}

// kind is 1 for a stage that receives.
func (w *work) kind(stage int) int {
	if w.source(stage) {
		return 0
	}
	return 1
}

// length is how long a task of a stage is expected to take: as long as those of its stage that have
// ended, else as predicted, else as those of other jobs.
func (e *estimates) length(w *work, stage int) time.Duration {
	if l := &e.stage[w][stage]; l.n > 0 {
		return l.mean()
	}
	if p := w.job.Predicted; p != nil {
		return [...]time.Duration{p.MapTime, p.RedTime}[w.kind(stage)]
	}
	return e.kind[w.kind(stage)].mean()
}

// remaining is T_rem of a task that has a slot: by Equation 12 once it has reported its progress, which
// grows evenly.
func (y *slotAllocator) remaining(w *work, e *estimates, task int) time.Duration {
	t := &w.tasks[task]
	if t.Started < 0 {
		return e.length(w, int(t.Stage))
	}
	ran := y.v.Now - t.Started
	if ran < ReportEvery {
		return max(e.length(w, int(t.Stage))-ran, 0)
	}
	return guideline.Remaining(ran, y.progress(w, t, task, ran))
}

// progress is the share of its work that a task has done: what it reports, and not how long it will take.
func (y *slotAllocator) progress(w *work, t *controller.TaskState, task int, ran time.Duration) float64 {
	all := w.job.Stages[t.Stage].Tasks[task-w.first[t.Stage]].Takes(t.Slower())
	return min(float64(ran)/float64(max(all, 1)), 1)
}
