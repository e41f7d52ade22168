package audit

import (
	"fmt"
	"slices"

	"lightloom/southbound"
)

// trials is how many different switches a fibre must be silent against before it counts as dead, if so many are known:
// one can ignore it, because it is its own, and one may not have heard it in time.
const trials = 3

// skip moves on from partners when there is nothing left that could be learned there.
func (w *Walk) skip() {
	if len(w.partners()) > 0 {
		return
	}
	for p := range w.n {
		if w.found.In[p].IsZero() {
			w.dead.In[p] = silent
		}
		if w.found.Out[p].IsZero() {
			w.dead.Out[p] = silent
		}
	}
	if w.stage = prediction; len(w.predict()) == 0 {
		w.finish()
	}
}

// partners pairs every fibre that is not settled with an end that is known and has not been tried on it.
func (w *Walk) partners() (round []southbound.CrossConnect) {
	inUsed, outUsed := make([]bool, w.n), make([]bool, w.n)
	for p := range w.n {
		if out := w.open(p, true); out && !outUsed[p] {
			if in := w.partnerOf(side{p, true}, w.found.In, inUsed); in >= 0 {
				inUsed[in], outUsed[p] = true, true
				round = append(round, southbound.CrossConnect{In: southbound.Port(in), Out: southbound.Port(p)})
			}
		}
		if in := w.open(p, false); in && !inUsed[p] {
			if out := w.partnerOf(side{p, false}, w.found.Out, outUsed); out >= 0 {
				inUsed[p], outUsed[out] = true, true
				round = append(round, southbound.CrossConnect{In: southbound.Port(p), Out: southbound.Port(out)})
			}
		}
	}
	slices.SortFunc(round, func(a, b southbound.CrossConnect) int { return int(a.In - b.In) })
	return round
}

// open reports whether a fibre is neither known nor dead.
func (w *Walk) open(port int, out bool) bool {
	if out {
		return w.found.Out[port].IsZero() && len(w.tried[side{port, true}]) < trials
	}
	return w.found.In[port].IsZero() && len(w.tried[side{port, false}]) < trials
}

// partnerOf returns the first port of the same optical switch whose known end is of a switch not tried on s.
func (w *Walk) partnerOf(s side, known []End, used []bool) int {
	own := w.own[s.port]
	for p := own.first; p < own.first+own.ports; p++ {
		if e := known[p]; !e.IsZero() && !used[p] && !slices.Contains(w.tried[s], e.Chassis) {
			return p
		}
	}
	return -1
}

// match evaluates a round of partners: an end that hears a known end is behind the output lit to that
// end, and vice versa.
func (w *Walk) match(lit []southbound.CrossConnect, heard []Heard) {
	round := w.round
	for _, c := range round {
		in, out := int(c.In), int(c.Out)
		from, at := w.found.In[in], w.found.Out[out]
		if !from.IsZero() && at.IsZero() {
			w.tried[side{out, true}] = append(w.tried[side{out, true}], from.Chassis)
		} else if from.IsZero() && !at.IsZero() {
			w.tried[side{in, false}] = append(w.tried[side{in, false}], at.Chassis)
		}
		if !slices.Contains(lit, c) {
			continue
		}
		for _, h := range heard {
			switch {
			case !from.IsZero() && at.IsZero() && h.From == from:
				w.learn(out, true, h.At)
			case from.IsZero() && !at.IsZero() && h.At == at:
				w.learn(in, false, h.From)
			}
		}
	}
	w.skip()
}

// predict pairs all ports anew: two further than they were paired before, if there are enough ports.
func (w *Walk) predict() (round []southbound.CrossConnect) {
	w.verify = map[Heard]southbound.CrossConnect{}
	for in := range w.n {
		b := w.own[in]
		out := b.turned(in, min(b.shift+1, b.ports-1))
		from, at := w.found.In[in], w.found.Out[out]
		c := southbound.CrossConnect{In: southbound.Port(in), Out: southbound.Port(out)}
		round = append(round, c)
		if !from.IsZero() && !at.IsZero() {
			w.verify[Heard{at, from}] = c
		}
	}
	if len(w.verify) == 0 {
		return nil
	}
	return round
}

// compare holds what was heard against what the map predicts, and asks for a second round if something was not heard.
// That a switch does not hear itself proves nothing.
func (w *Walk) compare(lit []southbound.CrossConnect, heard []Heard) {
	w.before = append(w.before, heard...)
	var silent []Heard
	for h, c := range w.verify {
		if slices.Contains(lit, c) && h.At.Chassis != h.From.Chassis && !slices.Contains(w.before, h) {
			silent = append(silent, h)
		}
	}
	if !w.again && len(silent) > 0 {
		w.again = true
		return
	}
	slices.SortFunc(silent, func(a, b Heard) int { return int(w.verify[a].In - w.verify[b].In) })
	for _, h := range silent {
		w.contradict(Contradiction{w.verify[h].In, w.verify[h].Out,
			fmt.Sprintf("%s does not hear %s, which the map says it should", w.names.end(h.At), w.names.end(h.From))})
	}
	for _, h := range sorted(w.before) {
		if _, ok := w.verify[h]; !ok {
			w.contradict(Contradiction{southbound.NoPort, southbound.NoPort,
				fmt.Sprintf("%s hears %s, which the map does not explain", w.names.end(h.At), w.names.end(h.From))})
		}
	}
	w.finish()
}

func sorted(all []Heard) []Heard {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Heard) int {
		if c := a.At.compare(b.At); c != 0 {
			return c
		}
		return a.From.compare(b.From)
	})
	return all
}
