package anneal

import (
	"math/rand/v2"
	"slices"

	"lightloom/southbound"
)

// wide is up to how many hosts the last pass tries them all; beyond, those of the racks of a task's
// partners and a sample of the rest.
const (
	wide   = 64
	sample = 8
)

// improve is the last pass: each task in turn takes the host, and each flow the path, that is best for
// all, until none gains or the rounds are over. In mode paper there is none.
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
		p.localSearch()
		if !gained || p.Spent() {
			break
		}
	}
	return count
}

// improveOne tries hosts for one task. It is taken away once and put on each in turn; only where a host
// is full, so that a task there has to change places with it, it goes home before.
func (p *placing) improveOne(t int, rng *rand.Rand, count *Count) bool {
	gained := false
	o := outing{p: p, task: t, home: p.host[t]}
	best := p.Utility()
	for _, h := range p.candidates(t, rng) {
		if h == o.home {
			continue
		}
		full := p.free[h] < p.g.need(t)
		if full {
			o.back()
			p.shift(t, h, 0, rng)
		} else {
			o.try(h, rng)
		}
		count.Evaluated++
		switch u := p.Utility(); {
		case u > best:
			best, gained = u, true
			count.Accepted++
			o.stay()
		case full:
			p.Undo()
		default:
			o.leave()
		}
	}
	o.back()
	return gained
}

// outing is a task that looks for another host.
type outing struct {
	p          *placing
	task       int
	home       southbound.HostID
	away       bool
	candidates []candidateOf // of the host flows that ceased when it left home
}

// leave takes the task off its host.
func (o *outing) leave() {
	o.p.journal = o.p.journal[:0]
	o.p.put(o.task, -1, &o.p.fresh)
}

// try puts the task on a host with room.
func (o *outing) try(h southbound.HostID, rng *rand.Rand) {
	if !o.away {
		o.leave()
		o.away, o.candidates = true, o.candidates[:0]
		for _, u := range o.p.journal {
			o.candidates = append(o.candidates, candidateOf{u.key, u.at})
		}
	}
	fresh := o.p.fresh[:0]
	o.p.put(o.task, h, &fresh)
	o.p.open(fresh, 0, rng)
	o.p.fresh = fresh
}

// stay makes the host where the task is its home.
func (o *outing) stay() { o.home, o.away = o.p.host[o.task], false }

// back puts the task on its host again, and its host flows on the candidate paths they took.
func (o *outing) back() {
	if !o.away {
		return
	}
	o.away = false
	fresh := o.p.fresh[:0]
	o.p.put(o.task, o.home, &fresh)
	o.p.fresh = fresh
	for _, w := range o.candidates {
		o.p.setPath(w.key, w.at)
	}
	o.p.journal = o.p.journal[:0]
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
