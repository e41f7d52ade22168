package share

import (
	"cmp"
	"math"
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/internal/coflowindex"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// CoflowsimPFP is coflowsim's PFP, prioritised flows as pFabric has them (Alizadeh et al., "pFabric:
// minimal near-optimal datacenter transport", SIGCOMM 2013), coflows being unknown to it: each receiver
// keeps its flows in a list, a new one before the first that has more left than it. Receivers by
// number, each takes the first of its list whose sender no receiver before it has taken, and that flow
// has both ports whole. It is set anew at the end of every host flow.
//
// The lists are memory: an instance that is made in mid-run puts the host flows that it finds in by
// coflow and row. A decision looks at a receiver again only if the host flow that it took has ended, it
// has new ones, or those before it have taken other senders than at the decision before.
type CoflowsimPFP struct {
	Ordered
	receivers []receiver
	known     coflowindex.Index[*pfpCoflow]
	coflows   []*pfpCoflow // of this decision, by id
	taken     []bool       // by sender: in this decision
	before    []bool       // and in the one before it, by the receivers that were looked at so far
}

// pfpCoflow is a coflow as the lists know it.
type pfpCoflow struct {
	coflowindex.Entry
	c *controller.CoflowView // of this decision; nil: it is over
}

// receiver is a list, and what of it each sender sends.
type receiver struct {
	list    []listed
	next    []int32 // by place in the list: that of the sender's next; -1: there is none
	first   []int32 // by sender: the place of its first that has not ended, as far as was looked
	senders []int32 // that have some, in no order
	took    int32   // the place of what it took last; -1: nothing
	from    southbound.HostID
	fresh   bool // the list has changed since
}

// listed is a host flow in a list.
type listed struct {
	of  *pfpCoflow
	row int32
	src southbound.HostID
}

func (l *listed) open() bool { return l.of.c != nil && !l.of.c.Ended[l.row] }

// NewCoflowsimPFP returns coflowsim's PFP.
func NewCoflowsimPFP() *CoflowsimPFP {
	return new(CoflowsimPFP)
}

// Wants implements the part's list of events.
func (*CoflowsimPFP) Wants() controller.KindSet {
	return ofFlows()
}

// Fill sets the rates of all coflows.
func (p *CoflowsimPFP) Fill(v *controller.View, _ []controller.Event, plan *controller.Plan) {
	o := &p.Ordered
	o.start(v, plan)
	p.arrange(v)
	for _, e := range p.coflows {
		o.rates.Spread = append(o.rates.Spread, southbound.Spread{Coflow: e.c.ID}) // nothing, but for the extras
	}
	clear(p.taken)
	clear(p.before)
	differ := 0 // senders of which taken and before say different things
	for i := range p.receivers {
		r := &p.receivers[i]
		was, from := r.took, r.from
		if r.fresh || differ > 0 || was >= 0 && !r.list[was].open() {
			r.take(p.taken)
		}
		if was >= 0 {
			differ += note(p.before, p.taken, from)
		}
		if r.took < 0 {
			continue
		}
		k := &r.list[r.took]
		r.from = k.src
		differ += note(p.taken, p.before, k.src)
		p.whole(v, k.of.c, southbound.HostFlowKey{Coflow: k.of.c.ID, Row: k.row})
	}
	o.finish(plan)
}

// note adds a sender to a set, and returns by how many more senders it then differs from another.
func note(set, other []bool, src southbound.HostID) int {
	set[src] = true
	if other[src] {
		return -1
	}
	return 1
}

// take takes the first of the list whose sender is free.
func (r *receiver) take(taken []bool) {
	r.fresh, r.took = false, -1
	for i := 0; i < len(r.senders); i++ {
		s := r.senders[i]
		if taken[s] {
			continue
		}
		at := r.first[s]
		for at >= 0 && !r.list[at].open() {
			at = r.next[at]
		}
		if r.first[s] = at; at < 0 {
			r.senders[i] = r.senders[len(r.senders)-1]
			r.senders = r.senders[:len(r.senders)-1]
			i--
		} else if r.took < 0 || at < r.took {
			r.took = at
		}
	}
}

// whole gives a host flow all that its links have left.
func (p *CoflowsimPFP) whole(v *controller.View, c *controller.CoflowView, k southbound.HostFlowKey) {
	g := &p.topologyContext
	tags := g.tags(c)
	links := g.links(v, c.Src[k.Row], c.Dst[k.Row], tags[k.Row])
	rate := math.Inf(1)
	for _, l := range links {
		rate = min(rate, g.free[l])
	}
	if rate < 1 || math.IsInf(rate, 1) || !g.onPackets(v, c, k.Row, tags[k.Row]) {
		return
	}
	for _, l := range links {
		g.take(l, math.Floor(rate))
	}
	p.rates.Extra = append(p.rates.Extra, southbound.Extra{HostFlowKey: k, Rate: pathmap.BitsPerSecond(rate)})
}

// arrange finds out which coflows there are, and puts in what is new.
func (p *CoflowsimPFP) arrange(v *controller.View) {
	if hosts := v.Fabric.Hosts(); len(p.receivers) < hosts {
		for len(p.receivers) < hosts {
			p.receivers = append(p.receivers, receiver{took: -1})
		}
		p.taken, p.before = make([]bool, hosts), make([]bool, hosts)
	}
	p.known.Begin()
	for _, e := range p.coflows {
		e.c = nil
	}
	p.coflows = p.coflows[:0]
	var come []*controller.CoflowView
	for i := range v.Coflows {
		c := &v.Coflows[i]
		if !c.Started || p.topologyContext.tags(c) == nil {
			continue
		}
		e, known := p.known.Get(c)
		if !known {
			e = new(pfpCoflow)
			p.known.Put(c, e)
			come = append(come, c)
		}
		e.c = c
		p.coflows = append(p.coflows, e)
	}
	p.known.Forget()
	slices.SortFunc(p.coflows, func(a, b *pfpCoflow) int { return cmp.Compare(a.c.ID, b.c.ID) })
	slices.SortFunc(come, func(a, b *controller.CoflowView) int { return cmp.Compare(a.ID, b.ID) })
	for _, c := range come {
		for row := range c.Src {
			if !c.Ended[row] {
				p.insert(p.known.At(c.ID), int32(row))
			}
		}
	}
	for i := range p.receivers {
		if r := &p.receivers[i]; r.fresh {
			r.index(v.Fabric.Hosts())
		}
	}
}

// insert puts a host flow before the first of its receiver's list that has more left. What has ended
// goes before that.
func (p *CoflowsimPFP) insert(e *pfpCoflow, row int32) {
	r := &p.receivers[e.c.Dst[row]]
	if !r.fresh {
		r.fresh = true
		r.list = slices.DeleteFunc(r.list, func(l listed) bool { return !l.open() })
	}
	size := e.c.Remaining.Row(row) * (1 + tie)
	at := slices.IndexFunc(r.list, func(l listed) bool { return l.of.c.Remaining.Row(l.row) > size })
	if at < 0 {
		at = len(r.list)
	}
	r.list = slices.Insert(r.list, at, listed{e, row, e.c.Src[row]})
}

// index finds each sender's host flows in a list that has changed.
func (r *receiver) index(hosts int) {
	r.senders, r.first = r.senders[:0], slices.Grow(r.first[:0], hosts)[:hosts]
	for s := range r.first {
		r.first[s] = -1
	}
	r.next = slices.Grow(r.next[:0], len(r.list))[:len(r.list)]
	for at := len(r.list) - 1; at >= 0; at-- {
		s := r.list[at].src
		if r.first[s] < 0 {
			r.senders = append(r.senders, int32(s))
		}
		r.next[at], r.first[s] = r.first[s], int32(at)
	}
}

// tie is by how little, in proportion, two amounts can differ that are equal in exact arithmetic.
const tie = 1e-7
