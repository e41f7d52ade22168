package joint

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/place"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// samplePayload is the payload for which a link's load per byte is computed.
const samplePayload = pathmap.Bytes(controller.FramePayload * 1000)

// forecast is when the jobs of a view are expected to end: their coflows are laid into a scratch copy
// of the circuit schedule in Sunflow's order, and what waits for its circuit goes over packets
// meanwhile. A job that is tried is laid between those that rank before it and those that rank after
// it, which are laid anew; an undo log takes all of that back.
type forecast struct {
	v       *controller.View
	scratch *circuits.Scratch
	jobs    []*liveJob
	steps   []step // the coflows of jobs, in the order in which they are laid
	laid    int    // how many of them are
	ready   []*liveCoflow

	rates [ports][]float64 // payload bytes a second, by rack or host
	// the same of the rack's fastest port into an optical switch, and out of one
	optical [2][]float64
	planes  float64            // such ports that a rack has, at most
	loads   [ports][][]portUse // what is laid, by rack or host
	used    []portAt           // the undo log of loads
	times   [2][]float64       // memory of lay: seconds over packets, by rack; and bytes that go so
	over    [2][]float64
	tallies [ports]portSums // memory of coflow
	before  laidBefore

	blind   bool           // there are no circuits
	sources *place.Sources // of blocks
	work    int            // pairs laid and rows read, about alike in time
	patient bool           // every try is laid to its end, in tests of those that are not
}

// The ports at which host flows share: a rack's to and from the packet network, and a host's.
const (
	rackUp = iota
	rackDown
	hostUp
	hostDown
	ports
)

// portUse is what one coflow sends through a port.
type portUse struct {
	begin, end, bytes float64
	flows             float64
}

type portAt struct {
	kind int
	at   int32
}

// step is one coflow that was laid, with the undo logs before it.
type step struct {
	coflow  *liveCoflow
	release float64
	mark    circuits.Mark
	used    int
}

// portBytes is what a coflow sends through a port, and with how many host flows.
type portBytes struct {
	at    int32
	bytes float64
	flows float64
}

// liveCoflow is a coflow that has not ended.
type liveCoflow struct {
	job     *liveJob
	edge    int
	id      southbound.CoflowID
	pairs   []circuits.Pair
	bound   time.Duration // T(C): its rank
	joined  bool          // circuits can join all its pairs
	ports   [ports][]portBytes
	release float64 // when its host flows may send
	end     float64
	readers []int // of blocks: the stages that wait for it
}

// liveJob is a job that has not ended.
type liveJob struct {
	job     *controller.Job
	coflows []*liveCoflow // by edge; nil: delivered, or without host flows
	begun   []float64     // by stage: when its tasks will have ended, where they have begun; else below zero
	takes   []float64     // by stage: how long its tasks compute

	waits []int     // by stage: edges into it that have not delivered
	start []float64 // by stage
	end   float64

	without float64 // its end as far as it is known, without the job that is tried
}

// newForecast returns the forecast of a view, without circuits if it is to be blind. One job that is
// placed piece by piece can be left out.
func newForecast(v *controller.View, blind bool, without controller.JobID) *forecast {
	f := &forecast{v: v, scratch: circuits.NewScratch(v), blind: blind, sources: place.NewSources(v),
		planes: float64(v.Fabric.Spec.CircuitsARack())}
	f.measure()
	of := map[controller.JobID]*liveJob{}
	for i := range v.Running {
		r := &v.Running[i]
		j := newLiveJob(r.Job)
		j.follow(v.Now, r.Tasks)
		of[r.Job.ID] = j
		f.jobs = append(f.jobs, j)
	}
	for i := range v.Coflows {
		c := &v.Coflows[i]
		j := of[c.Job]
		if j == nil { // a bare coflow
			j = &liveJob{job: &controller.Job{ID: c.Job}}
			of[c.Job] = j
			f.jobs = append(f.jobs, j)
		}
		left := make([]pathmap.Bytes, len(c.Src))
		for row := range left {
			left[row] = c.LeftBytes(row)
		}
		l := f.coflow(c.ID, c.Src, c.Dst, left)
		if l.job, l.edge = j, int(c.Edge); c.Block { // a job can have several
			l.edge = max(len(j.coflows), len(j.job.Edges))
		}
		if c.Started {
			l.release = v.Now.Seconds()
		} else {
			l.release = -1
		}
		for len(j.coflows) <= l.edge {
			j.coflows = append(j.coflows, nil)
		}
		j.coflows[l.edge] = l
	}
	for i := range v.Partial {
		if p := &v.Partial[i]; p.Job.ID != without && of[p.Job.ID] == nil {
			f.expect(p)
		}
	}
	f.run(nil, nil)
	return f
}

// expect adds a job that is placed piece by piece, if it was planned: tasks without hosts are where it
// was planned to have them.
func (f *forecast) expect(p *controller.Partial) {
	if len(p.PolicyState) != p.Job.Tasks() {
		return
	}
	hosts := slices.Clone(p.Hosts)
	for t, h := range hosts {
		if h == controller.NoHost {
			hosts[t] = southbound.HostID(p.PolicyState[t])
		}
	}
	j := f.placed(p.Job, hosts)
	j.follow(f.v.Now, p.Tasks)
	f.jobs = append(f.jobs, j)
}

// follow notes when tasks that have begun end.
func (j *liveJob) follow(now time.Duration, tasks []controller.TaskState) {
	for t := range tasks {
		s := int(tasks[t].Stage)
		switch x := &tasks[t]; {
		case x.Ended >= 0:
			j.begun[s] = max(j.begun[s], now.Seconds())
		case x.Started >= 0:
			first, _ := j.job.StageTasks(s)
			end := x.Started + j.job.Stages[s].Tasks[t-first].Takes(x.Slower())
			j.begun[s] = max(j.begun[s], max(end, now).Seconds())
		}
	}
}

func newLiveJob(job *controller.Job) *liveJob {
	n := len(job.Stages)
	j := &liveJob{job: job, coflows: make([]*liveCoflow, len(job.Edges)),
		begun: slices.Repeat([]float64{-1}, n),
		takes: make([]float64, n), waits: make([]int, n), start: make([]float64, n)}
	for s := range job.Stages {
		for t := range job.Stages[s].Tasks {
			j.takes[s] = max(j.takes[s], job.Stages[s].Tasks[t].Compute.Seconds())
		}
	}
	return j
}

// measure reads the rates of ports.
func (f *forecast) measure() {
	v, t := f.v, f.v.Fabric.Topology
	racks, hosts := v.Fabric.Racks, v.Fabric.Hosts()
	for kind, n := range [ports]int{racks, racks, hosts, hosts} {
		f.rates[kind], f.loads[kind] = make([]float64, n), make([][]portUse, n)
		f.tallies[kind].index = make([]int32, n)
	}
	f.times = [2][]float64{make([]float64, racks), make([]float64, racks)}
	f.over = [2][]float64{make([]float64, racks), make([]float64, racks)}
	f.optical = [2][]float64{make([]float64, racks), make([]float64, racks)}
	payload := func(l pathmap.LinkID) float64 {
		if v.Down != nil && v.Down[l] {
			return 0
		}
		return float64(t.Link(l).Capacity) / 8 * float64(samplePayload) / float64(v.Wire(samplePayload))
	}
	for h := range hosts {
		l := t.Out(v.Fabric.HostNode[h])[0]
		f.rates[hostUp][h], f.rates[hostDown][h] = payload(l), payload(pathmap.Reverse(l))
	}
	for r, node := range v.Fabric.ToRNode {
		for _, l := range t.Out(node) {
			f.rates[rackUp][r] += payload(l)
			f.rates[rackDown][r] += payload(pathmap.Reverse(l))
		}
		for h := v.Fabric.FirstHost[r]; h < v.Fabric.FirstHost[r+1]; h++ {
			f.rates[rackUp][r] -= f.rates[hostDown][h]
			f.rates[rackDown][r] -= f.rates[hostUp][h]
		}
		for k := r; k < v.Fabric.OCSPorts(); k += racks {
			if p := v.Fabric.OCSUplink[k]; p >= 0 {
				l := t.OutPort(node, p)
				up, down := payload(l), payload(pathmap.Reverse(l))
				f.optical[0][r], f.optical[1][r] = max(f.optical[0][r], up), max(f.optical[1][r], down)
				f.rates[rackUp][r] -= up
				f.rates[rackDown][r] -= down
			}
		}
	}
}

// coflow returns a coflow with what it has left, by row.
func (f *forecast) coflow(id southbound.CoflowID, src, dst []southbound.HostID,
	left []pathmap.Bytes) *liveCoflow {
	c := &liveCoflow{id: id}
	f.work += len(src)
	c.pairs, c.bound = f.scratch.Pairs(src, dst, left)
	if f.blind {
		c.pairs = nil
	}
	for row, bytes := range left {
		if bytes == 0 {
			continue
		}
		f.tallies[hostUp].add(int32(src[row]), bytes)
		f.tallies[hostDown].add(int32(dst[row]), bytes)
		if a, b := f.v.HostRack(src[row]), f.v.HostRack(dst[row]); a != b {
			f.tallies[rackUp].add(int32(a), bytes)
			f.tallies[rackDown].add(int32(b), bytes)
		}
	}
	sum := 0.0
	for kind := range c.ports {
		c.ports[kind] = f.tallies[kind].take()
	}
	for _, p := range c.ports[rackUp] {
		sum += p.bytes
	}
	for i := range c.pairs {
		sum -= float64(c.pairs[i].Bytes)
	}
	c.joined = sum < 1
	return c
}

// portSums sums bytes and host flows by port.
type portSums struct {
	index []int32 // by port: where it is in sums, and one; 0: it is not
	sums  []portBytes
}

func (t *portSums) add(at int32, bytes pathmap.Bytes) {
	if t.index[at] == 0 {
		t.sums = append(t.sums, portBytes{at: at})
		t.index[at] = int32(len(t.sums))
	}
	p := &t.sums[t.index[at]-1]
	p.bytes += float64(bytes)
	p.flows++
}

// take returns the sums, by port, and begins anew.
func (t *portSums) take() []portBytes {
	out := slices.Clone(t.sums)
	for _, p := range out {
		t.index[p.at] = 0
	}
	t.sums = t.sums[:0]
	slices.SortFunc(out, func(a, b portBytes) int { return cmp.Compare(a.at, b.at) })
	return out
}

// run lays everything that is not laid, and with it a job that is tried; nil: none. It returns the sum
// of the ends of jobs, in seconds. A job that is tried makes no other end sooner: where it seems to, it
// has only changed the order in which another coflow's circuits are laid.
//
// As soon as over (nil: never) finds that the sum will be too high, the rest is counted as work, but not laid: which
// coflows come, and in which order, does not depend on times. The sum is then above all that can be.
func (f *forecast) run(try *liveJob, over func(sum float64) bool) float64 {
	lost := false
	f.ready = f.ready[:0]
	for _, j := range f.jobs {
		f.open(j)
	}
	base := f.laid
	if try != nil {
		f.open(try)
	}
	for k := 0; len(f.ready) > 0; k++ {
		at := 0
		for i, c := range f.ready[1:] {
			if c.before(f.ready[at]) {
				at = i + 1
			}
		}
		c := f.ready[at]
		f.ready = slices.Delete(f.ready, at, at+1)
		if k >= base {
			if try == nil {
				f.before.laid = -1
				f.steps = append(f.steps[:f.laid], step{c, c.release, f.scratch.Mark(), len(f.used)})
				f.laid++
			}
			f.work += c.work()
			if c.end = c.release; !lost {
				c.end = f.through(c)
			}
			if over != nil && !lost { // circuits take more time to be laid
				if k == base && f.before.recall(f.laid, c) {
					c.end = f.ends(c, c.end)
				}
				c.job.end = max(c.job.end, c.end)
				lost = over(f.sum(try))
			}
			if !lost {
				c.end = f.lay(c, c.end)
				if over != nil && k == base {
					f.before = laidBefore{f.laid, c.release, append(f.before.pairs[:0], c.pairs...)}
				}
			}
		}
		c.job.end = max(c.job.end, c.end)
		f.arrive(c.job, c.edge, c.end)
		lost = lost || over != nil && k >= base && over(f.sum(try))
	}
	if lost {
		return forever * forever
	}
	if try == nil {
		for _, j := range f.jobs {
			j.without = j.end
		}
	}
	return f.sum(try)
}

// sum is the sum of the ends of jobs, as far as they are known: it only grows.
func (f *forecast) sum(try *liveJob) (sum float64) {
	for _, j := range f.jobs {
		sum += max(j.end, j.without)
	}
	if try != nil {
		sum += try.end
	}
	return sum
}

func (c *liveCoflow) before(o *liveCoflow) bool {
	return cmp.Or(cmp.Compare(c.bound, o.bound), cmp.Compare(c.id, o.id)) < 0
}

// open puts the coflows of a job that may send now, or will whatever the network does, among the ready ones.
func (f *forecast) open(j *liveJob) {
	now := f.v.Now.Seconds()
	j.end = now
	for s := range j.waits {
		j.waits[s], j.start[s] = 0, now
	}
	staged := func(e *controller.Edge) bool { return e.Kind != controller.Fixed && !e.Stream }
	for k := range j.job.Edges {
		if e := &j.job.Edges[k]; staged(e) {
			j.waits[e.To]++
		}
	}
	for k, c := range j.coflows {
		if c != nil && (k >= len(j.job.Edges) || !staged(&j.job.Edges[k])) {
			c.release = max(c.release, now)
			f.ready = append(f.ready, c)
			for _, s := range c.readers {
				j.waits[s]++
			}
		}
	}
	for s := range j.waits {
		switch {
		case j.begun[s] >= 0:
			f.finish(j, s, j.begun[s])
		case j.waits[s] == 0:
			f.finish(j, s, now+j.takes[s])
		}
	}
}

// finish has the tasks of a stage end.
func (f *forecast) finish(j *liveJob, stage int, at float64) {
	j.end = max(j.end, at)
	for k := range j.job.Edges {
		e := &j.job.Edges[k]
		if e.Kind == controller.Fixed || e.Stream || e.From != stage {
			continue
		}
		if c := j.coflows[k]; c != nil {
			c.release = at
			f.ready = append(f.ready, c)
			continue
		}
		f.arrive(j, k, at)
	}
}

// arrive has an edge deliver.
func (f *forecast) arrive(j *liveJob, edge int, at float64) {
	if c := j.coflows[edge]; c != nil {
		for _, s := range c.readers {
			f.deliver(j, s, at)
		}
	}
	if edge >= len(j.job.Edges) || j.job.Edges[edge].Kind == controller.Fixed || j.job.Edges[edge].Stream {
		return
	}
	f.deliver(j, j.job.Edges[edge].To, at)
}

// deliver has a stage receive one of those that it waits for.
func (f *forecast) deliver(j *liveJob, s int, at float64) {
	j.start[s] = max(j.start[s], at)
	if j.waits[s]--; j.waits[s] == 0 && j.begun[s] < 0 {
		f.finish(j, s, j.start[s]+j.takes[s])
	}
}

// lay gives a coflow that hosts have sent at an instant its circuits and its share of packets, and returns when it
// ends.
func (f *forecast) lay(c *liveCoflow, end float64) float64 {
	f.scratch.Lay(c.pairs, time.Duration(c.release*1e9))
	end = f.ends(c, end)
	for kind := range c.ports {
		for _, p := range c.ports[kind] {
			if kind <= rackDown {
				if p.bytes = f.over[kind][p.at]; p.bytes < 1 {
					continue
				}
			}
			f.loads[kind][p.at] = append(f.loads[kind][p.at], portUse{c.release, end, p.bytes, p.flows})
			f.used = append(f.used, portAt{kind, p.at})
		}
	}
	return end
}

// ends returns when a coflow ends that hosts have sent at an instant, and whose pairs have their circuits. What goes
// over packets is in over.
func (f *forecast) ends(c *liveCoflow, end float64) float64 {
	for side := range 2 {
		for _, p := range c.ports[rackUp+side] {
			f.times[side][p.at], f.over[side][p.at] = f.share(rackUp+side, c.release, p), p.bytes
		}
	}
	for i := range c.pairs {
		p := &c.pairs[i]
		at, carried := f.pairEnd(c, p)
		end = max(end, at)
		f.over[0][p.In] -= carried
		f.over[1][p.Out] -= carried
	}
	return max(end, f.unjoined(c))
}

// laidBefore is the coflow that was laid first when a job was tried: on other hosts of the same racks its circuits are
// mostly the same.
type laidBefore struct {
	laid    int // of the steps before it; below zero: there is none
	release float64
	pairs   []circuits.Pair
}

// recall gives a coflow the circuits of that one if it would be given the same.
func (b *laidBefore) recall(laid int, c *liveCoflow) bool {
	if b.laid != laid || b.release != c.release || !slices.EqualFunc(b.pairs, c.pairs, circuits.Pair.Alike) {
		return false
	}
	for i := range c.pairs {
		c.pairs[i].Begin, c.pairs[i].End = b.pairs[i].Begin, b.pairs[i].End
	}
	return true
}

// through returns when hosts have sent and received a coflow.
func (f *forecast) through(c *liveCoflow) float64 {
	end := c.release
	for kind := hostUp; kind <= hostDown; kind++ {
		for _, p := range c.ports[kind] {
			end = max(end, c.release+f.share(kind, c.release, p))
		}
	}
	return end
}

// unjoined returns when what no circuit can carry ends.
func (f *forecast) unjoined(c *liveCoflow) (end float64) {
	if c.joined {
		return 0
	}
	for side := range 2 {
		for _, p := range c.ports[rackUp+side] {
			end = max(end, c.release+f.times[side][p.at])
		}
	}
	return end
}

// share returns how many seconds a coflow takes through a port, which all host flows share evenly.
func (f *forecast) share(kind int, from float64, p portBytes) float64 {
	rate := f.rates[kind][p.at]
	if rate <= 0 {
		return forever
	}
	sum, till := p.bytes, from+p.bytes/rate
	for i := range f.loads[kind][p.at] {
		u := &f.loads[kind][p.at][i]
		if u.end <= from || u.begin >= till {
			continue
		}
		left := u.bytes * (u.end - max(from, u.begin)) / (u.end - u.begin)
		sum += min(left, p.bytes/p.flows*u.flows)
	}
	return sum / rate
}

const forever = 1e9 // seconds

// rowsPerPair is about how many host flows are read in the time in which a pair of racks is laid.
const rowsPerPair = 4

// work is what laying a coflow counts.
func (c *liveCoflow) work() int { return rowsPerPair * (1 + len(c.pairs)) }

// pairEnd returns when a pair ends: over packets, or over its circuit with what packets have left of it
// by then. It returns the bytes that the circuit carries too.
func (f *forecast) pairEnd(c *liveCoflow, p *circuits.Pair) (end, carried float64) {
	packets := max(f.times[0][p.In], f.times[1][p.Out])
	if p.Begin == southbound.Never {
		return c.release + packets, 0
	}
	begin, end := p.Begin.Seconds(), p.End.Seconds()
	done := (begin - c.release) / packets
	if done >= 1 {
		return c.release + packets, 0
	}
	return begin + (end-begin)*(1-done), float64(p.Bytes) * (1 - done)
}

// place returns the first step that a coflow is laid before.
func (f *forecast) place(c *liveCoflow) int {
	for k := range f.steps {
		if c.before(f.steps[k].coflow) {
			return k
		}
	}
	return len(f.steps)
}

// rewind takes out the steps from one on.
func (f *forecast) rewind(to int) {
	if to < f.laid {
		f.undo(f.steps[to].mark, f.steps[to].used)
		f.laid = to
	}
}

func (f *forecast) undo(mark circuits.Mark, used int) {
	f.scratch.Undo(mark)
	for i := len(f.used) - 1; i >= used; i-- {
		u := f.used[i]
		all := f.loads[u.kind][u.at]
		f.loads[u.kind][u.at] = all[:len(all)-1]
	}
	f.used = f.used[:used]
}

// try returns the sum of the ends of all jobs with one more, and takes that out again. It is far too high once over
// finds that what is known of it is too high already.
func (f *forecast) try(j *liveJob, over func(sum float64) bool) float64 {
	first := f.first(j)
	f.rewind(first)
	for f.laid < first { // laid anew as they were
		s := &f.steps[f.laid]
		s.mark, s.used = f.scratch.Mark(), len(f.used)
		s.coflow.release = s.release
		f.work += s.coflow.work()
		s.coflow.end = f.lay(s.coflow, f.through(s.coflow))
		f.laid++
	}
	if f.patient {
		over = nil
	}
	mark, used := f.scratch.Mark(), len(f.used)
	sum := f.run(j, over)
	f.undo(mark, used)
	return sum
}

// first returns the step before which any coflow of a job can be laid.
func (f *forecast) first(j *liveJob) int {
	at := len(f.steps)
	for _, c := range j.coflows {
		if c != nil {
			at = min(at, f.place(c))
		}
	}
	return at
}

// add keeps a job, and returns the sum of the ends of all.
func (f *forecast) add(j *liveJob) float64 {
	f.rewind(f.first(j))
	f.steps = f.steps[:f.laid]
	f.jobs = append(f.jobs, j)
	return f.run(nil, nil)
}

// placed returns a job with its tasks on hosts.
func (f *forecast) placed(job *controller.Job, hosts []southbound.HostID) *liveJob {
	j := newLiveJob(job)
	for k := range job.Edges {
		c := controller.Expand(job, &job.Edges[k], hosts)
		if len(c.Src) == 0 {
			continue
		}
		l := f.coflow(job.FirstCoflow+southbound.CoflowID(k), c.Src, c.Dst, c.Size)
		l.job, l.edge, j.coflows[k] = j, k, l
	}
	return j
}
