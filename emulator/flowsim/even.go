package flowsim

import (
	"cmp"
	"fmt"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// If all coflows get the same rates of ports, and no others, a host flow has the rate of one of its two
// ports, as when hosts share by themselves. So it needs no individual rate: classes wait on the clocks
// of their ports.

// same returns how many coflows rates name that have all the same rates of ports, of which some are above zero; 0 where
// others have other rates.
func same(r *southbound.Rates) (coflows int) {
	if r.Fair || len(r.Pace)+len(r.Extra)+len(r.Pairs) > 0 {
		return 0
	}
	if len(r.Spread) == 0 {
		some := func(b pathmap.BitsPerSecond) bool { return b > 0 }
		if !slices.ContainsFunc(r.Even.From, some) && !slices.ContainsFunc(r.Even.To, some) {
			return 0
		}
		return len(r.Even.Coflows)
	}
	s := &r.Spread[0]
	if len(s.From)+len(s.To) == 0 || len(r.Even.Coflows) > 0 {
		return 0
	}
	for i := range r.Spread {
		if !r.Spread[i].Same(s) {
			return 0
		}
	}
	return len(r.Spread)
}

// evenly reports whether rates tell all coflows the same of their ports, and writes that down if so.
func (lv *levels) evenly(r *southbound.Rates) bool {
	if n := same(r); n == 0 || n < 2 && !lv.even || !lv.flat || lv.capped() {
		return false
	}
	if !lv.even {
		lv.disband() // levels are found differently
		lv.disturb()
	}
	if lv.found(); !lv.solver.CanFollow() {
		lv.disband()
		return false
	}
	lv.listen(r)
	return true
}

// toldKind is a coflow that gets rates of another kind.
type toldKind struct {
	index int32
	kind  kind
}

// checkEven checks the coflows of an even spread, and notes which come to it and go since the last one.
func (s *Sim) checkEven(r *southbound.Rates) error {
	f := s.fluid
	now, was := r.Even.Coflows, f.levels.evened
	f.tmp.turned = f.tmp.turned[:0]
	note := func(c southbound.CoflowID, k kind) error {
		i, err := s.known(c)
		f.tmp.turned = append(f.tmp.turned, toldKind{i, k})
		return err
	}
	at := 0 // up to there both have the same
	for at < min(len(now), len(was)) && now[at] == was[at] {
		at++
	}
	last := southbound.CoflowID(-1)
	if at > 0 {
		last = now[at-1]
	}
	was = was[at:]
	for _, c := range now[at:] {
		if c <= last {
			return fmt.Errorf("even spread: coflow %d after %d: coflows ascend, each once", c, last)
		}
		last = c
		for len(was) > 0 && was[0] < c {
			_ = note(was[0], free) // it was known
			was = was[1:]
		}
		if len(was) > 0 && was[0] == c {
			was = was[1:]
		} else if err := note(c, leveled); err != nil {
			return fmt.Errorf("even spread: %w", err)
		}
	}
	for _, c := range was {
		_ = note(c, free)
	}
	if len(r.Pace)+len(r.Spread)+len(r.Extra) == 0 {
		return nil
	}
	for _, c := range now {
		i, _ := f.byID.Find(c)
		if s.named(i) {
			return fmt.Errorf("even spread: coflow %d is named twice", c)
		}
		s.name(i)
	}
	return nil
}

// evenAgain puts an even spread in force after another one: only what has come to it or gone has other rates than
// those of its ports.
func (f *fluid) evenAgain() {
	f.tmp.turned = slices.DeleteFunc(f.tmp.turned, func(t toldKind) bool {
		co := &f.coflows[t.index]
		return co.live == 0 || co.kind == t.kind
	})
	slices.SortFunc(f.tmp.turned, func(a, b toldKind) int {
		return cmp.Compare(f.coflows[a.index].pos, f.coflows[b.index].pos)
	})
	for _, t := range f.tmp.turned {
		f.follow(t.index, &order{kind: t.kind})
	}
}

// listen records the rates of ports.
func (lv *levels) listen(r *southbound.Rates) {
	if lv.told == nil {
		lv.told = make([]pathmap.BitsPerSecond, len(lv.wide))
	}
	told, up := lv.told, lv.up
	clear(told)
	for h, rate := range r.Even.From {
		told[up[h]] = rate
	}
	for h, rate := range r.Even.To {
		told[pathmap.Reverse(up[h])] = rate
	}
	if len(r.Spread) > 0 {
		for _, x := range r.Spread[0].From {
			told[up[x.Host]] = x.Rate
		}
		for _, x := range r.Spread[0].To {
			told[pathmap.Reverse(up[x.Host])] = x.Rate
		}
	}
	lv.disturb()
}

// shareEvenly gives every class the rate of its ports. It returns false, and gives classes clocks of
// their own, if a link cannot carry that, or others have rates: individual is true if some host flows
// have rates of their own.
func (lv *levels) shareEvenly(individual bool) bool {
	lv.found()
	if lv.others() || individual || lv.capped() || !lv.solver.CanFollow() {
		lv.disband()
		return false
	}
	lv.update()
	told, tell := lv.told, lv.tell[:0]
	for l, number := range lv.number {
		if number != none {
			tell = append(tell, told[l])
		}
	}
	lv.tell = tell
	changed, fits := lv.solver.Follow(tell, slack, lv.regroup)
	if !fits {
		lv.disband()
		return false
	}
	for _, l := range changed {
		lv.setLevel(l)
	}
	return true
}

// others reports whether some host flow sends at the rate of its pair. If none does, all that are not
// even stand still.
func (lv *levels) others() bool {
	if lv.aside == 0 {
		return false
	}
	for _, i := range lv.busy {
		c := &lv.list[i]
		if c.even {
			continue
		}
		if lv.wish(i) > 0 {
			return true
		}
		lv.setRate(i, 0)
	}
	return false
}
