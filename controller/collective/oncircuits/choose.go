package oncircuits

import (
	"math/rand/v2"
	"time"

	"lightloom/controller/collective"
	"lightloom/controller/topoeng"
)

// Alone returns what choosing one of the two gives: circuits for the usual collective, a ring of the racks in the order
// of their numbers that has every switch, and the best schedule over the circuits that stand, where there is one.
func Alone(p *Problem) (circuits Choice, standing *Choice, err error) {
	if err := p.Check(); err != nil {
		return Choice{}, nil, err
	}
	circuits, ok := p.choose(p.ring(), p.plan())
	if !ok {
		return Choice{}, nil, errApart
	}
	if c, ok := p.choose(p.Standing, p.plan()); ok {
		standing = &c
	}
	return circuits, standing, nil
}

// ring returns the circuits of a ring that has every switch.
func (p *Problem) ring() topoeng.Topology {
	return p.strides(func(int) int { return 1 })
}

// strides returns circuits that lead, at each switch, so many racks on.
func (p *Problem) strides(of func(k int) int) topoeng.Topology {
	t := topoeng.NewTopology(p.Standing.Pods, len(p.Standing.Out))
	for k, out := range t.Out {
		for i := range out {
			out[i] = int32((i + of(k)) % t.Pods)
		}
	}
	return t
}

// Together returns circuits and a schedule chosen together: from what stands, rings, strides that grow by a factor, and
// random circuits, the best is improved in turns. One turn lets two circuits of a switch swap their ends, and plans the
// collective anew; it stays where the collective ends sooner. Tries are how many swaps there are at most.
func Together(p *Problem, tries int, rng *rand.Rand) (Choice, error) {
	circuits, standing, err := Alone(p)
	if err != nil {
		return Choice{}, err
	}
	best := circuits
	if standing != nil && standing.Time <= best.Time {
		best = *standing
	}
	for _, t := range p.starts(rng) {
		if c, ok := p.choose(t, p.plan()); ok && c.Time < best.Time {
			best = c
		}
	}
	far := spread(best.Net)
	for range tries {
		if best.Time-p.delay(best) <= p.Bound() {
			break
		}
		t := best.Circuits.Clone()
		if !swap(t, rng) {
			continue
		}
		// A topology on which nodes are farther apart is not worth a plan.
		d := spread(Network(t, p.Rate, p.Latency))
		if d > far {
			continue
		}
		if c, ok := p.choose(t, p.plan()); ok && (c.Time < best.Time || c.Time == best.Time && d < far) {
			best, far = c, d
		}
	}
	return best, nil
}

// delay returns the share of a choice's time that is a reconfiguration delay.
func (p *Problem) delay(c Choice) time.Duration { return c.Time - c.Schedule.Ends }

// starts returns circuits to begin with.
func (p *Problem) starts(rng *rand.Rand) []topoeng.Topology {
	n, w := p.Standing.Pods, len(p.Standing.Out)
	var out []topoeng.Topology
	for factor := 2; factor <= max(2, w) && factor < n; factor++ {
		out = append(out, p.strides(func(k int) int {
			stride := 1
			for range k {
				stride = stride * factor % n
			}
			return max(1, stride)
		}))
	}
	out = append(out, p.strides(func(k int) int { return 1 + k%(n-1) }))
	for range 3 {
		out = append(out, random(n, w, rng))
	}
	return out
}

// random returns random circuits; at every switch they are rings through all racks.
func random(pods, switches int, rng *rand.Rand) topoeng.Topology {
	t := topoeng.NewTopology(pods, switches)
	for _, out := range t.Out {
		ring := rng.Perm(pods)
		for i, at := range ring {
			out[at] = int32(ring[(i+1)%pods])
		}
	}
	return t
}

// swap lets two circuits of one switch swap where they lead, unless one would lead back to its rack.
func swap(t topoeng.Topology, rng *rand.Rand) bool {
	out := t.Out[rng.IntN(len(t.Out))]
	i, j := rng.IntN(t.Pods), rng.IntN(t.Pods)
	if i == j || int(out[i]) == j || int(out[j]) == i || out[i] < 0 || out[j] < 0 {
		return false
	}
	out[i], out[j] = out[j], out[i]
	return true
}

// spread returns the sum of all distances, a large number where there is no path.
func spread(n *collective.Network) int {
	sum := 0
	for v := range int32(n.Nodes) {
		for _, hops := range n.Hops(v) {
			if hops < 0 {
				return 1 << 40
			}
			sum += int(hops)
		}
	}
	return sum
}
