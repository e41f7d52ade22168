package share

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Coflowsim sets rates by the rules of coflowsim, the simulator of Varys (github.com/coflow/coflowsim),
// where these are not the paper's:
//
//   - a coflow gets its place in the order when it starts, before the first that its key is smaller than, and keeps it;
//   - a coflow that finds a port taken does not hold: all such coflows together share what is left equally, host flow
//     by host flow, each having the lesser of the shares of its two ports;
//   - what is left then goes to host flows in the order of the deadlines that coflows would have had, in whole
//     milliseconds, the deadline being start + bottleneck × a random factor of 1 to 2 that is drawn although no
//     deadlines are kept.
//
// Its keys, all of what was declared but LCF's: SCF largest receiver ÷ senders, NCF the lesser number
// of hosts on either side, LCF bytes left, SEBF the largest of bytes ÷ senders and the largest
// receiver. Rates change when a coflow starts or ends. The order is memory: an instance that is made in
// mid-run puts the coflows that it finds in by id.
type Coflowsim struct {
	Ordered
	key    sortKey
	sorted []southbound.CoflowID
	keys   map[southbound.CoflowID]float64
	draws  javaRandom
	mult   []float64 // by job
}

// NewCoflowsim returns coflowsim's FIFO, SCF, NCF, LCF or SEBF; nil for any other word.
func NewCoflowsim(rule string) *Coflowsim {
	key, ok := map[string]sortKey{
		"fifo": func(*demand) float64 { return 0 },
		"scf":  func(d *demand) float64 { return float64(d.b.ranks.in) / float64(d.b.ranks.senders) },
		"ncf":  func(d *demand) float64 { return float64(min(d.b.ranks.senders, d.b.ranks.receivers)) },
		"lcf":  func(d *demand) float64 { return d.remains },
		"sebf": (*demand).alpha,
	}[rule]
	if !ok {
		return nil
	}
	return &Coflowsim{key: key, keys: map[southbound.CoflowID]float64{}, draws: newJavaRandom(17)}
}

// alpha is coflowsim's static bottleneck, in bytes: it takes senders for alike.
func (d *demand) alpha() float64 {
	return max(float64(d.b.total)/float64(max(d.b.ranks.senders, 1)), float64(d.b.ranks.in))
}

// Fill sets the rates of all coflows.
func (p *Coflowsim) Fill(v *controller.View, ev []controller.Event, plan *controller.Plan) {
	o := &p.Ordered
	o.start(v, plan)
	all := o.demands(v, ev)
	p.arrange(all)
	var skipped []demand
	for i := range all {
		if o.blocked(&all[i]) {
			skipped = append(skipped, all[i])
			continue
		}
		o.madd(v, &all[i])
	}
	from, to := o.spread(v, skipped)
	for i := range skipped {
		o.rates.Spread = append(o.rates.Spread, southbound.Spread{Coflow: skipped[i].c.ID, From: from, To: to})
	}
	slices.SortStableFunc(all, func(a, b demand) int {
		return cmp.Compare(p.due(v.Now, v, &a),
			p.due(v.Now, v, &b))
	})
	o.backfillAll(v, all)
	o.finish(plan)
}

// blocked reports whether a link of a coflow has nothing left.
func (o *Ordered) blocked(d *demand) bool {
	return slices.ContainsFunc(d.loads, func(l load) bool { return o.topologyContext.empty(l.link) })
}

// arrange sorts demands into the order that is kept, having put in what is new and forgotten what is over.
func (p *Coflowsim) arrange(all []demand) {
	slices.SortFunc(all, func(a, b demand) int { return cmp.Compare(a.c.ID, b.c.ID) })
	find := func(id southbound.CoflowID) (int, bool) {
		return slices.BinarySearchFunc(all, id, func(d demand, id southbound.CoflowID) int {
			return cmp.Compare(d.c.ID, id)
		})
	}
	p.sorted = slices.DeleteFunc(p.sorted, func(id southbound.CoflowID) bool {
		_, ok := find(id)
		return !ok
	})
	known := slices.Clone(p.sorted)
	slices.Sort(known)
	for i := range all {
		if _, ok := slices.BinarySearch(known, all[i].c.ID); ok {
			continue
		}
		at := slices.IndexFunc(p.sorted, func(id southbound.CoflowID) bool {
			k, _ := find(id)
			return p.key(&all[i]) < p.key(&all[k])*(1-tie)
		})
		if at < 0 {
			at = len(p.sorted)
		}
		p.sorted = slices.Insert(p.sorted, at, all[i].c.ID)
	}
	out := make([]demand, len(all))
	for at, id := range p.sorted {
		k, _ := find(id)
		out[at] = all[k]
	}
	copy(all, out)
}

// megabyte is the unit of the trace format: coflowsim's time step is what one takes at a port.
const megabyte pathmap.Bytes = 1e6

// due is the whole milliseconds from now to the deadline that a coflow would have had. coflowsim's
// clock counts 1024 ms for the time that deadlines take for a second of 1000.
func (p *Coflowsim) due(now time.Duration, v *controller.View, d *demand) int64 {
	for len(p.mult) <= int(d.c.Job) {
		p.mult = append(p.mult, 1+p.draws.float())
	}
	quantum := megabyte.Over(v.Fabric.Topology.Link(p.topologyContext.up[0]).Capacity).Seconds() * 1e3
	took := d.alpha() / float64(megabyte) * quantum * 1000 / 1024 * p.mult[d.c.Job]
	return int64(float64(d.c.Start.Milliseconds()) + took - float64(now.Milliseconds()))
}
