package place

import (
	"cmp"
	"math"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/policy/route"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Packer gives the tasks of incremental jobs slots by the rules of package pushbox. It spreads whole
// jobs, as Fair does.
//
// A map in a rack without a copy of its block reads that over the network, which is its input phase. A
// receiving task whose stage is its own receives as soon as it has a slot;
// tasks of larger stages receive once all have one, so that the concurrency bound is asked for the
// first of them only.
type Packer struct {
	pushbox.Options
	FIFO func(user string) bool // a user's jobs are in a FIFO queue; nil: none are
	// SlowStart is the share of a stage's senders that must have ended before its tasks may take slots
	// (Finishes-Before); 0 means all (Starts-After).
	SlowStart float64
	// Error is f of section 7.2: estimates of input are off by a factor of up to f either way; 0: they are
	// right.
	Error float64
	// Random takes tasks of a stage in a random order, not the largest first ("RS" of Figure 8).
	Random bool
	// Beside has maps read blocks beside the network, in their NonLocal time: then none has an input phase.
	Beside bool

	cache blockCache
	// kept only where no slot is free or no task waits; every other decision rests on the load of links, too
	last    fruitless
	jobs    jobMemory
	graphs  map[controller.JobID]*graph
	cleared int // how often graphs have been dropped
	made    packed
	view    *controller.View    // of the decision, during pack
	asked   int                 // decisions
	none    []southbound.HostID // no host for any task; read only
	tell    route.Explainer
}

// NewPacker returns the part of a rule.
func NewPacker(r pushbox.Rule, fifo func(user string) bool) *Packer {
	return &Packer{Options: pushbox.Defaults(r), FIFO: fifo}
}

// Wants implements the part's list of events: also those after which a network has room again.
func (*Packer) Wants() controller.KindSet {
	return incrementalWants() | controller.Kinds(controller.CoflowStarted, controller.CoflowEnded)
}

// Tell has placements explained from now on.
func (k *Packer) Tell(to route.Explainer) { k.tell = to }

// Fill places jobs.
func (k *Packer) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	data := func(y *slotAllocator, w *work) []southbound.RackID {
		return k.cache.of(w.job.ID, func() []southbound.RackID { return scatter(y.v, w.job) })
	}
	spread(incremental(v, p, &k.jobs, &k.last, data, func(y *slotAllocator) { k.pack(v, y) }), p)
}

// pack is one invocation of the scheduler.
func (k *Packer) pack(v *controller.View, y *slotAllocator) {
	if y.total() == 0 || !slices.ContainsFunc(y.works, (*work).waiting) {
		return
	}
	y.fleeting = true
	machines, links := k.machines(v, y)
	o := &pushbox.Scheduler{Options: k.Options, Now: v.Now, Machines: machines, Links: links}
	if o.Skips == 0 {
		o.Skips = len(y.alive)
	}
	k.view = v
	k.asked++
	for _, u := range y.users {
		q := &pushbox.Queue{Name: u.name, FIFO: k.FIFO != nil &&
			k.FIFO(u.name), Running: u.running, Last: u.last}
		for _, w := range u.works {
			if j := k.job(v, y, w); j != nil {
				j.Queue = q
				q.Jobs = append(q.Jobs, j)
			}
		}
		if len(q.Jobs) > 0 {
			o.Queues = append(o.Queues, q)
		}
	}
	o.Sort()
	o.TaskArrival(func(c pushbox.Choice) {
		w := y.workOf(controller.JobID(c.Job.ID))
		k.explain(v, w, &c)
		y.put(w, w.stageOf(c.Task.Index), c.Task.Index, southbound.HostID(c.Machine))
		c.Job.Hosts = w.hosts
	})
	k.view = nil
	k.made.reset()
}

// waiting reports whether a task has no host.
func (w *work) waiting() bool { return slices.ContainsFunc(w.open, func(n int) bool { return n > 0 }) }

// stageOf returns the stage of a task.
func (w *work) stageOf(task int) int {
	s, found := slices.BinarySearch(w.first, task)
	if !found {
		return s - 1
	}
	return s
}

// job returns a job with the stages that may start; nil where none has a task that waits.
func (k *Packer) job(v *controller.View, y *slotAllocator, w *work) *pushbox.Job {
	g := k.graph(v, w)
	var j *pushbox.Job
	var stages []int
	for _, s := range k.candidates(w, g) {
		if !k.mayStart(y, w, g, s) {
			continue
		}
		if j == nil {
			j = k.made.job()
			*j = pushbox.Job{ID: int(w.job.ID), Arrival: w.job.Arrival, Weight: cmp.Or(w.job.Weight, 1), Hosts: w.hosts,
				Copies: w.blocks, Stages: j.Stages[:0]}
		}
		stage := k.stage(w, g, s)
		if j.Coflow = max(j.Coflow, g.coflow[s]); stage.Begun {
			j.Stages, stages = slices.Insert(j.Stages, 0, stage), slices.Insert(stages, 0, s)
			continue
		}
		j.Stages, stages = append(j.Stages, stage), append(stages, s)
	}
	if j == nil {
		return nil
	}
	k.sending(w, j, stages)
	if w.hosts == nil {
		j.Hosts = k.noHosts(w.job.Tasks())
	}
	since := w.lastLocal
	j.Running = w.running
	j.Patient = v.Now-since >= Delay
	j.Skipped = y.endsSince(since)
	w.last = since // for wake
	if k.Random {
		v.Rand("select", uint64(w.job.FirstTask)+uint64(j.Running)).Shuffle(len(j.Stages), func(a, b int) {
			j.Stages[a], j.Stages[b] = j.Stages[b], j.Stages[a]
		})
	}
	return j
}

// stage returns a stage of a job.
func (k *Packer) stage(w *work, g *graph, s int) *pushbox.Stage {
	n := w.size(s)
	stage := k.made.stage()
	*stage = pushbox.Stage{First: w.first[s], End: w.first[s+1], Input: g.input[s] / float64(n), Parts: g.parts[s],
		Reads: g.reads[s], All: n > 1 && g.follows[s], Compute: w.compute[s]}
	if !k.Beside && g.reads[s] {
		stage.Block = w.block[s]
	}
	stage.Sends = g.sends[s]
	stage.Begun = stage.All && w.open[s] < n
	return stage
}

// candidates are the stages of a job that may start as far as that follows from its tasks alone.
func (k *Packer) candidates(w *work, g *graph) []int {
	if w.sought {
		return w.candidate
	}
	w.candidate = w.candidate[:0]
	for _, s := range g.order {
		if w.open[s] > 0 && (!g.follows[s] || w.parentsEnded(s) || k.SlowStart > 0) {
			w.candidate = append(w.candidate, s)
		}
	}
	w.sought = true
	return w.candidate
}

// endsSince is how many tasks have ended within Delay, and after an instant.
func (y *slotAllocator) endsSince(since time.Duration) int {
	if since <= y.v.Now-Delay {
		return len(y.recent)
	}
	n := 0
	for _, at := range y.recent {
		if at > since {
			n++
		}
	}
	return n
}

// noHosts are the hosts of tasks of which none has one. Read only.
func (k *Packer) noHosts(tasks int) []southbound.HostID {
	for len(k.none) < tasks {
		k.none = append(k.none, controller.NoHost)
	}
	return k.none[:tasks:tasks]
}

// packed is the memory of the jobs and stages of a decision.
type packed struct {
	jobs   []*pushbox.Job
	stages []*pushbox.Stage
	used   struct{ jobs, stages int }
}

// reset ends a decision, and holds on to nothing of its jobs.
func (m *packed) reset() {
	for _, j := range m.jobs[:m.used.jobs] {
		*j = pushbox.Job{Stages: j.Stages[:0]}
	}
	for _, s := range m.stages[:m.used.stages] {
		*s = pushbox.Stage{}
	}
	m.used.jobs, m.used.stages = 0, 0
}

func (m *packed) job() *pushbox.Job {
	if m.used.jobs == len(m.jobs) {
		m.jobs = append(m.jobs, new(pushbox.Job))
	}
	m.used.jobs++
	return m.jobs[m.used.jobs-1]
}

func (m *packed) stage() *pushbox.Stage {
	if m.used.stages == len(m.stages) {
		m.stages = append(m.stages, new(pushbox.Stage))
	}
	m.used.stages++
	return m.stages[m.used.stages-1]
}

// readTasks has the stages of a job answer how long their tasks compute, with what they read beside the network, and
// how large their blocks are.
func (x *jobShape) readTasks(j *controller.Job, beside bool) {
	x.compute, x.block = x.compute[:0], x.block[:0]
	for s := range j.Stages {
		task := func(i int) *controller.Task { return &j.Stages[s].Tasks[i-x.first[s]] }
		x.compute = append(x.compute, func(i int, local bool) time.Duration {
			t := task(i)
			return t.Takes(beside && !local && t.Input > 0)
		})
		x.block = append(x.block, func(i int) float64 { return float64(task(i).Input) })
	}
}

// mayStart reports whether the tasks of a stage may take slots. What waits in its slot for others must
// not be able to keep those from theirs: a stage whose tasks receive or read together begins only if
// all such stages fit, and tasks that wait for senders (slow start) hold at most half of the slots and
// never wait beside such a stage.
func (k *Packer) mayStart(y *slotAllocator, w *work, g *graph, s int) bool {
	if !g.follows[s] {
		return true
	}
	n := w.size(s)
	if w.parentsEnded(s) {
		if n == 1 || w.open[s] < n {
			return true
		}
		if y.early > 0 || y.together > 0 && y.together+n > y.slots {
			return false
		}
		y.together += n // also if it gets no slot now: the stages that begin in one decision must fit together, too
		return true
	}
	if k.SlowStart == 0 || n > 1 || y.together > 0 || 2*(y.early+1) > y.slots ||
		!w.slowStarts(s, k.SlowStart) {
		return false
	}
	y.early++ // also if it gets no slot now: a bound that is never passed
	return true
}

// slowStarts reports whether all senders of a stage have slots, and that share of them has ended.
func (w *work) slowStarts(stage int, share float64) bool {
	for i := range w.job.Edges {
		e := &w.job.Edges[i]
		if e.Kind != controller.Fixed && e.To == stage && (w.open[e.From] > 0 || w.waits[e.From] ||
			float64(w.ended[e.From]) < share*float64(w.size(e.From))) {
			return false
		}
	}
	return true
}

// graph is what never changes of a job's stages.
type graph struct {
	job    print
	kept   int         // Packer.cleared when it was kept
	order  []int       // stages, by the longest path to the job's end, the longest first
	input  []float64   // of all tasks of a stage, bytes, as estimated
	parts  [][]float64 // by stage and task, of the mean input; nil for a stage whose tasks receive alike
	coflow []float64   // bytes that the senders of a stage send to all stages
	of     []float64   // by edge: bytes that its sender sends to all stages

	reads    []bool
	sends    []bool // others of the job receive what its tasks make
	receives []bool // from other stages of the job
	follows  []bool // receives, or reads over the network: its tasks begin once each has a slot
}

// print tells whether a job is the one that a graph was made of.
type print struct {
	name    string
	arrival time.Duration
	seed    uint64
	tasks   int
	edges   int
	bytes   pathmap.Bytes
}

func printOf(v *controller.View, j *controller.Job) print {
	p := print{j.Name, j.Arrival, v.Seed, j.Tasks(), len(j.Edges), 0}
	for i := range j.Edges {
		p.bytes += j.Edges[i].Bytes
	}
	return p
}

func (k *Packer) graph(v *controller.View, w *work) *graph {
	if g := w.graph; g != nil && g.job.seed == v.Seed {
		if g.kept != k.cleared {
			k.keep(w.job.ID, g)
		}
		return g
	}
	id := printOf(v, w.job)
	w.sought, w.counted = false, false
	w.readTasks(w.job, k.Beside)
	if g := k.graphs[w.job.ID]; g != nil && g.job == id {
		w.graph = g
		return g
	}
	g := k.newGraph(v, w.job)
	g.job, w.graph = id, g
	k.keep(w.job.ID, g)
	return g
}

// keep remembers the graph of a job.
func (k *Packer) keep(id controller.JobID, g *graph) {
	if k.graphs[id] == g {
		return
	}
	if k.graphs == nil || len(k.graphs) >= manyGraphs {
		k.graphs = map[controller.JobID]*graph{}
		k.cleared++
	}
	k.graphs[id], g.kept = g, k.cleared
}

// manyGraphs is how many are kept.
const manyGraphs = 4096

func (k *Packer) newGraph(v *controller.View, j *controller.Job) *graph {
	n := len(j.Stages)
	g := &graph{input: make([]float64, n), coflow: make([]float64, n), reads: make([]bool, n), sends: make([]bool, n),
		receives: make([]bool, n),
		follows:  make([]bool, n)}
	sends := make([]float64, n)
	for i := range j.Edges {
		if e := &j.Edges[i]; e.Kind != controller.Fixed {
			bytes := float64(e.Bytes) * k.off(v, j, i)
			g.receives[e.To], g.sends[e.From] = true, true
			g.input[e.To] += bytes
			sends[e.From] += bytes
		}
	}
	g.of = make([]float64, len(j.Edges))
	parts := make([]bool, n) // each task reads a part of its own of what lies somewhere
	for i := range j.Edges {
		e := &j.Edges[i]
		if e.Kind != controller.Fixed {
			g.of[i] = sends[e.From]
			g.coflow[e.To] = max(g.coflow[e.To], sends[e.From])
		}
		if e.Reads != nil {
			g.of[i] = float64(e.Bytes)
			parts[e.To] = parts[e.To] || e.Reads.Kind == controller.OneToOne
		}
		if e.FollowsTasks() {
			g.follows[e.To] = true
		}
	}
	for s := range n {
		g.reads[s] = !g.receives[s] && (parts[s] ||
			slices.ContainsFunc(j.Stages[s].Tasks, func(t controller.Task) bool {
				return t.Input > 0
			}))
		g.order = append(g.order, s)
	}
	k.skew(v, j, g)
	tails := g.tails(j, pushbox.Line(v.Fabric.Spec.NIC))
	slices.SortFunc(g.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(tails[b], tails[a]),
			cmp.Compare(a, b))
	})
	return g
}

// skew fills in what each task receives of the stages whose tasks do not receive alike.
func (k *Packer) skew(v *controller.View, j *controller.Job, g *graph) {
	g.parts = make([][]float64, len(j.Stages))
	for s := range j.Stages {
		into := func(e controller.Edge) bool { return e.Kind != controller.Fixed && e.To == s }
		if !slices.ContainsFunc(j.Edges, func(e controller.Edge) bool { return into(e) && e.Reducers != nil }) ||
			g.input[s] == 0 {
			continue
		}
		n := len(j.Stages[s].Tasks)
		g.parts[s] = make([]float64, n)
		for i := range j.Edges {
			if e := &j.Edges[i]; into(*e) {
				for t, part := range e.Parts(n) {
					g.parts[s][t] += float64(e.Bytes) * k.off(v, j, i) * part * float64(n) / g.input[s]
				}
			}
		}
	}
}

// inputOf returns the input of a task of a stage of n.
func (g *graph) inputOf(stage, task, n int) float64 {
	each := g.input[stage] / float64(n)
	if g.parts[stage] != nil {
		each *= g.parts[stage][task]
	}
	return each
}

// most returns the largest input of a task of a stage of n.
func (g *graph) most(stage, n int) float64 {
	each := g.input[stage] / float64(n)
	if g.parts[stage] != nil {
		each *= slices.Max(g.parts[stage])
	}
	return each
}

// off is the factor by which the estimate of an edge's bytes is wrong: f^(2U-1) of section 7.2.
func (k *Packer) off(v *controller.View, j *controller.Job, edge int) float64 {
	if k.Error <= 1 {
		return 1
	}
	u := v.Rand("estimate", uint64(j.FirstCoflow)+uint64(edge)).Float64()
	return math.Pow(k.Error, 2*u-1)
}

// Sends is share.Sends as estimated.
func (k *Packer) Sends(v *controller.View, j *controller.Job, edge int) float64 {
	if g := k.graphs[j.ID]; g != nil && j.Edges[edge].Reads == nil && g.job == printOf(v, j) {
		return g.of[edge]
	}
	sum := 0.0
	for i := range j.Edges {
		if e := &j.Edges[i]; e.Kind != controller.Fixed && e.From == j.Edges[edge].From {
			sum += float64(e.Bytes) * k.off(v, j, i)
		}
	}
	return sum
}

// tails returns the longest path from each stage to the job's end, in seconds: the input of a task at
// line rate and its computing, and so on with the stages that it sends to.
func (g *graph) tails(j *controller.Job, line float64) []float64 {
	tail := make([]float64, len(j.Stages))
	order := inOrder(j)
	for i := len(order) - 1; i >= 0; i-- {
		s := order[i]
		for k := range j.Edges {
			if e := &j.Edges[k]; e.Kind != controller.Fixed && e.From == s {
				tail[s] = max(tail[s], tail[e.To])
			}
		}
		tail[s] += longest(&j.Stages[s]).Seconds() + g.most(s, len(j.Stages[s].Tasks))/line
	}
	return tail
}

// machines reads what each host receives off the coflows of a view, and for NEAT what all links carry.
func (k *Packer) machines(v *controller.View, y *slotAllocator) ([]pushbox.Machine, pushbox.Links) {
	line := pushbox.Line(v.Fabric.Spec.NIC)
	m := make([]pushbox.Machine, len(y.free))
	for h := range m {
		m[h] = pushbox.Machine{Rack: v.HostRack(southbound.HostID(h)), Free: int(y.free[h]),
			Smallest: math.Inf(1),
			Rate:     line}
	}
	for _, w := range y.works {
		k.receivers(y, w, k.graph(v, w), m)
	}
	if k.Rule == pushbox.Hadoop {
		return m, pushbox.Links{} // it asks for no more
	}
	v.ReadRemaining()
	in := make([]inflow, len(m))
	for i := range v.Coflows {
		if c := &v.Coflows[i]; c.Started {
			k.flows(v, c, m, in)
		}
	}
	for h := range m {
		if in[h].rows > 0 {
			m[h].Rate = pushbox.Rate(line, in[h].received, v.Now-in[h].since)
			m[h].Use = in[h].received / line / max(v.Now-in[h].since, time.Millisecond).Seconds()
		}
	}
	if k.Rule != pushbox.NEAT {
		return m, pushbox.Links{}
	}
	return m, k.links(v, y)
}

// inflow is what a host has received since the first of its present coflows began.
type inflow struct {
	rows     int
	received float64
	since    time.Duration
}

// flows counts a coflow at the machines that receive it. Where racks have several hosts, what stays in
// a rack counts nowhere (section 4).
func (k *Packer) flows(v *controller.View, c *controller.CoflowView, m []pushbox.Machine, in []inflow) {
	for r, dst := range c.Dst {
		if c.Ended[r] || v.HostRack(c.Src[r]) == v.HostRack(dst) && v.Fabric.HostsOf(int(v.HostRack(dst))) > 1 {
			continue
		}
		left := c.Remaining.Row(int32(r))
		if x := &in[dst]; x.rows == 0 || c.Start < x.since {
			x.since = c.Start
		}
		in[dst].rows++
		in[dst].received += float64(c.Size[r]) - left
		m[dst].Left += left
	}
}

// receivers counts the tasks of a job that receive, or hold a slot until their senders have ended.
func (k *Packer) receivers(y *slotAllocator, w *work, g *graph, m []pushbox.Machine) {
	if !w.counted {
		w.receiving = k.findReceivers(w, g, w.receiving[:0])
		w.counted = true
	}
	for i := range w.receiving {
		r := &w.receiving[i]
		y.together += r.together
		y.early += r.early
		if r.host != controller.NoHost {
			m[r.host].Inputs++
			m[r.host].Smallest = min(m[r.host].Smallest, r.coflow)
			m[r.host].Left += r.left
		}
	}
}

// receiver is a task that receives, or tasks that wait for others of their stage.
type receiver struct {
	host            southbound.HostID // NoHost where they wait
	together, early int               // of slotAllocator
	coflow          float64           // bytes of what the task receives
	left            float64           // of that, what will come once senders have ended
}

func (k *Packer) findReceivers(w *work, g *graph, out []receiver) []receiver {
	for s := range w.open {
		n := w.size(s)
		if g.reads[s] && w.reading > 0 {
			out = w.readers(s, out)
		}
		if !g.follows[s] || w.open[s] == n || w.ended[s] == n {
			continue
		}
		if n > 1 && w.open[s] > 0 {
			out = append(out, receiver{host: controller.NoHost, together: n})
			continue
		}
		ended := w.parentsEnded(s)
		for i := w.first[s]; i < w.first[s+1]; i++ {
			if t := &w.tasks[i]; t.Started >= 0 || t.Ended >= 0 {
				continue
			}
			r := receiver{host: w.hosts[i], coflow: g.coflow[s]}
			if !ended {
				r.early, r.left = 1, g.inputOf(s, i-w.first[s], n)
			}
			out = append(out, r)
		}
	}
	return out
}

// readers adds the tasks of a stage that read their blocks over the network.
func (w *work) readers(stage int, out []receiver) []receiver {
	for i := w.first[stage]; i < w.first[stage+1] && w.tasks != nil; i++ {
		if w.tasks[i].Reading {
			out = append(out, receiver{host: w.hosts[i],
				coflow: float64(w.job.Stages[stage].Tasks[i-w.first[stage]].Input)})
		}
	}
	return out
}

// AllFIFO makes every queue a FIFO queue.
func AllFIFO(string) bool { return true }

// explain reports why a task takes its slot.
func (k *Packer) explain(v *controller.View, w *work, c *pushbox.Choice) {
	if k.tell == nil {
		return
	}
	k.tell(v, route.Why{Job: w.job, Slot: &route.SlotWhy{Stage: w.stageOf(c.Task.Index), Task: c.Task.Index,
		Host: southbound.HostID(c.Machine), Input: c.Task.Input, Reason: string(c.Why)}})
}
