package share

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// tell provides what is left of a view's coflows as a fabric does that has added it up: a factor, sums
// by link for the rows on the pace, and some rows off it. The version stays if only the factor and the
// rows off the pace have changed. Sometimes it knows bounds of the most loaded link, wide or narrow.
func tell(r *rand.Rand, v *controller.View) {
	for i := range v.Coflows {
		c := &v.Coflows[i]
		off := c.Remaining.Off[:0:0]
		keep := c.Remaining.Version != 0 && r.IntN(3) > 0 &&
			!slices.ContainsFunc(c.Remaining.Off, func(row int32) bool {
				return c.Ended[row]
			})
		for row := range c.Src {
			if c.Ended[row] {
				continue
			}
			was := slices.Contains(c.Remaining.Off, int32(row))
			if keep && was || !keep && r.IntN(5) == 0 {
				off = append(off, int32(row))
				c.Remaining.Base[row] *= 0.5 + r.Float64()/2
			}
		}
		c.Remaining.Off = off
		if r.IntN(2) == 0 {
			c.Remaining.F *= 0.9
		}
		if !keep || c.Remaining.Load == nil {
			c.Remaining.Version++
		}
		c.Remaining.Load = loadOf(v, c)
		c.Remaining.Least, c.Remaining.Most = 0, 0
		if far := []float64{-1, 0, 0.01, 0.5}[r.IntN(4)]; far >= 0 {
			peak := peakOf(v, c)
			c.Remaining.Least, c.Remaining.Most = peak*(1-far*r.Float64()), peak*(1+far*r.Float64())
		}
	}
}

// peakOf adds up what is left over that link of a host which has the most.
func peakOf(v *controller.View, c *controller.CoflowView) float64 {
	out, in := make([]float64, v.Fabric.Hosts()), make([]float64, v.Fabric.Hosts())
	for row := range c.Src {
		if !c.Ended[row] {
			out[c.Src[row]] += c.Remaining.Row(int32(row))
			in[c.Dst[row]] += c.Remaining.Row(int32(row))
		}
	}
	return max(slices.Max(out), slices.Max(in))
}

// loadOf adds up the rows on the pace.
func loadOf(v *controller.View, c *controller.CoflowView) []southbound.LinkLoad {
	load := []southbound.LinkLoad{{Link: 0}} // of rows that have ended
	t := v.Fabric.Topology
	for row := range c.Src {
		if c.Ended[row] || slices.Contains(c.Remaining.Off, int32(row)) {
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
			used, next := orders[name](), southbound.CoflowID(0)
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
				tell(r, v)
				var p controller.Plan
				used.Fill(v, ev, &p)
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
	o.order.rank(&o.topologyContext, all)
	for i := range all {
		o.maddSlowly(&w, &all[i])
	}
	for i := range all {
		o.backfill(&w, &all[i])
	}
	o.finish(&p)
	return fmt.Sprint(p.Share)
}
