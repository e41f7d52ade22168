package playback

import (
	"slices"
	"sort"

	"lightloom/controller"
	"lightloom/controller/page"
	"lightloom/lab/report"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// look is what there was at an instant.
func (w *row) look(at float64) *page.Look {
	l := &page.Look{Head: page.Head{Now: at}, Replicas: []page.Replica{}, Warnings: []page.Warning{},
		Circuits: []page.Circuit{}, Moves: w.moves(), Rates: w.rates(at), Switches: []page.Switch{}, Jobs: []page.Job{},
		Failed: []page.Failed{}, Demand: page.Demand{From: []int32{}, To: []int32{}, Bytes: []pathmap.Bytes{},
			Granted: []int{}}}
	for _, m := range w.circuits {
		if m.Intent <= at && at < m.Ended {
			l.Circuits = append(l.Circuits, page.Circuit{In: m.In, Out: m.Out, Job: m.Job, Coflow: -1,
				Since: m.Intent,
				Lit:   m.InService >= 0 && m.InService <= at})
		}
	}
	slices.SortFunc(l.Circuits, func(a, b page.Circuit) int { return int(a.In) - int(b.In) })
	w.coflows(l, at)
	w.jobs(l, at)
	for _, f := range w.policy.Faults {
		if f.From <= at && (f.Lasts || at < f.To) {
			l.Failed = append(l.Failed, page.Failed{Kind: f.Kind, Name: f.Name})
		}
	}
	return l
}

// moves are the circuits of the whole run, which the page cuts at its instant.
func (w *row) moves() []page.Move {
	every := w.thin()
	out := make([]page.Move, 0, len(w.circuits)/every+1)
	for i := 0; i < len(w.circuits); i += every {
		out = append(out, w.circuits[i])
	}
	return out
}

// rates are what passed links around an instant; empty where the report does not say.
func (w *row) rates(at float64) []int64 {
	out := []int64{}
	for _, of := range w.loads {
		rate := int64(-1)
		if len(of) > 0 {
			i := sort.Search(len(of), func(i int) bool { return at < of[i].to })
			rate = of[min(i, len(of)-1)].rate
		}
		out = append(out, rate)
	}
	return out
}

// coflows counts those that had come by an instant, and adds up what was left: a report does not say
// how much of an open one was sent.
func (w *row) coflows(l *page.Look, at float64) {
	for _, c := range w.policy.Coflows {
		if c.Arrival > at {
			continue
		}
		l.Head.Coflows++
		if c.Arrival+c.Took <= at {
			l.Head.CoflowsEnded++
			continue
		}
		l.Demand.Total += pathmap.Bytes(c.Bytes - c.Local)
	}
}

// jobs lists those that had come by an instant, the latest first: all that were open, and some that had
// ended.
func (w *row) jobs(l *page.Look, at float64) {
	sums := map[controller.JobID]*page.Job{}
	listed := 0
	for i, j := range slices.Backward(w.policy.Jobs) {
		if j.Arrival > at {
			continue
		}
		ended := j.Arrival+j.Took <= at
		if l.Head.Jobs++; ended {
			l.Head.JobsEnded++
			if listed++; listed > mostEnded {
				continue
			}
		}
		x := job(&w.policy.Jobs[i], ended)
		l.Jobs = append(l.Jobs, x)
	}
	for i := range l.Jobs {
		sums[l.Jobs[i].ID] = &l.Jobs[i]
	}
	for _, c := range w.policy.Coflows {
		if x := sums[w.jobOf[c.ID]]; x != nil && w.owned(c.ID) && c.Arrival <= at {
			x.Coflows++
			x.Bytes += pathmap.Bytes(c.Bytes)
			if c.Arrival+c.Took <= at {
				x.Sent++
			} else {
				x.Left += pathmap.Bytes(c.Bytes)
			}
		}
	}
	for _, c := range l.Circuits {
		if x := sums[c.Job]; x != nil {
			x.Circuits = append(x.Circuits, c.In)
		}
	}
}

func (w *row) owned(coflow int32) bool {
	_, known := w.jobOf[coflow]
	return known
}

// job is what the page shows of a job of a report.
func job(j *report.Row, ended bool) page.Job {
	x := page.Job{ID: controller.JobID(j.ID), Name: j.Name, State: "running", Arrived: j.Arrival,
		Placed: -1, Started: -1,
		Ended: -1, Hosts: []int32{}, Circuits: []southbound.Port{}}
	if ended {
		x.Ended = j.Arrival + j.Took
		if x.State = "ended"; j.Cancelled {
			x.State = "cancelled"
		}
	}
	return x
}
