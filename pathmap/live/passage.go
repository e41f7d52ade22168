package live

import (
	"slices"

	"lightloom/pathmap/internal/ksp"
)

// passage finds the paths of pairs that lead over one cable, which is back: all that a pair can gain by
// it. It goes only where cable and target can be reached within the length that still counts, and so
// looks at little beside those paths.
type passage struct {
	g     *ksp.Graph
	gate  *gainFilter // of the one cable
	cross [2]int32

	dist    ksp.Row // of the target
	target  int32
	longest int32    // of a path that counts
	far     [2]int32 // from behind the cable to the target, by the direction in which it is taken
	steps   int

	node []int32 // of the path being searched
	cur  []int32 // entries taken from them
	via  []int32 // of the paths found, one after the other
	end  []int32
}

// passageSteps is how many links one search can look at: with more, all paths of the pair are found anew.
const passageSteps = 1 << 10

func newPassage(g *ksp.Graph, t *gainFilter) *passage {
	c := t.cables[0]
	return &passage{g: g, gate: t, cross: [2]int32{t.entry[2*c], t.entry[2*c+1]}}
}

// run finds the paths of a pair over the cable with at most longest links, in no order, and reports
// whether these are all.
func (p *passage) run(source, target int32, dist ksp.Row, longest int32) bool {
	p.dist, p.target, p.longest, p.steps = dist, target, longest, passageSteps
	p.far = [2]int32{p.gate.from[target][1], p.gate.from[target][0]}
	p.via, p.end = p.via[:0], p.end[:0]
	p.node, p.cur = append(p.node[:0], source), p.cur[:0]
	p.approach(source)
	return p.steps >= 0
}

// approach searches on from a node before the cable.
func (p *passage) approach(n int32) {
	g, before := p.g, int32(len(p.cur))
	if p.steps -= int(g.Degree(n)); p.steps < 0 {
		return
	}
	for e := g.Start[n]; e < g.Start[n+1]; e++ {
		to := g.To[e]
		switch e {
		case p.cross[0], p.cross[1]:
			way := 0
			if e == p.cross[1] {
				way = 1
			}
			if slack := p.longest - before - 1 - p.far[way]; slack >= 0 && p.take(e, to) {
				p.leave(to, slack)
				p.drop()
			}
		default:
			from := &p.gate.from[to]
			if before+2+min(from[0]+p.far[0], from[1]+p.far[1]) <= p.longest && to != p.target && p.take(e, to) {
				p.approach(to)
				p.drop()
			}
		}
	}
}

// leave searches on from a node behind the cable, with so much slack left.
func (p *passage) leave(n, slack int32) {
	if n == p.target {
		p.via = append(p.via, p.cur...)
		p.end = append(p.end, int32(len(p.via)))
		return
	}
	g, code := p.g, p.dist.Code(n)
	if p.steps -= int(g.Degree(n)); p.steps < 0 {
		return
	}
	for e := g.Start[n]; e < g.Start[n+1]; e++ {
		to := g.To[e]
		if rest := slack - int32(ksp.Detour(code, p.dist.Code(to))); rest >= 0 && p.take(e, to) {
			p.leave(to, rest)
			p.drop()
		}
	}
}

// take goes on over an entry, if the path may.
func (p *passage) take(e, to int32) bool {
	if to != p.target && p.g.Leaf[to] || slices.Contains(p.node, to) {
		return false
	}
	p.cur, p.node = append(p.cur, e), append(p.node, to)
	return true
}

func (p *passage) drop() { p.cur, p.node = p.cur[:len(p.cur)-1], p.node[:len(p.node)-1] }
