package light

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/pending"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// pair is what one coflow sends from one rack to another.
type pair struct {
	in, out southbound.Port
	size    pathmap.Bytes // of all its bundles, ended ones too
	left    pathmap.Bytes
	whole   time.Duration // transfer time of size on a circuit, without the outage
	need    time.Duration // transfer time of left
}

// demand is a coflow as the optical switch sees it: its elephants, by (in, out).
type demand struct {
	id    southbound.CoflowID
	bound time.Duration // T(C)
	pairs []pair
}

// port is one rack's end at the optical switch.
type port struct {
	ok       bool
	up, down pathmap.BitsPerSecond // ToR to OCS, OCS to ToR
}

// longest bounds a transfer time, so that sums over many ports cannot overflow: about 104 days.
const longest = time.Duration(1 << 53)

// ports returns the racks' ends: a rack without port, or one whose link is dark either way, is not ok.
func ports(v *controller.View) []port {
	all := make([]port, v.Fabric.Racks)
	t := v.Fabric.Topology
	for r := range all {
		if r >= len(v.Fabric.OCSUplink) || v.Fabric.OCSUplink[r] < 0 {
			continue
		}
		l := t.OutPort(v.Fabric.ToRNode[r], v.Fabric.OCSUplink[r])
		if l == pathmap.None || v.Down != nil && (v.Down[l] || v.Down[pathmap.Reverse(l)]) {
			continue
		}
		all[r] = port{true, t.Link(l).Capacity, t.Link(pathmap.Reverse(l)).Capacity}
	}
	return all
}

// rows are the bundles of one coflow, wherever they come from.
type rows struct {
	id       southbound.CoflowID
	src, dst []southbound.HostID
	size     []pathmap.Bytes
	left     func(row int) pathmap.Bytes
}

// demands returns the elephants of every coflow that may send now or as soon as the plan is committed, shortest T(C)
// first. T(C) is over whole sizes, so that a coflow's rank is fixed when it starts.
func demands(v *controller.View, p *controller.Plan, ends []port) []demand {
	g := gatherer{v: v, ends: ends, nic: nics(v)}
	var all []demand
	add := func(r rows) {
		if d := g.gather(r); len(d.pairs) > 0 {
			all = append(all, d)
		}
	}
	for i := range v.Coflows {
		if c := &v.Coflows[i]; c.Started {
			add(rows{c.ID, c.Src, c.Dst, c.Size, c.LeftBytes})
		}
	}
	for _, c := range pending.Placed(v, p) {
		if c.Starts {
			add(rows{c.ID, c.Src, c.Dst, c.Size, func(row int) pathmap.Bytes { return c.Size[row] }})
		}
	}
	slices.SortFunc(all, func(a, b demand) int { return cmp.Or(cmp.Compare(a.bound, b.bound), cmp.Compare(a.id, b.id)) })
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

type gatherer struct {
	v    *controller.View
	ends []port
	nic  [][2]pathmap.BitsPerSecond
}

// gather sums a coflow's bundles by rack pair and keeps the pairs of at least the elephant threshold.
func (g *gatherer) gather(r rows) demand {
	index := make([]int32, 0, len(r.src))
	for row := range r.src {
		in, out := g.v.HostRack(r.src[row]), g.v.HostRack(r.dst[row])
		if in != out && g.ends[in].ok && g.ends[out].ok {
			index = append(index, int32(row))
		}
	}
	slices.SortFunc(index, func(a, b int32) int {
		return cmp.Or(cmp.Compare(g.v.HostRack(r.src[a]), g.v.HostRack(r.src[b])),
			cmp.Compare(g.v.HostRack(r.dst[a]), g.v.HostRack(r.dst[b])), cmp.Compare(a, b))
	})
	d := demand{id: r.id}
	for len(index) > 0 {
		n := 1
		for n < len(index) && g.sameRacks(&r, index[0], index[n]) {
			n++
		}
		if p := g.pair(&r, index[:n]); p.size >= g.v.Elephants {
			d.pairs = append(d.pairs, p)
		}
		index = index[n:]
	}
	d.bound = bound(d.pairs, g.v.Delta, len(g.ends))
	return d
}

func (g *gatherer) sameRacks(r *rows, a, b int32) bool {
	return g.v.HostRack(r.src[a]) == g.v.HostRack(r.src[b]) && g.v.HostRack(r.dst[a]) == g.v.HostRack(r.dst[b])
}

func (g *gatherer) pair(r *rows, index []int32) pair {
	in, out := g.v.HostRack(r.src[index[0]]), g.v.HostRack(r.dst[index[0]])
	p := pair{in: southbound.Port(in), out: southbound.Port(out)}
	for _, row := range index {
		p.size += r.size[row]
		p.left += r.left(int(row))
	}
	p.whole = g.over(r, index, p, p.size, func(row int) pathmap.Bytes { return r.size[row] })
	p.need = g.over(r, index, p, p.left, r.left)
	return p
}

// over returns how long a pair's bytes take on a circuit: at the rate of its two OCS ports, or longer where the busiest
// host of either rack cannot send or receive its part in that time.
func (g *gatherer) over(r *rows, index []int32, p pair, total pathmap.Bytes, of func(int) pathmap.Bytes) time.Duration {
	d := controller.Wire(total).Over(min(g.ends[p.in].up, g.ends[p.out].down))
	first := [2]int{int(p.in) * g.v.Fabric.HostsPerRack, int(p.out) * g.v.Fabric.HostsPerRack}
	for side, hosts := range [2][]southbound.HostID{r.src, r.dst} {
		sum := make([]pathmap.Bytes, g.v.Fabric.HostsPerRack)
		for _, row := range index {
			sum[int(hosts[row])-first[side]] += of(int(row))
		}
		for k, b := range sum {
			d = max(d, controller.Wire(b).Over(g.nic[first[side]+k][side]))
		}
	}
	return min(d, longest)
}

// bound is T(C) of co-scheduler's Equation 2: the longest sum over any port of outage and transfer time.
func bound(pairs []pair, delta time.Duration, ports int) time.Duration {
	in, out := make([]time.Duration, ports), make([]time.Duration, ports)
	t := time.Duration(0)
	for _, p := range pairs {
		in[p.in] += delta + p.whole
		out[p.out] += delta + p.whole
		t = max(t, in[p.in], out[p.out])
	}
	return t
}
