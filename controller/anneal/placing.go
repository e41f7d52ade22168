package anneal

import (
	"math/rand/v2"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// placing is the upper level: the hosts of one job's tasks. A neighbour differs in the host of one
// task, or of two that change places where the other host is full; the moved tasks' flows are given
// candidate paths by the lower level.
type placing struct {
	s     *NetworkState
	g     *graph
	host  []southbound.HostID
	free  []int32
	hosts []southbound.HostID // those with slots for the job

	of   []map[pairOfHosts]int32 // by edge of the graph: the position in live
	live []hostFlow
	flow *Dataflow
	low  *routing // the lower level, made anew for each of its runs
	laid []int32  // what open puts under choice: positions in live

	tally, gone []int32             // by host: zero but within put
	met         []southbound.HostID // those whose tally is not

	known   int64         // the utility that the lower level has found, or unknown
	fresh   []hostFlowKey // room for what a move makes
	journal []undo
	counts  Count // of the lower level
	best    saved
}

type hostFlowKey struct {
	edge     int32
	src, dst southbound.HostID
}

// pairOfHosts is the source and the destination in one word, which maps are fast with.
type pairOfHosts uint64

func (k *hostFlowKey) hosts() pairOfHosts { return pairOfHosts(k.src)<<32 | pairOfHosts(k.dst) }

// hostFlow is the pairs of tasks of one edge with the same two hosts: one flow.
type hostFlow struct {
	key hostFlowKey
	choice
}

// undo is one thing that a move did: a task left a host, or (task -1) a host flow ceased that went a path.
type undo struct {
	task int32
	host southbound.HostID
	key  hostFlowKey
	at   int32
}

type saved struct {
	host []southbound.HostID
	at   []candidateOf
}

type candidateOf struct {
	key hostFlowKey
	at  int32
}

func newPlacing(s *NetworkState, j *controller.Job, free []int32) *placing {
	return newPlacingOn(s, j, free, withSlots(free))
}

// withSlots returns the hosts with free slots.
func withSlots(free []int32) []southbound.HostID {
	some := 0
	for _, f := range free {
		some += int(min(max(f, 0), 1))
	}
	hosts := make([]southbound.HostID, 0, some)
	for h, f := range free {
		if f > 0 {
			hosts = append(hosts, southbound.HostID(h))
		}
	}
	return hosts
}

// newPlacingOn is newPlacing with the hosts that have free slots, which are borrowed.
func newPlacingOn(s *NetworkState, j *controller.Job, free []int32, hosts []southbound.HostID) *placing {
	p := &placing{s: s, g: newGraph(j), free: slices.Clone(free), hosts: hosts}
	p.of = make([]map[pairOfHosts]int32, len(p.g.edges))
	for k := range p.of {
		p.of[k] = map[pairOfHosts]int32{}
	}
	p.flow, p.low = newDataflow(s.net, j, p.g), newRouting(s)
	p.low.random = s.opt.Paper
	p.host = make([]southbound.HostID, len(p.g.stage))
	if len(s.net.byHost[0]) != len(free) {
		s.net.byHost = [2][]int32{make([]int32, len(free)), make([]int32, len(free))}
	}
	p.tally, p.gone = s.net.byHost[0], s.net.byHost[1]
	for t := range p.host {
		p.host[t] = -1
	}
	return p
}

// put gives a task a host (-1: none), and brings flows and sinks in line. New flows are on no way yet:
// fresh holds them.
func (p *placing) put(t int, h southbound.HostID, fresh *[]hostFlowKey) {
	from := p.host[t]
	for k := range p.g.edges {
		e := &p.g.edges[k]
		stage := int(p.g.stage[t])
		if stage != e.From && stage != e.To {
			continue
		}
		lo, hi := p.g.partners(e, t)
		p.meet(lo, hi)
		for _, other := range p.host[lo:hi] {
			if other < 0 || from < 0 {
				continue
			}
			// With the last of its tasks goes all that a host has, as if they had gone one by one.
			if p.gone[other]++; p.gone[other] == p.tally[other] {
				p.pair(keyOf(k, e, stage, from, other), -p.tally[other], fresh)
				p.gone[other] = 0
			}
		}
		for _, other := range p.met {
			if h >= 0 {
				p.pair(keyOf(k, e, stage, h, other), p.tally[other], fresh)
			}
			p.tally[other] = 0
		}
	}
	if sink := p.g.sink[p.g.stage[t]]; sink >= 0 {
		p.count(sink, from, -1)
		p.count(sink, h, +1)
	}
	if from >= 0 {
		p.free[from] += p.g.need(t)
	}
	if h >= 0 {
		p.free[h] -= p.g.need(t)
	}
	p.host[t] = h
}

// meet counts tasks by host: what a wide stage has on one host comes and goes at once.
func (p *placing) meet(lo, hi int) {
	p.met = p.met[:0]
	for _, h := range p.host[lo:hi] {
		if h < 0 {
			continue
		}
		if p.tally[h] == 0 {
			p.met = append(p.met, h)
		}
		p.tally[h]++
	}
}

func keyOf(k int, e *controller.Edge, stage int, mine, other southbound.HostID) hostFlowKey {
	if stage == e.From {
		return hostFlowKey{int32(k), mine, other}
	}
	return hostFlowKey{int32(k), other, mine}
}

func (p *placing) count(sink int32, h southbound.HostID, by int32) {
	if h >= 0 {
		p.s.net.count(p.flow.sinks(p.s, sink, h), by)
	}
}

// pair adds or takes away pairs of tasks between two hosts, and with the first or last of them the flow.
func (p *placing) pair(k hostFlowKey, by int32, fresh *[]hostFlowKey) {
	p.s.net.work++
	if k.src == k.dst {
		return
	}
	net := p.s.net
	of, at := p.of[k.edge], k.hosts()
	i, ok := of[at]
	if !ok {
		i = int32(len(p.live))
		of[at] = i
		b := hostFlow{k, choice{flow: net.addFlow(p.flow.group(p.s, p.g.index[k.edge], k.dst)),
			src: k.src, dst: k.dst}}
		b.candidates, b.at = p.s.topology.Candidates(k.src, k.dst), -1
		net.flows[b.flow].pairs = by
		p.live = append(p.live, b)
		*fresh = append(*fresh, k)
		return
	}
	b := &p.live[i]
	n := net.flows[b.flow].pairs + by
	if n > 0 {
		net.setPairs(b.flow, n)
		return
	}
	if b.at >= 0 {
		p.journal = append(p.journal, undo{task: -1, key: k, at: b.at})
	}
	p.s.takeOff(&b.choice)
	net.removeFlow(b.flow)
	delete(of, at)
	last := int32(len(p.live) - 1)
	if i != last {
		p.live[i] = p.live[last]
		moved := &p.live[i].key
		p.of[moved.edge][moved.hosts()] = i
	}
	p.live = p.live[:last]
}

// open gives flows that are on no way one: the widest, or in mode paper any; and lets the lower level
// improve on it: in mode paper with as many restarts as the upper level has, since Algorithm 1 is both.
func (p *placing) open(fresh []hostFlowKey, steps int, rng *rand.Rand) {
	r, at := p.low.again(), p.laid[:0]
	for _, k := range fresh {
		i, ok := p.of[k.edge][k.hosts()]
		if !ok || p.live[i].at >= 0 {
			continue // it came and went within one move, or came twice
		}
		b := &p.live[i]
		if b.at = 0; len(b.candidates) > 1 && (p.s.opt.Paper || p.s.opt.Blind) {
			b.at = int32(rng.IntN(len(b.candidates)))
		} else if len(b.candidates) > 1 {
			b.at = p.s.widest(b.candidates)
		}
		p.s.layOut(&b.choice)
		r.take(b.choice)
		at = append(at, i)
	}
	if p.s.opt.Paper && !p.s.opt.Blind {
		at = p.redraw(r, at, rng)
	}
	p.laid = at
	restarts := 1
	if p.s.opt.Paper {
		restarts = p.s.opt.Restarts
	}
	p.counts.Add(r.anneal(restarts, min(steps, 8*len(r.choices)), rng))
	p.known = unknown
	if r.waits != nil {
		p.known = r.waits.known
	}
	for k, i := range at {
		p.live[i].at, p.live[i].settled = r.all[k].at, r.all[k].settled
	}
}

// redraw also puts all other host flows up for choice, each on a random path: as printed, the lower
// level restarts for all pairs of hosts at every step of the upper one.
func (p *placing) redraw(r *routing, at []int32, rng *rand.Rand) []int32 {
	taken := make([]bool, len(p.live))
	for _, i := range at {
		taken[i] = true
	}
	for i := range p.live {
		if b := &p.live[i]; !taken[i] {
			p.setPath(b.key, int32(rng.IntN(len(b.candidates))))
			r.take(b.choice)
			at = append(at, int32(i))
		}
	}
	return at
}

// localSearch lets every host flow of the job take its best path in turn.
func (p *placing) localSearch() {
	r := p.low.again()
	for i := range p.live {
		r.take(p.live[i].choice)
	}
	p.counts.Add(r.localSearch())
	for i := range p.live {
		p.live[i].at = r.all[i].at
	}
}

// setPath sends a live host flow over a path.
func (p *placing) setPath(k hostFlowKey, at int32) {
	b := &p.live[p.of[k.edge][k.hosts()]]
	switch {
	case b.at == at:
	case b.at < 0:
		b.at = at
		p.s.layOut(&b.choice)
	default:
		p.s.turn(&b.choice, at)
	}
}
