package anneal

import (
	"math/rand/v2"
	"slices"

	"lightloom/southbound"
)

// wide is up to how many hosts the last pass tries them all; beyond, those of the racks of a task's partners and a
// sample of the rest.
const (
	wide   = 64
	sample = 8
)

// improve is the last pass: each task in turn takes the host, and each flow the way, that is best for all, until none
// gains or the rounds are over. In mode paper there is none.
func (p *placing) improve(rng *rand.Rand) Count {
	var count Count
	if p.s.opt.Paper || len(p.hosts) < 2 {
		return count
	}
	for range p.s.opt.Passes {
		gained := false
		for t := range p.host {
			if p.Spent() {
				break
			}
			gained = p.improveOne(t, rng, &count) || gained
		}
		p.settle()
		if !gained || p.Spent() {
			break
		}
	}
	return count
}

func (p *placing) improveOne(t int, rng *rand.Rand, count *Count) bool {
	gained := false
	for _, h := range p.candidates(t, rng) {
		if h == p.host[t] {
			continue
		}
		before := p.Utility()
		p.shift(t, h, 0, rng)
		count.Evaluated++
		if p.Utility() <= before {
			p.Undo()
			continue
		}
		count.Accepted++
		gained = true
	}
	return gained
}

func (p *placing) candidates(t int, rng *rand.Rand) []southbound.HostID {
	if len(p.hosts) <= wide {
		return p.hosts
	}
	var all []southbound.HostID
	for range sample {
		all = append(all, p.hosts[rng.IntN(len(p.hosts))], p.near(t, rng))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
