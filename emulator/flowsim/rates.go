package flowsim

import (
	"slices"
	"time"

	"lightloom/southbound"
)

// setRates puts checked rates in force.
func (f *fluid) setRates(r *southbound.Rates) {
	flips := f.fair != r.Fair
	even := f.levels.evenly(r)
	if flips && !r.Fair && !even || f.levels.even && !even {
		f.levels.disband()
	}
	f.fair, f.levels.even = r.Fair, even
	f.prioritise(r.Priority)
	f.epoch++
	again := even && !flips && len(f.levels.evened) > 0 && len(r.Even.Coflows) > 0
	if f.levels.evened = f.levels.evened[:0]; even {
		f.levels.evened = append(f.levels.evened, r.Even.Coflows...)
	}
	if again {
		f.evenAgain()
		return
	}
	f.orders(r)
	for _, p := range r.Pairs {
		f.routes[f.route(pair{p.Src, p.Dst, p.Tag})].rate = float64(p.Rate)
	}
	for _, index := range f.live {
		co := &f.coflows[index]
		o := order{}
		if co.named == f.epoch {
			o = co.want
		}
		switch {
		case flips || o.kind != co.kind || co.caps != nil:
			f.follow(index, &o)
		case o.kind == spread:
			f.spreadAgain(co, &o)
		case o.kind == paced:
			f.paceAgain(index, &o)
		}
		co.want = order{} // it borrows
	}
	if len(r.Pairs) > 0 || flips {
		f.disturb()
	}
}

// orders writes down what rates ask of each coflow.
func (f *fluid) orders(r *southbound.Rates) {
	want := func(index int32, o order) {
		if co := &f.coflows[index]; co.live > 0 {
			co.named, co.want = f.epoch, o
		}
	}
	paces, spreads := f.tmp.named[:len(r.Pace)], f.tmp.named[len(r.Pace):]
	for i, p := range r.Pace {
		want(paces[i], order{kind: paced, until: p.Until})
	}
	for i := range r.Spread {
		s := &r.Spread[i]
		if f.levels.even {
			want(spreads[i], order{kind: leveled})
			continue
		}
		want(spreads[i], order{kind: spread, from: s.From, to: s.To})
	}
	for _, s := range r.Spreads()[len(r.Spread):] {
		index, _ := f.byID.Find(s.Coflow)
		if f.levels.even {
			want(index, order{kind: leveled})
			continue
		}
		want(index, order{kind: spread, from: s.From, to: s.To})
	}
	for first := 0; first < len(r.Extra); {
		end := southbound.ExtrasOf(r.Extra, first)
		index, _ := f.byID.Find(r.Extra[first].Coflow)
		if co := &f.coflows[index]; co.live > 0 {
			co.want.extra = r.Extra[first:end]
		}
		first = end
	}
}

// paceAgain gives a paced coflow its finish instant and extras anew. What the pace gives to rows with
// an extra is counted from now, so they are all set again.
func (f *fluid) paceAgain(index int32, o *order) {
	co := &f.coflows[index]
	old := co.extra
	co.extra = append(f.tmp.extra[:0], o.extra...)
	f.tmp.extra = old
	held := co.until == 0 && o.until == 0
	if o.until != co.until || co.late > 0 {
		f.pace(index, o.until)
	}
	ahead := co.until == 0 || co.until > f.clock.Now()
	if br := co.backfilled; ahead && br != nil && co.on+int32(len(br.rows)) == co.live {
		if !held || !slices.Equal(old, co.extra) {
			f.extrasAgain(co)
		}
		return
	}
	for i, k := 0, 0; i < len(old) || k < len(co.extra); {
		switch {
		case k == len(co.extra) || i < len(old) && old[i].Row < co.extra[k].Row: // no more
			f.extraAgain(co, co.first+old[i].Row, 0, ahead)
			i++
		default:
			x := &co.extra[k]
			if i < len(old) && old[i].Row == x.Row {
				if i++; held && old[i-1].Rate == x.Rate && f.hostFlows[co.first+x.Row].class == onIndividual {
					k++
					continue // it has nothing but its extra, and that is as it was
				}
			}
			f.extraAgain(co, co.first+x.Row, float64(x.Rate), ahead)
			k++
		}
	}
}

// extraAgain sets a row of a paced coflow again that had an extra or has one now. ahead: the pace has
// not passed.
func (f *fluid) extraAgain(co *coflow, b int32, extra float64, ahead bool) {
	switch class := f.hostFlows[b].class; {
	case class == gone:
	case class == onBackfilled && extra > 0 && ahead:
		f.backfilled.ask(co, b, extra)
	case class == onIndividual && extra > 0 && ahead:
		if co.until > 0 {
			extra += f.paces.rateOf(co, f.leftOf(b))
		}
		f.individual.ask(b, extra)
	default:
		f.again(b)
	}
}

// pace gives a paced coflow another finish instant, and sets in again what had fallen out.
func (f *fluid) pace(index int32, until time.Duration) {
	co := &f.coflows[index]
	now := f.clock.Now()
	held, passed := co.until == 0, f.quantum > 0 && co.until > 0 && co.until <= now && co.on > 0
	f.paces.set(index, until)
	overdue := until > 0 && until <= now
	if co.late == 0 && !held && !overdue && !passed {
		return
	}
	for b := co.first; b < co.end; b++ {
		switch class := f.hostFlows[b].class; {
		case class == gone:
		case class >= 0 && f.classes.list[class].alone,
			class == onPace && passed,
			class == onPace && until > 0 && (overdue || f.routes[f.hostFlows[b].route].fate != arrives):
			f.again(b)
		}
	}
}

// follow puts every row of a coflow to where an order wants it.
func (f *fluid) follow(index int32, o *order) {
	co := &f.coflows[index]
	f.tmp.members = f.tmp.members[:0]
	f.tmp.amounts = f.tmp.amounts[:0]
	for b := co.first; b < co.end; b++ {
		if f.hostFlows[b].class != gone {
			f.tmp.amounts = append(f.tmp.amounts, f.pull(b))
			f.tmp.members = append(f.tmp.members, b)
		}
	}
	co.take(o)
	co.steady = 0
	co.factor, co.at, f.paces.anew = 1, f.clock.Now(), true
	for i, b := range f.tmp.members {
		f.place(b, f.tmp.amounts[i])
	}
}
