package share

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// NewRapier returns RAPIER's order (Zhao, Chen, Bai, Yu, Tian, Geng, Zhang, Li and Wang, "RAPIER:
// integrating routing and scheduling for coflow-aware data center networks", INFOCOM 2015): always the
// coflow that can end first on what those before it leave of the links, all times found anew after each
// choice. A coflow that has sent nothing for Privilege comes first. Paths are those of the routing
// part; rates are MADD's with back-filling.
func NewRapier() *Ordered { return &Ordered{order: &rapier{}, lean: true} }

// Privilege is how long a coflow of RAPIER's order sends nothing until it is served before all others
// (section 4.7.2.1 of Shi, "Task Scheduling in Modern Data Center", 2016).
const Privilege = 100 * time.Second

// rapier knows of each coflow when it could end at the earliest. Links only fill from choice to choice,
// so times only grow: one that is found anew and still the least is the least of all.
type rapier struct {
	free []float64 // by link
	time []float64 // by coflow: seconds at least; not a number once it is chosen
	long []bool    // by coflow: it has waited for Privilege
	out  []demand
}

func (o *rapier) rank(g *topologyContext, all []demand) {
	slices.SortFunc(all, func(a, b demand) int { return cmp.Compare(a.c.ID, b.c.ID) })
	o.free = append(o.free[:0], g.free...)
	o.time, o.long, o.out = o.time[:0], o.long[:0], o.out[:0]
	for i := range all {
		o.time = append(o.time, o.ends(g, &all[i]))
		o.long = append(o.long, g.now-all[i].c.Start > Privilege && sentNothing(&all[i]))
	}
	for len(o.out) < len(all) {
		at := o.next(g, all)
		d := &all[at]
		for _, l := range d.loads {
			if s := o.time[at]; s > 0 && !math.IsInf(s, 1) {
				o.free[l.link] = max(0, o.free[l.link]-l.bits/s)
			}
		}
		o.time[at] = math.NaN()
		o.out = append(o.out, *d)
	}
	copy(all, o.out)
	clear(o.out) // coflows that are over are not held
}

// next chooses a coflow.
func (o *rapier) next(g *topologyContext, all []demand) int {
	for {
		at := -1
		for i, t := range o.time {
			if !math.IsNaN(t) && (at < 0 || o.long[i] && !o.long[at] || o.long[i] == o.long[at] &&
				t < o.time[at]) {
				at = i
			}
		}
		if t := o.ends(g, &all[at]); t > o.time[at] {
			o.time[at] = t
			continue
		}
		return at
	}
}

// ends returns in how many seconds a coflow can end on what is left; +Inf if one of its links has nothing.
func (o *rapier) ends(g *topologyContext, d *demand) float64 {
	most := 0.0
	for _, l := range d.loads {
		if free := o.free[l.link]; free < g.residual[l.link] || free == 0 {
			return math.Inf(1)
		}
		most = max(most, l.bits/o.free[l.link])
	}
	return most
}

// sentNothing reports whether a coflow has all left that it was to send.
func sentNothing(d *demand) bool {
	for r, size := range d.c.Size {
		if d.c.Ended[r] || d.c.Remaining.Row(int32(r)) < float64(size)-1 {
			return false
		}
	}
	return true
}
