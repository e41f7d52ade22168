package place

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/guideline"
	"lightloom/controller/policy/route"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Dawn places tasks where what they read lies, and where what other jobs will read should lie together
// (Wang, Zhou, Zhang, Jiang, "Network-Adaptive Scheduling of Data-Intensive Parallel Jobs with
// Dependencies in Clusters").
//
// The tasks of a stage are aggregated: on the rack that holds most of what they read (max_r, Equations
// 1 and 2), or, in a stage that writes the job's output, also on the rack from which the jobs that read
// it would read least over the network (dep_r, Equations 3 and 4). Algorithm 1 chooses: while the
// network is saturated the stage that causes the least traffic between racks, on the preferred rack
// that does; otherwise the one that causes the most.
//
// A stage that receives starts when all of its tasks have slots, so these are placed together, on the
// preferred rack and, if that has too few slots at all, on those that hold most of the rest. The
// document's loop has no exit if no job prefers a rack with free slots: Strict leaves them free,
// otherwise a stage takes any rack once it has waited for Delay. See
// docs/decisions/0098-what-dawn-leaves-open.md.
type Dawn struct {
	// Threshold is the share of the racks' uplinks above which the network is saturated; 0: 0.7.
	Threshold float64
	Strict    bool
	// Alone makes it ignore other jobs: the first preferred rack is the only one.
	Alone bool

	cache blockCache
	jobs  jobMemory
	tell  route.Explainer

	last dawnMemory
}

// dawnMemory is the last decision, as far as it need not be made anew: as a fruitless one it did not read the load of
// links.
type dawnMemory struct {
	fruitless
	due   time.Duration // when its next stage will have waited for Delay; 0: none will
	until time.Duration // when its stages can be taken in another order, or on other racks
}

// holds reports whether the same decision would be fruitless now.
func (m *dawnMemory) holds(v *controller.View) bool { return m.fruitless.holds(v) && v.Now < m.until }

// SaturatedAbove is the threshold where none is given. The document does not say its own.
const SaturatedAbove = 0.7

// Wants implements the part's list of events.
func (*Dawn) Wants() controller.KindSet { return incrementalWants() }

// Tell has every placement explained.
func (d *Dawn) Tell(to route.Explainer) { d.tell = to }

// Fill places jobs.
func (d *Dawn) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	n := &dawnPass{d: d, v: v}
	data := func(y *slotAllocator, w *work) []southbound.RackID {
		return d.cache.of(w.job.ID, func() []southbound.RackID { return scatter(y.v, w.job) })
	}
	if !d.last.holds(v) {
		d.last = dawnMemory{}
	}
	v = incremental(v, p, &d.jobs, &d.last.fruitless, data, n.serve)
	if n.looked {
		d.last.due, d.last.until = n.due, n.until
	}
	if d.last.due > v.Now {
		p.Wake = min(p.Wake, d.last.due)
	}
	v = reschedule(v, p, leastLoaded(v))
	fillFree(v, p, n.gang)
}

// dawnPass is one decision.
type dawnPass struct {
	d         *Dawn
	v         *controller.View
	read      bool // load and saturated are known
	load      float64
	saturated bool
	looked    bool          // at stages
	due       time.Duration // as in dawnMemory
	until     time.Duration // as in dawnMemory
	works     []*work       // with what this decision has placed so far; nil before

	racksWanted []bool // of wanted
}

// crowded reports whether the network is saturated. What links carry is summed only where a choice rests on it.
func (n *dawnPass) crowded() bool {
	if !n.read {
		n.read, n.load = true, Load(n.v)
		n.saturated = n.load > cmp.Or(n.d.Threshold, SaturatedAbove)
	}
	return n.saturated
}

// aim is a stage that could be placed, and where it should be.
type aim struct {
	w     *work
	stage int
	tasks []int // without a host
	needs needs
	prefer
	since    time.Duration // when it could have been placed first
	together bool          // all tasks need their slots at once
	max      prefer        // max_r
	order    []int         // of byNeed; nil before it was asked for
}

// aims are those of a job as a decision begins. They last as long as its tasks and blocks stay as they are, unless it
// reads what other jobs have written, which can come to lie elsewhere.
type aims struct {
	of     []*aim
	fabric *topo.Fabric
	blocks *southbound.RackID // the first of the job's, which are drawn anew once too many others have been; nil: none
}

// on returns the aims on a fabric; nil where they are not known.
func (x *aims) on(f *topo.Fabric) *aims {
	if x == nil || x.fabric != f {
		return nil
	}
	return x
}

// prefer is a preferred rack and the traffic between racks that it causes.
type prefer struct {
	rack    int
	traffic pathmap.Bytes
	dep     bool // it is dep_r, and not max_r
}

// needs is where what a stage reads lies.
type needs struct {
	total pathmap.Bytes
	rack  []pathmap.Bytes
	host  []pathmap.Bytes
}

// cost is the traffic between racks if all tasks are in one.
func (n *needs) cost(rack int) pathmap.Bytes { return n.total - n.rack[rack] }

func newNeeds(v *controller.View) needs {
	return needs{rack: make([]pathmap.Bytes, v.Fabric.Racks),
		host: make([]pathmap.Bytes, len(v.Fabric.HostRack))}
}

func (n *needs) add(v *controller.View, h southbound.HostID, b pathmap.Bytes) {
	n.total += b
	if h >= 0 {
		n.host[h] += b
		n.rack[v.Fabric.HostRack[h]] += b
	}
}

// even is the i-th of n even parts, as Expand deals them.
func even(b pathmap.Bytes, n, i int) pathmap.Bytes {
	part := b / pathmap.Bytes(n)
	if pathmap.Bytes(i) < b%pathmap.Bytes(n) {
		part++
	}
	return part
}

// needsOf sums what a stage reads: data sets, outputs of parents, what earlier stages of its job have
// written, and blocks, by the racks that hold a copy. Every task of it reads all of a broadcast.
func needsOf(v *controller.View, j *controller.Job, stage int, hosts []southbound.HostID,
	blocks []southbound.RackID) needs {
	n := newNeeds(v)
	first, end := j.StageTasks(stage)
	for i := range j.Edges {
		e := &j.Edges[i]
		if !e.FollowsTasks() || e.To != stage || e.Stream {
			continue
		}
		times := pathmap.Bytes(1)
		if e.Kind == controller.Broadcast || e.Reads != nil && e.Reads.Kind == controller.Broadcast {
			times = pathmap.Bytes(end - first)
		}
		from := e.From
		if e.Reads != nil {
			for k, h := range e.Reads.Hosts {
				n.add(v, h, times*even(e.Bytes, len(e.Reads.Hosts), k))
			}
			continue
		}
		a, b := j.StageTasks(from)
		for k := a; k < b && hosts != nil; k++ {
			n.add(v, hosts[k], times*even(e.Bytes, b-a, k-a))
		}
	}
	for t := first; t < end; t++ {
		input := j.Stages[stage].Tasks[t-first].Input
		n.total += input
		const copies = guideline.Replicas
		if input == 0 || len(blocks) < copies*(t+1) {
			continue
		}
		racks := blocks[copies*t : copies*(t+1)]
		for k, r := range racks {
			if r >= 0 && !slices.Contains(racks[:k], r) {
				n.rack[r] += input
			}
		}
	}
	return n
}

// children are the jobs that read what a job writes (the document's Next), each with where the rest of
// what it reads lies or will lie (its Prev).
func (n *dawnPass) children(of controller.JobID) (next []child) {
	v := n.v
	for _, j := range v.Blocked {
		c := child{needs: newNeeds(v)}
		for i := range j.Edges {
			r := j.Edges[i].Reads
			switch {
			case r == nil:
			case r.Known && r.Parent == of:
				c.reads += j.Edges[i].Bytes
			case r.Ready:
				for k, h := range r.Hosts {
					c.needs.add(v, h, even(j.Edges[i].Bytes, len(r.Hosts), k))
				}
			case r.Known:
				c.written(n, r.Parent, j.Edges[i].Bytes)
			}
		}
		if c.reads > 0 {
			next = append(next, c)
		}
	}
	return next
}

// child is a job that reads an output.
type child struct {
	reads pathmap.Bytes // of it
	needs needs         // of the rest, as far as is known where it lies
}

// written adds the output of a job that runs, as far as its tasks have hosts.
func (c *child) written(n *dawnPass, id controller.JobID, b pathmap.Bytes) {
	v := n.v
	add := func(j *controller.Job, hosts []southbound.HostID) {
		out := j.Outputs()
		for k, t := range out {
			if hosts[t] != controller.NoHost {
				c.needs.add(v, hosts[t], even(b, len(out), k))
			}
		}
	}
	for _, w := range n.works {
		if w.job.ID == id && w.hosts != nil {
			add(w.job, w.hosts)
			return
		}
	}
	for i := range v.Partial {
		if p := &v.Partial[i]; p.Job.ID == id {
			add(p.Job, p.Hosts)
			return
		}
	}
	for i := range v.Running {
		if r := &v.Running[i]; r.Job.ID == id {
			add(r.Job, r.Hosts)
			return
		}
	}
}

// minimum is the input traffic of a child (Equation 1), the output being in one rack.
func (c *child) minimum(rack int) pathmap.Bytes {
	most := c.needs.rack[rack] + c.reads
	for _, b := range c.needs.rack {
		most = max(most, b)
	}
	return c.needs.total + c.reads - most
}

// preferred returns max_r and, for an output that others read, dep_r. Equal racks go by number; of
// equal dep_r the one of least traffic now.
func preferred(n *needs, next []child) (maxR, depR int) {
	for r := range n.rack {
		if n.rack[r] > n.rack[maxR] {
			maxR = r
		}
	}
	if len(next) == 0 {
		return maxR, maxR
	}
	least := pathmap.Bytes(-1)
	for r := range n.rack {
		sum := pathmap.Bytes(0)
		for i := range next {
			sum += next[i].minimum(r)
		}
		if least < 0 || sum < least || sum == least && n.cost(r) < n.cost(depR) {
			least, depR = sum, r
		}
	}
	return maxR, depR
}

// choose returns the rack that a stage prefers now.
func (n *dawnPass) choose(j *controller.Job, stage int, data *needs) prefer {
	var next []child
	if !n.d.Alone && len(n.v.Blocked) > 0 && slices.ContainsFunc(j.Outputs(), func(t int) bool {
		first, end := j.StageTasks(stage)
		return t >= first && t < end
	}) {
		next = n.children(j.ID)
	}
	maxR, depR := preferred(data, next)
	p := prefer{maxR, data.cost(maxR), false}
	if t := data.cost(depR); len(next) > 0 && (!n.crowded() || t == p.traffic) {
		p = prefer{depR, t, true}
	}
	return p
}

// serve is Algorithm 1, once for each rack in turn until no rack takes a stage.
func (n *dawnPass) serve(y *slotAllocator) {
	defer func() { y.fleeting, n.until = n.read, min(n.until, cmp.Or(n.due, southbound.Never)) }()
	n.looked = true
	all := n.stages(y)
	n.until = overtakesAt(all, n.v.Now)
	if y.total() == 0 {
		n.awaitSlots(all)
		return
	}
	n.weigh(all)
	n.works = y.works
	for {
		all = slices.DeleteFunc(all, func(a *aim) bool { return len(a.tasks) == 0 })
		aims := all
		if slices.ContainsFunc(aims, n.overdue) {
			aims = longestWait(aims)
		}
		placed, wanted := false, n.wanted(aims)
		for rack := range n.v.Fabric.Racks {
			if !wanted[rack] {
				continue
			}
			if a := n.pick(y, aims, rack); a != nil {
				n.put(y, a, n.racks(y, a))
				n.renew(all)
				placed, wanted = true, n.wanted(aims)
			}
		}
		if !placed && !n.late(y, aims) {
			return
		}
	}
}

// wanted reports which racks stages prefer.
func (n *dawnPass) wanted(aims []*aim) []bool {
	n.racksWanted = slices.Grow(n.racksWanted[:0], n.v.Fabric.Racks)[:n.v.Fabric.Racks]
	clear(n.racksWanted)
	for _, a := range aims {
		n.racksWanted[a.rack] = true
	}
	return n.racksWanted
}

// renew has what has just been placed count in what the other outputs prefer.
func (n *dawnPass) renew(all []*aim) {
	for _, a := range all {
		if len(a.tasks) > 0 {
			a.prefer = n.prefers(a)
		}
	}
}

// longestWait leaves the stage that has waited the longest: no other takes slots before it.
func longestWait(aims []*aim) []*aim {
	return []*aim{slices.MinFunc(aims, func(a, b *aim) int {
		return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.w.job.ID, b.w.job.ID),
			cmp.Compare(a.stage, b.stage))
	})}
}

// overtakesAt is when the stage that has waited the longest takes slots before all others; Never where one does so
// already.
func overtakesAt(aims []*aim, now time.Duration) time.Duration {
	at := southbound.Never
	for _, a := range aims {
		at = min(at, a.since+Patience)
	}
	if at <= now {
		return southbound.Never
	}
	return at
}

// awaitSlots notes when the next stage will have waited for Delay, where no slot is free.
func (n *dawnPass) awaitSlots(aims []*aim) {
	if n.d.Strict || slices.ContainsFunc(aims, n.overdue) {
		return
	}
	for _, a := range aims {
		n.awaits(a)
	}
}

// overdue reports whether no other stage may take slots before one.
func (n *dawnPass) overdue(a *aim) bool { return n.v.Now-a.since >= Patience }

// awaits reports whether a stage has not waited for Delay yet, and notes when it will have.
func (n *dawnPass) awaits(a *aim) bool {
	due := a.since + Delay
	if due <= n.v.Now {
		return false
	}
	if n.due == 0 || due < n.due {
		n.due = due
	}
	return true
}

// stages lists those that can be placed, and since when.
func (n *dawnPass) stages(y *slotAllocator) []*aim {
	var out []*aim
	for _, w := range y.works {
		var first *southbound.RackID
		if len(w.blocks) > 0 {
			first = &w.blocks[0]
		}
		if w.aims == nil || w.chained || w.aims.blocks != first {
			w.aims = &aims{w.stages(), n.v.Fabric, first}
		}
		out = append(out, w.aims.of...)
	}
	return out
}

// stages lists those of a job.
func (w *work) stages() []*aim {
	var out []*aim
	for s := range w.open {
		if w.open[s] > 0 && w.parentsEnded(s) {
			out = append(out, &aim{w: w, stage: s, since: w.readable(s), together: w.receives(s)})
		}
	}
	return out
}

// weigh finds the tasks of stages, what they read and where they should be.
func (n *dawnPass) weigh(aims []*aim) {
	for _, a := range aims {
		if a.tasks == nil {
			a.tasks = a.w.without(a.stage, a.w.size(a.stage))
			a.needs = needsOf(n.v, a.w.job, a.stage, a.w.hosts, a.w.blocks)
			maxR, _ := preferred(&a.needs, nil)
			a.max = prefer{maxR, a.needs.cost(maxR), false}
		}
		a.prefer = n.prefers(a)
	}
}

// prefers is choose of a stage that has been weighed. Where no job waits for what others write, only max_r counts.
func (n *dawnPass) prefers(a *aim) prefer {
	if len(n.v.Blocked) == 0 {
		return a.max
	}
	return n.choose(a.w.job, a.stage, &a.needs)
}

// readable is since when a stage could be placed.
func (w *work) readable(stage int) time.Duration {
	at := w.job.Arrival
	for i := range w.job.Edges {
		switch e := &w.job.Edges[i]; {
		case !e.FollowsTasks() || e.To != stage:
		case e.Reads != nil:
			at = max(at, e.Reads.Since)
		default:
			for t := w.first[e.From]; t < w.first[e.From+1] && w.tasks != nil; t++ {
				at = max(at, w.tasks[t].Ended)
			}
		}
	}
	return at
}

// receives reports whether all tasks of a stage need their slots at once.
func (w *work) receives(stage int) bool {
	return slices.ContainsFunc(w.job.Edges, func(e controller.Edge) bool {
		return e.FollowsTasks() &&
			e.To == stage
	})
}

// pick is lines 3 to 30 for one rack: the stage that goes there, nil for none.
func (n *dawnPass) pick(y *slotAllocator, aims []*aim, rack int) *aim {
	var best *aim
	for _, a := range aims {
		if a.rack == rack && n.fits(y, a, n.racks(y, a)) && (best == nil || n.before(a, best, rack)) {
			best = a
		}
	}
	return best
}

// before orders stages that prefer a rack: by traffic between racks, then between hosts, least first
// while the network is saturated and most first otherwise, then by job.
func (n *dawnPass) before(a, b *aim, rack int) bool {
	sign := 1
	if !n.crowded() {
		sign = -1
	}
	return cmp.Or(sign*cmp.Compare(a.traffic, b.traffic),
		sign*cmp.Compare(n.between(a, rack), n.between(b, rack)),
		cmp.Compare(a.w.job.ID, b.w.job.ID), cmp.Compare(a.stage, b.stage)) < 0
}

// between is the traffic between hosts of a rack if a stage ran on the one that holds most of what it reads.
func (n *dawnPass) between(a *aim, rack int) pathmap.Bytes {
	f, most := n.v.Fabric, pathmap.Bytes(0)
	for h := f.FirstHost[rack]; h < f.FirstHost[rack+1]; h++ {
		most = max(most, a.needs.host[h])
	}
	return a.needs.rack[rack] - most
}

// racks are those that a stage may take: the preferred one, and where it could never hold the stage the
// next by what they hold.
func (n *dawnPass) racks(y *slotAllocator, a *aim) []int {
	room, k := y.ever[a.rack], 1
	if !a.together || room >= len(a.tasks) {
		return y.only(a.rack)
	}
	order := a.byNeed()
	for k < len(order) && room < len(a.tasks) {
		room += y.ever[order[k]]
		k++
	}
	return order[:k]
}

// only is a rack alone, until the next call.
func (y *slotAllocator) only(rack int) []int {
	y.one[0] = rack
	return y.one[:]
}

// byNeed lists racks by how much they hold of what a stage reads, the one that it prefers before all.
func (a *aim) byNeed() []int {
	if a.order == nil || a.order[0] != a.rack {
		a.order = byNeed(&a.needs, a.rack)
	}
	return a.order
}

// byNeed lists racks by how much of the needs they hold, one before all.
func byNeed(n *needs, first int) []int {
	order := make([]int, len(n.rack))
	for r := range order {
		order[r] = r
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if (a == first) != (b == first) {
			if a == first {
				return -1
			}
			return 1
		}
		return cmp.Compare(n.rack[b], n.rack[a])
	})
	return order
}

// fits reports whether racks have slots for a stage: for all of its tasks, or for one where they can
// start one by one.
func (n *dawnPass) fits(y *slotAllocator, a *aim, racks []int) bool {
	free := 0
	for _, r := range racks {
		free += int(y.rack[r])
	}
	return a.fitsIn(free)
}

// fitsIn is fits by how many slots racks have.
func (a *aim) fitsIn(free int) bool { return free >= len(a.tasks) || free > 0 && !a.together }

// late places one stage that has waited for Delay on any racks, if that is wanted, and notes when the
// next will have.
func (n *dawnPass) late(y *slotAllocator, aims []*aim) bool {
	if n.d.Strict {
		return false
	}
	free := y.total()
	for _, a := range aims {
		if n.awaits(a) {
			continue
		}
		if a.fitsIn(free) {
			n.put(y, a, a.byNeed())
			return true
		}
	}
	return false
}

// put gives the tasks of a stage slots on racks, in order: first each on the host of its own part if
// there is one, then on the emptiest.
func (n *dawnPass) put(y *slotAllocator, a *aim, racks []int) {
	own := n.ownHosts(a)
	var rest []int
	give := func(t int, h southbound.HostID) {
		y.put(a.w, a.stage, t, h)
		n.explain(a, t, h)
	}
	defer func() { a.tasks = rest }()
	for i, t := range a.tasks {
		if h := own[i]; h >= 0 && y.free[h] > 0 && slices.Contains(racks, int(n.v.Fabric.HostRack[h])) {
			give(t, h)
			continue
		}
		rest = append(rest, t)
	}
	for _, r := range racks {
		for len(rest) > 0 {
			h, ok := y.host(r)
			if !ok {
				break
			}
			give(rest[0], h)
			rest = rest[1:]
		}
	}
}

// ownHosts returns the host of what each task reads by itself; NoHost where it reads from several or none.
func (n *dawnPass) ownHosts(a *aim) []southbound.HostID {
	out := slices.Repeat([]southbound.HostID{controller.NoHost}, len(a.tasks))
	numbers := make([]southbound.HostID, a.w.size(a.stage))
	for i := range numbers {
		numbers[i] = southbound.HostID(i)
	}
	most := make([]pathmap.Bytes, len(a.tasks))
	for i := range a.w.job.Edges {
		e := &a.w.job.Edges[i]
		if e.Reads == nil || e.To != a.stage || e.Reads.Kind != controller.OneToOne {
			continue
		}
		for _, f := range e.ReadBy(numbers) {
			k, found := slices.BinarySearch(a.tasks, a.w.first[a.stage]+int(f.Dst))
			if found && f.Bytes > most[k] {
				most[k], out[k] = f.Bytes, f.Src
			}
		}
	}
	for i := range a.w.job.Edges {
		e := &a.w.job.Edges[i]
		if e.Kind != controller.OneToOne || e.To != a.stage || e.Stream || a.w.hosts == nil {
			continue
		}
		for k, t := range a.tasks {
			out[k] = a.w.hosts[a.w.first[e.From]+t-a.w.first[a.stage]]
		}
	}
	return out
}

func (n *dawnPass) explain(a *aim, t int, h southbound.HostID) {
	if n.d.tell == nil {
		return
	}
	saturated := n.crowded()
	n.d.tell(n.v, route.Why{Job: a.w.job, Rack: &route.RackWhy{Task: t, Stage: a.stage, Host: h,
		Preferred: a.rack,
		Traffic:   a.traffic, ForChildren: a.dep, Load: n.load, Saturated: saturated}})
}

// gang chooses hosts for a job that is placed whole: stage after stage as if each were placed when it
// is to start, with the rack that it prefers first and the next by what they hold.
func (n *dawnPass) gang(j *controller.Job, free []int32) []southbound.HostID {
	units, _, fits := Units(j, free)
	if !fits {
		return spreadJob(leastLoaded(n.v)(j), j, free)
	}
	free = slices.Clone(units)
	hosts := slices.Repeat([]southbound.HostID{controller.NoHost}, j.Tasks())
	y := &slotAllocator{v: n.v, free: free, rack: make([]int32, n.v.Fabric.Racks)}
	for h := range free {
		free[h] = max(free[h], 0)
		y.rack[n.v.Fabric.HostRack[h]] += free[h]
	}
	y.add(j, nil)
	w := y.works[0]
	w.hosts, w.own, w.user = hosts, true, &user{}
	for _, s := range inOrder(j) {
		a := &aim{w: w, stage: s, tasks: w.without(s, w.size(s)), needs: needsOf(n.v, j, s, hosts, nil)}
		a.prefer = n.choose(j, s, &a.needs)
		if a.needs.total == 0 && !a.dep {
			a.rack = y.emptiest()
		}
		n.put(y, a, byNeed(&a.needs, a.rack))
	}
	return w.hosts
}

// emptiest is the rack with the most free slots.
func (y *slotAllocator) emptiest() int {
	best := 0
	for r := range y.rack {
		if y.rack[r] > y.rack[best] {
			best = r
		}
	}
	return best
}
