package pushbox

import "math"

// Network is how links are shared, as far as NEAT predicts it.
type Network uint8

// The networks.
const (
	SmallestFirst Network = iota // the smallest coflow goes first: SRPT of coflows
	EqualShares                  // fair
	FirstCome                    // what came first goes first: FCFS
)

// Links are what input passes on its way, by machine and by rack.
type Links struct {
	Up, Down         []Link // of machines
	RackUp, RackDown []Link // of a rack to the core, all of them together
}

// Link is one direction of a link.
type Link struct {
	Rate float64  // bytes a second
	Left []Inflow // what it has still to carry
}

// Inflow is what one coflow, or one flow of it, has left to send over a link.
type Inflow struct {
	Coflow float64 // bytes of the whole coflow
	Left   float64 // bytes over this link
}

// Add has a link carry more.
func (l *Link) Add(n Network, x Inflow) {
	last := len(l.Left) - 1
	if x.Left <= 0 {
		return
	}
	if n != EqualShares && last >= 0 && l.Left[last].Coflow == x.Coflow {
		l.Left[last].Left += x.Left
		return
	}
	l.Left = append(l.Left, x)
}

// ends predicts, in seconds, when a link has carried a new flow of a coflow: what it carries until then
// over its rate (US 2017/0286180, claim 1).
func (l *Link) ends(n Network, x Inflow) float64 {
	if x.Left <= 0 {
		return 0
	}
	bytes := x.Left
	for _, y := range l.Left {
		switch {
		case n == EqualShares:
			bytes += min(y.Left, x.Left)
		case n == FirstCome || y.Coflow <= x.Coflow:
			bytes += y.Left
		}
	}
	return bytes / l.Rate
}

// longer reports whether the smallest that a link has left is no smaller than a new flow: it would go
// behind nothing smaller, and before nothing that is nearly through.
func (l *Link) longer(n Network, x Inflow) bool {
	if x.Left <= 0 {
		return true
	}
	for _, y := range l.Left {
		if n == SmallestFirst && y.Coflow < x.Coflow || n != SmallestFirst && y.Left < x.Left {
			return false
		}
	}
	return true
}

// neat is NEAT's placement (Munir et al., "Network scheduling aware task placement in datacenters",
// CoNEXT 2016), with its sequential heuristic: tasks one after the other, the largest of a job first.
func (o *Scheduler) neat(place func(Choice)) {
	for {
		c, ok := o.next()
		if !ok {
			return
		}
		place(c)
		o.Take(c)
	}
}

func (o *Scheduler) next() (Choice, bool) {
	for _, q := range o.Queues {
		for _, j := range q.Jobs {
			if c, ok := o.soonest(j); ok {
				return c, true
			}
		}
	}
	return Choice{}, false
}

// soonest finds the machine for a job's next task: of those whose smallest remaining flow is no shorter
// than the new one, if there are any, that on which the task is predicted to end first.
func (o *Scheduler) soonest(j *Job) (Choice, bool) {
	best, cost, prefer := Choice{}, math.Inf(1), false
	var way *senders
	for i := range o.Machines {
		m := &o.Machines[i]
		if m.Free <= 0 {
			continue
		}
		t, ok := o.selectTask(j, m.Rack)
		if !ok {
			continue
		}
		x, longer := t.Compute, true
		if t.Input > 0 {
			if way == nil || way.task.Index != t.Index || way.task.Local != t.Local {
				way = o.senders(j, t)
			}
			received, room := way.receive(o, i)
			x, longer = x+received, room
		}
		if longer && !prefer || longer == prefer &&
			(x < cost || x == cost && m.Free > o.Machines[best.Machine].Free) {
			best, cost, prefer = Choice{j, t, i, Soonest}, x, longer
		}
	}
	return best, !math.IsInf(cost, 1)
}

// senders is the sending end of a task's input.
type senders struct {
	held
	job        *Job
	task       Task
	up, rackUp slowest
}

// slowest is which of several links ends last, and when the last of the others ends.
type slowest struct {
	at         int
	end, other float64
}

func (s *slowest) add(at int, end float64) {
	if end > s.end {
		s.at, s.end, end = at, end, s.end
	}
	s.other = max(s.other, end)
}

// without is when the last link ends, that of one sender left out.
func (s *slowest) without(at int) float64 {
	if at == s.at {
		return s.other
	}
	return s.end
}

// senders predicts the sending ends of a task's input: machines and racks that hold some of it.
func (o *Scheduler) senders(j *Job, t Task) *senders {
	w := &senders{held: t.stage.held(o), job: j, task: t}
	for i, bytes := range w.host {
		w.up.add(i, o.Links.Up[i].ends(o.Network, Inflow{j.coflow(t), t.part * bytes}))
	}
	for r, bytes := range w.rack {
		w.rackUp.add(r, o.Links.RackUp[r].ends(o.Network, Inflow{j.coflow(t), t.part * bytes}))
	}
	return w
}

// receive predicts, in seconds, when the task has received its input on a machine, and reports whether
// it receives nothing smaller. Nothing leaves a machine for itself, nor passes the core within a rack.
func (w *senders) receive(o *Scheduler, machine int) (float64, bool) {
	rack := int(o.Machines[machine].Rack)
	in := Inflow{w.job.coflow(w.task), w.task.Input - w.task.part*w.host[machine]}
	core := Inflow{w.job.coflow(w.task), w.task.Input - w.task.part*w.rack[rack]}
	down := &o.Links.Down[machine]
	return max(down.ends(o.Network, in), o.Links.RackDown[rack].ends(o.Network, core), w.up.without(machine),
		w.rackUp.without(rack)), down.longer(o.Network, in)
}

// carry has the links carry what a task that has been placed receives.
func (o *Scheduler) carry(j *Job, t Task, machine int) {
	if o.Rule != NEAT || t.Input <= 0 {
		return
	}
	h, rack := t.stage.held(o), int(o.Machines[machine].Rack)
	o.Links.Down[machine].Add(o.Network, Inflow{j.coflow(t), t.Input - t.part*h.host[machine]})
	o.Links.RackDown[rack].Add(o.Network, Inflow{j.coflow(t), t.Input - t.part*h.rack[rack]})
	for i, bytes := range h.host {
		if i != machine {
			o.Links.Up[i].Add(o.Network, Inflow{j.coflow(t), t.part * bytes})
		}
	}
	for r, bytes := range h.rack {
		if r != rack {
			o.Links.RackUp[r].Add(o.Network, Inflow{j.coflow(t), t.part * bytes})
		}
	}
}
