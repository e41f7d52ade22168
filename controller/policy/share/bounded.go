package share

import (
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// bound bounds a coflow's bottleneck by what it was when it was added up last, and reports whether that may do.
// Coflows that get nothing mostly need no more: their order is clear, and so is which of their links is
// full. So what hundreds of their host flows have left is not added up.
func (o *Ordered) bound(d *demand) bool {
	g, left, s := &o.topologyContext, &d.c.Remaining, &d.b.sums
	if !o.bounds || !g.plain || g.alike == 0 || left.Steady == 0 || left.Steady != s.steady || s.survey != g.surveys ||
		d.b.rows < o.fewest {
		return false
	}
	// A share and a byte are left to rounding.
	fell := (left.Carried-s.carried)*(1+1e-9)*g.nsOfByte() + g.nsOfByte()
	d.gamma, d.most, d.bounded = s.peak*(1-1e-9)-fell, s.peak*(1+1e-9)+g.nsOfByte(), true
	return true
}

// nsOfByte is how long a link takes for a byte of payload, where all are alike.
func (g *topologyContext) nsOfByte() float64 { return g.bits / g.alike * 1e9 }

// rank ranks demands, and adds up those whose bounds leave the order open.
func (o *Ordered) rank(v *controller.View, all []demand) {
	if p, ok := o.order.(*bssi); ok && o.bounds {
		if !p.stands(&o.topologyContext, all) {
			for i := range all {
				o.addUp(v, &all[i])
			}
			p.rank(&o.topologyContext, all)
		}
		return
	}
	for open := true; open; {
		o.order.rank(&o.topologyContext, all)
		open = false
		for i := 1; i < len(all); i++ {
			a, b := &all[i-1], &all[i]
			if !a.bounded && !b.bounded || max(a.gamma, a.most) < b.gamma {
				continue
			}
			o.addUp(v, a)
			o.addUp(v, b)
			open = true
		}
	}
}

// addUp adds up a demand that is known within bounds.
func (o *Ordered) addUp(v *controller.View, d *demand) {
	if d.bounded {
		d.bounded, d.most = false, 0
		v.Complete(d.c)
		o.addKnown(v, d)
	}
}

// hostLink is the link of a host into the network, or the one out of it.
type hostLink struct {
	host southbound.HostID
	up   bool
}

// stuckByLoad is stuck of a demand that is not added up. It reads the last link that was full first, too.
func (o *Ordered) stuckByLoad(v *controller.View, d *demand) bool {
	if !slices.ContainsFunc(o.full, d.b.uses) {
		return false
	}
	g, left := &o.topologyContext, &d.c.Remaining
	last := min(int(d.b.full), len(left.Load))
	for i := range left.Load {
		at := i + last
		if at >= len(left.Load) {
			at -= len(left.Load)
		}
		if u := &left.Load[at]; g.gone(u.Link) && u.Rows > 0 && g.binds[u.Link] {
			d.b.full = int32(at)
			return true
		}
	}
	v.Complete(d.c)
	for _, r := range left.Off {
		if g.gone(g.up[r.Src]) || g.gone(g.down[r.Dst]) {
			return true
		}
	}
	return false
}
