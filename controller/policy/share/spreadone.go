package share

import (
	"math"
	"math/bits"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// spreadMemory is how a coflow was spread last, where only the links of hosts bind: from one decision
// to the next few rows end and few hosts have another rate, and what is taken is brought up to date by
// these. Rates are whole, so sums are exact, and the memory changes nothing: all of it follows from the
// view.
type spreadMemory struct {
	surveys  uint64   // of the topology context
	rows     []uint64 // by run, as coflowRows.live: rows both of whose links had something left
	left     int32    // rows that had not ended; none before the first decision
	ended    []place  // rows that have since
	recount  bool     // ended does not have all of these, and gets no more: all rows are looked at
	open     ends     // of its hosts, those whose link had something left
	out, in  spreadEnd
	runs     []int32 // to hosts of in that are busy
	from, to []southbound.HostRate
	given    float64 // bits a second, by the links of its sources
}

// place is where the sets of a coflow have a row.
type place struct{ run, src int32 }

// spreadEnd is the links of hosts out, or in, by host.
type spreadEnd struct {
	busy    []int32   // hosts that have rows, or a rate that they had for some, and perhaps others; ascending
	count   []int32   // rows
	counted []int32   // rows when rate was found
	free    []float64 // what the link had left when rate was found
	rate    []int64   // of each row, bits a second; 0 where there are no rows
	was     []int64   // rate before the last change
	changed []int32   // hosts where these two differ
	taken   []int64   // what rows get together
}

// spreadOne is spread for one coflow where ofPorts holds and left has gathered what links have, which it
// keeps up to date.
func (o *Ordered) spreadOne(d *demand) (from, to []southbound.HostRate) {
	g, b := &o.topologyContext, d.b
	m := b.spread
	if m == nil || m.surveys != g.surveys {
		m = newSpreadMemory(g, b)
		b.spread = m
	}
	if rows, links := m.stale(&o.left, b); links || m.recount {
		m.count(b)
	} else if rows {
		m.countEnded(b)
	}
	out, in := m.out.divide(o.left.out.free), m.in.divide(o.left.in.free)
	if out || in {
		if len(o.senders.All()) != b.words {
			o.senders = southbound.NewSenders(len(g.up))
		}
		m.add(b, &o.senders)
		m.list()
	}
	m.given = m.out.take(&o.left.out, o.left.up)
	m.in.take(&o.left.in, o.left.down)
	d.given = m.given
	return m.from, m.to
}

// gather finds what the links of hosts have left, and which have something.
func (e *ends) gather(g *topologyContext) {
	e.refresh(g)
	e.out.gather(g, g.up)
	e.in.gather(g, g.down)
}

func (l *hostLinks) gather(g *topologyContext, links []pathmap.LinkID) {
	l.free, l.residual = l.free[:0], l.residual[:0]
	for _, link := range links {
		l.free, l.residual = append(l.free, g.free[link]), append(l.residual, g.residual[link])
	}
}

// putBack hands what links have left back.
func (e *ends) putBack(g *topologyContext) {
	for h := range e.out.free {
		g.free[g.up[h]], g.free[g.down[h]] = e.out.free[h], e.in.free[h]
	}
}

func newSpreadMemory(g *topologyContext, b *coflowRows) *spreadMemory {
	end := func() spreadEnd {
		n := len(g.up)
		return spreadEnd{count: make([]int32, n), counted: make([]int32, n), free: make([]float64, n),
			rate: make([]int64, n), was: make([]int64, n), taken: make([]int64, n)}
	}
	return &spreadMemory{surveys: g.surveys, rows: make([]uint64, len(b.live)), left: -1, recount: true,
		open: ends{up: make([]uint64, b.words), down: make([]uint64, b.words)}, out: end(), in: end()}
}

// stale reports whether rows have ended, and whether links of the coflow's hosts have got something left,
// or nothing, since rows were counted; open are those that have something. It writes down what it has
// seen.
func (m *spreadMemory) stale(open *ends, b *coflowRows) (rows, links bool) {
	rows = m.left != b.left
	m.left = b.left
	for w := range b.words {
		up, down := open.up[w]&b.from[w], open.down[w]&b.dsts[w]
		links = links || up != m.open.up[w] || down != m.open.down[w]
		m.open.up[w], m.open.down[w] = up, down
	}
	return rows, links
}

// count brings rows up to date. Those that come and go count with the rates of before.
func (m *spreadMemory) count(b *coflowRows) {
	for i := range b.runs {
		dst := b.runs[i].dst
		open := m.open.down[dst/64]>>(dst%64)&1 != 0
		for w := range b.words {
			at, now := i*b.words+w, uint64(0)
			if open {
				now = b.live[at] & m.open.up[w]
			}
			for diff := now ^ m.rows[at]; diff != 0; diff &= diff - 1 {
				n := int32(-1)
				if now&(diff&-diff) != 0 {
					n = 1
				}
				m.change(int32(w*64+bits.TrailingZeros64(diff)), dst, n)
			}
			m.rows[at] = now
		}
	}
	m.ended, m.recount = m.ended[:0], false
	m.find(b)
}

// countEnded is count where rows have ended, and nothing else has changed.
func (m *spreadMemory) countEnded(b *coflowRows) {
	hostDone := false
	for _, row := range m.ended {
		at, bit := int(row.run)*b.words+int(row.src/64), uint64(1)<<(row.src%64)
		if m.rows[at]&bit == 0 {
			continue
		}
		m.rows[at] &^= bit
		dst := b.runs[row.run].dst
		m.change(row.src, dst, -1)
		hostDone = hostDone || m.out.count[row.src] == 0 || m.in.count[dst] == 0
	}
	if m.ended = m.ended[:0]; hostDone {
		m.find(b)
	}
}

// change counts rows between two hosts.
func (m *spreadMemory) change(src int32, dst southbound.HostID, n int32) {
	m.out.count[src] += n
	m.in.count[dst] += n
	rate := min(m.out.rate[src], m.in.rate[dst]) * int64(n)
	m.out.taken[src] += rate
	m.in.taken[dst] += rate
}

// find lists the busy hosts, and the runs of those that take.
func (m *spreadMemory) find(b *coflowRows) {
	m.out.find()
	m.in.find()
	m.runs = m.runs[:0]
	for i := range b.runs {
		if dst := b.runs[i].dst; m.in.count[dst] > 0 || m.in.rate[dst] > 0 {
			m.runs = append(m.runs, int32(i))
		}
	}
}

// find lists the busy hosts.
func (e *spreadEnd) find() {
	e.busy = e.busy[:0]
	for h, n := range e.count {
		if n > 0 || e.rate[h] > 0 {
			e.busy = append(e.busy, int32(h))
		}
	}
}

// divide finds the rates of hosts whose links have free left, and reports whether any has changed.
func (e *spreadEnd) divide(free []float64) bool {
	for _, h := range e.changed {
		e.was[h] = e.rate[h]
	}
	e.changed = e.changed[:0]
	counted, before := e.counted, e.free
	for _, h := range e.busy {
		n := e.count[h]
		if n == counted[h] && (n == 0 || free[h] == before[h]) {
			continue
		}
		rate := int64(0)
		if n > 0 {
			rate = int64(free[h] / float64(n))
		}
		counted[h], before[h] = n, free[h]
		if rate != e.rate[h] {
			e.rate[h], e.changed = rate, append(e.changed, h)
		}
	}
	return len(e.changed) > 0
}

// add brings what rows get together up to date.
func (m *spreadMemory) add(b *coflowRows, all *southbound.Senders) {
	all.Begin(m.out.changed, m.out.was, m.out.rate)
	for _, i := range m.runs {
		dst := b.runs[i].dst
		was, now, sum := m.in.was[dst], m.in.rate[dst], int64(0)
		if all.Keep(was, now) {
			continue
		}
		rows := m.rows[int(i)*b.words : (int(i)+1)*b.words]
		for w, senders := range all.To(was, now) {
			word := rows[w] & senders
			rate, before, taken := m.out.rate[64*w:], m.out.was[64*w:], m.out.taken[64*w:]
			for ; word != 0; word &= word - 1 {
				src := bits.TrailingZeros64(word)
				more := min(rate[src], now) - min(before[src], was)
				taken[src] += more
				sum += more
			}
		}
		m.in.taken[dst] += sum
	}
}

// list writes down the hosts' rates.
func (m *spreadMemory) list() {
	m.from, m.to = m.out.list(m.from[:0]), m.in.list(m.to[:0])
}

func (e *spreadEnd) list(rates []southbound.HostRate) []southbound.HostRate {
	for _, h := range e.busy {
		if rate := e.rate[h]; rate > 0 {
			rates = append(rates, southbound.HostRate{Host: southbound.HostID(h), Rate: pathmap.BitsPerSecond(rate)})
		}
	}
	return rates
}

// take takes what rows get from the links, and returns how much that is. open are the hosts whose link
// has something left.
func (e *spreadEnd) take(of *hostLinks, open []uint64) float64 {
	sum, word, empty := int64(0), int32(0), uint64(0) // of hosts, which a word of open is of, and those to drop there
	for _, h := range e.busy {
		if h/64 != word {
			open[word] &^= empty
			word, empty = h/64, 0
		}
		x := e.taken[h]
		left := of.free[h] - float64(x)
		if left < 0 { // the builtin max takes several times as long
			left = 0
		}
		of.free[h] = left
		empty |= math.Float64bits(left-of.residual[h]) >> 63 << (uint32(h) % 64)
		sum += x
	}
	open[word] &^= empty
	return float64(sum)
}

// giveBack puts back what the last decision took from the links: they have what they had before it.
func (e *spreadEnd) giveBack(of *hostLinks, open []uint64) {
	for _, h := range e.busy {
		if e.count[h] == 0 {
			continue // it has taken nothing
		}
		of.free[h] = e.free[h]
		open[h/64] |= 1 << (uint32(h) % 64) // rows count only where the link had something left
	}
}
