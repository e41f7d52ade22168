package share

import (
	"lightloom/controller"
	"lightloom/pathmap"
)

// demand is what a coflow has still to send over packets.
type demand struct {
	c       *controller.CoflowView
	b       *coflowRows
	loads   []load  // by link that can bind, none twice
	left    float64 // payload bytes over packets
	remains float64 // payload bytes, circuits' too
	gamma   float64 // nanoseconds that it takes with the fabric to itself
	queue   int     // that it is in, of dclas
	given   float64 // by spreadOne, bits a second

	// bounded: it is not added up yet. It is known only that gamma, which ranks it, may be more, but is below most.
	bounded bool
	most    float64
}

// load is layer-2 bits over one link, and the nanoseconds that they take it.
type load struct {
	link pathmap.LinkID
	bits float64
	ns   float64
}

// demands adds up the demands of the started coflows of a view, in its order. Borrowed until the next call.
func (o *Ordered) demands(v *controller.View, ev []controller.Event) []demand {
	o.open = o.books.open(v, ev, o.open)
	clear(o.all) // as open
	o.all = o.all[:0]
	loads := o.loads[:0]
	for i := range v.Coflows {
		c := &v.Coflows[i]
		tags := o.topologyContext.tags(c)
		if !c.Started || tags == nil {
			continue
		}
		first := len(loads)
		d, told := demand{c: c, b: o.open[i]}, o.told(v, c)
		known := told && c.Remaining.Version != 0 && len(o.topologyContext.capacity) <= manyLinks
		if !known || !o.bound(&d) {
			v.Complete(c)
		}
		if known {
			if !d.bounded {
				o.addKnown(v, &d)
			}
			o.all = append(o.all, d)
			continue
		}
		if told {
			loads = o.addTold(v, loads, &d)
		} else {
			loads = o.addRows(v, loads, &d)
		}
		for k := range loads[first:] {
			l := &loads[first+k]
			l.ns = l.bits / o.topologyContext.capacity[l.link] * 1e9
			if o.topologyContext.isUp[l.link] {
				d.left += l.bits / o.topologyContext.bits
			}
			d.gamma = max(d.gamma, l.ns)
		}
		d.loads = loads[first:len(loads):len(loads)]
		if d.remains = d.left; len(v.Circuits) > 0 && !o.lean {
			d.remains = 0
			for r := range c.Src {
				if !c.Ended[r] {
					d.remains += c.Remaining.Row(int32(r))
				}
			}
		}
		o.all = append(o.all, d)
	}
	o.loads = loads
	return o.all
}

// told reports whether the fabric has sums of a coflow for all links that can bind. It may leave out wide links, but
// these bind where others' bytes take them, too.
func (o *Ordered) told(v *controller.View, c *controller.CoflowView) bool {
	g := &o.topologyContext
	return c.Remaining.Load != nil && len(v.Circuits) == 0 && g.routed[c.ID] == nil &&
		(g.plain || len(v.ReservedBandwidth) == 0)
}

// addTold takes the sums that the fabric has.
func (o *Ordered) addTold(v *controller.View, loads []load, d *demand) []load {
	left := &d.c.Remaining
	o.begin()
	for _, u := range left.Load {
		if u.Rows > 0 && o.topologyContext.binds[u.Link] {
			loads = o.add(loads, u.Link, u.Base*left.F*o.topologyContext.bits)
		}
	}
	for _, r := range left.Off {
		loads = o.addRow(v, loads, d.c, r.Row)
	}
	return loads
}

// addRows adds up row by row.
func (o *Ordered) addRows(v *controller.View, loads []load, d *demand) []load {
	o.begin()
	tags := o.topologyContext.tags(d.c)
	for r := range d.c.Src {
		if !d.c.Ended[r] && o.topologyContext.onPackets(v, d.c, int32(r), tags[r]) {
			loads = o.addRow(v, loads, d.c, int32(r))
		}
	}
	return loads
}

func (o *Ordered) addRow(v *controller.View, loads []load, c *controller.CoflowView, r int32) []load {
	bits := c.Remaining.Row(r) * o.topologyContext.bits
	for _, l := range o.topologyContext.links(v, c.Src[r], c.Dst[r], o.topologyContext.tags(c)[r]) {
		loads = o.add(loads, l, bits)
	}
	return loads
}

// begin starts another sum: what was noted of links so far is void.
func (o *Ordered) begin() {
	o.epoch++
	if n := len(o.topologyContext.capacity); len(o.at) < n {
		o.at, o.when = make([]int32, n), make([]uint64, n)
	}
}

func (o *Ordered) add(loads []load, l pathmap.LinkID, bits float64) []load {
	if o.when[l] != o.epoch {
		o.when[l], o.at[l] = o.epoch, int32(len(loads))
		return append(loads, load{link: l, bits: bits})
	}
	loads[o.at[l]].bits += bits
	return loads
}
