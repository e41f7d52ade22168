package astrasim

import "slices"

// npu is one rank: its endpoint, and the chunks of its collectives in the queues of the dimensions.
type npu struct {
	*sim
	id      int32
	buckets map[int64]*[]func() // endpoint events by instant
	active  [][]*chunk          // by queue, in the order in which they run
	running []int               // by queue: how many at its head run

	streams      int64           // ids of chunks of the world given away
	groupStreams map[int32]int64 // likewise of the other communicators
	collective   int             // collectives begun, for their order
	levels       []level
	trees        map[treeOf]*tree
}

// after calls f in so many ns. What one NPU does in one instant runs together, at the place of the first.
func (n *npu) after(delay int64, f func()) {
	at := n.q.after(float64(delay))
	b, ok := n.buckets[at]
	if !ok {
		b = &[]func(){}
		n.buckets[at] = b
		n.q.at(at, func() {
			for i := 0; i < len(*b); i++ {
				(*b)[i]()
			}
			delete(n.buckets, at)
		})
	}
	*b = append(*b, f)
}

// chunk is a part of a collective, which goes through phases.
type chunk struct {
	n        *npu
	id       int64
	phases   []phase // to come
	at       algorithm
	queue    int // of the phase that runs; -1 before the first
	priority int
	begun    bool
	done     func()
}

// phase is a collective along one dimension.
type phase struct {
	queue int
	run   func(*chunk) algorithm
}

// algorithm carries out a phase.
type algorithm interface {
	start()     // the chunk has its turn
	received()  // a message has arrived
	processed() // the endpoint has dealt with a message
}

// next ends a chunk's phase and begins the one after it, or ends the chunk. The order of the steps decides which of
// two chunks of one instant is first.
func (c *chunk) next() {
	n, before := c.n, c.queue
	if len(c.phases) == 0 {
		c.done()
	}
	if before >= 0 {
		i := slices.Index(n.active[before], c)
		n.active[before] = slices.Delete(n.active[before], i, i+1)
	}
	if len(c.phases) == 0 {
		n.removed(before)
		return
	}
	p := c.phases[0]
	c.phases, c.queue, c.begun = c.phases[1:], p.queue, false
	c.at = p.run(c)
	n.insert(c)
	if before >= 0 {
		n.removed(before)
	}
	n.fill(c.queue)
}

// insert puts a chunk into its queue: behind those that run and those of the same or a higher priority.
func (n *npu) insert(c *chunk) {
	list := n.active[c.queue]
	i := 0
	for i < len(list) && (list[i].begun || list[i].priority >= c.priority) {
		i++
	}
	n.active[c.queue] = slices.Insert(list, i, c)
}

func (n *npu) removed(queue int) {
	if queue >= 0 {
		n.running[queue]--
		n.fill(queue)
	}
}

// fill starts chunks of a queue, up to as many as may run at once.
func (n *npu) fill(queue int) {
	for i := n.running[queue]; i < len(n.active[queue]) && n.running[queue] < n.atOnce; i++ {
		c := n.active[queue][i]
		c.begun = true
		c.at.start()
		n.running[queue]++
	}
}

// level gives out the queues of a dimension in turn. An all-reduce goes through a dimension twice, and has half of the
// queues for each.
type level struct{ first, count, all, up, down int }

func newLevel(first, count int) level { return level{first: first, count: count, down: count / 2} }

// next returns a queue, and whether the ring is to be gone through backwards.
func (l *level) next() (int, bool) {
	back := l.count > 1 && l.all >= l.count/2
	q := l.all
	if l.all++; l.all >= l.count {
		l.all = 0
	}
	return l.first + q, back
}

func (l *level) nextUp() (int, bool) {
	q := l.up
	if l.up++; l.up >= l.count/2 {
		l.up = 0
	}
	return l.first + q, false
}

func (l *level) nextDown() (int, bool) {
	q := l.down
	if l.down++; l.down >= l.count {
		l.down = l.count / 2
	}
	return l.first + q, true
}
