package anneal

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"lightloom/controller"
	"lightloom/southbound"
)

// Placed is where a job's tasks go and which paths its host flows take.
type Placed struct {
	Hosts []southbound.HostID // by task
	Place Count               // moves of the upper level
	Route Count               // of the lower one
	Why   []TaskWhy           // by task, where Options.Explain is set
	paths map[hostFlowKey]int
}

// PathOf returns the path map's index for the host flow of an edge (by its place in the job) between
// two hosts; -1 if there is no such host flow.
func (p *Placed) PathOf(edge int, src, dst southbound.HostID) int {
	if w, ok := p.paths[hostFlowKey{int32(edge), src, dst}]; ok {
		return w
	}
	return -1
}

// Place decides for one job and leaves its flows on the network. Free are the slots, by host; there
// must be enough.
func (s *NetworkState) Place(j *controller.Job, free []int32, rng *rand.Rand) Placed {
	if j.Tasks() == 0 {
		return Placed{}
	}
	before := s.Utility()
	p, counts := s.attempts(j, free, rng)
	s.topology.cache.putSpare(s.net)
	s.net = p.s.net
	var why []TaskWhy
	if s.opt.Explain {
		why = p.explain(before, rand.New(rand.NewPCG(uint64(j.ID), 0x776879)))
	}
	out := Placed{Why: why, Hosts: p.host, Place: counts, Route: p.counts, paths: map[hostFlowKey]int{}}
	for i := range p.live {
		b := &p.live[i]
		out.paths[hostFlowKey{int32(p.g.index[b.key.edge]), b.key.src, b.key.dst}] = b.current().Path
	}
	return out
}

// attempts runs all restarts, each on a network and with random numbers of its own, several at a time,
// and returns the best of them after its last pass: the last among equals, as printed. The first, which
// begins packed, so wins by worth alone: servers that share nothing serve more than the utility tells.
// How many processors there are changes nothing.
func (s *NetworkState) attempts(j *controller.Job, free []int32, rng *rand.Rand) (*placing, Count) {
	all := make([]*placing, s.opt.Restarts)
	counts := make([]Count, len(all))
	rngs := make([]*rand.PCG, len(all))
	for r := range all {
		rngs[r] = rand.NewPCG(rng.Uint64(), rng.Uint64())
	}
	if len(newGraph(j).edges) == 0 { // nothing to gain
		p := newPlacing(s.clone(1), j, free)
		p.Reset(1, rand.New(rngs[0]))
		return p, Count{}
	}
	hosts := withSlots(free)
	each(len(all), func(r int) {
		all[r], counts[r] = s.attempt(j, free, hosts, r, rngs[r])
	})
	best, sum, lower := 0, Count{}, Count{}
	for r, p := range all {
		sum.Add(counts[r])
		lower.Add(p.counts)
		if u, most := p.Utility(), all[best].Utility(); u >= most {
			best = r
		}
	}
	p := all[best]
	for _, o := range all {
		if o != p {
			s.topology.cache.putSpare(o.s.net)
		}
	}
	p.counts = lower
	p.s.begin(len(all))
	sum.Add(p.improve(rand.New(rngs[best])))
	return p, sum
}

// attempt runs one restart. In mode paper it runs on a network that waits. As soon as that would count more work
// than is allowed, at its pace so far, it runs again on one that does not, which is always right.
func (s *NetworkState) attempt(j *controller.Job, free []int32, hosts []southbound.HostID, r int,
	rng *rand.PCG) (*placing, Count) {
	o := s.opt
	by := Schedule{Restarts: 1, First: r, Steps: o.Steps, Start: o.Start, End: o.End, Paper: o.Paper}
	if o.Paper && !o.Blind {
		p, again := newPlacingOn(s.clone(o.Restarts), j, free, hosts), *rng
		p.s.postpone()
		count := Run(p, by, rand.New(&again))
		if !p.Spent() {
			p.settle()
			p.s.later = nil
			return p, count
		}
	}
	p := newPlacingOn(s.clone(o.Restarts), j, free, hosts)
	return p, Run(p, by, rand.New(rng))
}

// each calls do for 0 to n-1, as many at once as there are processors.
func each(n int, do func(i int)) {
	var wg sync.WaitGroup
	var next atomic.Int32
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

// Reset implements Problem. The first restart begins packed into the racks with the most slots, the
// others anywhere.
func (p *placing) Reset(restart int, rng *rand.Rand) {
	var fresh []hostFlowKey
	for t := range p.host {
		if p.host[t] >= 0 {
			p.put(t, -1, &fresh)
		}
	}
	packed := restart == 0 && !p.s.opt.Paper
	switch {
	case packed && p.g.sizes != nil:
		p.pack(p.all(), p.packed(), &fresh)
	case packed:
		order := p.packed()
		for t := range p.host {
			for p.free[order[0]] == 0 {
				order = order[1:]
			}
			p.put(t, order[0], &fresh)
		}
	default:
		p.scatter(p.all(), rng, &fresh)
	}
	p.open(fresh, p.s.opt.RouteSteps, rng)
	p.journal = p.journal[:0]
}

// packed returns the hosts with slots, those of racks with more of them first.
func (p *placing) packed() []southbound.HostID {
	slots := make([]int32, p.s.topology.fabric.Racks)
	var racks []int32
	for _, h := range p.hosts {
		r := p.rack(h)
		if slots[r] == 0 {
			racks = append(racks, r)
		}
		slots[r] += p.free[h]
	}
	slices.SortFunc(racks, func(a, b int32) int { return cmp.Or(cmp.Compare(slots[b], slots[a]), cmp.Compare(a, b)) })
	order := make([]southbound.HostID, 0, len(p.hosts))
	for _, r := range racks {
		order = append(order, p.hostsOf(r)...)
	}
	return order
}

// hostsOf returns the hosts of a rack with slots for the job.
func (p *placing) hostsOf(rack int32) []southbound.HostID {
	fabric := p.s.topology.fabric
	first, _ := slices.BinarySearch(p.hosts, southbound.HostID(fabric.FirstHost[rack]))
	end, _ := slices.BinarySearch(p.hosts, southbound.HostID(fabric.FirstHost[rack+1]))
	return p.hosts[first:end]
}

func (p *placing) rack(h southbound.HostID) int32 { return p.s.topology.rack[h] }

// any draws a host with at least need free slots; -1 if there is none.
func (p *placing) any(need int32, rng *rand.Rand) southbound.HostID {
	at := rng.IntN(len(p.hosts))
	for k := range p.hosts {
		if h := p.hosts[(at+k)%len(p.hosts)]; p.free[h] >= need {
			return h
		}
	}
	return -1
}

// Move implements Problem.
func (p *placing) Move(rng *rand.Rand) bool {
	if len(p.hosts) < 2 {
		return false
	}
	t := p.g.pick(p.s.opt.Uniform, rng)
	h := p.host[t]
	if p.s.opt.Near > 0 && rng.Float64() < p.s.opt.Near {
		h = p.near(t, rng)
	}
	for h == p.host[t] {
		h = p.hosts[rng.IntN(len(p.hosts))]
	}
	p.shift(t, h, p.s.opt.RouteSteps, rng)
	if p.s.later != nil {
		p.s.later.done++
	}
	return true
}

// near draws a host of the rack of a task that t talks to; t's own host if that has no slots for the job.
func (p *placing) near(t int, rng *rand.Rand) southbound.HostID {
	var mine []int
	for k := range p.g.edges {
		if e := &p.g.edges[k]; int(p.g.stage[t]) == e.From || int(p.g.stage[t]) == e.To {
			mine = append(mine, k)
		}
	}
	if len(mine) == 0 {
		return p.host[t]
	}
	lo, hi := p.g.partners(&p.g.edges[mine[rng.IntN(len(mine))]], t)
	if lo == hi {
		return p.host[t]
	}
	partner := p.host[lo+rng.IntN(hi-lo)]
	if partner < 0 {
		return p.host[t]
	}
	mates := p.hostsOf(p.rack(partner))
	if len(mates) == 0 {
		return p.host[t]
	}
	return mates[rng.IntN(len(mates))]
}

// shift moves a task to a host; where that is full, one of the job's tasks there takes its place.
func (p *placing) shift(t int, h southbound.HostID, steps int, rng *rand.Rand) {
	p.journal, p.known = p.journal[:0], unknown
	if p.s.opt.Paper {
		for i := range p.live {
			p.journal = append(p.journal, undo{task: -1, key: p.live[i].key, at: p.live[i].at})
		}
	}
	fresh := p.fresh[:0]
	if p.free[h] < p.g.need(t) {
		u := p.resident(t, h, rng)
		if u < 0 {
			p.fresh = fresh
			return // no task there could change places with this one
		}
		p.journal = append(p.journal, undo{task: int32(u), host: h})
		p.put(u, p.host[t], &fresh)
	}
	p.journal = append(p.journal, undo{task: int32(t), host: p.host[t]})
	p.put(t, h, &fresh)
	p.open(fresh, steps, rng)
	p.fresh = fresh
}

// resident draws a task of the job on a host, of another stage than t's where there is one.
func (p *placing) resident(t int, h southbound.HostID, rng *rand.Rand) int {
	found, n, other := -1, 0, false
	for u, at := range p.host {
		if at != h || !p.swaps(t, u) {
			continue
		}
		switch differs := p.g.stage[u] != p.g.stage[t]; {
		case differs && !other:
			found, n, other = u, 1, true
		case differs == other:
			if n++; rng.IntN(n) == 0 {
				found = u
			}
		}
	}
	if found < 0 && p.g.sizes == nil {
		panic("anneal: a full host holds no task of the job")
	}
	return found
}

// Undo implements Problem: tasks go back where they stood, and host flows that ceased go the path they went.
func (p *placing) Undo() {
	p.known = unknown
	n := len(p.journal)
	fresh := p.fresh[:0]
	for i := n - 1; i >= 0; i-- {
		if u := p.journal[i]; u.task >= 0 {
			p.put(int(u.task), u.host, &fresh)
		}
	}
	for i := n - 1; i >= 0; i-- {
		if u := p.journal[i]; u.task < 0 {
			p.setPath(u.key, u.at)
		}
	}
	p.journal = p.journal[:0]
}

// Utility implements Problem.
func (p *placing) Utility() int64 {
	if p.s.later != nil && p.known != unknown {
		return p.known
	}
	p.settle()
	return p.s.net.value()
}

// settle brings the network in line with the paths.
func (p *placing) settle() {
	if p.s.later == nil {
		return
	}
	for i := range p.live {
		p.s.due(&p.live[i].choice)
	}
	p.s.settle()
}

// Save implements Problem.
func (p *placing) Save() {
	p.best.host = append(p.best.host[:0], p.host...)
	p.best.at = p.best.at[:0]
	for i := range p.live {
		p.best.at = append(p.best.at, candidateOf{p.live[i].key, p.live[i].at})
	}
}

// Restore implements Problem.
func (p *placing) Restore() {
	p.known = unknown
	var fresh []hostFlowKey
	for t, h := range p.best.host {
		if p.host[t] != h {
			p.put(t, h, &fresh)
		}
	}
	for _, w := range p.best.at {
		p.setPath(w.key, w.at)
	}
	p.journal = p.journal[:0]
}

// Spent implements Problem. A run that waits also ends as soon as it is bound to be repeated.
func (p *placing) Spent() bool {
	y := p.s.later
	return y != nil && y.hopeless(p.s.net.work, p.s.end) || p.s.spent()
}
