// Package policytest holds the laws that every policy keeps, as one suite, and random views to try them on.
//
// It does not judge how good a decision is.
package policytest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/cabling/cablingtest"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// View returns a random view of a small fabric with jobs waiting and coflows in all phases. The same
// seed gives the same view.
func View(seed uint64) *controller.View { return view(seed, 0) }

// Parallel returns such a view of a fabric with four OCSes side by side, of one wavelength or two; a few have
// none.
func Parallel(seed uint64) *controller.View { return view(seed, 4) }

// Remembering makes each view once and gives the same one again to whoever asks: most policies decide in less time than
// a view takes to draw. RunOn checks that they do not write to it.
func Remembering(view func(seed uint64) *controller.View) func(seed uint64) *controller.View {
	var known sync.Map // of functions that return views, by seed
	return func(seed uint64) *controller.View {
		made, _ := known.LoadOrStore(seed, sync.OnceValue(func() *controller.View { return view(seed) }))
		return made.(func() *controller.View)()
	}
}

func view(seed uint64, ocses int) *controller.View {
	g := &generator{rng: rand.New(rand.NewPCG(seed, 0x11)), v: &controller.View{Seed: seed}}
	g.fabric(ocses)
	g.v.Now = time.Duration(g.rng.Int64N(int64(time.Minute)))
	g.v.Delta = time.Duration(1+g.rng.IntN(20)) * time.Millisecond
	g.v.ElephantThreshold = pathmap.Bytes(g.rng.Int64N(4e6))
	g.free()
	for range g.rng.IntN(6) {
		g.coflowsOf(g.job())
	}
	for range g.rng.IntN(4) {
		g.v.Waiting = append(g.v.Waiting, g.job())
	}
	if g.v.Fabric.HasOCS() {
		g.ledger()
	}
	g.down()
	g.deadlines()
	g.streams()
	g.lost()
	g.sizes()
	g.loads()
	return g.v
}

// Estimated returns View's with an estimate of traffic, of rates that last or of bytes that wait.
func Estimated(seed uint64) *controller.View {
	v, rng := View(seed), rand.New(rand.NewPCG(seed, 0x13))
	n := v.Fabric.Racks
	v.Traffic = &controller.Traffic{At: v.Now, Next: v.Now + 250*time.Millisecond,
		Bytes: make([][]pathmap.Bytes, n)}
	if rng.IntN(2) == 0 {
		v.Traffic.At -= time.Duration(rng.IntN(200)) * time.Millisecond
		v.Traffic.Ahead = 500 * time.Millisecond
	}
	for i := range n {
		v.Traffic.Bytes[i] = make([]pathmap.Bytes, n)
		for j := range n {
			if i != j && rng.IntN(3) == 0 {
				v.Traffic.Bytes[i][j] = pathmap.Bytes(rng.Int64N(1e8))
			}
		}
	}
	for i := range v.Reserved { // a plan from estimates knows no coflows
		v.Reserved[i].Coflow = controller.AnyCoflow
	}
	for i := range v.Circuits {
		v.Circuits[i].Coflow = controller.AnyCoflow
	}
	return v
}

type generator struct {
	rng    *rand.Rand
	v      *controller.View
	jobs   controller.JobID
	tasks  southbound.TaskID
	coflow southbound.CoflowID
}

// fabric draws a spec; some have no OCS, some fewer OCS ports than racks.
func (g *generator) fabric(ocses int) {
	s := topo.Spec{Kind: topo.Hybrid, Racks: 2 + g.rng.IntN(5), Hosts: 1 + g.rng.IntN(3),
		Spines: 1 + g.rng.IntN(3),
		NIC:    500 * pathmap.Mbps, EPS: 50 * pathmap.Mbps, OCS: pathmap.Gbps, Dark: 10 * time.Millisecond, Slots: 2}
	if g.rng.IntN(5) == 0 {
		s.Kind, s.OCS, s.Dark = topo.LeafSpine, 0, 0
	} else if g.rng.IntN(4) == 0 {
		s.Ports = 1 + g.rng.IntN(s.Racks)
	}
	if s.Kind == topo.Hybrid && ocses > 0 {
		s.OCSes, s.Waves = ocses, 1+g.rng.IntN(2)
	}
	f, err := topo.New(s)
	if err != nil {
		panic(fmt.Sprintf("policytest: spec %+v: %v", s, err))
	}
	g.v.Fabric = recabled(f, g.v.Seed)
	if g.v.Paths, err = g.v.Fabric.PathMap(southbound.MaxPaths, g.v.Seed); err != nil {
		panic("policytest: " + err.Error())
	}
}

// recabled has cables of every other fabric moved, added and taken out.
func recabled(f *topo.Fabric, seed uint64) *topo.Fabric {
	rng := rand.New(rand.NewPCG(seed, 0x17))
	if rng.IntN(2) == 0 {
		return f
	}
	return cablingtest.Recabled(f, rng, func(x *topo.Fabric) bool { return controller.Parts(x, nil) == 1 })
}

func (g *generator) free() {
	for range g.v.Fabric.Hosts() {
		g.v.Free = append(g.v.Free, int32(g.rng.IntN(4)))
	}
}

func (g *generator) host() southbound.HostID {
	return southbound.HostID(g.rng.IntN(g.v.Fabric.Hosts()))
}

// job draws a bare coflow, a map-reduce job or a chain, and gives it the ids of acceptance.
func (g *generator) job() *controller.Job {
	j := &controller.Job{ID: g.jobs, FirstTask: g.tasks, FirstCoflow: g.coflow,
		Name:    fmt.Sprint("job", g.jobs),
		Arrival: time.Duration(g.rng.Int64N(int64(g.v.Now) + 1)), Weight: 1}
	if g.rng.IntN(2) == 0 {
		e := controller.Edge{Kind: controller.Fixed}
		for range 1 + g.rng.IntN(12) {
			e.Flows = append(e.Flows, controller.Flow{Src: g.host(), Dst: g.host(),
				Bytes: 1 + pathmap.Bytes(g.rng.Int64N(5e6))})
		}
		j.Edges = append(j.Edges, e)
	}
	for range g.rng.IntN(3) + min(1, 1-len(j.Edges)) {
		j.Stages = append(j.Stages, controller.Stage{Tasks: make([]controller.Task, 1+g.rng.IntN(4))})
	}
	for to := 1; to < len(j.Stages); to++ {
		j.Edges = append(j.Edges, controller.Edge{Kind: controller.ScatterGather, From: to - 1, To: to,
			Bytes: pathmap.Bytes(g.rng.Int64N(2e7))})
	}
	g.jobs++
	g.tasks += southbound.TaskID(j.Tasks())
	g.coflow += southbound.CoflowID(len(j.Edges))
	return j
}

// coflowsOf puts a job on hosts and its coflows into the view: routed or not, started or not, some host
// flows ended.
func (g *generator) coflowsOf(j *controller.Job) {
	hosts := make([]southbound.HostID, j.Tasks())
	for i := range hosts {
		hosts[i] = g.host()
	}
	for k := range j.Edges {
		c := controller.Expand(j, &j.Edges[k], hosts)
		if len(c.Src) == 0 {
			continue
		}
		n := len(c.Src)
		cv := controller.CoflowView{ID: j.FirstCoflow + southbound.CoflowID(k), Job: j.ID,
			Edge: int32(k), Arrival: j.Arrival,
			Weight: 1, Generation: g.v.Seed + 1, Flows: c.Flows,
			Src: c.Src, Dst: c.Dst, Size: c.Size, Ended: make([]bool, n), Tag: make([]southbound.Tag, n),
			Routed: g.rng.IntN(3) > 0, Remaining: southbound.Remaining{F: 1,
				Base: make([]float64, n), At: g.v.Now}}
		if cv.Routed && g.rng.IntN(3) > 0 {
			cv.Started, cv.Start = true, j.Arrival
		}
		for r := range n {
			g.row(&cv, r)
		}
		if slices.Contains(cv.Ended, false) {
			g.v.Coflows = append(g.v.Coflows, cv)
		}
	}
	if len(j.Stages) > 0 {
		g.v.Running = append(g.v.Running, controller.Running{Job: j, Hosts: hosts})
	}
}

func (g *generator) row(c *controller.CoflowView, r int) {
	c.Remaining.Base[r] = float64(c.Size[r])
	if c.Routed && g.v.HostRack(c.Src[r]) != g.v.HostRack(c.Dst[r]) {
		n := g.v.Paths.Paths(int(g.v.HostRack(c.Src[r])), int(g.v.HostRack(c.Dst[r])))
		c.Tag[r] = southbound.PathTag(g.rng.IntN(min(n, southbound.MaxPaths)))
	}
	if c.Started {
		c.Remaining.Base[r] *= g.rng.Float64()
		if c.Ended[r] = g.rng.IntN(4) == 0; c.Ended[r] {
			c.Remaining.Base[r] = 0
		}
	}
}

// ledger draws circuits and reservations: begun ones on disjoint ports, unbegun ones after them. Two racks are
// joined in one plane only.
func (g *generator) ledger() {
	v := g.v
	v.Circuits = make([]controller.CircuitView, v.Fabric.OCSPorts())
	for i := range v.Circuits {
		v.Circuits[i] = controller.CircuitView{Out: southbound.NoPort, Coflow: controller.AnyCoflow}
	}
	joined := map[[2]int]int{} // the first port of their plane
	for first := 0; first < len(v.Circuits); first += v.Fabric.Racks {
		g.plane(first, joined)
	}
	slices.SortFunc(v.Reserved, byInput)
}

// plane draws the circuits and reservations of a plane, whose ports begin with first.
func (g *generator) plane(first int, joined map[[2]int]int) {
	v, ports := g.v, g.v.Fabric.Racks
	inFree, outFree := make([]time.Duration, ports), make([]time.Duration, ports)
	elsewhere := func(in, out int) bool {
		p, ok := joined[[2]int{in, out}]
		return ok && p != first
	}
	out := g.rng.Perm(ports)
	for in := range ports {
		if in == out[in] || v.Fabric.OCSUplink[first+in] < 0 || v.Fabric.OCSUplink[first+out[in]] < 0 ||
			elsewhere(in, out[in]) || g.rng.IntN(2) == 0 {
			continue
		}
		joined[[2]int{in, out[in]}] = first
		c := &v.Circuits[first+in]
		c.Out, c.Phase, c.Since = southbound.Port(first+out[in]), controller.CircuitPhase(1+g.rng.IntN(2)), v.Now
		if id, ok := g.started(); ok && g.rng.IntN(3) > 0 {
			c.Held, c.Coflow, c.Until = true, id, v.Now+1+time.Duration(g.rng.Int64N(int64(time.Second)))
			v.Reserved = append(v.Reserved, controller.CircuitReservation{NotBefore: v.Now - time.Duration(
				g.rng.Int64N(int64(v.Now)+
					1)),
				NotAfter: c.Until, In: southbound.Port(first + in), Out: c.Out, Coflow: id})
			inFree[in], outFree[out[in]] = c.Until, c.Until
		}
	}
	for range g.rng.IntN(2 * ports) {
		in, o := g.rng.IntN(ports), g.rng.IntN(ports)
		id, ok := g.started()
		if in == o || !ok || v.Fabric.OCSUplink[first+in] < 0 || v.Fabric.OCSUplink[first+o] < 0 || elsewhere(in, o) {
			continue
		}
		joined[[2]int{in, o}] = first
		from := max(v.Now, inFree[in], outFree[o]) + time.Duration(g.rng.Int64N(int64(time.Second)))
		if g.rng.IntN(8) == 0 {
			from = max(v.Now, inFree[in], outFree[o]) // due now, where the ports are free, and not begun yet
		}
		to := from + v.Delta + time.Duration(g.rng.Int64N(int64(time.Second)))
		inFree[in], outFree[o] = to, to
		v.Reserved = append(v.Reserved, controller.CircuitReservation{NotBefore: from, NotAfter: to,
			In:  southbound.Port(first + in),
			Out: southbound.Port(first + o), Coflow: id, Fallback: controller.Fallback(g.rng.IntN(2))})
	}
}

// started draws a coflow that has started.
func (g *generator) started() (southbound.CoflowID, bool) {
	var ids []southbound.CoflowID
	for i := range g.v.Coflows {
		if g.v.Coflows[i].Started {
			ids = append(ids, g.v.Coflows[i].ID)
		}
	}
	if len(ids) == 0 {
		return 0, false
	}
	return ids[g.rng.IntN(len(ids))], true
}

// streams makes streams of some waiting jobs' edges, with groupings of theirs, and reserves a part of
// some links.
func (g *generator) streams() {
	rng := rand.New(rand.NewPCG(g.v.Seed, 0x13))
	for _, j := range g.v.Waiting {
		if len(j.Stages) < 3 || rng.IntN(2) == 0 {
			continue
		}
		for k := range j.Edges {
			j.Edges[k].Stream = j.Edges[k].Kind != controller.Fixed
		}
		if last := len(j.Edges) - 1; j.Edges[last].Stream && last > 0 && j.Edges[last-1].Stream {
			j.Edges[last].Kind = controller.Fields
			j.Edges[last-1].Kind = controller.Global
		}
	}
	if rng.IntN(4) == 0 {
		g.v.ReservedBandwidth = make([]pathmap.BitsPerSecond, len(g.v.Fabric.Topology.Links()))
		for l, link := range g.v.Fabric.Topology.Links() {
			g.v.ReservedBandwidth[l] = pathmap.BitsPerSecond(rng.Int64N(int64(controller.ReservableBandwidth(link.Capacity)) +
				1))
		}
	}
}

// deadlines gives some coflows one: of a stream of its own, so that the rest of a seed's view is what
// it was without.
func (g *generator) deadlines() {
	rng := rand.New(rand.NewPCG(g.v.Seed, 0x12))
	for i := range g.v.Coflows {
		if c := &g.v.Coflows[i]; rng.IntN(3) == 0 {
			c.Deadline = c.Arrival + time.Duration(1+rng.Int64N(int64(time.Minute)))
		}
	}
}

// lost takes a host or two away in some views, and with them tasks of jobs that run: of a stream of its own.
func (g *generator) lost() {
	rng := rand.New(rand.NewPCG(g.v.Seed, 0x13))
	if rng.IntN(4) > 0 {
		return
	}
	for range 1 + rng.IntN(2) {
		h := southbound.HostID(rng.IntN(len(g.v.Free)))
		if i, known := slices.BinarySearch(g.v.Lost, h); !known {
			g.v.Lost = slices.Insert(g.v.Lost, i, h)
		}
		g.v.Free[h] = 0
	}
	for range rng.IntN(3) {
		n := 1 + rng.IntN(4)
		j := &controller.Job{ID: g.jobs, FirstTask: g.tasks, FirstCoflow: g.coflow,
			Name:   fmt.Sprint("job", g.jobs),
			Weight: 1,
			Stages: []controller.Stage{{Tasks: make([]controller.Task, n)}, {Tasks: make([]controller.Task, 1)}},
			Edges:  []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 1e6}}}
		g.jobs, g.tasks, g.coflow = g.jobs+1, g.tasks+southbound.TaskID(n+1), g.coflow+1
		h := controller.Evicted{Job: j, Hosts: make([]southbound.HostID, n+1), Ended: make([]bool, n+1)}
		for t := range h.Hosts {
			h.Ended[t] = t < n && rng.IntN(2) == 0
			if h.Hosts[t] = southbound.HostID(rng.IntN(len(g.v.Free))); slices.Contains(g.v.Lost, h.Hosts[t]) ||
				rng.IntN(4) == 0 {
				h.Hosts[t] = controller.NoHost
			}
		}
		if slices.Contains(h.Hosts, controller.NoHost) {
			g.v.Evicted = append(g.v.Evicted, h)
		}
	}
}

// sizes gives tasks that are to be placed more slots than one in some views.
func (g *generator) sizes() {
	rng := rand.New(rand.NewPCG(g.v.Seed, 0x15))
	if rng.IntN(3) > 0 {
		return
	}
	grow := func(j *controller.Job) {
		for s := range j.Stages {
			for t := range j.Stages[s].Tasks {
				j.Stages[s].Tasks[t].Slots = int32(rng.IntN(4))
			}
		}
	}
	for _, j := range g.v.Waiting {
		grow(j)
	}
	for i := range g.v.Evicted {
		grow(g.v.Evicted[i].Job)
	}
}

// loads gives tasks that wait loads in place of sizes in some views, and hosts the vCPUs that they have
// left.
func (g *generator) loads() {
	rng := rand.New(rand.NewPCG(g.v.Seed, 0x16))
	if rng.IntN(3) > 0 {
		return
	}
	g.v.VCPUs = make([]int64, len(g.v.Free))
	for h := range g.v.VCPUs {
		if g.v.Free[h] > 0 {
			g.v.VCPUs[h] = rng.Int64N(int64(g.v.Fabric.VCPUs(h))*controller.MilliVCPUs + 1)
		}
	}
	for _, j := range g.v.Waiting {
		if rng.IntN(3) == 0 {
			j.Limits = &controller.Limits{Rack: 0.1 + 0.9*rng.Float64(), Center: 0.5, Energy: 1 + rng.Float64()}
		}
		for s := range j.Stages {
			stage := &j.Stages[s]
			for range rng.IntN(4) {
				stage.Efficiency = append(stage.Efficiency, float64(1+rng.IntN(10))/10)
			}
			for t := range stage.Tasks {
				if rng.IntN(4) > 0 {
					stage.Tasks[t].Slots, stage.Tasks[t].Load = 0, time.Duration(1+rng.Int64N(int64(time.Minute)))
				}
			}
		}
	}
}

// down darkens a cable or two of some views.
func (g *generator) down() {
	if g.rng.IntN(3) > 0 {
		return
	}
	g.v.Down = make([]bool, len(g.v.Fabric.Topology.Links()))
	for range 1 + g.rng.IntN(2) {
		l := pathmap.LinkID(g.rng.IntN(len(g.v.Down)))
		g.v.Down[l], g.v.Down[pathmap.Reverse(l)] = true, true
	}
	if rng := rand.New(rand.NewPCG(g.v.Seed, 0x14)); rng.IntN(2) == 0 { // one that went just now, or another that came
		g.v.Changed = make([]bool, len(g.v.Down))
		l := pathmap.LinkID(rng.IntN(len(g.v.Down)))
		if rng.IntN(2) == 0 {
			l = pathmap.LinkID(slices.Index(g.v.Down, true))
		}
		g.v.Changed[l], g.v.Changed[pathmap.Reverse(l)] = true, true
	}
}
