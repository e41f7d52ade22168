package circuits

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/pending"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// pair is what one coflow sends from one rack to another.
type pair struct {
	in, out southbound.Port
	size    pathmap.Bytes // of all its host flows, ended ones too
	left    pathmap.Bytes
	whole   time.Duration // transfer time of size on a circuit, without the reconfiguration delay
	need    time.Duration // transfer time of left
}

// coflowDemand is a coflow as the optical switch sees it: its elephants, by (in, out). These are racks,
// numbered as their first ports are, until a wavelengthAssignment gives the pairs wavelengths.
type coflowDemand struct {
	id    southbound.CoflowID
	bound time.Duration // T(C); with W wavelengths Equation 15 of co-scheduler's section VI, which divides by W
	pairs []pair
	book  *coflowPairs // that the pairs are those of; nil: none
}

// port is one rack's end at the optical switch.
type port struct {
	ok       bool
	up, down pathmap.BitsPerSecond // ToR to OCS, OCS to ToR
}

// longest bounds a transfer time, so that sums over many ports cannot overflow: about 104 days.
const longest = time.Duration(1 << 53)

// ports returns the racks' ends: a rack without port, or one whose links are all dark either way, is not ok.
func ports(v *controller.View) []port {
	ends := opticalPorts(v)
	if len(ends) == v.Fabric.Racks { // one wavelength
		return ends
	}
	all := make([]port, v.Fabric.Racks)
	for p, x := range ends {
		if r := v.Fabric.OCSRack(int32(p)); !all[r].ok {
			all[r] = x
		}
	}
	return all
}

// opticalPorts returns the ends by port of the optical switch.
func opticalPorts(v *controller.View) []port {
	f, t := v.Fabric, v.Fabric.Topology
	all := make([]port, f.OCSPorts())
	for p := range all {
		if f.OCSUplink[p] < 0 {
			continue
		}
		l := t.OutPort(f.ToRNode[f.OCSRack(int32(p))], f.OCSUplink[p])
		if l == pathmap.None || v.Down != nil && (v.Down[l] || v.Down[pathmap.Reverse(l)]) {
			continue
		}
		all[p] = port{true, t.Link(l).Capacity, t.Link(pathmap.Reverse(l)).Capacity}
	}
	return all
}

// rows are the host flows of one coflow, wherever they come from.
type rows struct {
	id       southbound.CoflowID
	src, dst []southbound.HostID
	size     []pathmap.Bytes
	left     func(row int) pathmap.Bytes
}

// demands returns the elephants of every coflow that may send now or as soon as the plan is committed,
// shortest T(C) first. T(C) is over whole sizes, so that a coflow's rank is fixed when it starts. Where
// traffic is an estimate, it returns that.
func demands(v *controller.View, p *controller.Plan, ends []port) []coflowDemand {
	return new(memory).demands(v, p, ends)
}

// demands is the same, from a memory that is kept.
func (m *memory) demands(v *controller.View, p *controller.Plan, ends []port) []coflowDemand {
	m.remember(v, ends)
	if v.Traffic != nil {
		return estimated(v, ends)
	}
	var all []coflowDemand
	add := func(d coflowDemand) {
		if len(d.pairs) > 0 {
			all = append(all, d)
		}
	}
	for i := range v.Coflows {
		if c := &v.Coflows[i]; c.Started {
			add(m.demand(c))
		}
	}
	for _, c := range pending.Placed(v, p) {
		if c.Starts {
			add(m.expect(&c))
		}
	}
	m.books.Forget()
	slices.SortFunc(all, func(a, b coflowDemand) int {
		return cmp.Or(cmp.Compare(a.bound, b.bound), cmp.Compare(a.id, b.id))
	})
	return all
}

// nics returns each host's rate into and out of the network.
func nics(v *controller.View) [][2]pathmap.BitsPerSecond {
	all := make([][2]pathmap.BitsPerSecond, v.Fabric.Hosts())
	t := v.Fabric.Topology
	for h := range all {
		l := t.Out(v.Fabric.HostNode[h])[0]
		all[h] = [2]pathmap.BitsPerSecond{t.Link(l).Capacity, t.Link(pathmap.Reverse(l)).Capacity}
	}
	return all
}

// slowest returns the least rates of each rack's hosts; zero for one without any.
func slowest(f *topo.Fabric, nic [][2]pathmap.BitsPerSecond) [][2]pathmap.BitsPerSecond {
	all := make([][2]pathmap.BitsPerSecond, f.Racks)
	for r := range all {
		for h := f.FirstHost[r]; h < f.FirstHost[r+1]; h++ {
			x := nic[h]
			if h > f.FirstHost[r] {
				x = [2]pathmap.BitsPerSecond{min(x[0], all[r][0]), min(x[1], all[r][1])}
			}
			all[r] = x
		}
	}
	return all
}

// gatherer sums coflows by rack pair. It is asked for every coflow at every decision, so that it sorts
// pairs and never host flows, and keeps its memory.
type gatherer struct {
	v    *controller.View
	ends []port
	nic  [][2]pathmap.BitsPerSecond
	slow [][2]pathmap.BitsPerSecond // by rack: of its hosts, the least of nic

	buckets []bucket
	at      []int32         // by rack: the last bucket of which it is the input
	sum     []pathmap.Bytes // by host of a rack
	order   [2][]int32      // memory of sorted, as is count
	count   []int32         // by rack
}

// bucket is the host flows of one pair of racks.
type bucket struct {
	in, out southbound.RackID
	rows    []int32
	size    pathmap.Bytes
}

func (g *gatherer) fill(r *rows) {
	g.buckets = g.buckets[:0]
	last := int32(-1) // rows of one destination follow each other by source: mostly the pair is the one before
	for row := range r.src {
		in, out := g.v.HostRack(r.src[row]), g.v.HostRack(r.dst[row])
		if in == out || !g.ends[in].ok || !g.ends[out].ok {
			continue
		}
		if last < 0 || g.buckets[last].in != in || g.buckets[last].out != out {
			last = g.bucket(in, out)
		}
		b := &g.buckets[last]
		b.rows = append(b.rows, int32(row))
		b.size += r.size[row]
	}
}

// bucket returns that of a pair of racks. Rows are sorted by destination, so that all of one output follow each other.
func (g *gatherer) bucket(in, out southbound.RackID) int32 {
	if i := int(g.at[in]); i < len(g.buckets) && g.buckets[i].in == in && g.buckets[i].out == out {
		return int32(i)
	}
	i := len(g.buckets)
	if i < cap(g.buckets) {
		g.buckets = g.buckets[:i+1]
	} else {
		g.buckets = append(g.buckets, bucket{})
	}
	g.buckets[i] = bucket{in: in, out: out, rows: g.buckets[i].rows[:0]}
	g.at[in] = int32(i)
	return int32(i)
}

// sorted returns the buckets of at least the given bytes by (in, out). It sorts them by output and then
// stably by input, which is faster than comparisons. Borrowed until the next call.
func (g *gatherer) sorted(least pathmap.Bytes) []int32 {
	kept, parted := g.order[0][:0], g.order[1]
	for i := range g.buckets {
		if g.buckets[i].size >= least {
			kept = append(kept, int32(i))
		}
	}
	racks := g.v.Fabric.Racks
	for side := range 2 {
		of := func(i int32) southbound.RackID {
			if side == 0 {
				return g.buckets[i].out
			}
			return g.buckets[i].in
		}
		g.count = slices.Grow(g.count[:0], racks)[:racks]
		clear(g.count)
		for _, i := range kept {
			g.count[of(i)]++
		}
		sum := int32(0)
		for r, n := range g.count {
			g.count[r] = sum // where the next of this rack goes
			sum += n
		}
		parted = slices.Grow(parted[:0], len(kept))[:len(kept)]
		for _, i := range kept {
			parted[g.count[of(i)]] = i
			g.count[of(i)]++
		}
		kept, parted = parted, kept
	}
	g.order = [2][]int32{kept, parted}
	return kept
}

func (g *gatherer) pair(r *rows, b *bucket) pair {
	p := pair{in: southbound.Port(b.in), out: southbound.Port(b.out), size: b.size}
	p.whole = g.over(r, b, p.size, func(row int) pathmap.Bytes { return r.size[row] })
	g.remains(r, b, &p)
	return p
}

// remains computes what is left of a pair.
func (g *gatherer) remains(r *rows, b *bucket, p *pair) {
	p.left, p.need = 0, 0
	for _, row := range b.rows {
		p.left += r.left(int(row))
	}
	if p.left > 0 {
		p.need = g.over(r, b, p.left, r.left)
	}
}

// over returns how long a pair's bytes take on a circuit: at the rate of its two OCS ports, or longer
// where the busiest host of either rack cannot send or receive its part in that time.
func (g *gatherer) over(r *rows, b *bucket, total pathmap.Bytes, of func(int) pathmap.Bytes) time.Duration {
	first := [2]int{int(g.v.Fabric.FirstHost[b.in]), int(g.v.Fabric.FirstHost[b.out])}
	racks := [2]int{int(b.in), int(b.out)}
	rate := min(g.ends[b.in].up, g.ends[b.out].down)
	d := g.v.Wire(total).Over(rate)
	for side, hosts := range [2][]southbound.HostID{r.src, r.dst} {
		n := g.v.Fabric.HostsOf(racks[side])
		if n == 0 || g.slow[racks[side]][side] >= rate {
			continue // no host of the rack is slower than the circuit
		}
		if len(b.rows) == 1 { // as most often where a wide shuffle has one task a rack
			row := int(b.rows[0])
			d = max(d, g.v.Wire(of(row)).Over(g.nic[hosts[row]][side]))
			continue
		}
		g.sum = slices.Grow(g.sum[:0], n)[:n]
		clear(g.sum)
		for _, row := range b.rows {
			g.sum[int(hosts[row])-first[side]] += of(int(row))
		}
		for k, bytes := range g.sum {
			if bytes > 0 {
				d = max(d, g.v.Wire(bytes).Over(g.nic[first[side]+k][side]))
			}
		}
	}
	return min(d, longest)
}

// bound is T(C) of some pairs.
func bound(pairs []pair, delta time.Duration, ports int) time.Duration {
	s := sumUp(pairs, ports)
	return s.bound(delta)
}
