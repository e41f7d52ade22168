package circuits

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/phases"
	"lightloom/controller/topoeng"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Phases has circuits follow the phases of jobs whose stages follow each other, such as training jobs. In which of them
// circuits move, and which circuits there are, is decided once for a job, when it has been placed: package phases
// weighs the reconfiguration delay against the gain. Circuits move as soon as the phase before has been sent, so that
// they are dark while ranks compute. Jobs on the same racks get circuits in order of their ids.
type Phases struct {
	Once bool // circuits are set once for each job, those that are best for all of its phases together

	plans map[controller.JobID]*phasePlan

	// Of Once, where traffic is estimated: what was decided, and on which fabric.
	set topoeng.Topology
	on  *topo.Fabric
}

// phasePlan is what was decided for a job.
type phasePlan struct {
	fabric     *topo.Fabric
	hosts      []southbound.HostID
	delta      time.Duration
	level      []int // by edge: its phase, or -1
	circuits   []int // by phase: its topology
	topologies []topoeng.Topology
}

// Wants implements the part's list of events.
func (*Phases) Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted, controller.CoflowEnded,
		controller.FabricChanged, controller.WakeReached, controller.TrafficRead)
}

// Fill has the circuits of the phases that jobs are in reserved, and no other ones on their ports.
func (x *Phases) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	if !v.Fabric.HasOCS() || v.Fabric.Spec.Pod() {
		return
	}
	out := slices.Repeat([]southbound.Port{southbound.NoPort}, v.Fabric.OCSPorts()) // by input
	in := slices.Clone(out)                                                         // by output
	running := slices.Clone(v.Running)
	slices.SortFunc(running, func(a, b controller.Running) int { return cmp.Compare(a.Job.ID, b.Job.ID) })
	joined := newWavelengthAssignment(v)
	ends := opticalPorts(v)
	add := func(a, b southbound.Port) {
		if ends[a].ok && ends[b].ok && out[a] == southbound.NoPort && in[b] == southbound.NoPort && joined.may(a, b) {
			out[a], in[b] = b, a
			if joined != nil {
				joined.fix(a, b)
			}
		}
	}
	if v.Traffic != nil {
		x.estimated(v, add)
		x.reserve(v, p, out, in)
		return
	}
	for i := range running {
		if plan := x.plan(v, &running[i]); plan != nil {
			plan.want(v, running[i].Job.ID, add)
		}
	}
	x.reserve(v, p, out, in)
}

// estimated takes an estimate of traffic for the phase that jobs are in, and has circuits move where that is sent
// sooner for it, the delay included. Those that stand are kept otherwise: Fill renews them before they run out.
func (x *Phases) estimated(v *controller.View, add func(in, out southbound.Port)) {
	keep, any := standing(v)
	if x.Once && x.on != v.Fabric && any { // the leader before has decided
		x.set, x.on = keep, v.Fabric
	}
	if x.Once && x.on == v.Fabric {
		keep = x.set
	} else if next, ok := worth(v, keep); ok {
		keep, x.set, x.on = next, next, v.Fabric
	}
	eachCircuit(v.Fabric, keep, func(in, out southbound.Port) {
		if v.Traffic.Bytes[v.Fabric.OCSRack(int32(in))][v.Fabric.OCSRack(int32(out))] > 0 { // others run out
			add(in, out)
		}
	})
}

// standing returns the circuits that are reserved for any coflow now, and whether there are some.
func standing(v *controller.View) (t topoeng.Topology, any bool) {
	n := v.Fabric.Racks
	t = topoeng.NewTopology(n, v.Fabric.Spec.CircuitsARack())
	for i := range v.Reserved {
		if r := &v.Reserved[i]; r.Coflow == controller.AnyCoflow && r.NotBefore <= v.Now {
			plane := int(r.In) / n
			if v.Fabric.Spec.Rails > 0 {
				plane = 0 // as eachCircuit has them
			}
			t.Out[plane][int(r.In)%n], any = int32(r.Out)%int32(n), true
		}
	}
	return t, any
}

// worth returns the circuits for an estimate, and whether it is worth to move those that stand.
func worth(v *controller.View, standing topoeng.Topology) (next topoeng.Topology, ok bool) {
	if worthless(v) {
		return next, false
	}
	d := make(topoeng.Demand, v.Fabric.Racks)
	for i, row := range v.Traffic.Bytes {
		d[i] = make([]float64, len(d))
		for j, b := range row {
			if i != j && b >= v.ElephantThreshold {
				d[i][j] = float64(v.Wire(b))
			}
		}
	}
	f := phases.FabricOf(v.Fabric, v.Delta)
	from, err := phases.Candidates(f, []phases.Phase{{Forms: []phases.Form{{Demand: d}}}})
	if err != nil || !f.Worth(d, standing, from[0]) {
		return next, false
	}
	return from[0], true
}

// eachCircuit calls add for each circuit of a topology. Where a fabric has rails, that has one switch for all of them:
// each rack has a port on the OCS of its own.
func eachCircuit(f *topo.Fabric, t topoeng.Topology, add func(in, out southbound.Port)) {
	for k, outs := range t.Out {
		for i, j := range outs {
			if j < 0 {
				continue
			}
			plane := k
			if f.Spec.Rails > 0 {
				plane = i % f.Spec.Rails
			}
			first := southbound.Port(plane * t.Pods)
			add(first+southbound.Port(i), first+southbound.Port(j))
		}
	}
}

// plan returns what was decided for a job, or decides; nil for one without phases.
func (x *Phases) plan(v *controller.View, r *controller.Running) *phasePlan {
	if slices.Contains(r.Hosts, controller.NoHost) {
		return nil
	}
	old := x.plans[r.Job.ID]
	if old != nil && old.fabric == v.Fabric && old.delta == v.Delta && slices.Equal(old.hosts, r.Hosts) {
		return old
	}
	p := &phasePlan{fabric: v.Fabric, hosts: slices.Clone(r.Hosts), delta: v.Delta}
	p.decide(r.Job, x.Once)
	if x.plans == nil {
		x.plans = map[controller.JobID]*phasePlan{}
	}
	for id := range x.plans { // those of jobs that have ended
		if id < r.Job.ID && !slices.ContainsFunc(v.Running, func(r controller.Running) bool { return r.Job.ID == id }) {
			delete(x.plans, id)
		}
	}
	x.plans[r.Job.ID] = p
	return p
}

func (p *phasePlan) decide(j *controller.Job, once bool) {
	f := phases.FabricOf(p.fabric, p.delta)
	if once {
		f.Delta = southbound.Never / 4 // no gain is worth it
	}
	var iteration []phases.Phase
	iteration, p.level = phases.OfJob(j, p.hosts, f.Racks, func(h southbound.HostID) int {
		return int(p.fabric.RackOf(int32(h)))
	})
	from, err := phases.Candidates(f, phases.Representative(iteration))
	if err != nil || len(from) == 0 {
		return // nothing is sent between racks
	}
	plan, err := phases.Decide(f, iteration, from)
	if err != nil {
		return // no circuits carry all of it
	}
	p.circuits, p.topologies = plan.Circuits, from
}

// want calls add for each circuit of the phase that a job is in: that of its first coflow that has not ended.
func (p *phasePlan) want(v *controller.View, job controller.JobID, add func(in, out southbound.Port)) {
	now := -1
	for i := range v.Coflows {
		c := &v.Coflows[i]
		if c.Job != job || c.Block || int(c.Edge) >= len(p.level) || p.level[c.Edge] < 0 {
			continue
		}
		if l := p.level[c.Edge]; now < 0 || l < now {
			now = l
		}
	}
	if now < 0 || now >= len(p.circuits) {
		return
	}
	eachCircuit(v.Fabric, p.topologies[p.circuits[now]], add)
}

// reserve brings reservations in line with what is wanted, by input and by output. Circuits that are in nobody's way
// stay.
func (x *Phases) reserve(v *controller.View, p *controller.Plan, out, in []southbound.Port) {
	stays := func(r *controller.CircuitReservation) bool {
		return r.Coflow == controller.AnyCoflow && out[r.In] == r.Out && r.NotBefore <= v.Now
	}
	withdrawn := false // those of no coflow are withdrawn together
	for i := range v.Reserved {
		r := &v.Reserved[i]
		withdrawn = withdrawn || r.Coflow == controller.AnyCoflow && !begun(v, r) && !stays(r)
	}
	held := make([]bool, len(out))
	for i := range v.Reserved {
		switch r := &v.Reserved[i]; {
		case r.NotAfter <= v.Now:
		case !begun(v, r) && (withdrawn || r.Coflow != controller.AnyCoflow):
			p.Withdraw = append(p.Withdraw, r.Coflow)
		case stays(r):
			held[r.In] = true
			p.Wake = min(p.Wake, r.NotAfter)
		case out[r.In] != southbound.NoPort || in[r.Out] != southbound.NoPort:
			p.Preempt = append(p.Preempt, r.In)
		}
	}
	slices.Sort(p.Withdraw)
	p.Withdraw = slices.Compact(p.Withdraw)
	slices.Sort(p.Preempt)
	for a, b := range out {
		if b != southbound.NoPort && !held[a] {
			p.Reserve = append(p.Reserve, controller.CircuitReservation{NotBefore: v.Now, NotAfter: v.Now + staticFor,
				In: southbound.Port(a), Out: b, Coflow: controller.AnyCoflow})
			p.Wake = min(p.Wake, v.Now+staticFor)
		}
	}
}
