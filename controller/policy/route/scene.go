package route

import (
	"slices"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// NewNetworkState returns the network of a view with what runs on it: every host flow of a routed
// coflow that has not ended, started or still waiting for its stage, on the path of its tag or, where
// its circuit is lit, on the circuit.
func NewNetworkState(v *controller.View, opt anneal.Options, cache *anneal.PathCache) *NetworkState {
	c := &carrier{v: v, topology: anneal.NewTopologyContext(v.Fabric, v.Paths, v.Down, cache)}
	c.topology.Withhold(v.ReservedBandwidth)
	s := &NetworkState{anneal.NewNetworkState(c.topology, opt),
		make(map[controller.JobID]*anneal.Dataflow, len(v.Running))}
	for _, r := range v.Running {
		s.flows[r.Job.ID] = s.Dataflow(r.Job, r.Hosts)
	}
	s.Expect(hostFlows(v))
	for i := range v.Coflows {
		if cf := &v.Coflows[i]; cf.Routed {
			c.room = c.room[:0]
			rows, links := make([]anneal.HostFlow, len(cf.Src)), make([][]pathmap.LinkID, len(cf.Src))
			for r := range rows {
				rows[r] = anneal.HostFlow{Src: cf.Src[r], Dst: cf.Dst[r]}
				if cf.Flows != nil {
					rows[r].Flows = cf.Flows[r]
				}
				if !cf.Ended[r] {
					links[r] = c.links(cf, r)
				}
			}
			s.Run(anneal.Coflow{Rows: rows, Of: s.flows[graphOf(cf)], Edge: int(cf.Edge)}, links)
		}
	}
	return s
}

// hostFlows counts those on the network.
func hostFlows(v *controller.View) int {
	n := 0
	for i := range v.Coflows {
		if v.Coflows[i].Routed {
			n += len(v.Coflows[i].Src)
		}
	}
	return n
}

// NetworkState is the annealer's network of a view, and the jobs on it.
type NetworkState struct {
	*anneal.NetworkState
	flows map[controller.JobID]*anneal.Dataflow // those with stages
}

// enter brings in the jobs that a plan places, without their flows.
func (s *NetworkState) enter(v *controller.View, p *controller.Plan) {
	for _, pl := range p.Place {
		i := slices.IndexFunc(v.Waiting, func(j *controller.Job) bool { return j.ID == pl.Job })
		if i >= 0 && len(v.Waiting[i].Stages) > 0 {
			s.flows[pl.Job] = s.Dataflow(v.Waiting[i], pl.Hosts)
		}
	}
}

// carrier finds the links that a host flow is on.
type carrier struct {
	v        *controller.View
	topology *anneal.TopologyContext
	room     []pathmap.LinkID // for the links of one coflow
}

func (c *carrier) links(cf *controller.CoflowView, row int) []pathmap.LinkID {
	src, dst := cf.Src[row], cf.Dst[row]
	up, down := HostLinks(c.v, src, dst)
	at := len(c.room)
	links := append(c.room, up)
	s, d := c.v.HostRack(src), c.v.HostRack(dst)
	switch {
	case s == d:
	case OnCircuit(c.v, cf.ID, s, d):
		in, out := CircuitLinks(c.v, s, d)
		links = append(links, in, out)
	default:
		if all, i := c.topology.All(src, dst), PathOf(cf.Tag[row]); i < len(all) {
			links = append(links, all[i].Links...)
		}
	}
	c.room = append(links, down)
	return c.room[at:len(c.room):len(c.room)]
}

// PathOf returns the path map's index for a packet tag: the default is its first path.
func PathOf(t southbound.Tag) int {
	i, _ := t.Path()
	return i
}

// OnCircuit reports whether the host flows of a coflow between two racks are on a circuit now: it is
// lit, and a begun reservation for them holds it.
func OnCircuit(v *controller.View, c southbound.CoflowID, s, d southbound.RackID) bool {
	for in := int(s); in < len(v.Circuits); in += v.Fabric.Racks {
		at := &v.Circuits[in]
		if at.Phase == controller.InService && at.Held && leadsTo(v, at.Out, d) &&
			(at.Coflow == c || at.Coflow == controller.AnyCoflow) {
			return true
		}
	}
	return false
}

// leadsTo reports whether an output is of a rack. A circuit of a pod leaves the plane of its input.
func leadsTo(v *controller.View, out southbound.Port, d southbound.RackID) bool {
	return out != southbound.NoPort && southbound.RackID(v.Fabric.OCSRack(int32(out))) == d
}

// HostLinks returns the link into the network of one host and the link out of it of another.
func HostLinks(v *controller.View, src, dst southbound.HostID) (up, down pathmap.LinkID) {
	t := v.Fabric.Topology
	return t.Out(v.Fabric.HostNode[src])[0], pathmap.Reverse(t.Out(v.Fabric.HostNode[dst])[0])
}

// CircuitLinks returns the links between two racks and the optical switch: into it and out of it. With
// several wavelengths they are those of the wavelength whose circuit leads from one rack to the other,
// or of the first if none does.
func CircuitLinks(v *controller.View, s, d southbound.RackID) (in, out pathmap.LinkID) {
	t, n := v.Fabric.Topology, v.Fabric.Racks
	up := v.Fabric.OCSUplink
	if v.Fabric.Spec.Pod() {
		for in := int(s); in < len(v.Circuits); in += n {
			if at := &v.Circuits[in]; at.Phase == controller.InService && leadsTo(v, at.Out, d) {
				return t.OutPort(v.Fabric.ToRNode[s], up[in]), pathmap.Reverse(t.OutPort(v.Fabric.ToRNode[d], up[at.Out]))
			}
		}
	}
	w := 0 // of the wavelength's first port
	for k := n; int(s)+k < len(v.Circuits); k += n {
		joins := up[int(s)+k] >= 0 && up[int(d)+k] >= 0
		if joins && (up[int(s)+w] < 0 || up[int(d)+w] < 0) || v.Circuits[int(s)+k].Out == southbound.Port(int(d)+k) {
			w = k
		}
	}
	return t.OutPort(v.Fabric.ToRNode[s], up[int(s)+w]),
		pathmap.Reverse(t.OutPort(v.Fabric.ToRNode[d], up[int(d)+w]))
}
