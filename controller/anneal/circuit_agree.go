package anneal

import (
	"cmp"
	"slices"
)

// A reservation carries all that a coflow sends from one rack to another, or nothing of it. While a placement is walked
// its bundles choose alone, since moves that drag their like along would hardly ever pay; at the end they are made to
// agree, group by group.

// party is the bundles of one edge between the same two racks: positions in live.
type party struct {
	edge, src, dst int32
	at             []int32
	was            []int32 // the ways they went, in the same order
}

// parties returns the bundles that have a circuit among their ways, by (edge, source, destination).
func (p *placing) parties() []party {
	order := make([]int32, 0, len(p.live))
	for i := range p.live {
		if ways := p.live[i].ways; ways[len(ways)-1].Path == OnCircuit {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &p.live[i].key, &p.live[j].key
		return cmp.Or(cmp.Compare(a.edge, b.edge), cmp.Compare(p.rack(a.src), p.rack(b.src)), cmp.Compare(p.rack(a.dst), p.rack(b.dst)),
			cmp.Compare(a.src, b.src), cmp.Compare(a.dst, b.dst))
	})
	var all []party
	for _, i := range order {
		k := &p.live[i].key
		s, d := p.rack(k.src), p.rack(k.dst)
		if n := len(all); n == 0 || all[n-1].edge != k.edge || all[n-1].src != s || all[n-1].dst != d {
			all = append(all, party{edge: k.edge, src: s, dst: d})
		}
		last := &all[len(all)-1]
		last.at = append(last.at, i)
	}
	return all
}

// agree lets every party in turn go over its circuit or over packets, whichever is best for all, until none gains or
// the rounds are over. The first round leaves no party divided.
func (p *placing) agree() Count {
	var count Count
	all := p.parties()
	for round := range p.s.opt.Passes {
		gained := false
		for k := range all {
			if round > 0 && p.Spent() {
				return count
			}
			gained = p.agreeOne(&all[k], &count) || gained
		}
		if !gained {
			break
		}
	}
	return count
}

func (p *placing) agreeOne(t *party, count *Count) bool {
	t.was = t.was[:0]
	lit := 0
	for _, i := range t.at {
		b := &p.live[i]
		if t.was = append(t.was, b.at); b.way().Path == OnCircuit {
			lit++
		}
	}
	before := p.Utility()
	whole := lit == 0 || lit == len(t.at)
	p.toPackets(t)
	packets := p.Utility()
	ways := p.waysOf(t)
	p.toCircuit(t)
	circuit := p.Utility()
	count.Evaluated += 2
	switch {
	case whole && before >= max(packets, circuit):
		p.follow(t, t.was)
		return false
	case packets > circuit:
		p.follow(t, ways)
	}
	count.Accepted++
	return true
}

func (p *placing) waysOf(t *party) []int32 {
	ways := make([]int32, len(t.at))
	for k, i := range t.at {
		ways[k] = p.live[i].at
	}
	return ways
}

// toPackets gives what is on the circuit its widest path, one bundle after the other.
func (p *placing) toPackets(t *party) {
	for _, i := range t.at {
		if b := &p.live[i]; b.way().Path == OnCircuit {
			p.s.net.lift(b.flow, 2)
			b.at = p.s.widest(b.flow, b.ways[:len(b.ways)-1])
			p.s.net.lay(b.flow, b.way().Links)
		}
	}
}

func (p *placing) toCircuit(t *party) {
	for _, i := range t.at {
		b := &p.live[i]
		p.setWay(b.key, int32(len(b.ways)-1))
	}
}

func (p *placing) follow(t *party, ways []int32) {
	for k, i := range t.at {
		p.setWay(p.live[i].key, ways[k])
	}
}
