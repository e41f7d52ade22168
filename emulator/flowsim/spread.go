package flowsim

import (
	"slices"

	"lightloom/southbound"
)

// Rates of a spread coflow are told by host, and told again at each decision, where most hosts have what they had. So
// only the host flows of those are looked at that have another.

// byEnds is the rows of a coflow by source and by destination.
type byEnds struct {
	src, dst map[southbound.HostID][]endRow
}

// endRow is a host flow at one host, and its host at the other end.
type endRow struct {
	hostFlow int32
	peer     southbound.HostID
}

// rowsByEnds lists the rows of a coflow by their hosts.
func (f *fluid) rowsByEnds(co *coflow) *byEnds {
	if co.byEnds == nil {
		e := &byEnds{src: map[southbound.HostID][]endRow{}, dst: map[southbound.HostID][]endRow{}}
		for b := co.first; b < co.end; b++ {
			if bu := &f.hostFlows[b]; bu.class != gone {
				e.src[bu.src] = append(e.src[bu.src], endRow{b, bu.dst})
				e.dst[bu.dst] = append(e.dst[bu.dst], endRow{b, bu.src})
			}
		}
		co.byEnds = e
	}
	return co.byEnds
}

// spreadAgain gives the host flows of a spread coflow their rates anew.
func (f *fluid) spreadAgain(co *coflow, o *order) {
	t, hosts := &f.tmp, len(f.up)
	from, to, extra := slices.Equal(co.from, o.from), slices.Equal(co.to, o.to), slices.Equal(co.extra, o.extra)
	if from && to && extra {
		return
	}
	t.wasFrom, t.wasTo = byHost(t.wasFrom, co.from, hosts), byHost(t.wasTo, co.to, hosts)
	t.from, t.to = byHost(t.from, o.from, hosts), byHost(t.to, o.to, hosts)
	old := append(t.extra[:0], co.extra...)
	t.extra = old
	co.take(o)
	e := f.rowsByEnds(co)
	if !from {
		f.spreadHosts(co, e.src, t.wasFrom, t.from, t.wasTo, t.to)
	}
	if !to {
		f.spreadHosts(co, e.dst, t.wasTo, t.to, t.wasFrom, t.from)
	}
	if !extra {
		f.spreadExtras(co, old)
	}
}

// spreadHosts gives the host flows at hosts that have another rate theirs anew, unless their other ends hold them back
// before and now. Tables are of what hosts had and have, and of the same at the other ends.
func (f *fluid) spreadHosts(co *coflow, rows map[southbound.HostID][]endRow, was, now, wasPeer, nowPeer []float64) {
	for h, rate := range now {
		old := was[h]
		if rate == old {
			continue
		}
		all, ended := rows[southbound.HostID(h)], 0
		for _, x := range all {
			before, after := wasPeer[x.peer], nowPeer[x.peer]
			if before == after && after <= old && after <= rate {
				continue
			}
			if f.hostFlows[x.hostFlow].class == gone {
				ended++
				continue
			}
			f.spreadRow(co, x.hostFlow)
		}
		if ended > len(all)/2 {
			rows[southbound.HostID(h)] = slices.DeleteFunc(all, func(x endRow) bool {
				return f.hostFlows[x.hostFlow].class == gone
			})
		}
	}
}

// spreadRow gives a host flow of a spread coflow its rate anew.
func (f *fluid) spreadRow(co *coflow, b int32) {
	if bu := &f.hostFlows[b]; bu.class == onIndividual {
		f.individual.ask(b, min(f.tmp.from[bu.src], f.tmp.to[bu.dst])+co.extraOf(b-co.first))
	}
}

// spreadExtras gives the host flows that had an extra, or have one now, their rates anew.
func (f *fluid) spreadExtras(co *coflow, old []southbound.Extra) {
	now := co.extra
	for len(old) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].Row < now[0].Row:
			f.spreadRow(co, co.first+old[0].Row)
			old = old[1:]
		case len(old) > 0 && old[0] == now[0]:
			old, now = old[1:], now[1:]
		default:
			f.spreadRow(co, co.first+now[0].Row)
			if len(old) > 0 && old[0].Row == now[0].Row {
				old = old[1:]
			}
			now = now[1:]
		}
	}
}

// byHost makes a table of rates.
func byHost(buf []float64, rates []southbound.HostRate, hosts int) []float64 {
	buf = slices.Grow(buf[:0], hosts)[:hosts]
	clear(buf)
	for _, r := range rates {
		buf[r.Host] = float64(r.Rate)
	}
	return buf
}
