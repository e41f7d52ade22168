package joint

import "lightloom/controller"

// Jobs to come wait for the ports that a job takes, so a place costs, beside the ends of all jobs, a
// price for the time for which it takes ports of racks.

// portPrice is what a second of a rack's port costs, in seconds of jobs to come. Of 0.03 to 3 on the
// grounds of the experiment joint-wide, jobs ended soonest with 0.06 to 0.1.
const portPrice = 0.08

// blockPrice is portPrice for jobs that read blocks. Near these a job is on more racks than its shuffle
// wants, and each pair of them asks for a circuit of its own: of 0.08 to 1 on the SWIM grounds of
// joint-wide, jobs and coflows together ended soonest with 0.5.
const blockPrice = 0.5

// portTime is for how many seconds a candidate takes ports of racks to send from, over all pairs of racks.
func (x *shapes) portTime(c [][]int32) (sum float64) {
	for k := range x.job.Edges {
		e := &x.job.Edges[k]
		if e.Kind == controller.Fixed {
			continue
		}
		from, to := x.of(c, e.From), x.of(c, e.To)
		share := float64(x.job.Volume(e)) / total(from) / total(to)
		for a, n := range from {
			for b, m := range to {
				if bytes := share * float64(n) * float64(m); a != b && bytes > 0 {
					sum += x.f.pairTime(a, b, bytes)
				}
			}
		}
	}
	return sum
}

// readTime is portTime for what a job reads from hosts that are given, and for blocks of other racks.
func (x *shapes) readTime(j *liveJob) (sum float64) {
	for k, c := range j.coflows {
		if c == nil || k < len(x.job.Edges) && x.job.Edges[k].Kind != controller.Fixed {
			continue
		}
		packets := map[int32]float64{} // what no circuit can carry, by rack
		for _, p := range c.ports[rackUp] {
			packets[p.at] = p.bytes
		}
		for i := range c.pairs {
			p := &c.pairs[i]
			packets[int32(p.In)] -= float64(p.Bytes)
			sum += x.f.pairTime(int(p.In), int(p.Out), float64(p.Bytes))
		}
		for _, p := range c.ports[rackUp] {
			if left := packets[p.at]; left > 0 { // nothing over a link that is down takes no time, and 0/0 is no number
				sum += min(left/x.f.rates[rackUp][p.at], forever)
			}
		}
	}
	return sum
}

// pairTime is for how many seconds bytes from one rack to another take a port: that of a circuit with
// its dark time, or that to the packet network if this is sooner.
func (f *forecast) pairTime(from, to int, bytes float64) float64 {
	least := min(bytes/f.rates[rackUp][from], forever)
	if !f.blind && f.optical[1][to] > 0 && f.v.Fabric.Spec.CircuitMayJoin(from, to) {
		least = min(least, f.v.LeastDelta().Seconds()+bytes/f.optical[0][from])
	}
	return least
}
