package flowsim

import (
	"slices"

	"lightloom/southbound"
)

// tableOf returns the table of a coflow.
func (f *fluid) tableOf(co *coflow) *hostTable {
	if co.table == nil {
		co.table = newHostTable(len(f.up), int(co.end-co.first), func(row int) (src, dst southbound.HostID) {
			bu := &f.hostFlows[co.first+int32(row)]
			return bu.src, bu.dst
		})
	}
	return co.table
}

// spreadAgain gives the host flows of a spread coflow their rates anew. Most hosts have what they had,
// so only the host flows of the others are looked at.
func (f *fluid) spreadAgain(co *coflow, o *order) {
	t, hosts := &f.tmp, len(f.up)
	even, extra := slices.Equal(co.from, o.from) && slices.Equal(co.to, o.to), slices.Equal(co.extra, o.extra)
	if even && extra {
		return
	}
	if sr := co.spreadRows; sr != nil && sr.size > 0 {
		f.spreads.change(sr)
		if sr.size == co.apart.Rows { // and no row has an individual rate
			co.take(o)
			return
		}
	}
	t.wasFrom, t.wasTo = byHost(t.wasFrom, co.from, hosts), byHost(t.wasTo, co.to, hosts)
	t.from, t.to = byHost(t.from, o.from, hosts), byHost(t.to, o.to, hosts)
	old := append(t.extra[:0], co.extra...)
	t.extra = old
	co.take(o)
	if !even {
		f.spreadHosts(co)
	}
	if !extra {
		f.spreadExtras(co, old)
	}
}

// spreadHosts gives the host flows at hosts that have another rate theirs anew, unless their other ends
// hold them back before and now.
func (f *fluid) spreadHosts(co *coflow) {
	t := &f.tmp
	f.tableOf(co).Changed(t.wasFrom, t.from, t.wasTo, t.to, func(row int32) bool {
		b := co.first + row
		if f.hostFlows[b].class == gone {
			return false
		}
		f.spreadRow(co, b)
		return true
	})
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
