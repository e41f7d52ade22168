package flowsim

import (
	"math/bits"
	"slices"

	"lightloom/southbound"
)

// Rates of a spread coflow are told by host, and told again at each decision, where most hosts have what they had. So
// only the host flows of those are looked at that have another.

// spreadTable finds the rows of a coflow by their hosts. Rows are sorted by destination, then source.
type spreadTable struct {
	words  int // of a set of hosts
	dsts   []southbound.HostID
	has    []uint64 // by destination, a set: the sources of rows
	live   []uint64 // likewise, without those that were seen to have ended
	firsts []int32  // by destination and word: the row of the first of those sources, or where it would be
}

// tableOf returns the table of a coflow.
func (f *fluid) tableOf(co *coflow) *spreadTable {
	if co.table != nil {
		return co.table
	}
	t := &spreadTable{words: (len(f.up) + 63) / 64}
	for b := co.first; b < co.end; b++ {
		bu := &f.hostFlows[b]
		if n := len(t.dsts); n == 0 || t.dsts[n-1] != bu.dst {
			t.dsts, t.has = append(t.dsts, bu.dst), append(t.has, make([]uint64, t.words)...)
		}
		t.has[len(t.has)-t.words+int(bu.src/64)] |= 1 << (bu.src % 64)
	}
	row := int32(0)
	for _, set := range t.has {
		t.firsts = append(t.firsts, row)
		row += int32(bits.OnesCount64(set))
	}
	t.live = slices.Clone(t.has)
	co.table = t
	return t
}

// spreadAgain gives the host flows of a spread coflow their rates anew.
func (f *fluid) spreadAgain(co *coflow, o *order) {
	t, hosts := &f.tmp, len(f.up)
	even, extra := slices.Equal(co.from, o.from) && slices.Equal(co.to, o.to), slices.Equal(co.extra, o.extra)
	if even && extra {
		return
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

// spreadHosts gives the host flows at hosts that have another rate theirs anew, unless their other ends hold them back
// before and now.
func (f *fluid) spreadHosts(co *coflow) {
	t, table := &f.tmp, f.tableOf(co)
	t.changed = append(t.changed[:0], make([]uint64, table.words)...)
	for h, rate := range t.from {
		if rate != t.wasFrom[h] {
			t.changed[h/64] |= 1 << (h % 64)
		}
	}
	for i, dst := range table.dsts {
		was, now, all := t.wasTo[dst], t.to[dst], uint64(0)
		if was != now {
			all = ^uint64(0)
		}
		for w, changed := range t.changed {
			at := i*table.words + w
			for word := table.live[at] & (changed | all); word != 0; word &= word - 1 {
				src := w*64 + bits.TrailingZeros64(word)
				if min(t.wasFrom[src], was) == min(t.from[src], now) {
					continue
				}
				low := word & -word
				b := co.first + table.firsts[at] + int32(bits.OnesCount64(table.has[at]&(low-1)))
				if f.hostFlows[b].class == gone {
					table.live[at] &^= low
					continue
				}
				f.spreadRow(co, b)
			}
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
