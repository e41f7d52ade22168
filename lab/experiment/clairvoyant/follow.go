package clairvoyant

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/policy"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/joint"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/share"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// plan is a whole schedule, made before the run with all jobs known: where tasks go, and which coflow
// goes first.
type plan struct {
	hosts  [][]southbound.HostID // by job and task
	weight []float64             // by coflow: its rank is T(C) over this
	least  float64               // pairs whose bytes packets send within so many reconfiguration delays get no circuit
}

func (p *plan) clone() *plan {
	c := &plan{weight: slices.Clone(p.weight), least: p.least}
	for _, h := range p.hosts {
		c.hosts = append(c.hosts, slices.Clone(h))
	}
	return c
}

// policy follows a plan, with joint's routes and the share of all that it is compared with.
func (p *plan) policy() controller.Policy {
	_, _, r := joint.NewJoint(anneal.Options{})
	r.Options = joint.BesideCircuits(r.Options)
	c := circuits.Sunflow{Weight: func(c southbound.CoflowID) float64 { return p.weight[c] }}
	return policy.Compose(placer{p}, lighter{c.Remembering(), p.least}, r, new(share.TCP))
}

// lighter is Sunflow with a threshold of its own.
type lighter struct {
	circuits.Sunflow
	least float64
}

// Fill implements policy.Part.
func (l lighter) Fill(v *controller.View, ev []controller.Event, p *controller.Plan) {
	own := *v
	own.ElephantThreshold = max(1, pathmap.Bytes(l.least*float64(v.Fabric.Spec.EPS)/8*v.Delta.Seconds()))
	l.Sunflow.Fill(&own, ev, p)
}

// placer puts tasks where the plan has them. Where another task is, it takes a host of the same rack,
// or else one of the rack with the most free slots.
type placer struct{ *plan }

// Wants implements the part's list of events.
func (placer) Wants() controller.KindSet { return place.Wants() }

// Fill implements policy.Part.
func (x placer) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	free := slices.Clone(v.Free)
	for _, j := range place.Admit(v) {
		p.Place = append(p.Place, controller.Placement{Job: j.ID, Hosts: settle(v, x.hosts[j.ID], free)})
	}
}

// settle returns hosts near those wished for, and takes their slots.
func settle(v *controller.View, wish []southbound.HostID, free []int32) []southbound.HostID {
	hosts := slices.Repeat([]southbound.HostID{controller.NoHost}, len(wish))
	for t, h := range wish {
		if free[h] > 0 {
			free[h]--
			hosts[t] = h
		}
	}
	for t, h := range wish {
		if hosts[t] != controller.NoHost {
			continue
		}
		r := v.HostRack(h)
		room := func(r southbound.RackID) int {
			return place.Slots(free[v.Fabric.FirstHost[r]:v.Fabric.FirstHost[r+1]])
		}
		if room(r) == 0 {
			for o := range southbound.RackID(v.Fabric.Racks) {
				if room(o) > room(r) {
					r = o
				}
			}
		}
		first := v.Fabric.FirstHost[r]
		mine := free[first:v.Fabric.FirstHost[r+1]]
		at := southbound.HostID(first) + southbound.HostID(slices.Index(mine,
			slices.MaxFunc(mine, cmp.Compare[int32])))
		free[at]--
		hosts[t] = at
	}
	return hosts
}
