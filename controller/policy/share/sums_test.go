package share

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// tell provides what is left of a view's coflows as a fabric does that has added it up: a factor, sums
// by link for the rows on the pace, and some rows off it. The version stays if only the factor and the
// rows off the pace have changed. Sometimes it knows how far links have fallen since before, or that they may have
// fallen further.
func tell(r *rand.Rand, v *controller.View, told map[southbound.CoflowID][]float64, steady *uint64) {
	for i := range v.Coflows {
		c := &v.Coflows[i]
		rows, before := c.Remaining.Off[:0:0], told[c.ID]
		keep := c.Remaining.Version != 0 && r.IntN(3) > 0 &&
			!slices.ContainsFunc(c.Remaining.Off, func(r southbound.OffLoad) bool {
				return c.Ended[r.Row]
			})
		for row := range c.Src {
			if c.Ended[row] {
				continue
			}
			was := off(c, row)
			if keep && was || !keep && r.IntN(5) == 0 {
				c.Remaining.Base[row] *= 0.5 + r.Float64()/2
				rows = append(rows, southbound.OffLoad{Row: int32(row), Src: c.Src[row], Dst: c.Dst[row],
					Base: c.Remaining.Base[row]})
			}
		}
		c.Remaining.Off = rows
		if r.IntN(2) == 0 {
			c.Remaining.F *= 0.9
		}
		if !keep || c.Remaining.Load == nil {
			c.Remaining.Version++
		}
		c.Remaining.Load = loadOf(v, c)
		told[c.ID] = byHost(v, c)
		if fell, grown := change(before, told[c.ID]); grown || r.IntN(6) == 0 {
			*steady++
			c.Remaining.Steady = *steady * uint64(r.IntN(4)/3+r.IntN(2))
		} else {
			c.Remaining.Carried += fell * []float64{1, 1, 1.01, 2}[r.IntN(4)]
		}
	}
}

// shorten makes what some coflows have left brief where it has bounds. What is returned takes that back.
func shorten(r *rand.Rand, v *controller.View) (complete func()) {
	full := map[southbound.CoflowID]southbound.Remaining{}
	for i := range v.Coflows {
		c := &v.Coflows[i]
		full[c.ID] = c.Remaining
		if left := &c.Remaining; left.Steady > 0 && r.IntN(2) == 0 {
			left.Base = slices.Clone(left.Base)
			for _, o := range left.Off {
				left.Base[o.Row] = math.NaN()
			}
			left.Brief, left.Off = true, nil
		}
	}
	v.Rest = func(id southbound.CoflowID) (southbound.Remaining, bool) { return full[id], true }
	return func() {
		for i := range v.Coflows {
			v.Coflows[i].Remaining = full[v.Coflows[i].ID]
		}
	}
}

// off reports whether a row is off its coflow's pace.
func off(c *controller.CoflowView, row int) bool {
	return slices.ContainsFunc(c.Remaining.Off, func(r southbound.OffLoad) bool { return r.Row == int32(row) })
}

// byHost adds up what is left over the links of hosts, into the network and then out of it.
func byHost(v *controller.View, c *controller.CoflowView) []float64 {
	sums := make([]float64, 2*v.Fabric.Hosts())
	for row := range c.Src {
		if !c.Ended[row] {
			sums[c.Src[row]] += c.Remaining.Row(int32(row))
			sums[v.Fabric.Hosts()+int(c.Dst[row])] += c.Remaining.Row(int32(row))
		}
	}
	return sums
}

// change returns by how much a sum has fallen at most, and whether some sum has grown, or none was known.
func change(before, now []float64) (fell float64, grown bool) {
	for l := range before {
		fell, grown = max(fell, before[l]-now[l]), grown || now[l] > before[l]
	}
	return fell, grown || before == nil
}

// loadOf adds up the rows on the pace.
func loadOf(v *controller.View, c *controller.CoflowView) []southbound.LinkLoad {
	load := []southbound.LinkLoad{{Link: 0}} // of rows that have ended
	t := v.Fabric.Topology
	for row := range c.Src {
		if c.Ended[row] || off(c, row) {
			continue
		}
		up, down := t.Out(v.Fabric.HostNode[c.Src[row]])[0], pathmap.Reverse(t.Out(v.Fabric.HostNode[c.Dst[row]])[0])
		for _, l := range []pathmap.LinkID{up, down} {
			i := slices.IndexFunc(load, func(u southbound.LinkLoad) bool { return u.Link == l })
			if i < 0 {
				i, load = len(load), append(load, southbound.LinkLoad{Link: l})
			}
			load[i].Rows++
			load[i].Base += c.Remaining.Base[row]
		}
	}
	return load
}

// TestSumsReference compares decisions that remember sums and what held a coflow last, find bottlenecks
// by the most loaded of like links, and back-fill by sets of ports, with a new instance that gets no
// version and reads every row and link. The results must be equal to the bit. On every other seed links
// differ, by the capacity that outside schedulers hold, which changes on the way, and can be all.
func TestSumsReference(t *testing.T) {
	t.Parallel()
	orders := map[string]func() *Ordered{"sebf": NewSEBF, "lcf": NewLCF, "fifo": NewFIFO, "bssi": NewBSSI,
		"rapier": NewRapier}
	for _, name := range []string{"sebf", "lcf", "fifo", "bssi", "rapier"} {
		for seed := range tries.Of[uint64](150, 500) {
			r := rand.New(rand.NewPCG(seed, 61))
			v := crossbar(t)
			if seed < fewOfMany {
				v = crossbarOf(t, manyHosts)
			}
			used, next, told, steady := orders[name](), southbound.CoflowID(0), map[southbound.CoflowID][]float64{}, uint64(0)
			for step := range 20 {
				if seed%2 == 1 && (step == 0 || r.IntN(8) == 0) {
					v.ReservedBandwidth = reserveBandwidth(r, v)
				}
				ended := map[southbound.CoflowID]int32{}
				for i := range v.Coflows {
					ended[v.Coflows[i].ID] = v.Coflows[i].Remaining.Live
				}
				ev := goOn(r, v, &next)
				for i := range v.Coflows {
					if c := &v.Coflows[i]; ended[c.ID] != c.Remaining.Live {
						c.Remaining.Version++ // a row has left the pace, or the lane
						c.Remaining.Load = nil
					}
				}
				tell(r, v, told, &steady)
				var p controller.Plan
				complete := shorten(r, v)
				used.Fill(v, ev, &p)
				complete()
				if got, want := fmt.Sprint(p.Share), slowly(orders[name](), v); got != want {
					t.Fatalf("%s, seed %d step %d: says\n%s\nlooking at every row\n%s", name, seed, step, got, want)
				}
			}
		}
	}
}

// reserveBandwidth lets outside schedulers hold some of some links.
func reserveBandwidth(r *rand.Rand, v *controller.View) []pathmap.BitsPerSecond {
	held := make([]pathmap.BitsPerSecond, len(v.Fabric.Topology.Links()))
	for h := range v.Fabric.Hosts() {
		up := v.Fabric.Topology.Out(v.Fabric.HostNode[h])[0]
		for _, l := range []pathmap.LinkID{up, pathmap.Reverse(up)} {
			held[l] = v.Fabric.Topology.Link(l).Capacity * pathmap.BitsPerSecond([]int{0, 0, 1, 2, 3,
				4}[r.IntN(6)]) / 4
		}
	}
	return held
}

// maddSlowly looks at all links of a coflow in turn, whatever held it last.
func (o *Ordered) maddSlowly(v *controller.View, d *demand) {
	g, ns := &o.topologyContext, 0.0
	for _, l := range d.loads {
		if g.free[l.link] < g.residual[l.link] {
			o.rates.Pace = append(o.rates.Pace, southbound.Pace{Coflow: d.c.ID})
			return
		}
		ns = max(ns, l.bits/g.free[l.link]*1e9)
	}
	until, ok := instant(v.Now, ns)
	if ok = ok && len(d.loads) > 0; !ok {
		until = 0
	}
	o.rates.Pace = append(o.rates.Pace, southbound.Pace{Coflow: d.c.ID, Until: until})
	for _, l := range d.loads {
		if ok {
			g.free[l.link] = max(g.free[l.link]-l.bits*1e9/float64(until-v.Now), 0)
		}
	}
}

func slowly(o *Ordered, v *controller.View) string {
	w := *v
	w.Coflows = slices.Clone(v.Coflows)
	for i := range w.Coflows {
		w.Coflows[i].Remaining.Version = 0
	}
	var p controller.Plan
	o.start(&w, &p)
	all := o.demands(&w, nil)
	if b, ok := o.order.(*bssi); ok {
		sortByCoflow(all)
		b.read(&o.topologyContext, all)
		b.find(all)
		b.arrange(all)
	} else {
		o.order.rank(&o.topologyContext, all)
	}
	for i := range all {
		o.maddSlowly(&w, &all[i])
	}
	for i := range all {
		o.backfill(&w, &all[i])
	}
	o.finish(&p)
	return fmt.Sprint(p.Share)
}

// TestSumsWithoutWideLinks: where others' bytes take a link that a fabric leaves out of its sums, as it carries all
// that hosts send, rates are found from the rows.
func TestSumsWithoutWideLinks(t *testing.T) {
	v := crossbar(t, []flow{{0, 1, 1}})
	c := &v.Coflows[0]
	c.Started, c.Remaining.Live, c.Remaining.Version = true, 1, 1
	c.Remaining.Load = loadOf(v, c)
	until := func(held pathmap.BitsPerSecond) time.Duration {
		v.ReservedBandwidth = make([]pathmap.BitsPerSecond, len(v.Fabric.Topology.Links()))
		for l, link := range v.Fabric.Topology.Links() {
			from, to := v.Fabric.Topology.Node(link.From), v.Fabric.Topology.Node(link.To)
			if from.Role != pathmap.Host && to.Role != pathmap.Host {
				v.ReservedBandwidth[l] = link.Capacity * held / 4
			}
		}
		var p controller.Plan
		NewSEBF().Fill(v, nil, &p)
		return p.Share.Pace[0].Until - v.Now
	}
	if free, taken := until(0), until(3); (taken - 4*free).Abs() > time.Microsecond {
		t.Errorf("takes %v, and %v where three quarters of the links between switches are held", free, taken)
	}
}
