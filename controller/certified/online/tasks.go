package online

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"lightloom/controller/certified"
	"lightloom/controller/solve"
)

// Job is a job of independent tasks that arrives.
type Job struct {
	Arrival    float64
	Load       []float64
	Efficiency [][]float64 // by task and server
	Energy     float64     // at most; 0: any
}

func (j *Job) load() (sum float64) {
	for _, l := range j.Load {
		sum += l
	}
	return sum
}

// Group is servers of which a job may have a part of what is free: a rack, a pod or all.
type Group struct {
	Name    string
	Servers []int32
	Part    float64
}

// Order is in which order waiting jobs are scheduled.
type Order int

// The orders.
const (
	SJF  Order = iota // the job that would end first, as long as the MAR test holds (OnTaPRA)
	FCFS              // in order of arrival, at every arrival
	SLF               // the smallest load first
	LLF               // the largest load first
)

// Tasks is a run of jobs in a data center (algorithms 4 to 6).
type Tasks struct {
	Capacity []float64 // by server
	Groups   []Group
	Jobs     []Job // by arrival
	Order    Order
	Place    func(*certified.Tasks) (*certified.Placed, error)
	DRC      bool    // residual capacity goes to running tasks until the next scheduling
	Every    float64 // seconds from one scheduling to the next; FCFS schedules at arrivals and whenever tasks end
	MinFree  float64 // Max_Percent of the MAR test
}

// running is a task with its resources.
type running struct {
	job, server int
	left        float64 // resources times seconds
	load        float64 // all of it
	base, extra float64 // resources; extra is temporary
}

type center struct {
	*Tasks
	now     float64
	tasks   []running
	waiting []int // jobs in order of arrival
	open    []int // by job: tasks that have not ended
	end     []float64
}

// maxEvents bounds a run.
const maxEvents = 5_000_000

// Run returns how long after its arrival each job ends.
func (t *Tasks) Run() ([]float64, error) {
	c := &center{Tasks: t, open: make([]int, len(t.Jobs)), end: make([]float64, len(t.Jobs))}
	next, tick := 0, 0.0
	for range maxEvents {
		at := c.nextEnd()
		if next < len(t.Jobs) {
			at = min(at, t.Jobs[next].Arrival)
		}
		if len(c.waiting) > 0 && t.Order != FCFS {
			at = min(at, tick)
		}
		if math.IsInf(at, 1) {
			if len(c.waiting) > 0 {
				return nil, fmt.Errorf("run jobs: %d jobs wait though nothing runs", len(c.waiting))
			}
			return c.end, nil
		}
		ended := c.advance(at)
		arrived := false
		for next < len(t.Jobs) && t.Jobs[next].Arrival <= c.now {
			c.waiting, arrived = append(c.waiting, next), true
			next++
		}
		due := c.now >= tick
		if due && t.Every > 0 {
			tick = (math.Floor(c.now/t.Every) + 1) * t.Every
		}
		if t.Order == FCFS {
			due = arrived || ended
		}
		if due && len(c.waiting) > 0 {
			if err := c.schedule(); err != nil {
				return nil, err
			}
		}
		c.distribute()
	}
	return nil, fmt.Errorf("run jobs: more than %d events", maxEvents)
}

func (c *center) nextEnd() float64 {
	at := math.Inf(1)
	for i := range c.tasks {
		at = min(at, c.now+c.tasks[i].left/(c.tasks[i].base+c.tasks[i].extra))
	}
	return at
}

// advance lets tasks run until an instant, and reports whether one has ended.
func (c *center) advance(at float64) bool {
	took := at - c.now
	c.now = at
	kept := c.tasks[:0]
	for _, r := range c.tasks {
		r.left -= took * (r.base + r.extra)
		if r.left > 1e-9*r.load {
			kept = append(kept, r)
			continue
		}
		if c.open[r.job]--; c.open[r.job] == 0 {
			c.end[r.job] = c.now - c.Jobs[r.job].Arrival
		}
	}
	ended := len(kept) < len(c.tasks)
	c.tasks = kept
	return ended
}

// rounding is the part of a server's capacity up to which what is left counts as nothing: a task that
// got it would run for ages.
const rounding = 1e-9

// free returns what servers have beside what is allocated for good.
func (c *center) free() []float64 {
	out := slices.Clone(c.Capacity)
	for _, r := range c.tasks {
		out[r.server] -= r.base
	}
	for s := range out {
		if out[s] < rounding*c.Capacity[s] {
			out[s] = 0
		}
	}
	return out
}

// schedule goes through the waiting jobs in the order.
func (c *center) schedule() error {
	if c.Order == SJF {
		return c.shortest()
	}
	order := slices.Clone(c.waiting)
	slices.SortStableFunc(order, func(a, b int) int {
		switch c.Order {
		case SLF:
			return cmp.Compare(c.Jobs[a].load(), c.Jobs[b].load())
		case LLF:
			return cmp.Compare(c.Jobs[b].load(), c.Jobs[a].load())
		}
		return 0
	})
	for _, j := range order {
		p, err := c.plan(j)
		if err != nil {
			return err
		}
		if p != nil {
			c.execute(j, p)
		}
	}
	return nil
}

// shortest is the SJF policy (algorithm 5).
func (c *center) shortest() error {
	tried := slices.Clone(c.waiting)
	for len(tried) > 0 && c.enough() {
		best, at := (*certified.Placed)(nil), -1
		kept := tried[:0]
		for _, j := range tried {
			p, err := c.plan(j)
			if err != nil {
				return err
			}
			if p == nil {
				continue
			}
			kept = append(kept, j)
			if best == nil || p.Value < best.Value {
				best, at = p, j
			}
		}
		tried = kept
		if best == nil {
			return nil
		}
		c.execute(at, best)
		tried = slices.DeleteFunc(tried, func(j int) bool { return j == at })
	}
	return nil
}

// enough is the MAR test.
func (c *center) enough() bool {
	free, all := 0.0, 0.0
	for s, f := range c.free() {
		free, all = free+f, all+c.Capacity[s]
	}
	return free > c.MinFree*all
}

// plan schedules a job on what is free; nil if that cannot be done now.
func (c *center) plan(j int) (*certified.Placed, error) {
	free := c.free()
	t := &certified.Tasks{Load: c.Jobs[j].Load, Efficiency: c.Jobs[j].Efficiency, Energy: c.Jobs[j].Energy}
	for s, f := range free {
		t.Limits = append(t.Limits, certified.Limit{Name: "server", Servers: []int32{int32(s)}, Most: f})
	}
	for _, g := range c.Groups {
		l := certified.Limit{Name: g.Name, Servers: g.Servers}
		for _, s := range g.Servers {
			l.Most += g.Part * free[s]
		}
		t.Limits = append(t.Limits, l)
	}
	p, err := c.Place(t)
	if infeasible := new(solve.InfeasibleError); errors.As(err, &infeasible) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("schedule job %d: %w", j, err)
	}
	return p, nil
}

func (c *center) execute(j int, p *certified.Placed) {
	c.waiting = slices.DeleteFunc(c.waiting, func(w int) bool { return w == j })
	for i, s := range p.Server {
		if c.Jobs[j].Load[i] == 0 {
			continue
		}
		load := c.Jobs[j].Load[i] / c.Jobs[j].Efficiency[i][s]
		c.tasks = append(c.tasks, running{job: j, server: int(s), left: load, load: load, base: p.Resource[i]})
		c.open[j]++
	}
}

// distribute is the DRC procedure (algorithm 6): what a server has left goes to its tasks by their loads.
func (c *center) distribute() {
	if !c.DRC {
		return
	}
	left, sum := c.free(), make([]float64, len(c.Capacity))
	for _, r := range c.tasks {
		sum[r.server] += r.load
	}
	for i := range c.tasks {
		r := &c.tasks[i]
		r.extra = left[r.server] * r.load / sum[r.server]
	}
}
