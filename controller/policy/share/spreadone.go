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
	open     ends     // of its hosts, those whose link had something left
	out, in  spreadEnd
	from, to []southbound.HostRate
}

// spreadEnd is the links of hosts out, or in, by host.
type spreadEnd struct {
	hosts   []uint64  // those that have rows, ended ones too, as a set
	count   []int32   // rows
	counted []int32   // rows when rate was found
	free    []float64 // what the link had left when rate was found
	rate    []float64 // of each row, whole bits a second; 0 where there are no rows
	was     []float64 // rate before this decision, of all if any has changed
	taken   []float64 // what rows get together
}

// spreadOne is spread for one coflow where ofPorts holds and left is up to date, which it keeps so.
func (o *Ordered) spreadOne(d *demand) (from, to []southbound.HostRate) {
	g, b := &o.topologyContext, d.b
	m := b.spread
	if m == nil || m.surveys != g.surveys {
		m = newSpreadMemory(g, b)
		b.spread = m
	}
	if m.stale(&o.left, b) {
		m.count(b)
	}
	out, in := m.out.divide(g, g.up), m.in.divide(g, g.down)
	if out || in {
		if len(o.senders.All()) != b.words {
			o.senders = southbound.NewSenders(len(g.up))
		}
		m.add(b, &o.senders)
		m.list()
	}
	d.given = m.out.take(g, g.up, o.left.up)
	m.in.take(g, g.down, o.left.down)
	return m.from, m.to
}

func newSpreadMemory(g *topologyContext, b *coflowRows) *spreadMemory {
	end := func(hosts []uint64) spreadEnd {
		n := len(g.up)
		return spreadEnd{hosts, make([]int32, n), make([]int32, n), make([]float64, n), make([]float64, n),
			make([]float64, n),
			make([]float64, n)}
	}
	return &spreadMemory{surveys: g.surveys, rows: make([]uint64, len(b.live)), left: -1,
		open: ends{make([]uint64, b.words), make([]uint64, b.words)}, out: end(b.from), in: end(b.dsts)}
}

// stale reports whether rows have ended, or links of the coflow's hosts have got something left, or
// nothing, since rows were counted; open are those that have something. It writes down what it has seen.
func (m *spreadMemory) stale(open *ends, b *coflowRows) bool {
	stale := m.left != b.left
	m.left = b.left
	for w := range b.words {
		up, down := open.up[w]&b.from[w], open.down[w]&b.dsts[w]
		stale = stale || up != m.open.up[w] || down != m.open.down[w]
		m.open.up[w], m.open.down[w] = up, down
	}
	return stale
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
				src := w*64 + bits.TrailingZeros64(diff)
				n := int32(-1)
				if now&(diff&-diff) != 0 {
					n = 1
				}
				m.out.count[src] += n
				m.in.count[dst] += n
				rate := min(m.out.rate[src], m.in.rate[dst]) * float64(n)
				m.out.taken[src] += rate
				m.in.taken[dst] += rate
			}
			m.rows[at] = now
		}
	}
}

// divide finds the rates of hosts, and reports whether any has changed.
func (e *spreadEnd) divide(g *topologyContext, links []pathmap.LinkID) (any bool) {
	copy(e.was, e.rate)
	for w, word := range e.hosts {
		for ; word != 0; word &= word - 1 {
			h := w*64 + bits.TrailingZeros64(word)
			free, n := g.free[links[h]], e.count[h]
			if n == e.counted[h] && (n == 0 || free == e.free[h]) {
				continue
			}
			rate := 0.0
			if n > 0 {
				rate = math.Floor(free / float64(n))
			}
			e.counted[h], e.free[h] = n, free
			if rate != e.rate[h] {
				e.rate[h], any = rate, true
			}
		}
	}
	return any
}

// add brings what rows get together up to date.
func (m *spreadMemory) add(b *coflowRows, all *southbound.Senders) {
	all.Begin(m.out.was, m.out.rate)
	for i := range b.runs {
		dst := b.runs[i].dst
		was, now, sum := m.in.was[dst], m.in.rate[dst], 0.0
		rows := m.rows[i*b.words : (i+1)*b.words]
		for w, senders := range all.To(was, now) {
			for word := rows[w] & senders; word != 0; word &= word - 1 {
				src := w*64 + bits.TrailingZeros64(word)
				rate, before := m.out.rate[src], m.out.was[src]
				if now < rate { // the builtin min takes several times as long
					rate = now
				}
				if was < before {
					before = was
				}
				m.out.taken[src] += rate - before
				sum += rate - before
			}
		}
		m.in.taken[dst] += sum
	}
}

// list writes down the hosts' rates.
func (m *spreadMemory) list() {
	m.from, m.to = m.from[:0], m.to[:0]
	for h := range m.out.rate {
		if x := m.out.rate[h]; x >= 1 {
			m.from = append(m.from, southbound.HostRate{Host: southbound.HostID(h),
				Rate: pathmap.BitsPerSecond(x)})
		}
		if x := m.in.rate[h]; x >= 1 {
			m.to = append(m.to, southbound.HostRate{Host: southbound.HostID(h), Rate: pathmap.BitsPerSecond(x)})
		}
	}
}

// take takes what rows get from the links, and returns how much that is. open are the hosts whose link
// has something left.
func (e *spreadEnd) take(g *topologyContext, links []pathmap.LinkID, open []uint64) (sum float64) {
	for w, word := range e.hosts {
		for ; word != 0; word &= word - 1 {
			h := w*64 + bits.TrailingZeros64(word)
			x := e.taken[h]
			if x <= 0 {
				continue
			}
			sum += x
			if g.take(links[h], x); g.empty(links[h]) {
				open[w] &^= word & -word
			}
		}
	}
	return sum
}
