package clairvoyant

import (
	"cmp"
	"math"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/certified"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// over is how many seconds bytes of payload take at a rate.
func over(bytes float64, rate pathmap.BitsPerSecond) float64 {
	return bytes * 8 * controller.FrameBytes / controller.FramePayload / float64(rate)
}

// rackRate is what a rack sends, or receives, over packets and its circuit together.
func rackRate(s topo.Spec) pathmap.BitsPerSecond {
	return s.EPS*pathmap.BitsPerSecond(s.Spines) + s.OCS
}

// anywhere is the shuffles of jobs whose tasks can be on any hosts, each released when its maps could
// have ended at the earliest. What all network cards, and all racks, must send holds wherever tasks
// are: a port is all of them together. No circuit is certain to be moved for a job, so that moves cost
// nothing here.
func anywhere(f *topo.Fabric, jobs []controller.Job) *certified.OpenShop {
	s := f.Spec
	groups := [2]struct {
		number, slots int
		rate          pathmap.BitsPerSecond
	}{{f.Hosts(), s.Slots, s.NIC}, {f.Racks, s.Slots * f.HostsPerRack, rackRate(s)}}
	o := &certified.OpenShop{Load: make([][]float64, len(groups))}
	for i := range jobs {
		j := &jobs[i]
		maps, reduces, bytes := len(j.Stages[0].Tasks), len(j.Stages[1].Tasks), float64(j.Edges[0].Bytes)
		alone := 0.0
		for g, x := range groups {
			o.Load[g] = append(o.Load[g], over(bytes*leaving(maps, reduces, x.slots), x.rate)/float64(x.number))
			alone = max(alone, over(bytes*busiest(maps, reduces, x.slots), x.rate), o.Load[g][i])
		}
		o.Release, o.Alone = append(o.Release, (j.Arrival+longest(j, 0)).Seconds()), append(o.Alone, alone)
	}
	return o
}

// leaving is the least share of a shuffle's bytes that leaves its group of slots: a host, or a rack.
// With a maps and b reduces in a group of s slots, ab is at most (a+b)s/4, at most a(s-1) and at most
// b(s-1).
func leaving(maps, reduces, slots int) float64 {
	m, r, s := float64(maps), float64(reduces), float64(slots)
	return max(0, 1-min(s*(m+r)/(4*m*r), (s-1)/max(m, r)))
}

// busiest is the least share of a shuffle's bytes that the busiest group receives or sends: a group
// with b reduces and at most s-b maps receives b/r of all, but for what these maps have.
func busiest(maps, reduces, slots int) float64 {
	one := func(mine, theirs int) float64 {
		least := 1.0
		for n := 1; n <= min(mine, slots); n++ {
			own := min(theirs, slots-n)
			least = min(least, float64(n)/float64(mine)*(1-float64(own)/float64(theirs)))
		}
		return least
	}
	return max(one(reduces, maps), one(maps, reduces))
}

func longest(j *controller.Job, stage int) (most time.Duration) {
	for _, t := range j.Stages[stage].Tasks {
		most = max(most, t.Compute)
	}
	return most
}

// placed is the shuffles of jobs on the hosts where they were, each released when it started.
func placed(f *topo.Fabric, jobs []controller.Job, t *trial) *certified.OpenShop {
	racks, hosts := f.Racks, f.Hosts()
	o := &certified.OpenShop{Load: make([][]float64, 2*(racks+hosts))}
	for i := range o.Load {
		o.Load[i] = make([]float64, len(jobs))
	}
	for i := range jobs {
		peers := make([]map[int32]float64, 2*racks) // by rack and side: bytes by the other rack
		alone := 0.0
		c := controller.Expand(&jobs[i], &jobs[i].Edges[0], t.hosts[i])
		for row, size := range c.Size {
			ends := [2]southbound.HostID{c.Src[row], c.Dst[row]}
			for side, h := range ends {
				o.Load[2*(racks+int(h))+side][i] += over(float64(size), f.Spec.NIC)
				mine, theirs := f.RackOf(int32(h)), f.RackOf(int32(ends[1-side]))
				if mine == theirs {
					continue
				}
				port := 2*int(mine) + side
				if peers[port] == nil {
					peers[port] = map[int32]float64{}
				}
				peers[port][theirs] += float64(size)
				o.Load[port][i] += over(float64(size), rackRate(f.Spec))
			}
		}
		for port, p := range peers {
			alone = max(alone, portAlone(f.Spec, p), o.Load[port][i])
		}
		for port := 2 * racks; port < len(o.Load); port++ {
			alone = max(alone, o.Load[port][i])
		}
		o.Release, o.Alone = append(o.Release, t.start[i]), append(o.Alone, alone)
	}
	return o
}

// portAlone is how long a rack's port takes for what it has for other racks: q of them, the largest,
// get a circuit, of which the first can be lit already and every other one costs a reconfiguration
// delay without light.
func portAlone(s topo.Spec, peers map[int32]float64) float64 {
	sizes := make([]float64, 0, len(peers))
	for _, b := range peers {
		sizes = append(sizes, b)
	}
	slices.SortFunc(sizes, func(a, b float64) int { return cmp.Compare(b, a) })
	all, lit, best := 0.0, 0.0, math.Inf(1)
	for _, b := range sizes {
		all += b
	}
	packets := s.EPS * pathmap.BitsPerSecond(s.Spines)
	for q := 0; q <= len(sizes); q++ {
		dark := s.Dark.Seconds() * float64(max(q-1, 0)) * float64(s.OCS) / float64(rackRate(s))
		best = min(best, max(over(all, rackRate(s))+dark, over(all-lit, packets)))
		if q < len(sizes) {
			lit += sizes[q]
		}
	}
	return best
}
