package sunflowsim

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Packets is one of the algorithms that set rates, of host flows over packets. They do so when a coflow
// comes or ends, and at no other time: what a host flow frees that ends before is idle.
type Packets struct {
	roster
	rates  func(p *Packets, free []int64) map[southbound.CoflowID][]int64 // by row that is left, bits a second
	queues [queues][]southbound.CoflowID                                  // of Aalo
	answer southbound.Rates
}

// Wants implements the part's list of events.
func (*Packets) Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted, controller.CoflowEnded)
}

// Fill sets the rates of all coflows. Where the fabric is no big switch of packets it leaves them as
// they are.
func (p *Packets) Fill(v *controller.View, _ []controller.Event, plan *controller.Plan) {
	if v.Fabric.Spec.Kind != topo.Crossbar || v.Fabric.HasOCS() {
		return
	}
	p.read(v)
	if came, went, soon := p.arrange(v, func() {}); soon || came+went == 0 {
		return
	}
	p.sort()
	free := slices.Repeat([]int64{int64(v.Fabric.Spec.NIC)}, 2*v.Fabric.Racks)
	rates := p.rates(p, free)
	p.answer = southbound.Rates{}
	for _, id := range slices.Sorted(slices.Values(p.order)) {
		p.answer.Spread = append(p.answer.Spread, southbound.Spread{Coflow: id}) // nothing, but for the extras
		for k, rate := range rates[id] {
			if rate > 0 {
				p.answer.Extra = append(p.answer.Extra,
					southbound.Extra{HostFlowKey: southbound.HostFlowKey{Coflow: id,
						Row: p.coflows[id].rows[k].row}, Rate: pathmap.BitsPerSecond(rate)})
			}
		}
	}
	plan.Share = &p.answer
}

// take takes a coflow's rates from what ports have left.
func (c *coflow) take(rates, free []int64) {
	for k, d := range c.rows {
		for _, port := range d.ports() {
			free[port] -= rates[k]
		}
	}
}

// least is what the ports of a pair have both left.
func (l link) least(free []int64) int64 {
	at := l.ports()
	return min(free[at[0]], free[at[1]])
}

// NewVarys returns Varys: each coflow in turn gives every host flow the part of what its two ports have
// left that its bytes are of those of the coflow's busiest port, and no coflow holds. What is left then
// goes to host flows, in the order of coflows, one after the other.
func NewVarys() *Packets {
	return &Packets{rates: func(p *Packets, free []int64) map[southbound.CoflowID][]int64 {
		all := map[southbound.CoflowID][]int64{}
		for _, id := range p.order {
			c := p.coflows[id]
			rates := make([]int64, len(c.rows))
			for k, d := range c.rows {
				rates[k] = int64(float64(d.least(free)) * (float64(d.bits) / float64(c.alpha)))
			}
			c.take(rates, free)
			all[id] = rates
		}
		for _, id := range p.order {
			for k, d := range p.coflows[id].rows {
				if more := d.least(free); more > 0 {
					all[id][k] += more
					for _, port := range d.ports() {
						free[port] -= more
					}
				}
			}
		}
		return all
	}}
}

// The queues of Aalo there: the first holds coflows that have sent at most 10 MB, each one after it ten
// times as much.
const (
	queues     = 10
	firstQueue = 10e6 // bytes
	queueRatio = 10
)

// NewAalo returns Aalo: queues in turn, and coflows of a queue in turn, each of whose host flows has
// the lesser of the parts of its two ports. Into how many parts a port goes counts the host flows of
// the coflows before it in the queue, too. A coflow moves to the end of the queue that it is due for
// when rates are set; nothing is given out beyond.
func NewAalo() *Packets {
	return &Packets{rates: func(p *Packets, free []int64) map[southbound.CoflowID][]int64 {
		p.requeue()
		all := map[southbound.CoflowID][]int64{}
		for _, queue := range p.queues {
			parts := make([]int64, len(free))
			for _, id := range queue {
				c := p.coflows[id]
				for _, d := range c.rows {
					for _, port := range d.ports() {
						parts[port]++
					}
				}
				rates := make([]int64, len(c.rows))
				for k, d := range c.rows {
					at := d.ports()
					rates[k] = max(min(free[at[0]]/parts[at[0]], free[at[1]]/parts[at[1]]), 0)
				}
				c.take(rates, free)
				all[id] = rates
			}
		}
		return all
	}}
}

// requeue puts new coflows into the first queue, and those that have sent more than theirs holds where
// they belong.
func (p *Packets) requeue() {
	known := map[southbound.CoflowID]bool{}
	for q := range p.queues {
		p.queues[q] = slices.DeleteFunc(p.queues[q],
			func(id southbound.CoflowID) bool { return p.coflows[id] == nil })
		for _, id := range p.queues[q] {
			known[id] = true
		}
	}
	for _, id := range slices.SortedFunc(slices.Values(p.order), cmp.Compare) {
		if !known[id] {
			p.queues[0] = append(p.queues[0], id)
		}
	}
	for q := range p.queues {
		for _, id := range slices.Clone(p.queues[q]) {
			if due := p.coflows[id].queue(); due != q {
				p.queues[due] = append(p.queues[due], id)
				at := slices.Index(p.queues[q], id)
				p.queues[q] = slices.Delete(p.queues[q], at, at+1)
			}
		}
	}
}

// queue returns the queue that a coflow is due for.
func (c *coflow) queue() int {
	q := 0
	for limit := firstQueue; q < queues-1 && limit < float64(c.size-c.left)/8; limit *= queueRatio {
		q++
	}
	return q
}
