package agent

import (
	"cmp"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// standing is the rates in force, for an agent that is back: rates of classes of pairs merge, the rest
// is from the last call.
type standing struct {
	last  southbound.Rates
	pairs map[southbound.PairRate]pathmap.BitsPerSecond // by class: the rate within the key is 0
}

func newStanding() standing {
	return standing{pairs: map[southbound.PairRate]pathmap.BitsPerSecond{}}
}

func (s *standing) set(r *southbound.Rates) {
	s.last = southbound.Rates{Fair: r.Fair, Pace: slices.Clone(r.Pace), Extra: slices.Clone(r.Extra)}
	for _, p := range r.Priority {
		p.Low = slices.Clone(p.Low)
		s.last.Priority = append(s.last.Priority, p)
	}
	for _, x := range r.Spreads() {
		s.last.Spread = append(s.last.Spread, southbound.Spread{Coflow: x.Coflow, From: slices.Clone(x.From),
			To: slices.Clone(x.To)})
	}
	for _, p := range r.Pairs {
		rate := p.Rate
		if p.Rate = 0; rate == 0 {
			delete(s.pairs, p)
		} else {
			s.pairs[p] = rate
		}
	}
}

// all is everything that stands.
func (s *standing) all() *southbound.Rates {
	out := s.last
	for p, rate := range s.pairs {
		p.Rate = rate
		out.Pairs = append(out.Pairs, p)
	}
	slices.SortFunc(out.Pairs, func(a, b southbound.PairRate) int {
		return cmp.Or(cmp.Compare(a.Src, b.Src), cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Tag, b.Tag))
	})
	return &out
}

func (f *Fleet) standing() *southbound.Rates {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rates.all()
}
