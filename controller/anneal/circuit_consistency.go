package anneal

import (
	"cmp"
	"slices"
)

// A reservation carries all that a coflow sends from one rack to another, or nothing of it. While a placement is
// annealed its host flows choose alone, since moves that drag their like along would hardly ever pay; at the end they
// are made consistent, rack pair by rack pair.

// pairFlows is the host flows of one edge between the same two racks: positions in live.
type pairFlows struct {
	edge, src, dst int32
	at             []int32
	was            []int32 // the candidate paths they took, in the same order
}

// carried returns the host flows that have a circuit among their candidate paths, by (edge, source, destination).
func (p *placing) carried() []pairFlows {
	order := make([]int32, 0, len(p.live))
	for i := range p.live {
		if candidates := p.live[i].candidates; candidates[len(candidates)-1].Path == OnCircuit {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &p.live[i].key, &p.live[j].key
		return cmp.Or(cmp.Compare(a.edge, b.edge), cmp.Compare(p.rack(a.src), p.rack(b.src)),
			cmp.Compare(p.rack(a.dst), p.rack(b.dst)),
			cmp.Compare(a.src, b.src), cmp.Compare(a.dst, b.dst))
	})
	var all []pairFlows
	for _, i := range order {
		k := &p.live[i].key
		s, d := p.rack(k.src), p.rack(k.dst)
		if n := len(all); n == 0 || all[n-1].edge != k.edge || all[n-1].src != s || all[n-1].dst != d {
			all = append(all, pairFlows{edge: k.edge, src: s, dst: d})
		}
		last := &all[len(all)-1]
		last.at = append(last.at, i)
	}
	return all
}

// makeConsistent lets all host flows of a rack pair in turn go over its circuit or over packets, whichever is best for
// all, until none gains or the rounds are over. The first round leaves no pair divided.
func (p *placing) makeConsistent() Count {
	var count Count
	all := p.carried()
	for round := range p.s.opt.Passes {
		gained := false
		for k := range all {
			if round > 0 && p.Spent() {
				return count
			}
			gained = p.makeOneConsistent(&all[k], &count) || gained
		}
		if !gained {
			break
		}
	}
	return count
}

func (p *placing) makeOneConsistent(t *pairFlows, count *Count) bool {
	t.was = t.was[:0]
	lit := 0
	for _, i := range t.at {
		b := &p.live[i]
		if t.was = append(t.was, b.at); b.current().Path == OnCircuit {
			lit++
		}
	}
	before := p.Utility()
	whole := lit == 0 || lit == len(t.at)
	p.toPackets(t)
	packets := p.Utility()
	candidates := p.choicesOf(t)
	p.toCircuit(t)
	circuit := p.Utility()
	count.Evaluated += 2
	switch {
	case whole && before >= max(packets, circuit):
		p.follow(t, t.was)
		return false
	case packets > circuit:
		p.follow(t, candidates)
	}
	count.Accepted++
	return true
}

func (p *placing) choicesOf(t *pairFlows) []int32 {
	candidates := make([]int32, len(t.at))
	for k, i := range t.at {
		candidates[k] = p.live[i].at
	}
	return candidates
}

// toPackets gives what is on the circuit its widest path, one host flow after the other.
func (p *placing) toPackets(t *pairFlows) {
	for _, i := range t.at {
		if b := &p.live[i]; b.current().Path == OnCircuit {
			p.s.net.lift(b.flow, 2)
			b.at = p.s.widest(b.flow, b.candidates[:len(b.candidates)-1])
			p.s.net.lay(b.flow, b.current().Links)
		}
	}
}

func (p *placing) toCircuit(t *pairFlows) {
	for _, i := range t.at {
		b := &p.live[i]
		p.setPath(b.key, int32(len(b.candidates)-1))
	}
}

func (p *placing) follow(t *pairFlows, candidates []int32) {
	for k, i := range t.at {
		p.setPath(p.live[i].key, candidates[k])
	}
}
