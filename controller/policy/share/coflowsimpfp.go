package share

import (
	"math"
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/internal/coflowindex"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// CoflowsimPFP is coflowsim's PFP, prioritised flows as pFabric has them (Alizadeh et al., "pFabric: minimal
// near-optimal datacenter transport", SIGCOMM 2013), coflows being unknown to it: each receiver keeps its flows in a
// list, a new one before the first that has more left than it. Receivers by number, each takes the first of its list
// whose sender no receiver before it has taken, and that flow has both ports whole. It is set anew at the end of every
// host flow.
//
// The lists are memory: an instance that is made in mid-run puts the host flows that it finds in by coflow and row.
type CoflowsimPFP struct {
	Ordered
	lists [][]southbound.HostFlowKey // by receiver
	known coflowindex.Index[*coflowindex.Entry]
}

// NewCoflowsimPFP returns coflowsim's PFP.
func NewCoflowsimPFP() *CoflowsimPFP {
	return new(CoflowsimPFP)
}

// Wants implements the part's list of events.
func (*CoflowsimPFP) Wants() controller.KindSet {
	return ofFlows()
}

// Fill sets the rates of all coflows.
func (p *CoflowsimPFP) Fill(v *controller.View, ev []controller.Event, plan *controller.Plan) {
	o := &p.Ordered
	o.start(v, plan)
	byID := map[southbound.CoflowID]*controller.CoflowView{}
	var ids []southbound.CoflowID
	for _, d := range o.demands(v, ev) {
		byID[d.c.ID] = d.c
		ids = append(ids, d.c.ID)
	}
	slices.Sort(ids)
	p.arrange(v, ids, byID)
	for _, id := range ids {
		o.rates.Spread = append(o.rates.Spread, southbound.Spread{Coflow: id}) // nothing, but for the extras
	}
	taken := make([]bool, v.Fabric.Hosts()) // senders
	for _, list := range p.lists {
		for _, k := range list {
			c := byID[k.Coflow]
			if taken[c.Src[k.Row]] {
				continue
			}
			taken[c.Src[k.Row]] = true
			p.whole(v, c, k)
			break
		}
	}
	o.finish(plan)
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

// arrange forgets what has ended and puts in what is new.
func (p *CoflowsimPFP) arrange(v *controller.View, ids []southbound.CoflowID,
	byID map[southbound.CoflowID]*controller.CoflowView) {
	for len(p.lists) < v.Fabric.Hosts() {
		p.lists = append(p.lists, nil)
	}
	p.known.Begin()
	for _, id := range ids {
		p.known.Get(byID[id])
	}
	p.known.Forget()
	for r := range p.lists {
		p.lists[r] = slices.DeleteFunc(p.lists[r], func(k southbound.HostFlowKey) bool {
			return p.known.At(k.Coflow) == nil || byID[k.Coflow].Ended[k.Row]
		})
	}
	for _, id := range ids {
		if p.known.At(id) != nil {
			continue
		}
		c := byID[id]
		p.known.Put(c, new(coflowindex.Entry))
		for r := range c.Src {
			if !c.Ended[r] {
				p.insert(byID, c, int32(r))
			}
		}
	}
}

// insert puts a host flow before the first of its receiver's list that has more left.
func (p *CoflowsimPFP) insert(byID map[southbound.CoflowID]*controller.CoflowView, c *controller.CoflowView,
	row int32) {
	list := p.lists[c.Dst[row]]
	size := c.Remaining.Row(row)
	at := slices.IndexFunc(list, func(k southbound.HostFlowKey) bool {
		return byID[k.Coflow].Remaining.Row(k.Row) > size*(1+tie)
	})
	if at < 0 {
		at = len(list)
	}
	p.lists[c.Dst[row]] = slices.Insert(list, at, southbound.HostFlowKey{Coflow: c.ID, Row: row})
}

// tie is by how little, in proportion, two amounts can differ that are equal in exact arithmetic.
const tie = 1e-7
