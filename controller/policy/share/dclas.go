package share

import (
	"cmp"
	"math"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// The queues of Aalo's evaluation: the first holds coflows that have sent less than 10 MB, each one
// after it ten times as much (section 5.2 of the paper, K = 10, E = 10, Q1 = 10 MB).
const (
	queues     = 10
	firstQueue = 10e6 // bytes
	queueRatio = 10
)

// DCLAS is Aalo: discretized coflow-aware least-attained service (Chowdhury and Stoica, "Efficient
// coflow scheduling without prior knowledge", SIGCOMM 2015). It knows of a coflow only how much it has
// sent. Coflows sink through queues as they do so; a higher queue goes before a lower one, within a
// queue they go in order of arrival, and the host flows of one share its ports equally. What is left
// after all of them goes to single host flows in the same order.
//
// Queues have strict priority, as in the authors' simulator; their system weights them. A coflow
// changes its queue the instant it has sent enough, but not sooner than a coordination interval after
// the last change of rates.
type DCLAS struct {
	Ordered

	// What the last decision spread, in its order, where only the links of hosts bind. The first of these that
	// stand as they did get the same again.
	before  []spreadBefore
	surveys uint64 // of the topology context
}

// spreadBefore is a coflow of the last decision.
type spreadBefore struct {
	b *coflowRows
	m *spreadMemory
}

// NewDCLAS returns Aalo.
func NewDCLAS() *DCLAS { return &DCLAS{} }

// coordination is the least interval between new rates of Aalo's coordinator (Δ of section 6 of the paper).
const coordination = 10 * time.Millisecond

// Wants implements the part's list of events.
func (*DCLAS) Wants() controller.KindSet {
	return ofFlows() | controller.Kinds(controller.WakeReached)
}

// Fill sets the rates of all coflows.
func (p *DCLAS) Fill(v *controller.View, ev []controller.Event, plan *controller.Plan) {
	o := &p.Ordered
	o.start(v, plan)
	all := o.started(v, ev)
	for i := range all {
		all[i].remains = all[i].c.LeftTotal()
	}
	p.sort(all)
	if o.ofPorts(v) {
		p.spreadAll(all)
	} else {
		p.drop() // coflows can end meanwhile, and would be held
		for i := range all {
			before := o.given(&all[i])
			from, to := o.spreadRows(v, all[i:i+1])
			all[i].given = o.given(&all[i]) - before
			o.rates.Spread = append(o.rates.Spread, southbound.Spread{Coflow: all[i].c.ID, From: from, To: to})
		}
	}
	wake := southbound.Never
	for i := range all {
		wake = min(wake, sinks(v.Now, &all[i], all[i].given, o.topologyContext.bits))
	}
	o.backfillAll(v, all)
	plan.Wake = min(plan.Wake, wake)
	o.finish(plan)
}

// spreadAll spreads coflows in their order where only the links of hosts bind.
func (p *DCLAS) spreadAll(all []demand) {
	o := &p.Ordered
	same := p.rewind(all)
	for i := range all {
		d := &all[i]
		if i >= same {
			o.spreadOne(d)
			p.before = append(p.before, spreadBefore{d.b, d.b.spread})
		}
		m := d.b.spread
		d.given = m.given
		o.rates.Spread = append(o.rates.Spread, southbound.Spread{Coflow: d.c.ID, From: m.from, To: m.to})
	}
	o.left.putBack(&o.topologyContext)
}

// rewind returns how many coflows, the first in their order, get what they got before, and brings what is
// left of links to what it was after these.
func (p *DCLAS) rewind(all []demand) (same int) {
	o := &p.Ordered
	if p.surveys != o.topologyContext.surveys || len(p.before) == 0 {
		p.surveys = o.topologyContext.surveys
		p.drop()
		o.left.gather(&o.topologyContext)
		return 0
	}
	for same < min(len(all), len(p.before)) && p.before[same].stands(&all[same]) {
		same++
	}
	for i := len(p.before) - 1; i >= same; i-- {
		m := p.before[i].m
		m.out.giveBack(&o.left.out, o.left.up)
		m.in.giveBack(&o.left.in, o.left.down)
	}
	clear(p.before[same:])
	p.before = p.before[:same]
	return same
}

// stands reports whether a coflow has the rows that it had.
func (s *spreadBefore) stands(d *demand) bool {
	return s.b == d.b && s.m.left == d.b.left // rows only ever end
}

// drop forgets what the last decision spread.
func (p *DCLAS) drop() {
	clear(p.before)
	p.before = p.before[:0]
}

// sort puts coflows into the order in which they are served.
func (*DCLAS) sort(all []demand) {
	for i := range all {
		all[i].queue = queueOf(all[i].attained())
	}
	slices.SortFunc(all, func(a, b demand) int {
		return cmp.Or(cmp.Compare(a.queue, b.queue),
			cmp.Compare(a.c.Arrival, b.c.Arrival),
			cmp.Compare(a.c.ID, b.c.ID))
	})
}

// attained is how many bytes a coflow has sent so far.
func (d *demand) attained() float64 { return float64(d.b.total) - d.remains }

// queueOf returns the queue of a coflow by the bytes that it has sent.
func queueOf(sent float64) int {
	q := 0
	for limit := float64(firstQueue); q < queues-1 && sent >= limit; limit *= queueRatio {
		q++
	}
	return q
}

// given adds up what has been taken of the sources' links of a coflow.
func (o *Ordered) given(d *demand) float64 {
	sum := 0.0
	for _, h := range d.b.src {
		if !d.b.sends(h) {
			continue
		}
		sum += o.topologyContext.capacity[o.topologyContext.up[h]] - o.topologyContext.free[o.topologyContext.up[h]]
	}
	return sum
}

// sinks returns when a coflow has sent enough for the next queue at a rate in bits a second, extras apart.
func sinks(now time.Duration, d *demand, rate, bits float64) time.Duration {
	sent, q := d.attained(), d.queue
	if q == queues-1 || rate <= 0 {
		return southbound.Never
	}
	ns := (firstQueue*math.Pow(queueRatio, float64(q)) - sent) * bits / rate * 1e9
	at, ok := instant(now, ns)
	if !ok {
		return southbound.Never
	}
	return max(at, now+coordination)
}
