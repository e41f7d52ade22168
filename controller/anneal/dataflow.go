package anneal

import (
	"lightloom/controller"
	"lightloom/southbound"
)

// Dataflow is one job on a network: which of its stages are sinks, and which groups its flows belong to.
type Dataflow struct {
	job  int32
	edge []int32 // by edge of the job: its group, or ^(sink stage) where it leads to sinks; none where it is left out
	at   map[sinkKey]int32
	rest int32 // the group of flows that count for no sink, such as a stage's to itself; none before there is one
}

type sinkKey struct {
	stage int32 // among the job's sink stages
	host  southbound.HostID
}

// none marks an edge without flows.
const none = int32(1) << 30

// Dataflow enters a running job, whose tasks are on those hosts, by task; its flows come with Run.
func (s *NetworkState) Dataflow(j *controller.Job, hosts []southbound.HostID) *Dataflow {
	g := newGraph(j)
	d := newDataflow(s.net, j, g)
	for t, h := range hosts {
		if k := g.sink[g.stage[t]]; k >= 0 && h >= 0 {
			s.net.count(d.sinks(s, k, h), +1)
		}
	}
	return d
}

// newDataflow enters a job without sinks.
func newDataflow(n *network, j *controller.Job, g *graph) *Dataflow {
	d := &Dataflow{job: n.addJob(g.sinks), edge: make([]int32, len(j.Edges)),
		at: map[sinkKey]int32{}, rest: none}
	for i := range d.edge {
		d.edge[i] = none
	}
	for k, e := range g.edges {
		if sink := g.sink[e.To]; sink >= 0 {
			d.edge[g.index[k]] = ^sink
		} else {
			d.edge[g.index[k]] = n.addGroup(d.job)
		}
	}
	for s, sink := range g.sink {
		if sink < 0 {
			continue
		}
		up, st := g.upstream(s), &n.jobs[d.job].stages[sink]
		for k, e := range g.edges {
			if up[e.To] {
				st.up = append(st.up, d.edge[g.index[k]])
			}
		}
	}
	return d
}

// bare enters a coflow that belongs to no graph: every receiver is a sink.
func (s *NetworkState) bare(rows []HostFlow) *Dataflow {
	d := &Dataflow{job: s.net.addJob(1), edge: []int32{^0}, at: map[sinkKey]int32{}, rest: none}
	for i, b := range rows {
		if i == 0 || b.Dst != rows[i-1].Dst {
			s.net.count(d.sinks(s, 0, b.Dst), +1)
		}
	}
	return d
}

// sinks returns those of a sink stage on a host.
func (d *Dataflow) sinks(s *NetworkState, stage int32, h southbound.HostID) int32 {
	key := sinkKey{stage, h}
	k, ok := d.at[key]
	if !ok {
		k = s.net.addSinks(d.job, stage, s.topology.local(h))
		d.at[key] = k
	}
	return k
}

// group returns the group of an edge's flows to a host.
func (d *Dataflow) group(s *NetworkState, edge int, dst southbound.HostID) int32 {
	switch g := d.edge[edge]; {
	case g < 0:
		return s.net.sinks[d.sinks(s, ^g, dst)].group
	case g != none:
		return g
	case d.rest == none:
		d.rest = s.net.addGroup(d.job)
	}
	return d.rest
}
