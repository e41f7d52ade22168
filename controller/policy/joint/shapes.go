package joint

import (
	"cmp"
	"container/heap"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// The limits of a search for places: how many candidates are tried exactly before the best is improved,
// and how many more then.
const (
	tried    = 24
	improved = 24
	budget   = 100_000 // work of a search, half of it for improving; but some candidates are tried in any case
	some     = 4
	alike    = 1e-6 // seconds: sums that differ by less are taken as equal
)

// shapes searches for the places of one job, or of some of its tasks: candidates are racks with so many
// tasks of each stage (from one rack to all), their hosts follow. They are pruned by a closed form, and
// the best are tried exactly.
type shapes struct {
	f     *forecast
	job   *controller.Job
	fixed []southbound.HostID // by task; NoHost where one is to be chosen
	free  []int32             // by host
	room  []int32             // free slots, by rack
	busy  [2][]float64        // seconds for which a rack's optical port is taken, by rack: into the switch, and out of it
	need  []int32             // by stage: tasks to be placed
	held  [][]int32           // by stage and rack: tasks that have hosts
	seen  map[string]bool     // counts that were tried
	order []int               // memory of prune
	// memory of neighbours: of the candidate that they differ from, by edge
	edges []edgeTimes
	tops  [][]longest
	near  neighbours
	reads *reading // nil: no task that is to be placed reads a block
	best  candidate
}

// candidate is how many tasks of each stage go into which rack.
type candidate struct {
	count [][]int32 // by stage and rack
	rest  int32     // slots that stay free in its racks: the fewer, the more whole racks are left
	hosts []southbound.HostID
	sum   float64 // of all jobs' ends, and the price of ports
}

// search returns hosts for the tasks of a job that have none. There are slots enough. Where there are
// blocks, no task has a host.
func search(f *forecast, job *controller.Job, fixed []southbound.HostID, free []int32,
	b blocks) []southbound.HostID {
	x := newShapes(f, job, fixed, free)
	x.reads = newReading(job, b, f.v.Fabric.Racks)
	counts := x.candidates()
	if x.reads != nil {
		counts = append(x.nearBlocks(), counts...)
	}
	every := make([]int, f.v.Fabric.Racks)
	for r := range every {
		every[r] = r
	}
	values := make([]float64, len(counts))
	for i, c := range counts {
		values[i] = x.value(c, every)
	}
	all := x.prune(values, tried, func(i int) [][]int32 { return counts[i] })
	x.best.sum = forever * forever
	end := f.work + budget
	for i := range all {
		if i < some || f.work < end-budget/2 {
			x.try(&all[i])
		}
	}
	x.improve(end)
	return x.best.hosts
}

func newShapes(f *forecast, job *controller.Job, fixed []southbound.HostID, free []int32) *shapes {
	racks, stages := f.v.Fabric.Racks, len(job.Stages)
	x := &shapes{f: f, job: job, fixed: fixed, free: free, room: make([]int32, racks),
		need: make([]int32, stages),
		held: make([][]int32, stages), seen: map[string]bool{}}
	for h, n := range free {
		x.room[f.v.HostRack(southbound.HostID(h))] += max(n, 0)
	}
	f.rewind(len(f.steps))
	x.busy = [2][]float64{make([]float64, racks), make([]float64, racks)}
	for r := range racks {
		in, out := f.scratch.Busy(southbound.RackID(r))
		x.busy[0][r], x.busy[1][r] = in.Seconds(), out.Seconds()
	}
	for s := range x.held {
		x.held[s] = make([]int32, racks)
		first, end := job.StageTasks(s)
		for t := first; t < end; t++ {
			if h := fixed[t]; h == controller.NoHost {
				x.need[s]++
			} else {
				x.held[s][f.v.HostRack(h)]++
			}
		}
	}
	return x
}

// candidates lists shapes: from each rack, the racks after it in order of room or of idle ports, filled
// with all stages alike or with one stage after the other; and even shares of more and more racks.
func (x *shapes) candidates() [][][]int32 {
	racks := len(x.room)
	byRoom, byPort := make([]int, racks), make([]int, racks)
	for r := range racks {
		byRoom[r], byPort[r] = r, r
	}
	slices.SortStableFunc(byRoom, func(a, b int) int { return cmp.Compare(x.room[b], x.room[a]) })
	slices.SortStableFunc(byPort, func(a, b int) int {
		return cmp.Compare(x.busy[0][a]+x.busy[1][a], x.busy[0][b]+x.busy[1][b])
	})
	var all [][][]int32
	add := func(order []int, fill func(order []int) [][]int32) {
		if c := fill(order); c != nil {
			all = append(all, c)
		}
	}
	for _, order := range [2][]int{byRoom, byPort} {
		for _, r := range order[:min(racks, 64)] {
			if x.room[r] == 0 {
				continue
			}
			from := append([]int{r}, slices.DeleteFunc(slices.Clone(order), func(o int) bool { return o == r })...)
			add(from, x.mixed)
			add(from, x.apart)
		}
		for k := 2; k <= racks; k++ {
			add(order[:k], x.even)
		}
	}
	return all
}

func (x *shapes) blank() [][]int32 {
	c := make([][]int32, len(x.need))
	for s := range c {
		c[s] = make([]int32, len(x.room))
	}
	return c
}

// mixed fills rack after rack with the same share of each stage.
func (x *shapes) mixed(order []int) [][]int32 {
	c, left, sum := x.blank(), slices.Clone(x.need), int32(0)
	for _, n := range left {
		sum += n
	}
	for _, r := range order {
		room := min(x.room[r], sum)
		given := int32(0)
		for s := range left {
			n := left[s] * room / max(sum, 1)
			c[s][r] = n
			given += n
		}
		for s := 0; given < room; s = (s + 1) % len(left) {
			if c[s][r] < left[s] {
				c[s][r]++
				given++
			}
		}
		for s := range left {
			left[s] -= c[s][r]
		}
		sum -= room
	}
	return full(c, sum)
}

// apart fills rack after rack with one stage after the other.
func (x *shapes) apart(order []int) [][]int32 {
	c, k, used := x.blank(), 0, int32(0)
	for s, n := range x.need {
		for n > 0 {
			for k < len(order) && used == x.room[order[k]] {
				k, used = k+1, 0
			}
			if k == len(order) {
				return nil
			}
			give := min(n, x.room[order[k]]-used)
			c[s][order[k]] += give
			n, used = n-give, used+give
		}
	}
	return c
}

// even deals each stage over racks one task after the other.
func (x *shapes) even(order []int) [][]int32 {
	c, room, sum := x.blank(), slices.Clone(x.room), int32(0)
	at := 0
	for s, n := range x.need {
		sum += n
		for misses := 0; n > 0 && misses < len(order); at++ {
			r := order[at%len(order)]
			if room[r] == 0 {
				misses++
				continue
			}
			misses = 0
			room[r]--
			c[s][r]++
			n--
			sum--
		}
	}
	return full(c, sum)
}

func full(c [][]int32, left int32) [][]int32 {
	if left > 0 {
		return nil
	}
	return c
}

// value is a candidate's closed form: over edges the longest time, backlog included, that the ports of
// a rack need. Racks are at least those with tasks.
func (x *shapes) value(c [][]int32, racks []int) float64 {
	sum, delta := 0.0, x.f.v.LeastDelta().Seconds()
	for k := range x.job.Edges {
		if x.job.Edges[k].Kind == controller.Fixed {
			continue
		}
		e, most := x.edge(c, k, racks), 0.0
		for _, r := range racks {
			most = max(most, e.time(x, r))
		}
		sum += most
	}
	return sum + x.readValue(c, delta)
}

// edgeTimes is what value needs to know of an edge to tell how long the ports of a rack need.
type edgeTimes struct {
	bytes    float64
	from, to []int32 // by rack
	n, m     float64 // tasks that send, and that receive; one at least
	racksOf
	delta float64 // how long a circuit is dark, in seconds
}

// racksOf is how many racks receive on an edge, and how many send.
type racksOf struct{ receivers, senders int }

func (x *shapes) edge(c [][]int32, k int, racks []int) edgeTimes {
	e := &x.job.Edges[k]
	t := edgeTimes{bytes: float64(x.job.Volume(e)), from: x.of(c, e.From), to: x.of(c, e.To),
		delta: x.f.v.LeastDelta().Seconds()}
	sent, got := int32(0), int32(0)
	for _, r := range racks {
		sent, got = sent+t.from[r], got+t.to[r]
		t.count(r, 1)
	}
	t.n, t.m = max(float64(sent), 1), max(float64(got), 1)
	return t
}

// count adds a rack to those that send and receive, or takes it out.
func (t *edgeTimes) count(r, by int) {
	t.receivers += by * min(int(t.to[r]), 1)
	t.senders += by * min(int(t.from[r]), 1)
}

// time is the longest that the ports of a rack need.
func (t *edgeTimes) time(x *shapes, r int) (most float64) {
	if t.from[r]|t.to[r] == 0 {
		return 0
	}
	a, b := float64(t.from[r])/t.n, float64(t.to[r])/t.m
	if up := t.bytes * a * (1 - b); up > 0 {
		most = max(most, x.port(rackUp, r, up, float64(t.receivers)*t.delta))
	}
	if down := t.bytes * b * (1 - a); down > 0 {
		most = max(most, x.port(rackDown, r, down, float64(t.senders)*t.delta))
	}
	return most
}

// of are the tasks of a stage by rack, those that have hosts too.
func (x *shapes) of(c [][]int32, stage int) []int32 {
	if x.need[stage] == 0 {
		return x.held[stage]
	}
	return c[stage]
}

func total(all []int32) float64 {
	n := int32(0)
	for _, k := range all {
		n += k
	}
	return max(float64(n), 1)
}

// port returns how long bytes take through a rack's optical ports, evenly dealt out, or over packets if
// that is sooner.
func (x *shapes) port(side, rack int, bytes, delays float64) float64 {
	packets := forever
	if rate := x.f.rates[side][rack]; rate > 0 {
		packets = bytes / rate
	}
	if rate := x.f.optical[side][rack]; rate > 0 && !x.f.blind {
		return min(packets, x.busy[side][rack]+delays/x.f.planes+bytes/rate/x.f.planes)
	}
	return packets
}

// prune returns the most promising of some candidates, each once, by their values.
func (x *shapes) prune(values []float64, most int, of func(i int) [][]int32) (kept []candidate) {
	order := x.order[:0]
	for i := range values {
		order = append(order, i)
	}
	x.order = order
	least := &byValue{order, values}
	for heap.Init(least); len(kept) < most && least.Len() > 0; {
		i := heap.Pop(least).(int)
		c := of(i)
		if key := keyOf(c); !x.seen[key] {
			x.seen[key] = true
			kept = append(kept, candidate{count: c})
		}
	}
	return kept
}

// byValue is a heap of candidates, the first among equals first: few of thousands are taken.
type byValue struct {
	order  []int
	values []float64
}

func (h *byValue) Len() int { return len(h.order) }
func (h *byValue) Less(i, k int) bool {
	a, b := h.order[i], h.order[k]
	return cmp.Or(cmp.Compare(h.values[a], h.values[b]), cmp.Compare(a, b)) < 0
}
func (h *byValue) Swap(i, k int) { h.order[i], h.order[k] = h.order[k], h.order[i] }
func (h *byValue) Push(any)      {} // none comes
func (h *byValue) Pop() any {
	last := len(h.order) - 1
	i := h.order[last]
	h.order = h.order[:last]
	return i
}

func keyOf(c [][]int32) string {
	var key []byte
	for s := range c {
		for r, n := range c[s] {
			if n > 0 {
				key = append(key, byte(s), byte(r), byte(r>>8), byte(n), byte(n>>8))
			}
		}
	}
	return string(key)
}

// rest returns how many slots a candidate leaves free in the racks that it uses: where jobs end alike,
// those are better that leave whole racks to wide jobs to come.
func (x *shapes) rest(c [][]int32) (rest int32) {
	for r, room := range x.room {
		taken := int32(0)
		for s := range c {
			taken += c[s][r]
		}
		if taken > 0 {
			rest += room - taken
		}
	}
	return rest
}

// try tries a candidate with tasks packed onto hosts and spread over them.
func (x *shapes) try(c *candidate) {
	c.rest = x.rest(c.count)
	price := portPrice
	if x.reads != nil {
		price = blockPrice
	}
	ports, order := price*x.portTime(c.count), x.readers(c.count)
	for _, packed := range [2]bool{true, false} {
		hosts := x.hosts(c.count, order, packed)
		if packed && slices.Equal(hosts, c.hosts) {
			continue
		}
		c.hosts = hosts
		j := x.f.placed(x.job, hosts)
		if x.reads != nil {
			x.f.reads(j, hosts, x.reads.blocks, false)
		}
		reads, limit := price*x.readTime(j), x.best.sum-alike
		if c.rest < x.best.rest {
			limit = x.best.sum + alike
		}
		c.sum = x.f.try(j, func(sum float64) bool { return sum+ports+reads >= limit }) + ports + reads
		if c.sum < x.best.sum-alike || c.sum < x.best.sum+alike && c.rest < x.best.rest {
			x.best = *c
		}
	}
}

// readers is by stage the tasks in order of their racks, where they read blocks; else nil.
func (x *shapes) readers(c [][]int32) [][]int32 {
	order := make([][]int32, len(c))
	for s := range c {
		if x.reads != nil && x.reads.bytes[s] != nil {
			order[s] = x.reads.assign(s, c[s])
		}
	}
	return order
}

// hosts gives tasks hosts: the stages of a rack in equal shares, on the hosts with the most slots, or
// one by one on that which has the fewest of the job.
func (x *shapes) hosts(c [][]int32, order [][]int32, packed bool) []southbound.HostID {
	out, free, order := slices.Clone(x.fixed), slices.Clone(x.free), slices.Clone(order)
	next := make([]int, len(x.need)) // task of each stage
	for s := range next {
		next[s], _ = x.job.StageTasks(s)
	}
	put := func(s int, h southbound.HostID) {
		free[h]--
		if order[s] != nil {
			out[order[s][0]], order[s] = h, order[s][1:]
			return
		}
		for out[next[s]] != controller.NoHost {
			next[s]++
		}
		out[next[s]] = h
	}
	for r := range x.room {
		left, sum := make([]int32, len(c)), int32(0)
		for s := range c {
			left[s] = c[s][r]
			sum += left[s]
		}
		first, end := x.f.v.Fabric.FirstHost[r], x.f.v.Fabric.FirstHost[r+1]
		mine := make([]int32, end-first)
		for sum > 0 {
			h := x.pick(free[first:end], mine, packed)
			share := int32(1)
			if packed {
				share = min(free[int(first)+h], sum)
			}
			for range share {
				s := behind(left, c, r)
				left[s]--
				sum--
				mine[h]++
				put(s, southbound.HostID(int(first)+h))
			}
		}
	}
	return out
}

// pick returns a host of a rack: that with the most free slots, or among those with the fewest of the
// job that with the most.
func (x *shapes) pick(free, mine []int32, packed bool) int {
	best := -1
	for h := range free {
		if free[h] <= 0 {
			continue
		}
		if best < 0 || cmp.Or(cmp.Compare(mine[h], mine[best]),
			cmp.Compare(free[best], free[h])) < 0 && !packed ||
			packed && free[h] > free[best] {
			best = h
		}
	}
	return best
}

// behind returns the stage of which the largest share is left.
func behind(left []int32, c [][]int32, rack int) int {
	best, most := -1, -1.0
	for s := range left {
		if left[s] == 0 {
			continue
		}
		if share := float64(left[s]) / float64(c[s][rack]); share > most {
			best, most = s, share
		}
	}
	return best
}

// improve moves groups of tasks: all or half or one of a stage from one rack to another, whole racks
// into others, and two racks' groups for each other, as long as that gains.
func (x *shapes) improve(end int) {
	for left := improved; left > 0 && x.f.work < end; {
		near := x.neighbours(x.best.count)
		all := x.prune(near.values, min(left, 8), near.count)
		before := x.best.sum
		for i := range all {
			if left--; x.f.work < end {
				x.try(&all[i])
			}
		}
		if x.best.sum >= before-alike {
			return
		}
	}
}

// others is how many racks besides its own a job's tasks are moved to.
const others = 16

// targets are the racks to which tasks may move: the job's own, and those with room whose ports are
// free soonest.
func (x *shapes) targets(taken []int32) []int {
	var own, free []int
	for r, room := range x.room {
		if taken[r] > 0 {
			own = append(own, r)
		} else if room > 0 {
			free = append(free, r)
		}
	}
	slices.SortStableFunc(free, func(a, b int) int {
		return cmp.Or(cmp.Compare(x.busy[0][a]+x.busy[1][a], x.busy[0][b]+x.busy[1][b]),
			cmp.Compare(x.room[b], x.room[a]))
	})
	return append(own, free[:min(len(free), others)]...)
}

// neighbours are candidates that differ from one in two racks each.
type neighbours struct {
	of     [][]int32
	values []float64
	racks  [][2]int32 // by neighbour
	counts []int32    // by neighbour and stage: tasks in the first of its racks, and in the second
}

// count is a neighbour in full.
func (n *neighbours) count(i int) [][]int32 {
	out := make([][]int32, len(n.of))
	for s := range out {
		out[s] = slices.Clone(n.of[s])
		at := 2 * (i*len(n.of) + s)
		out[s][n.racks[i][0]], out[s][n.racks[i][1]] = n.counts[at], n.counts[at+1]
	}
	return out
}

func (x *shapes) neighbours(c [][]int32) *neighbours {
	all := &x.near
	all.of, all.values, all.racks, all.counts = c, all.values[:0], all.racks[:0], all.counts[:0]
	taken, racks, n := make([]int32, len(x.room)), []int(nil), make([][]int32, len(c))
	for s := range c {
		n[s] = slices.Clone(c[s])
	}
	for r := range taken {
		held := int32(0)
		for s := range c {
			taken[r] += c[s][r]
			held += x.held[s][r]
		}
		if taken[r]+held > 0 {
			racks = append(racks, r)
		}
	}
	targets := x.targets(taken)
	x.edges, x.tops = x.edges[:0], make([][]longest, len(x.job.Edges))
	for k := range x.job.Edges {
		var e edgeTimes
		if x.job.Edges[k].Kind != controller.Fixed {
			e = x.edge(c, k, racks)
		}
		x.edges = append(x.edges, e)
	}
	for a := range x.room {
		if taken[a] == 0 {
			continue
		}
		for _, b := range targets {
			if a == b {
				continue
			}
			x.between(c, a, b, taken[a], x.room[b]-taken[b], func(g change) {
				g.apply(n, a, b)
				all.values = append(all.values, x.changed(n, a, b, racks))
				all.racks = append(all.racks, [2]int32{int32(a), int32(b)})
				for s := range n {
					all.counts = append(all.counts, n[s][a], n[s][b])
					n[s][a], n[s][b] = c[s][a], c[s][b]
				}
			})
		}
	}
	return all
}

// longest are the racks that need longest if so many send and receive, and how long: three, as changes concern two.
type longest struct {
	racksOf
	top [3]struct {
		rack int
		time float64
	}
}

// changed is value for a candidate that differs in two racks from the one of which racks have tasks. What other racks
// need is kept in memory as long as they send to as many racks, and receive from as many.
func (x *shapes) changed(n [][]int32, a, b int, racks []int) float64 {
	sum, delta := 0.0, x.f.v.LeastDelta().Seconds()
	for k := range x.job.Edges {
		if x.job.Edges[k].Kind == controller.Fixed {
			continue
		}
		e := x.edges[k]
		e.count(a, -1)
		e.count(b, -1)
		e.from, e.to = x.of(n, x.job.Edges[k].From), x.of(n, x.job.Edges[k].To)
		e.count(a, 1)
		e.count(b, 1)
		most := max(e.time(x, a), e.time(x, b))
		for _, r := range x.longest(k, e.racksOf, racks).top {
			if r.rack != a && r.rack != b {
				most = max(most, r.time)
				break
			}
		}
		sum += most
	}
	return sum + x.readValue(n, delta)
}

// longest returns the racks that need longest on an edge of the candidate that neighbours differ from.
func (x *shapes) longest(edge int, of racksOf, racks []int) *longest {
	all := x.tops[edge]
	for i := range all {
		if all[i].racksOf == of {
			return &all[i]
		}
	}
	l, e := longest{racksOf: of}, x.edges[edge]
	e.racksOf = of
	for _, r := range racks {
		l.add(r, e.time(x, r))
	}
	x.tops[edge] = append(all, l)
	return &x.tops[edge][len(all)]
}

func (l *longest) add(rack int, time float64) {
	for i := range l.top {
		if time > l.top[i].time {
			copy(l.top[i+1:], l.top[i:])
			l.top[i].rack, l.top[i].time = rack, time
			return
		}
	}
}

// change is a group of tasks that goes from one rack to another.
type change struct {
	stage int   // below zero: all tasks of the rack
	swap  int   // the stage of which as many come back; below zero: none do
	tasks int32 // of the stage
}

func (g change) apply(n [][]int32, a, b int) {
	if g.stage < 0 {
		for s := range n {
			n[s][a], n[s][b] = 0, n[s][b]+n[s][a]
		}
		return
	}
	n[g.stage][a] -= g.tasks
	n[g.stage][b] += g.tasks
	if g.swap >= 0 {
		n[g.swap][b] -= g.tasks
		n[g.swap][a] += g.tasks
	}
}

// between lists the changes by which groups of tasks go from one rack to another that has so many slots to spare.
func (x *shapes) between(c [][]int32, a, b int, taken, spare int32, add func(change)) {
	if spare >= taken { // the whole rack
		add(change{stage: -1})
	}
	for s := range c {
		for _, q := range [3]int32{c[s][a], c[s][a] / 2, 1} {
			if q > 0 && q <= min(spare, c[s][a]) {
				add(change{s, -1, q})
			}
		}
		for o := range c { // for as many of another stage
			if q := min(c[s][a], c[o][b]); o != s && q > 0 {
				add(change{s, o, q})
				if q > 1 {
					add(change{s, o, 1})
				}
			}
		}
	}
}
