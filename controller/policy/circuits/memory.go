package circuits

import (
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/internal/coflowindex"
	"lightloom/controller/policy/pending"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// memory is what Sunflow keeps from one decision to the next, so that it need not add up all rows of
// all coflows each time: their pairs, and what was left of each row when it was last looked at. All of
// it follows from the view alone.
type memory struct {
	fabric    *topo.Fabric
	ends      []port
	elephants pathmap.Bytes
	delta     time.Duration
	books     coflowindex.Index[*coflowPairs]
	gather    gatherer
	dirty     []int32
	sched     *scheduler
	covered   []time.Duration // by pair of ports; zero between uses
	meant     []bool          // by pair of ports; false between uses

	begun, unbegun, held, sameAs []controller.CircuitReservation // of the plan of one decision
	todo                         []pair
	byInput                      byInput
	byCoflow                     byCoflow
	keeper                       keeper
	planned                      map[southbound.CoflowID]bool
}

// coflowPairs is one coflow.
type coflowPairs struct {
	coflowindex.Entry
	ahead *columns // the rows that it was opened for before its coflow had started; nil: it has

	pairs  []pair // by (in, out); those that have ended are possibly gone
	index         // of pairs
	sums   sums   // of all its pairs
	ended  int    // of pairs: with nothing left
	bound  time.Duration
	of     []int32   // by row: its pair, none (-1) where it has none
	row    []int32   // the rows of each pair, one pair's after the other's
	start  []int32   // by pair: where its rows begin in row
	left   []float64 // by row
	awake  []int32   // the rows of pairs that had not ended when they were last looked at: no other will change
	marked []bool    // by pair: must be recomputed
}

// remember brings a memory up to date with a view, but for its coflows: what other ports or thresholds
// gave is void.
func (m *memory) remember(v *controller.View, ends []port) {
	if m.fabric != v.Fabric || !slices.Equal(m.ends, ends) || m.elephants != v.ElephantThreshold {
		m.fabric, m.ends, m.elephants, m.books = v.Fabric, ends, v.ElephantThreshold, coflowindex.Index[*coflowPairs]{}
	}
	m.gather.v, m.gather.ends = v, ends
	if len(m.gather.at) != v.Fabric.Racks {
		m.gather.at = make([]int32, v.Fabric.Racks)
	}
	m.gather.nic = nics(v)
	m.gather.slow = slowest(v.Fabric, m.gather.nic)
	if m.delta != v.Delta {
		m.delta = v.Delta
		m.books.Each(func(b *coflowPairs) { b.bound = m.bound(&b.sums) }) // each by itself: the order does not matter
	}
	m.books.Begin()
}

// bound is T(C) of what a coflow's pairs sum up to.
func (m *memory) bound(s *sums) time.Duration {
	return s.bound(m.delta) / time.Duration(m.fabric.Spec.CircuitsARack())
}

// scheduler returns an empty scheduler for a view.
func (m *memory) scheduler(v *controller.View) *scheduler {
	if n := v.Fabric.OCSPorts(); m.sched == nil || m.sched.table.size() != n {
		m.sched = &scheduler{table: newTable(n)}
	}
	s := m.sched
	s.table.clear()
	s.delta, s.deltas, s.start, s.lit, s.cut, s.racks = v.Delta, v.Deltas, v.Now, lit(v), false, v.Fabric.Racks
	return s
}

// demand returns the elephants of a started coflow. Borrowed until the next decision.
func (m *memory) demand(c *controller.CoflowView) coflowDemand {
	b, known := m.books.Get(c)
	if ahead := m.books.At(c.ID); !known && ahead != nil && ahead.begins(c) {
		b, known = ahead, true
		m.books.Put(c, b)
	}
	if known {
		m.renew(c, b)
	} else {
		b = m.open(c)
		m.books.Put(c, b)
	}
	return coflowDemand{id: c.ID, bound: b.bound, pairs: b.pairs, book: b}
}

// columns are the rows of a coflow that is to start.
type columns struct {
	src, dst []southbound.HostID
	size     []pathmap.Bytes
}

// expect returns the elephants of a coflow that the plan creates, whose host flows may send as soon as
// it is committed.
func (m *memory) expect(c *pending.Coflow) coflowDemand {
	v := controller.CoflowView{ID: c.ID, Src: c.Src, Dst: c.Dst, Size: c.Size, Ended: make([]bool, len(c.Src)),
		Remaining: southbound.Remaining{F: 1, Base: make([]float64, len(c.Src))}}
	for row, size := range c.Size {
		v.Remaining.Base[row] = float64(size)
	}
	b := m.open(&v)
	b.ahead = &columns{c.Src, c.Dst, c.Size}
	m.books.Put(&v, b)
	return coflowDemand{id: c.ID, bound: b.bound, pairs: b.pairs, book: b}
}

// begins reports whether coflowPairs were opened ahead for a coflow that has started, with the expected rows.
// They then belong to that coflow.
func (b *coflowPairs) begins(c *controller.CoflowView) bool {
	x := b.ahead
	b.ahead = nil
	return x != nil && slices.Equal(x.src, c.Src) && slices.Equal(x.dst, c.Dst) && slices.Equal(x.size, c.Size)
}

// open reads a coflow for the first time.
func (m *memory) open(c *controller.CoflowView) *coflowPairs {
	b := &coflowPairs{of: slices.Repeat([]int32{-1}, len(c.Src)), left: make([]float64, len(c.Src))}
	r := rows{c.ID, c.Src, c.Dst, c.Size, c.LeftBytes}
	m.gather.fill(&r)
	kept := m.gather.sorted(m.elephants)
	b.pairs, b.start, b.row = make([]pair, 0, len(kept)), make([]int32, 0, len(kept)+1), make([]int32,
		0, len(c.Src))
	for k, i := range kept {
		u := &m.gather.buckets[i]
		b.start = append(b.start, int32(len(b.row)))
		b.row = append(b.row, u.rows...)
		b.pairs = append(b.pairs, m.gather.pair(&r, u))
		for _, row := range u.rows {
			b.of[row] = int32(k)
		}
	}
	b.start = append(b.start, int32(len(b.row)))
	b.awake = make([]int32, 0, len(b.row))
	for row := range b.left {
		if b.left[row] = leftOf(c, row); b.of[row] >= 0 && !c.Ended[row] {
			b.awake = append(b.awake, int32(row))
		}
	}
	b.marked = make([]bool, len(b.pairs))
	b.build(b.pairs, len(m.ends))
	b.sums = sumUp(b.pairs, len(m.ends))
	b.bound = m.bound(&b.sums)
	return b
}

// thin drops the pairs all of whose rows have ended, once half of all seem to.
func (b *coflowPairs) thin(c *controller.CoflowView) {
	if b.ended < 64 || 2*b.ended < len(b.pairs) {
		return
	}
	n, rows := 0, b.row[:0]
	for k := range b.pairs {
		of := b.row[b.start[k]:b.start[k+1]]
		to := int32(-1)
		if slices.ContainsFunc(of, func(row int32) bool { return !c.Ended[row] }) {
			to = int32(n)
			b.pairs[n], b.start[n] = b.pairs[k], int32(len(rows))
			n++
		}
		for _, row := range of {
			b.of[row] = to
		}
		if to >= 0 {
			rows = append(rows, of...)
		}
	}
	b.start[n] = int32(len(rows))
	b.pairs, b.start, b.row, b.marked, b.ended = b.pairs[:n], b.start[:n+1], rows, b.marked[:n], 0
	b.build(b.pairs, len(b.from))
}

// sums are the pairs of a coflow by port: how many there are, and how long they take in all.
type sums struct {
	pairs []int32 // by input, then by output
	whole []time.Duration
}

func sumUp(pairs []pair, ports int) sums {
	var s sums
	s.clear(ports)
	for i := range pairs {
		p := &pairs[i]
		s.add(int(p.in), int(p.out), p.whole)
	}
	return s
}

// clear makes s the sums of no pairs.
func (s *sums) clear(ports int) {
	s.pairs = slices.Grow(s.pairs[:0], 2*ports)[:2*ports]
	s.whole = slices.Grow(s.whole[:0], 2*ports)[:2*ports]
	clear(s.pairs)
	clear(s.whole)
}

func (s *sums) add(in, out int, whole time.Duration) {
	for _, port := range [2]int{in, len(s.pairs)/2 + out} {
		s.pairs[port]++
		s.whole[port] += whole
	}
}

// bound is T(C) of co-scheduler's Equation 2: the longest sum over any port of reconfiguration delay
// and transfer time.
func (s *sums) bound(delta time.Duration) time.Duration {
	t := time.Duration(0)
	for port, n := range s.pairs {
		t = max(t, time.Duration(n)*delta+s.whole[port])
	}
	return t
}

func leftOf(c *controller.CoflowView, row int) float64 {
	if c.Ended[row] {
		return 0
	}
	return c.Remaining.Base[row] * c.Remaining.F
}

// renew recomputes the pairs whose rows have less left.
func (m *memory) renew(c *controller.CoflowView, b *coflowPairs) {
	m.dirty = m.dirty[:0]
	n, f, awake := len(b.left), c.Remaining.F, b.awake[:0]
	base, ended := c.Remaining.Base[:n], c.Ended[:n]
	for _, row := range b.awake {
		now := 0.0
		if !ended[row] {
			now, awake = base[row]*f, append(awake, row)
		}
		if now == b.left[row] {
			continue
		}
		b.left[row] = now
		if k := b.of[row]; !b.marked[k] {
			b.marked[k] = true
			m.dirty = append(m.dirty, k)
		}
	}
	b.awake = awake
	r := rows{c.ID, c.Src, c.Dst, c.Size, c.LeftBytes}
	for _, k := range m.dirty {
		p := &b.pairs[k]
		u := bucket{in: southbound.RackID(p.in), out: southbound.RackID(p.out),
			rows: b.row[b.start[k]:b.start[k+1]],
			size: p.size}
		m.gather.remains(&r, &u, p)
		b.marked[k] = false
		b.note(int(k), p)
		if p.left == 0 {
			b.ended++
		}
	}
	b.thin(c)
}
