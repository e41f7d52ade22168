package place

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lightloom/controller"
	"lightloom/controller/certified"
	"lightloom/controller/policy/route"
	"lightloom/southbound"
)

// Placer places the tasks with loads of one job, gives them resources, and proves how good that is.
type Placer func(*certified.Tasks, certified.Effort, *rand.Rand) (*certified.Placed, error)

// Certified gives tasks with loads a host and vCPUs there, all of a job together, so that the last ends
// earliest within the job's limits (TaPRA and its baselines). Tasks without loads go to the least
// loaded hosts.
//
// Jobs go in the order of acceptance or, with Shortest, always the one that can end first (OnTaPRA's
// SJF). While few vCPUs are free nothing with a load is placed (the MAR test). vCPUs once given stay as
// they are; with DRC running tasks are lent what nobody has beside them.
type Certified struct {
	Placer   Placer
	Shortest bool
	DRC      bool
	tell     route.Explainer
}

// chosen is the placement of a job and its proof.
type chosen struct {
	*controller.Placement
	job  *certified.Tasks
	plan *certified.Placed
}

// MinFree is the part of all vCPUs that must be free for a job with loads to be placed, if any task has some
// (Max_Percent, which the document does not give).
const MinFree = 0.1

// maxPairs is how many pairs of task and host are searched; above it each task goes to its most
// efficient host.
const maxPairs = 200_000

// Wants implements the part's list of events.
func (c *Certified) Wants() controller.KindSet {
	if c.DRC {
		return Wants() | controller.Kinds(controller.LoadsStarted)
	}
	return Wants()
}

// Tell has every placement's proof reported from now on.
func (c *Certified) Tell(to route.Explainer) { c.tell = to }

// Fill places jobs.
func (c *Certified) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	rest := reschedule(v, p, leastLoaded(v))
	m := newMachines(v, rest.Free)
	var loads []*controller.Job
	for _, j := range Admit(rest) {
		if j.Malleable() {
			loads = append(loads, j)
			continue
		}
		if !Fits(j.Sizes(), m.free) {
			continue
		}
		hosts := spreadJob(leastLoaded(v)(j), j, m.free)
		m.take(j, hosts, nil)
		p.Place = append(p.Place, controller.Placement{Job: j.ID, Hosts: hosts})
	}
	c.serve(m, loads, p)
	if c.DRC {
		m.lend(p)
	}
}

// serve places jobs with loads as long as vCPUs are free.
func (c *Certified) serve(m *machines, loads []*controller.Job, p *controller.Plan) {
	for len(loads) > 0 && m.open() {
		next, placed := c.next(m, loads)
		if placed == nil {
			return
		}
		j := loads[next]
		m.take(j, placed.Hosts, placed.MilliVCPUs)
		p.Place = append(p.Place, *placed.Placement)
		c.say(m.v, j, placed)
		if c.Shortest {
			loads = slices.Delete(loads, next, next+1)
		} else {
			loads = loads[next+1:]
		}
	}
}

// next places one of the jobs: the first that can be, or of all the one that ends first. A job that has
// waited for Patience and cannot be placed is not overtaken.
func (c *Certified) next(m *machines, jobs []*controller.Job) (at int, best *chosen) {
	for i, j := range jobs {
		found, err := c.place(m, j)
		switch {
		case err != nil && m.v.Now-j.Arrival >= Patience:
			return at, best
		case err != nil || best != nil && found.plan.Value >= best.plan.Value:
		default:
			at, best = i, found
			if !c.Shortest {
				return at, best
			}
		}
	}
	return at, best
}

// place finds hosts and vCPUs for a job; an error says why it has to wait.
func (c *Certified) place(m *machines, j *controller.Job) (*chosen, error) {
	w := newLoadWork(m, j)
	if w.hosts == nil {
		return nil, fmt.Errorf("place job %d: its tasks without loads find no slots", j.ID)
	}
	placer := c.Placer
	if len(w.Load)*len(w.Slots) > maxPairs {
		placer = func(t *certified.Tasks, _ certified.Effort, _ *rand.Rand) (*certified.Placed, error) {
			return certified.MostEfficient(t)
		}
	}
	plan, err := placer(&w.Tasks, certified.Effort{}, m.v.Rand("place", uint64(j.ID)))
	if err != nil {
		return nil, fmt.Errorf("place job %d: %w", j.ID, err)
	}
	out := &controller.Placement{Job: j.ID, Hosts: w.hosts, MilliVCPUs: make([]int32, len(w.hosts))}
	for k, t := range w.tasks {
		milli := int32(plan.Resource[k]*controller.MilliVCPUs + 1e-6)
		if milli == 0 {
			return nil, fmt.Errorf("place job %d: task %d would have less than a thousandth of a vCPU", j.ID, t)
		}
		out.Hosts[t], out.MilliVCPUs[t] = southbound.HostID(plan.Server[k]), milli
	}
	return &chosen{out, &w.Tasks, plan}, nil
}

// say reports the proof of a placement: by the relaxation, also where the placer has not solved it.
func (c *Certified) say(v *controller.View, j *controller.Job, placed *chosen) {
	if c.tell == nil {
		return
	}
	plan := placed.plan
	if len(plan.Server)*len(placed.job.Efficiency[0]) <= maxPairs {
		_ = plan.Relax(placed.job, certified.Effort{}) // if it has no answer, the placement's own prices stand
	}
	c.tell(v, route.Why{Job: j,
		Proof: &route.Proof{Tasks: len(plan.Server), Value: plan.Value, Bound: plan.Bound}})
}

// machines are the hosts of a view and what they have left.
type machines struct {
	v     *controller.View
	free  []int32 // slots, by host
	vcpus []int64 // thousandths, by host
}

// newMachines takes the shares of tasks that were rescheduled from what the view has.
func newMachines(v *controller.View, free []int32) *machines {
	m := &machines{v: v, free: slices.Clone(free), vcpus: make([]int64, len(free))}
	for h := range free {
		taken := int64(controller.Share(v.Fabric, southbound.HostID(h), v.Free[h]-free[h]))
		m.vcpus[h] = max(0, v.FreeVCPUs(h)-taken)
		if _, lost := slices.BinarySearch(v.Lost, southbound.HostID(h)); lost {
			m.vcpus[h] = 0
		}
	}
	return m
}

// open is the MAR test.
func (m *machines) open() bool {
	left, all := int64(0), int64(0)
	for h, free := range m.vcpus {
		left += free
		all += int64(m.v.Fabric.VCPUs(h)) * controller.MilliVCPUs
	}
	return left > 0 && float64(left) > MinFree*float64(all)
}

// take takes slots and vCPUs of a placed job.
func (m *machines) take(j *controller.Job, hosts []southbound.HostID, milli []int32) {
	sizes := j.Sizes()
	take(m.free, hosts, sizes)
	for t, h := range hosts {
		size := int32(1)
		if sizes != nil {
			size = sizes[t]
		}
		given := controller.Share(m.v.Fabric, h, size)
		if milli != nil && milli[t] > 0 {
			given = milli[t]
		}
		m.vcpus[h] = max(0, m.vcpus[h]-int64(given))
	}
}

// loadWork is the tasks with loads of a job as numbers: loads in seconds, resources in vCPUs.
type loadWork struct {
	certified.Tasks
	tasks []int               // by row of Tasks: the task of the job
	hosts []southbound.HostID // by task of the job; those without loads are placed. nil: they do not fit
}

func newLoadWork(m *machines, j *controller.Job) *loadWork {
	w := &loadWork{hosts: slices.Repeat([]southbound.HostID{controller.NoHost}, j.Tasks())}
	var rigid []int
	t, sum := 0, 0.0
	for i := range j.Stages {
		s := &j.Stages[i]
		efficiency := make([]float64, len(m.free))
		for h := range efficiency {
			efficiency[h] = s.EfficiencyOn(southbound.HostID(h))
		}
		for k := range s.Tasks {
			if load := s.Tasks[k].Load.Seconds(); load > 0 {
				w.Load, w.Efficiency, w.tasks = append(w.Load, load), append(w.Efficiency,
					efficiency), append(w.tasks, t)
				sum += load
			} else {
				rigid = append(rigid, t)
			}
			t++
		}
	}
	left := machines{m.v, slices.Clone(m.free), slices.Clone(m.vcpus)}
	if !left.spread(j, rigid, w.hosts) {
		w.hosts = nil
		return w
	}
	w.Slots = make([]int32, len(left.free))
	for h, n := range left.free {
		w.Slots[h] = max(0, n)
	}
	w.Limits = left.limits(j.Limits)
	if j.Limits != nil {
		w.Energy = j.Limits.Energy * sum
	}
	return w
}

// spread places the tasks without loads on the least loaded hosts; false if they do not fit.
func (m *machines) spread(j *controller.Job, tasks []int, hosts []southbound.HostID) bool {
	sizes, pick := j.Sizes(), leastLoaded(m.v)(j)
	for _, t := range tasks {
		size := int32(1)
		if sizes != nil {
			size = sizes[t]
		}
		h := pick.pick(m.free, size)
		if h == controller.NoHost {
			return false
		}
		hosts[t] = h
		m.free[h] -= size
		m.vcpus[h] = max(0, m.vcpus[h]-int64(controller.Share(m.v.Fabric, h, size)))
	}
	return true
}

// limits are what each host has left, and what the job may have of a host, a rack, a pod and all.
func (m *machines) limits(l *controller.Limits) []certified.Limit {
	if l == nil {
		l = &controller.Limits{}
	}
	part := func(of float64, milli int64) float64 { return of * float64(milli) / controller.MilliVCPUs }
	f := m.v.Fabric
	var out []certified.Limit
	all := func(h int) int64 { return int64(f.VCPUs(h)) * controller.MilliVCPUs }
	for h, left := range m.vcpus {
		most := part(1, left)
		if l.Host > 0 {
			most = min(most, part(l.Host, all(h)))
		}
		out = append(out, certified.Limit{Name: fmt.Sprintf("host %d", h),
			Servers: []int32{int32(h)}, Most: most})
	}
	group := func(name string, of float64, n int, in func(h int) int) {
		if of == 0 {
			return
		}
		at := len(out)
		for i := range n {
			out = append(out, certified.Limit{Name: fmt.Sprintf("%s %d", name, i)})
		}
		for h := range m.vcpus {
			k := at + in(h)
			out[k].Servers, out[k].Most = append(out[k].Servers, int32(h)), out[k].Most+part(of, all(h))
		}
	}
	rack := func(h int) int { return int(f.RackOf(int32(h))) }
	group("rack", l.Rack, f.Racks, rack)
	group("pod", l.Pod, f.Pod(f.Racks-1)+1, func(h int) int { return f.Pod(rack(h)) })
	group("center", l.Center, 1, func(int) int { return 0 })
	return out
}
