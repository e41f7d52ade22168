package share

import (
	"math/bits"
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/internal/coflowindex"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// coflowRows is what a part remembers of one coflow, so that it need not look at thousands of rows at each
// decision: where the rows of each destination are, and which of them have not ended, as bit sets over
// the coflow's sources. All of it follows from the view.
type coflowRows struct {
	coflowindex.Entry
	rows int

	src     []southbound.HostID // sources, ascending; on fabrics of few hosts all hosts, so that sets are of hosts
	senders int                 // sources that it has
	runs    []run
	destinations
	from    []uint64 // sources, as a set of hosts; nil where src is not all hosts
	sending []int32  // by host: rows from there that have not ended; nil where rows are few
	words   int      // of a bit set
	has     []uint64 // by run: sources that the run ever had
	live    []uint64 // by run: sources whose row has not ended
	firsts  []int32  // by run, where has is: the row of the first of those sources, or where it would be
	left    int32    // rows that have not ended
	wide    int32    // rows at the start

	largest pathmap.Bytes // of a row, at the start
	total   pathmap.Bytes // of all rows, at the start
	ranks   measures

	sums   sums
	spread *spreadMemory // nil: it was never spread alone
	stuck  int32         // place among its loads of the link that had nothing left for it last
	full   int32         // likewise, among those of the fabric

	tags []southbound.Tag // of the view, as they were when held was found
	held bool             // some row sends nothing
}

// destinations are those of a coflow, as sets of hosts; nil where its src is not all hosts.
type destinations struct {
	dsts, open []uint64 // all, and those of rows that have not ended
	runOf      []int32  // by host, from the first one on
	first      int
}

// run is the rows of one destination.
type run struct {
	dst        southbound.HostID
	first, end int32
}

// books are the books of all coflows of a view.
type books struct {
	coflowindex.Index[*coflowRows]
	all []southbound.HostID // every host, where they are few
}

// fewRows is up to how many rows a coflow is not worth a table of hosts.
const fewRows = 64

// fewSources is up to how many hosts sets are of hosts.
const fewSources = 512

// open returns the books of a view's coflows, in the view's order, brought up to date. Events are
// hints: where they do not account for all rows that ended, the rows are looked at.
func (s *books) open(v *controller.View, ev []controller.Event, buf []*coflowRows) []*coflowRows {
	if n := v.Fabric.Hosts(); n <= fewSources && len(s.all) != n {
		s.all = make([]southbound.HostID, n)
		for h := range s.all {
			s.all[h] = southbound.HostID(h)
		}
	}
	s.Begin()
	clear(buf) // so that coflows that are over are not held
	buf = buf[:0]
	for i := range v.Coflows {
		c := &v.Coflows[i]
		b, known := s.Get(c)
		if !known {
			b = newCoflowRows(c, s.all)
			s.Put(c, b)
		}
		buf = append(buf, b)
	}
	hint(v, ev, buf)
	for i, b := range buf {
		b.check(&v.Coflows[i])
	}
	if s.Len() > 2*len(v.Coflows)+16 {
		s.Forget()
	}
	return buf
}

// hint removes the rows that events report as ended, if they have ended.
func hint(v *controller.View, ev []controller.Event, buf []*coflowRows) {
	at := -1 // events of one coflow come together
	for i := range ev {
		e := &ev[i]
		if e.Kind != controller.HostFlowEnded {
			continue
		}
		if at < 0 || v.Coflows[at].ID != e.Coflow {
			for at = len(v.Coflows) - 1; at >= 0 && v.Coflows[at].ID != e.Coflow; at-- {
			}
			if at < 0 {
				continue
			}
		}
		c := &v.Coflows[at]
		if e.Row >= 0 && int(e.Row) < len(c.Ended) && c.Ended[e.Row] {
			buf[at].end(c, e.Row)
		}
	}
}

// newCoflowRows lists the rows of a coflow. all is every host, nil where they are too many to be a set.
func newCoflowRows(c *controller.CoflowView, all []southbound.HostID) *coflowRows {
	b := &coflowRows{rows: len(c.Src), wide: int32(len(c.Src))}
	if b.rows == 0 {
		return b
	}
	b.src = slices.Clone(c.Src)
	slices.Sort(b.src)
	b.src = slices.Compact(b.src)
	b.senders = len(b.src)
	if all != nil {
		b.src = all
	}
	b.words = (len(b.src) + 63) / 64
	for r := range c.Src {
		if n := len(b.runs); n == 0 || b.runs[n-1].dst != c.Dst[r] {
			b.runs = append(b.runs, run{dst: c.Dst[r], first: int32(r)})
		}
		b.runs[len(b.runs)-1].end = int32(r) + 1
		b.largest = max(b.largest, c.Size[r])
		b.total += c.Size[r]
	}
	b.has = make([]uint64, b.words*len(b.runs))
	for i := range b.runs {
		set := b.has[i*b.words : (i+1)*b.words]
		at := 0
		for r := b.runs[i].first; r < b.runs[i].end; r++ {
			for b.src[at] != c.Src[r] {
				at++
			}
			set[at/64] |= 1 << (at % 64)
		}
	}
	b.firsts = make([]int32, len(b.has))
	for at, row := 0, int32(0); at < len(b.has); at++ {
		b.firsts[at] = row // rows are sorted by (destination, source)
		row += int32(bits.OnesCount64(b.has[at]))
	}
	if all != nil {
		b.setHosts(c)
	}
	b.live = slices.Clone(b.has)
	b.left = b.wide
	b.ranks = measure(c, b)
	return b
}

// setHosts fills the sets of hosts that send and receive, of a coflow whose sources are numbered as all hosts are.
func (b *coflowRows) setHosts(c *controller.CoflowView) {
	n := b.words
	sets := make([]uint64, 3*n) // together, so that small ones share a cache line
	b.open, b.dsts, b.from = sets[:n:n], sets[n:2*n:2*n], sets[2*n:]
	if b.rows >= fewRows {
		b.sending = make([]int32, len(b.src))
		for _, h := range c.Src {
			b.sending[h]++
		}
	}
	for at := range b.has {
		b.from[at%b.words] |= b.has[at]
	}
	b.first = int(b.runs[0].dst)
	b.runOf = make([]int32, int(b.runs[len(b.runs)-1].dst)-b.first+1)
	for i := range b.runs {
		h := b.runs[i].dst
		b.dsts[h/64] |= 1 << (h % 64)
		b.runOf[int(h)-b.first] = int32(i)
	}
	copy(b.open, b.dsts)
}

// check reads every row unless the view has the number of rows left and it equals its own.
func (b *coflowRows) check(c *controller.CoflowView) {
	if c.Remaining.Live > 0 && c.Remaining.Live == b.left {
		return
	}
	copy(b.live, b.has)
	copy(b.open, b.dsts)
	clear(b.sending)
	b.left = b.wide
	if b.spread != nil {
		b.spread.recount = true
	}
	for i := range b.runs {
		bit := b.each(i, b.has)
		for r := b.runs[i].first; r < b.runs[i].end; r++ {
			at := bit()
			if c.Ended[r] {
				b.live[i*b.words+at/64] &^= 1 << (at % 64)
				b.left--
			} else if b.sending != nil {
				b.sending[at]++
			}
		}
		b.close(i)
	}
}

// close notes that all rows of a run have ended, if so.
func (b *coflowRows) close(i int) {
	for _, live := range b.live[i*b.words : (i+1)*b.words] {
		if live != 0 {
			return
		}
	}
	if b.open != nil {
		h := b.runs[i].dst
		b.open[h/64] &^= 1 << (h % 64)
	}
}

// each returns a function that gives the sources of a run's set one by one, ascending; -1 after the last.
func (b *coflowRows) each(i int, sets []uint64) func() int {
	set := sets[i*b.words : (i+1)*b.words]
	w, word := 0, set[0]
	return func() int {
		for word == 0 {
			if w++; w == len(set) {
				return -1
			}
			word = set[w]
		}
		n := bits.TrailingZeros64(word)
		word &= word - 1
		return w*64 + n
	}
}

// end takes a row out.
func (b *coflowRows) end(c *controller.CoflowView, row int32) {
	i, at := 0, int(c.Src[row])
	if b.runOf != nil { // sources are all hosts
		i = int(b.runOf[int(c.Dst[row])-b.first])
	} else {
		i, _ = slices.BinarySearchFunc(b.runs, row, func(r run, row int32) int {
			switch {
			case r.end <= row:
				return -1
			case r.first > row:
				return 1
			}
			return 0
		})
		at, _ = slices.BinarySearch(b.src, c.Src[row])
	}
	if w := &b.live[i*b.words+at/64]; *w&(1<<(at%64)) != 0 {
		*w &^= 1 << (at % 64)
		b.left--
		b.close(i)
		if b.sending != nil {
			b.sending[at]--
		}
		if b.spread != nil && !b.spread.recount {
			b.spread.ended = append(b.spread.ended, place{int32(i), int32(at)})
		}
	}
}

// uses reports whether a row that has not ended goes over a link of a host.
func (b *coflowRows) uses(l hostLink) bool {
	switch {
	case b.sending == nil:
		return true // it is not counted
	case l.up:
		return b.sending[l.host] > 0
	}
	return b.open[l.host/64]>>(l.host%64)&1 != 0
}

// holds reports whether some row of a view's coflow has a tag that withholds it. It looks at them once.
func (b *coflowRows) holds(tags []southbound.Tag) bool {
	if len(b.tags) != len(tags) || len(tags) > 0 && &b.tags[0] != &tags[0] {
		b.tags, b.held = tags, slices.Contains(tags, southbound.TagHold)
	}
	return b.held
}

// row returns the row of a source in a run that has it.
func (b *coflowRows) row(i, at int) int32 {
	w := i*b.words + at/64
	return b.firsts[w] + int32(bits.OnesCount64(b.has[w]&(1<<(at%64)-1)))
}

// sends reports whether a host is among the sources of a coflow, ended rows too.
func (b *coflowRows) sends(h southbound.HostID) bool {
	if b.dsts == nil {
		return true
	}
	return b.from[h/64]>>(h%64)&1 != 0
}
