package joint

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// blocks are the racks with copies of what the tasks of a job read: controller.Replicas of each task. They
// are nil for a job that reads none, or whose tasks have hosts.
type blocks []southbound.RackID

// of are the racks with copies of what a task reads. A rack can be there twice.
func (b blocks) of(task int) []southbound.RackID {
	return b[controller.Replicas*task : controller.Replicas*(task+1)]
}

// reading is what the tasks of a job read that are to be placed.
type reading struct {
	blocks blocks
	first  []int             // by stage: its first task
	bytes  [][]pathmap.Bytes // by stage that reads and task of it; nil: the stage reads nothing
	sum    []float64         // by stage: of bytes
	have   [][]int32         // by stage that reads and rack: tasks with a copy there
}

// newReading returns nil where no task reads.
func newReading(job *controller.Job, b blocks, racks int) *reading {
	if b == nil {
		return nil
	}
	n := len(job.Stages)
	x := &reading{blocks: b, first: make([]int, n), bytes: make([][]pathmap.Bytes, n), sum: make([]float64, n),
		have: make([][]int32, n)}
	some := false
	for s := range job.Stages {
		first, end := job.StageTasks(s)
		x.first[s] = first
		for t := first; t < end; t++ {
			in := job.Stages[s].Tasks[t-first].Input
			if in == 0 {
				continue
			}
			if some = true; x.bytes[s] == nil {
				x.bytes[s], x.have[s] = make([]pathmap.Bytes, end-first), make([]int32, racks)
			}
			x.bytes[s][t-first] = in
			x.sum[s] += float64(in)
			x.each(s, t, func(r int) { x.have[s][r]++ })
		}
	}
	if !some {
		return nil
	}
	return x
}

// each calls a function with every rack that has a copy of what a task reads, once.
func (x *reading) each(stage, task int, do func(rack int)) {
	if x.bytes[stage][task-x.first[stage]] == 0 {
		return
	}
	all := x.blocks.of(task)
	for i, r := range all {
		if !slices.Contains(all[:i], r) {
			do(int(r))
		}
	}
}

// assign gives the tasks of a stage racks, of which each takes so many: those with the fewest choices
// first, to the rack with a copy that has the most to spare. It returns the tasks by rack.
func (x *reading) assign(stage int, count []int32) []int32 {
	at, left := x.near(stage, count)
	r := 0
	for i := range at {
		if at[i] >= 0 {
			continue
		}
		for r < len(left)-1 && left[r] == 0 {
			r++
		}
		at[i] = int32(r)
		left[r]--
	}
	next, sum := make([]int32, len(count)), int32(0)
	for r, n := range count {
		next[r], sum = sum, sum+n
	}
	out := make([]int32, len(at))
	for i, r := range at {
		out[next[r]] = int32(x.first[stage] + i)
		next[r]++
	}
	return out
}

// near gives tasks of a stage racks with copies, where each rack takes so many; below zero: none has room.
// It returns what is left of the room, too.
func (x *reading) near(stage int, room []int32) (at, left []int32) {
	left, at = slices.Clone(room), slices.Repeat([]int32{-1}, len(x.bytes[stage]))
	wanted := make([]int32, len(room))
	var choices [controller.Replicas + 1][]int32
	for i := range at {
		n := 0
		x.each(stage, x.first[stage]+i, func(r int) {
			if room[r] > 0 {
				n++
				wanted[r]++
			}
		})
		choices[n] = append(choices[n], int32(i))
	}
	for _, tasks := range choices[1:] {
		for _, i := range tasks {
			best := -1
			x.each(stage, x.first[stage]+int(i), func(r int) {
				wanted[r]--
				if left[r] > 0 && (best < 0 || left[r]-wanted[r] > left[best]-wanted[best]) {
					best = r
				}
			})
			if at[i] = int32(best); best >= 0 {
				left[best]--
			}
		}
	}
	return at, left
}

// byCopies orders racks so that the first ones have copies of as much as possible: after one, each is that
// which has the most of what those before it have not.
func (x *reading) byCopies(from int, room []int32) []int {
	var order []int
	have, covered := x.copies(), make([]bool, len(x.blocks)/controller.Replicas)
	taken := make([]bool, len(room))
	take := func(rack int) {
		order, taken[rack] = append(order, rack), true
		for s := range x.bytes {
			for i := range x.bytes[s] {
				t := x.first[s] + i
				if covered[t] || !slices.Contains(x.blocks.of(t), southbound.RackID(rack)) {
					continue
				}
				covered[t] = true
				x.each(s, t, func(r int) { have[r]-- })
			}
		}
	}
	for take(from); len(order) < len(room); {
		best := -1
		for r := range room {
			if !taken[r] && (best < 0 || cmp.Or(cmp.Compare(min(have[r], room[r]),
				min(have[best], room[best])), cmp.Compare(room[r], room[best])) > 0) {
				best = r
			}
		}
		take(best)
	}
	return order
}

// copies is how many tasks have a copy in each rack.
func (x *reading) copies() []int32 {
	var sum []int32
	for _, have := range x.have {
		if sum == nil {
			sum = slices.Clone(have)
			continue
		}
		for r, n := range have {
			sum[r] += n
		}
	}
	return sum
}

// starts is from how many racks candidates near blocks begin.
const starts = 4

// nearBlocks lists candidates with the tasks that read near their blocks, on few racks to all, and the
// others on the same racks in even shares, or on as few as can be.
func (x *shapes) nearBlocks() (all [][][]int32) {
	racks := make([]int, len(x.room))
	for r := range racks {
		racks[r] = r
	}
	copies := x.reads.copies()
	slices.SortStableFunc(racks, func(a, b int) int {
		return cmp.Compare(min(copies[b], x.room[b]), min(copies[a], x.room[a]))
	})
	for _, r := range racks[:min(len(racks), starts)] {
		order := x.reads.byCopies(r, x.room)
		for k := 1; k <= len(order); k += 1 + k/16 {
			for _, packed := range [2]bool{false, true} {
				if c := x.nearOn(order[:k], packed); c != nil {
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// nearOn is one of them; nil where the racks have too little room.
func (x *shapes) nearOn(order []int, packed bool) [][]int32 {
	c, sum, readers, room := x.blank(), int32(0), int32(0), make([]int32, len(x.room))
	for s, n := range x.need {
		if sum += n; x.reads.bytes[s] != nil {
			readers += n
		}
	}
	free := int32(0)
	for _, r := range order {
		free += x.room[r]
	}
	if free < sum {
		return nil
	}
	for _, r := range order { // the others get their share of each rack
		if room[r] = x.room[r]; !packed {
			room[r] = (x.room[r]*readers + sum - 1) / sum
		}
	}
	rest := slices.Clone(x.room)
	deal := func(s int, n int32, even bool) {
		for n > 0 {
			for _, r := range order {
				give := min(n, rest[r])
				if even {
					give = min(give, 1)
				}
				c[s][r] += give
				rest[r] -= give
				n -= give
			}
		}
	}
	for s, n := range x.need {
		if x.reads.bytes[s] == nil {
			continue
		}
		at, left := x.reads.near(s, room)
		room = left
		for _, r := range at {
			if r >= 0 {
				c[s][r]++
				rest[r]--
				n--
			}
		}
		deal(s, n, true)
		for r := range room {
			room[r] = min(room[r], rest[r])
		}
	}
	for s, n := range x.need {
		if x.reads.bytes[s] == nil {
			deal(s, n, !packed)
		}
	}
	return c
}

// readValue is value for what tasks read from other racks: at least so many in each rack have no copy there.
func (x *shapes) readValue(c [][]int32, delta float64) (sum float64) {
	if x.reads == nil {
		return 0
	}
	for s, bytes := range x.reads.bytes {
		if bytes == nil {
			continue
		}
		mean, more, most := x.reads.sum[s]/float64(len(bytes)), int32(0), 0.0
		for r, n := range c[s] {
			more += max(0, n-x.reads.have[s][r])
		}
		far := max(x.reads.uncovered(s, c[s]), more)
		for r, n := range c[s] {
			here := float64(max(0, n-x.reads.have[s][r])) + float64(far-more)*float64(n)/float64(len(bytes))
			if here > 0 {
				most = max(most, x.port(rackDown, r, here*mean, min(here, float64(len(c[s])-1))*delta))
			}
		}
		sum += most
	}
	return sum
}

// uncovered is how many tasks of a stage that read have no copy in any rack that is used.
func (x *reading) uncovered(stage int, count []int32) (n int32) {
	for i, b := range x.bytes[stage] {
		if b > 0 && !slices.ContainsFunc(x.blocks.of(x.first[stage]+i), func(r southbound.RackID) bool {
			return count[r] > 0
		}) {
			n++
		}
	}
	return n
}

// blockRow is what is read from one host by tasks on another.
type blockRow struct {
	src, dst southbound.HostID
	bytes    pathmap.Bytes
}

// reads gives a job that is placed the coflow of what its tasks read from other racks. Stages with such
// tasks wait for it.
func (f *forecast) reads(j *liveJob, hosts []southbound.HostID, b blocks, keep bool) {
	from := f.sources
	if !keep {
		from = f.sources.Clone()
	}
	var rows []blockRow
	var stages []int
	t := 0
	for s := range j.job.Stages {
		for i := range j.job.Stages[s].Tasks {
			in := j.job.Stages[s].Tasks[i].Input
			if racks := b.of(t); in > 0 && !slices.Contains(racks, f.v.HostRack(hosts[t])) {
				src := from.Next(j.job.FirstTask+southbound.TaskID(t), racks)
				if src != controller.NoHost {
					rows = append(rows, blockRow{src, hosts[t], in})
				}
				if len(stages) == 0 || stages[len(stages)-1] != s {
					stages = append(stages, s)
				}
			}
			t++
		}
	}
	if len(rows) == 0 {
		return
	}
	slices.SortFunc(rows, func(a, b blockRow) int {
		return cmp.Or(cmp.Compare(a.dst, b.dst), cmp.Compare(a.src, b.src))
	})
	var src, dst []southbound.HostID
	var size []pathmap.Bytes
	for i, r := range rows {
		if i > 0 && rows[i-1].src == r.src && rows[i-1].dst == r.dst {
			size[len(size)-1] += r.bytes
			continue
		}
		src, dst, size = append(src, r.src), append(dst, r.dst), append(size, r.bytes)
	}
	l := f.coflow(j.job.FirstCoflow+southbound.CoflowID(len(j.job.Edges)), src, dst, size)
	l.job, l.edge, l.readers = j, len(j.coflows), stages
	j.coflows = append(j.coflows, l)
}

// keep adds a job with its tasks on hosts, and what they read, and returns the sum of the ends of all.
func (f *forecast) keep(job *controller.Job, hosts []southbound.HostID, b blocks) float64 {
	j := f.placed(job, hosts)
	if b != nil {
		f.reads(j, hosts, b, true)
	}
	return f.add(j)
}
