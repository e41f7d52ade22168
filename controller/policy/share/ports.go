package share

import (
	"cmp"
	"math/bits"
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// ports counts the live host flows of started coflows between the ports of one big switch. There only
// ports limit host flows, so that one rate per port suffices, and every coflow gets the same rates. It
// is scratch memory, derived from the view.
type ports struct {
	fabric *topo.Fabric
	books  books
	open   []*coflowRows
	known  []*coflowRows // those whose rows are counted
	hosts  int
	flows  []int32        // by source and destination
	out    []int32        // by host, that it sends
	in     []int32        // by host, that it takes
	levels *maxmin.Levels // of the hosts' links out, then of those in; nil disables levels
	rates  southbound.Rates
	from   []southbound.HostRate
	to     []southbound.HostRate
}

// manyPorts is up to how many ports a switch can have: tables have a place for each pair.
const manyPorts = 512

// serves reports whether rates of ports are all that this view needs.
func (p *ports) serves(v *controller.View) bool {
	return v.Fabric.Spec.Kind == topo.Crossbar && !v.Fabric.HasOCS() && v.Fabric.Hosts() <= manyPorts &&
		len(v.Circuits) == 0 && len(v.Reserved) == 0 && len(v.ReservedBandwidth) == 0
}

// refresh brings the counts up to date with a view.
func (p *ports) refresh(v *controller.View, ev []controller.Event, levels bool) {
	if p.fabric != v.Fabric {
		n := v.Fabric.Hosts()
		*p = ports{fabric: v.Fabric, hosts: n, flows: make([]int32, n*n), out: make([]int32, n),
			in: make([]int32, n)}
		if levels {
			capacity := make([]float64, 2*n)
			for h := range n {
				capacity[h], capacity[n+h] = float64(v.Room(p.up(h))), float64(v.Room(pathmap.Reverse(p.up(h))))
			}
			p.levels = maxmin.NewLevels(capacity)
		}
	}
	p.open = p.books.open(v, ev, p.open)
	for i, b := range p.open {
		if c := &v.Coflows[i]; c.Started && len(c.Tag) == len(c.Src) && b.rows > 0 {
			if b.counted == nil {
				b.counted = make([]uint64, len(b.live))
				p.known = append(p.known, b)
			}
			p.count(b, b.live, b.left)
		}
	}
	p.known = slices.DeleteFunc(p.known, func(b *coflowRows) bool {
		over := !p.books.Met(b)
		if over {
			p.count(b, nil, 0)
			b.counted = nil
		}
		return over
	})
}

func (p *ports) up(h int) pathmap.LinkID { return p.fabric.Topology.Out(p.fabric.HostNode[h])[0] }

// count makes what is counted of a coflow those rows; nil: none.
func (p *ports) count(b *coflowRows, live []uint64, left int32) {
	if b.countedLeft == left && left > 0 {
		return // rows only ever end
	}
	b.countedLeft = left
	for i := range b.runs {
		for w := range b.words {
			at := i*b.words + w
			now := uint64(0)
			if live != nil {
				now = live[at]
			}
			for d := now ^ b.counted[at]; d != 0; d &= d - 1 {
				n := int32(-1)
				if now&(d&-d) != 0 {
					n = 1
				}
				p.change(b.src[w*64+bits.TrailingZeros64(d)], b.runs[i].dst, n)
			}
			b.counted[at] = now
		}
	}
}

// change counts host flows between two hosts.
func (p *ports) change(src, dst southbound.HostID, n int32) {
	at := int32(src)*int32(p.hosts) + int32(dst)
	p.flows[at] += n
	p.out[src] += n
	p.in[dst] += n
	if p.levels != nil {
		p.levels.Set(at, []pathmap.LinkID{pathmap.LinkID(src), pathmap.LinkID(p.hosts + int(dst))}, p.flows[at])
	}
}

// say gives every started coflow the rate of each host flow at each host: of those that it sends, and
// of those that it receives. Borrowed until the next call.
func (p *ports) say(v *controller.View, rate func(host int,
	out bool) pathmap.BitsPerSecond) *southbound.Rates {
	p.from, p.to = p.from[:0], p.to[:0]
	for h := range p.hosts {
		if p.out[h] > 0 {
			p.from = append(p.from, southbound.HostRate{Host: southbound.HostID(h), Rate: rate(h, true)})
		}
		if p.in[h] > 0 {
			p.to = append(p.to, southbound.HostRate{Host: southbound.HostID(h), Rate: rate(h, false)})
		}
	}
	p.rates.Spread = p.rates.Spread[:0]
	sorted := true
	for i, b := range p.open {
		if b.counted != nil {
			id, n := v.Coflows[i].ID, len(p.rates.Spread)
			sorted = sorted && (n == 0 || p.rates.Spread[n-1].Coflow <= id)
			p.rates.Spread = append(p.rates.Spread, southbound.Spread{Coflow: id, From: p.from, To: p.to})
		}
	}
	if !sorted {
		slices.SortFunc(p.rates.Spread, func(a, b southbound.Spread) int { return cmp.Compare(a.Coflow, b.Coflow) })
	}
	return &p.rates
}

// room returns what the link of a host out of it, or into it, has.
func (p *ports) room(v *controller.View, h int, out bool) pathmap.BitsPerSecond {
	if out {
		return v.Room(p.up(h))
	}
	return v.Room(pathmap.Reverse(p.up(h)))
}

// fair gives every host flow the max-min fair rate.
func (p *ports) fair(v *controller.View, ev []controller.Event) *southbound.Rates {
	p.refresh(v, ev, true)
	p.levels.Solve(func(class, from, to int32) {})
	return p.say(v, func(h int, out bool) pathmap.BitsPerSecond {
		l := pathmap.LinkID(h)
		if !out {
			l += pathmap.LinkID(p.hosts)
		}
		if rate, ok := p.levels.Whole(l); ok {
			return rate
		}
		return p.room(v, h, out) // its host flows are held back at their other ends
	})
}

// equal gives every host flow an equal part of each of its ports.
func (p *ports) equal(v *controller.View, ev []controller.Event) *southbound.Rates {
	p.refresh(v, ev, false)
	return p.say(v, func(h int, out bool) pathmap.BitsPerSecond {
		n := p.in[h]
		if out {
			n = p.out[h]
		}
		return p.room(v, h, out) / pathmap.BitsPerSecond(n)
	})
}
