package place

import (
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/guideline"
	"lightloom/southbound"
)

// Reads completes the placements of all other parts: each task that is placed in a rack without a copy of its block
// reads it over the network, from the rack with a copy out of which the fewest other tasks read; among equals from the
// first. Parts that place blocks themselves have said which tasks those are; for others blocks lie where the job says,
// or on racks drawn at random.
type Reads struct {
	Beside bool // they take the time that the job says for that, beside the network

	cache blockCache
}

// Wants implements the part's list of events: it only completes what others place.
func (*Reads) Wants() controller.KindSet { return 0 }

// Fill completes placements.
func (r *Reads) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	from := NewSources(v)
	for i := range p.Place {
		pl := &p.Place[i]
		if r.Beside {
			pl.ReadFrom = nil
			continue
		}
		if pl.NonLocal != nil {
			continue // the part knows where blocks are
		}
		j, fresh := placing(v, pl)
		if j == nil || !j.ReadsBlocks() {
			continue
		}
		blocks := r.cache.of(j.ID, func() []southbound.RackID { return scatter(v, j) })
		far(v, pl, j, blocks, fresh)
		from.choose(pl, j, blocks)
	}
}

// placing finds the job of a placement, and which of its tasks the placement has begin on a host.
func placing(v *controller.View, p *controller.Placement) (*controller.Job, func(task int) bool) {
	moves := func(t int) bool {
		_, moves := slices.BinarySearch(p.Move, int32(t))
		return moves
	}
	for _, j := range v.Waiting {
		if j.ID == p.Job {
			return j, func(t int) bool { return p.Hosts[t] != controller.NoHost }
		}
	}
	for i := range v.Evicted {
		if e := &v.Evicted[i]; e.Job.ID == p.Job {
			return e.Job, func(t int) bool { return e.Hosts[t] == controller.NoHost && !e.Ended[t] }
		}
	}
	for i := range v.Partial {
		if e := &v.Partial[i]; e.Job.ID == p.Job {
			return e.Job, func(t int) bool {
				return e.Hosts[t] == controller.NoHost && p.Hosts[t] != controller.NoHost && e.Tasks[t].Ended < 0
			}
		}
	}
	for i := range v.Running {
		if e := &v.Running[i]; e.Job.ID == p.Job {
			return e.Job, moves
		}
	}
	return nil, nil
}

// far notes the tasks that begin in a rack without a copy of their block. Those that streams hold read nothing.
func far(v *controller.View, p *controller.Placement, j *controller.Job, blocks []southbound.RackID,
	fresh func(task int) bool) {
	streaming := j.Streaming()
	t := 0
	for s := range j.Stages {
		for i := range j.Stages[s].Tasks {
			if j.Stages[s].Tasks[i].Input > 0 && !streaming[s] && fresh(t) &&
				!slices.Contains(blocks[guideline.Replicas*t:guideline.Replicas*(t+1)], v.HostRack(p.Hosts[t])) {
				p.NonLocal = append(p.NonLocal, int32(t))
			}
			t++
		}
	}
}

// Sources chooses where tasks read from that have no copy of their block in their rack.
type Sources struct {
	v    *controller.View
	busy []int // by rack: tasks that read from it; nil before the first is asked for
}

// NewSources returns the sources of one decision.
func NewSources(v *controller.View) *Sources { return &Sources{v: v} }

// Clone returns the same sources, which count apart from now on.
func (x *Sources) Clone() *Sources {
	if x.busy == nil {
		x.count()
	}
	return &Sources{x.v, slices.Clone(x.busy)}
}

// Next is the host that a task reads from, one more of those out of its rack; NoHost where all copies are lost.
func (x *Sources) Next(task southbound.TaskID, racks []southbound.RackID) southbound.HostID {
	if x.busy == nil {
		x.count()
	}
	from := x.best(task, racks)
	if from != controller.NoHost {
		x.busy[x.v.HostRack(from)]++
	}
	return from
}

// choose has each task of a placement that has no copy of its block in its rack read one over the network.
func (x *Sources) choose(p *controller.Placement, j *controller.Job, blocks []southbound.RackID) {
	if len(p.NonLocal) == 0 {
		p.NonLocal = []int32{} // the part knows where blocks are, and none is far
		return
	}
	p.ReadFrom = make([]southbound.HostID, len(p.NonLocal))
	for k, t := range p.NonLocal {
		p.ReadFrom[k] = x.Next(j.FirstTask+southbound.TaskID(t),
			blocks[guideline.Replicas*int(t):guideline.Replicas*int(t+1)])
	}
}

// count counts the tasks that read now.
func (x *Sources) count() {
	x.busy = make([]int, x.v.Fabric.Racks)
	for i := range x.v.Coflows {
		c := &x.v.Coflows[i]
		for r := 0; c.Block && r < len(c.Src); r++ {
			if !c.Ended[r] {
				x.busy[x.v.HostRack(c.Src[r])] += int(c.Flows[r])
			}
		}
	}
}

// best is the host that a task reads from, and counts nothing.
func (x *Sources) best(task southbound.TaskID, racks []southbound.RackID) southbound.HostID {
	best, host := -1, controller.NoHost
	for _, r := range racks {
		if best >= 0 && x.busy[r] >= x.busy[best] {
			continue
		}
		if h := controller.BlockHost(x.v.Fabric, task, r, x.v.Lost); h != controller.NoHost {
			best, host = int(r), h
		}
	}
	return host
}
