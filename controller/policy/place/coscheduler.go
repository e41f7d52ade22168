package place

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/guideline"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// CoScheduler places tasks so that their shuffle comes together on circuits (Li and Shen,
// "Co-Scheduler", ToN 2022). A job's input and maps follow the data placement guideline, its reduces
// wait for its maps and go where the best schedule puts them, and slots are given in the order of
// Algorithm 2. Package guideline has the arithmetic. The shuffle starts once all reduces have slots, as
// that of every incremental job does.
//
// Jobs of more than one shuffle follow section VI: the guidelines hold between the tasks before and
// after each. So do gang-scheduled jobs: see gang.
type CoScheduler struct {
	Form  guideline.Form // of the latency response model
	Error float64        // each T_rem is off by at most this share, either way
	Waves int            // wavelengths a rack in the guidelines (section VI); 0: the fabric's

	// Mechanisms of Figure 7 to leave out. Without data placement nothing guides reduces either.
	NoData, NoReduces bool
	// Strict keeps tasks of shuffle-heavy jobs to their guideline, if there is one. Algorithm 2 gives them
	// any slot that no other job wants (lines 8 and 9), and so scatters a wide job as soon as the cluster
	// has slots to spare.
	Strict bool

	cache blockCache
	last  fruitless
	jobs  jobMemory
}

// Wants implements the part's list of events.
func (*CoScheduler) Wants() controller.KindSet { return incrementalWants() }

// Fill places jobs.
func (c *CoScheduler) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	k := &schedulingPass{CoScheduler: c, cluster: c.cluster(v)}
	rest := incremental(v, p, &c.jobs, &c.last, k.data, func(y *slotAllocator) {
		k.slotAllocator = y
		y.serve(k.next)
		k.settleRead()
	})
	k.gang(rest, p)
}

// cluster is the cluster that guidelines are computed for.
func (c *CoScheduler) cluster(v *controller.View) guideline.Cluster {
	return guideline.Cluster{Racks: v.Fabric.Racks, Slots: rackSlots(v), EPS: rackUplink(v),
		OCS:   v.Fabric.Spec.OCS,
		Delta: v.Delta, Elephant: v.ElephantThreshold, Waves: cmp.Or(c.Waves, v.Fabric.Spec.CircuitsARack())}
}

// schedulingPass is one decision of the CoScheduler.
type schedulingPass struct {
	*CoScheduler
	*slotAllocator
	cluster guideline.Cluster
	coming  guideline.Releases // of slots; made when first asked for
}

// guided reports whether there are circuits to aggregate traffic for.
func (k *schedulingPass) guided(v *controller.View) bool {
	return !k.NoData && v.Fabric.HasOCS() && v.ElephantThreshold > 0
}

// mapRacks is R_data = R_map of a job.
func (k *schedulingPass) mapRacks(j *controller.Job) int {
	if p := j.Predicted; p != nil {
		return k.cluster.RecurringRacks(k.Form, &guideline.Job{Input: p.Input, Shuffle: p.Shuffle, Maps: p.Maps,
			Reduces: p.Reduces,
			MapTime: p.MapTime, RedTime: p.RedTime})
	}
	return k.cluster.DataRacks(input(j), guideline.InitialSIR)
}

// input is the sum of the blocks that a job reads.
func input(j *controller.Job) (sum pathmap.Bytes) {
	for i := range j.Stages {
		for t := range j.Stages[i].Tasks {
			sum += j.Stages[i].Tasks[t].Input
		}
	}
	return sum
}

// data follows the data placement guideline (section IV-D.3).
func (k *schedulingPass) data(y *slotAllocator, w *work) []southbound.RackID {
	return k.cache.of(w.job.ID, func() []southbound.RackID {
		if !k.guided(y.v) {
			return scatter(y.v, w.job)
		}
		return named(w.job, evenly(w.job, guideline.Sets(y.v.Rand("blocks", uint64(w.job.ID)), y.v.Fabric.Racks,
			k.mapRacks(w.job))))
	})
}

// planned is what is known of a job in this decision.
type planned struct {
	guided
	left    []int // reduces that the best schedule has left for a rack
	settled bool  // best has been looked for
	full    bool  // no slot is left that the guideline of its maps allows: slots only go
}

// guided is what the tasks of a job that have begun say of the others.
type guided struct {
	cluster guideline.Cluster
	heavy   bool  // it is shuffle-heavy, as far as is known
	racks   int   // R_map
	used    []int // maps by rack
}

// plan looks at a job once in a decision.
func (k *schedulingPass) plan(w *work) *planned {
	if w.plan == nil {
		g := k.known(w)
		g.used = slices.Clone(g.used) // the job's next maps count, too
		w.plan = &planned{guided: g}
	}
	return w.plan
}

// known is what the tasks of a job say that had hosts before this decision.
func (k *schedulingPass) known(w *work) guided {
	g := guided{cluster: k.cluster, used: make([]int, k.v.Fabric.Racks)}
	if !k.guided(k.v) {
		return g
	}
	if known := w.totals.guide; known != nil && known.cluster == k.cluster {
		return *known
	}
	g.racks, g.heavy = k.sized(w)
	for s := range w.open {
		if !w.source(s) {
			continue
		}
		for i := w.first[s]; i < w.first[s+1] && w.hosts != nil; i++ {
			if h := w.hosts[i]; h != controller.NoHost {
				g.used[k.v.Fabric.HostRack[h]]++
			}
		}
	}
	if !w.lost { // else some are read anew from hosts that are drawn in each decision
		w.totals.guide = &g
	}
	return g
}

// sized returns R_map of a job and whether it is shuffle-heavy: by its prediction, by the ratio that its maps show, or
// by the ratio that is assumed until one has ended. Its blocks stay where the first ratio had them.
func (k *schedulingPass) sized(w *work) (racks int, heavy bool) {
	if q := w.job.Predicted; q != nil {
		return k.mapRacks(w.job), k.cluster.Heavy(q.Shuffle)
	}
	all, sir := k.learnt(w)
	return k.cluster.DataRacks(all, sir), k.cluster.Heavy(pathmap.Bytes(float64(all) * sir))
}

// learnt is a job's input and its SIR by the maps that have ended (section IV-D.1).
func (k *schedulingPass) learnt(w *work) (all pathmap.Bytes, sir float64) {
	read := pathmap.Bytes(0)
	ended, maps := 0, 0
	for s := range w.open {
		if !w.source(s) {
			continue
		}
		ended, maps = ended+w.ended[s], maps+w.size(s)
		for i := range w.size(s) {
			b := w.job.Stages[s].Tasks[i].Input
			all += b
			if w.tasks != nil && w.tasks[w.first[s]+i].Ended >= 0 {
				read += b
			}
		}
	}
	left := pathmap.Bytes(0) // by the maps that have ended
	for i := range w.job.Edges {
		if e := &w.job.Edges[i]; e.Kind != controller.Fixed && w.source(e.From) && maps > 0 {
			left += pathmap.Bytes(float64(e.Bytes) * float64(ended) / float64(maps))
		}
	}
	sir, _ = guideline.SIR(left, read)
	return all, sir
}

// next places a task of a user by the order of Algorithm 2.
func (k *schedulingPass) next(u *user) bool {
	for class := guideline.ScheduledReduce; class <= guideline.AnyMap; class++ {
		for _, w := range u.works {
			if k.try(w, class) {
				return true
			}
		}
	}
	return false
}

// try places a task of a job in one class.
func (k *schedulingPass) try(w *work, class guideline.Class) bool {
	reduces := class == guideline.ScheduledReduce || class == guideline.LightReduce ||
		class == guideline.AnyReduce
	for s := range w.open {
		if w.open[s] == 0 || w.source(s) == reduces {
			continue
		}
		if reduces && (!w.parentsEnded(s) || !k.mayPlaceReduces(w)) {
			continue
		}
		if k.tryStage(w, s, class) {
			return true
		}
	}
	return false
}

func (k *schedulingPass) tryStage(w *work, stage int, class guideline.Class) bool {
	p := k.plan(w)
	switch class {
	case guideline.ScheduledReduce:
		return p.heavy && k.scheduled(w, p, stage)
	case guideline.GuidedMap:
		return p.heavy && k.guidedMap(w, p, stage)
	case guideline.LightReduce, guideline.LightMap:
		if p.heavy {
			return false
		}
	default:
		if !p.heavy || k.Strict && (class == guideline.AnyMap && !k.withoutData(w, p, stage) ||
			class == guideline.AnyReduce && p.left != nil) {
			return false
		}
	}
	task, ok := w.task(stage)
	switch {
	case !ok:
		return false
	case !w.source(stage):
		return k.anywhere(w, stage, task)
	case class == guideline.LightMap:
		return k.sourceTask(w, stage)
	}
	return k.anyMap(w, p, stage, task)
}

// withoutData reports whether no rack that the guideline leaves holds the data of the next map of a stage.
// Its job took others before it was known to be shuffle-heavy, the racks have failed, or it reads
// nothing.
func (k *schedulingPass) withoutData(w *work, p *planned, stage int) bool {
	task, ok := w.task(stage)
	more := p.taken() < p.racks
	return ok && !slices.ContainsFunc(w.copies(task), func(r southbound.RackID) bool {
		return k.standing[r] && (more || p.used[r] > 0)
	})
}

// taken is how many racks a job's maps use.
func (p *planned) taken() int {
	racks := 0
	for _, n := range p.used {
		if n > 0 {
			racks++
		}
	}
	return racks
}

// anyMap is line 9: any slot, near the data where one is free there.
func (k *schedulingPass) anyMap(w *work, p *planned, stage, task int) bool {
	best := -1
	for _, r := range w.copies(task) {
		if k.rack[r] > 0 && (best < 0 || k.rack[r] > k.rack[best]) {
			best = int(r)
		}
	}
	if best < 0 {
		if !k.widest(w, stage, task) {
			return false
		}
	} else if h, ok := k.host(best); ok {
		k.put(w, stage, task, h)
	} else {
		return false
	}
	p.used[k.v.Fabric.HostRack[w.hosts[task]]]++
	return true
}

// guidedMap is line 5: a map whose data are on a rack that the job's maps use, or can use as one of R_map.
func (k *schedulingPass) guidedMap(w *work, p *planned, stage int) bool {
	if _, ok := w.task(stage); p.full || !ok || k.total() == 0 { // which also passes over those that have a host
		return false
	}
	racks := p.taken()
	for i := w.next[stage]; i < w.first[stage+1]; i++ {
		if w.hosts != nil && w.hosts[i] != controller.NoHost {
			continue
		}
		best := -1
		for _, rack := range w.copies(i) {
			r := int(rack)
			if k.rack[r] <= 0 || p.used[r] == 0 && racks >= p.racks {
				continue
			}
			// A rack that is used already comes first: R_map is the most, not the aim.
			if best < 0 || (p.used[r] > 0) != (p.used[best] > 0) && p.used[r] > 0 ||
				(p.used[r] > 0) == (p.used[best] > 0) &&
					k.rack[r] > k.rack[best] {
				best = r
			}
		}
		if best < 0 {
			continue
		}
		if h, ok := k.host(best); ok {
			k.put(w, stage, i, h)
			p.used[best]++
			return true
		}
	}
	p.full = true
	return false
}

// scheduled is line 4: a reduce on a rack of the job's best schedule.
func (k *schedulingPass) scheduled(w *work, p *planned, stage int) bool {
	if k.NoReduces {
		return false
	}
	k.settle(w, p, stage)
	if p.left == nil || k.Strict && !w.begun && !k.room(p.left) {
		return false
	}
	task, ok := w.task(stage)
	if !ok {
		return false
	}
	for r, n := range p.left {
		if n == 0 {
			continue
		}
		if h, ok := k.host(r); ok {
			p.left[r]--
			k.put(w, stage, task, h)
			return true
		}
	}
	return false
}

// room reports whether the racks of a schedule could hold it together with all schedules whose reduces
// have begun to take slots. Strict jobs that each held a part of what another needs on one rack would
// deadlock.
func (k *schedulingPass) room(left []int) bool {
	need := slices.Clone(left)
	for _, w := range k.works {
		if m := w.policyState; w.begun && len(m) > 0 && w.waits[m[0]] {
			for i := 1; i+1 < len(m); i += 2 {
				need[m[i]] += int(m[i+1])
			}
		}
	}
	for r, n := range need {
		if n > k.v.Fabric.HostsOf(r)*k.v.Fabric.Spec.Slots {
			return false
		}
	}
	return true
}

// settle finds the best schedule of the reduces of a stage: the one found when the first of them was
// placed, or a new one (sections IV-E.2 and IV-F). The memo holds the stage, and then racks and their
// numbers of reduces.
func (k *schedulingPass) settle(w *work, p *planned, stage int) {
	if p.settled {
		return
	}
	p.settled = true
	if m := w.policyState; w.kept && len(m) > 0 && m[0] == int32(stage) {
		p.left = make([]int, k.v.Fabric.Racks)
		for i := 1; i+1 < len(m); i += 2 {
			p.left[m[i]] = int(m[i+1])
		}
		for i := w.first[stage]; i < w.first[stage+1]; i++ {
			if h := w.hosts[i]; h != controller.NoHost {
				r := k.v.Fabric.HostRack[h]
				p.left[r] = max(0, p.left[r]-1)
			}
		}
		return
	}
	sm := output(k.v.Fabric, w.job, stage, w.hosts)
	var allowed func(int) bool
	if q := w.job.Predicted; q != nil {
		zone := k.cluster.Zone(k.Form, &guideline.Job{Input: q.Input, Shuffle: q.Shuffle, Maps: q.Maps,
			Reduces: q.Reduces,
			MapTime: q.MapTime, RedTime: q.RedTime}, k.cluster.Racks)
		if len(zone) > 0 {
			allowed = func(racks int) bool {
				return slices.ContainsFunc(zone, func(s guideline.Shape) bool { return s.Reduces == racks })
			}
		}
	}
	if k.coming == nil {
		k.coming = k.estimated()
	}
	held := make([]int64, len(sm))
	for r, b := range sm {
		held[r] = int64(b)
	}
	all := k.cluster.Schedules(sm, w.size(stage), allowed)
	if len(all) == 0 && allowed != nil { // what was predicted is not what came: the zone is adjusted (section IV-E.2)
		all = k.cluster.Schedules(sm, w.size(stage), nil)
	}
	best, ok := k.cluster.Best(all, k.coming, held)
	if !ok {
		return
	}
	p.left = make([]int, k.v.Fabric.Racks)
	w.policyState, w.kept = []int32{int32(stage)}, false
	for i, r := range best.Racks {
		p.left[r] = best.Tasks[i]
		w.policyState = append(w.policyState, int32(r), int32(best.Tasks[i]))
	}
}

// settleRead finds schedules for jobs whose lost outputs this decision reads from other hosts. Such a job is in the
// plan though it takes no slot, and its schedule goes with it. Where slots are left, next has found it.
func (k *schedulingPass) settleRead() {
	for _, w := range k.works {
		if w.own && k.total() == 0 {
			k.try(w, guideline.ScheduledReduce)
		}
	}
}

// output is SM of section IV-E.2: what the tasks that a stage receives from leave for it, by rack.
// hosts is by task of the job.
func output(f *topo.Fabric, j *controller.Job, stage int, hosts []southbound.HostID) []pathmap.Bytes {
	sm := make([]pathmap.Bytes, f.Racks)
	for i := range j.Edges {
		e := &j.Edges[i]
		if e.Kind == controller.Fixed || e.To != stage {
			continue
		}
		first, end := j.StageTasks(e.From)
		count := make([]int, len(sm))
		for _, h := range hosts[first:end] {
			if h != controller.NoHost {
				count[f.HostRack[h]]++
			}
		}
		each := float64(e.Bytes) / float64(end-first)
		for r, n := range count {
			sm[r] += pathmap.Bytes(each * float64(n))
		}
	}
	return sm
}

// estimated is releases with the error of T_rem.
func (k *schedulingPass) estimated() guideline.Releases {
	free := k.releases()
	if k.Error == 0 {
		return free
	}
	for r := range free {
		rng := k.v.Rand("t_rem", uint64(r))
		for i := range free[r] {
			free[r][i] = time.Duration(float64(free[r][i]) * (1 + k.Error*(2*rng.Float64()-1)))
		}
		slices.Sort(free[r])
	}
	return free
}
