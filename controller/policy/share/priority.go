package share

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// Intent is what administrators want of jobs that compete (Tian et al., "PushBox", TPDS 2022, section 5.2).
type Intent uint8

// The intents.
const (
	FairIntent  Intent = iota // smallest coflow first, so that a large job does not block a small one behind it
	FIFOIntent                // the job that arrived first goes first; others get what it leaves
	QueueIntent               // a FIFO queue for each user whose name begins with QueueOfOrder, others are fair
	BinIntent                 // by seven bins of size, the same on every machine
	OrderIntent               // by arrival
)

// QueueOfOrder begins the name of a FIFO queue.
const QueueOfOrder = "fifo"

// Ordered reports whether a user's jobs are in a FIFO queue.
func (i Intent) Ordered(user string) bool {
	return i == FIFOIntent || i == QueueIntent && strings.HasPrefix(user, QueueOfOrder)
}

// Priority has hosts share by themselves, with strict priorities for what a machine receives (section
// 5.1, "Flow Priority"): each receiving machine ranks its coflows, and the first has the highest
// priority. Jobs of a FIFO queue but its head, and what comes from within the rack, have the lowest.
type Priority struct {
	Intent Intent
	// Size estimates how many bytes a job's stage sends; nil: as many as it does.
	Size func(v *controller.View, j *controller.Job, edge int) float64

	said   []southbound.Priority
	once   bool
	ranked []ranked // the started coflows of the last call, in the order of its view
	was    []ranked // memory for the next call
	heads  []queueHead
	order  []int32 // of ranked, by rank
	met    []int   // by machine: how many coflows have been ranked there
}

// ranked is a coflow with what decides its rank at each machine that receives it.
type ranked struct {
	id         southbound.CoflowID
	generation uint64
	live       int32 // rows that have not ended
	start      time.Duration

	size   float64
	job    controller.JobID
	since  time.Duration // by arrival of the job, else of the coflow
	queued bool          // its job is in a FIFO queue: that of its user
	user   string
	low    bool                // its job is in a queue, and not the head of it
	dst    []southbound.HostID // machines that receive some of what has not ended
	near   []int32             // rows that stay in their rack
	level  uint8               // the best of its priorities at all machines
}

// queueHead is the first to have arrived of the jobs of a queue that have tasks.
type queueHead struct {
	user string
	at   time.Duration
	job  controller.JobID
}

// Wants implements the part's list of events.
func (*Priority) Wants() controller.KindSet {
	return controller.Kinds(controller.CoflowStarted, controller.CoflowEnded, controller.FabricChanged)
}

// Fill plans the priorities if they have changed.
func (s *Priority) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	if !s.look(v) && s.once {
		return
	}
	now := s.priorities()
	if s.once && slices.EqualFunc(now, s.said, samePriority) {
		return
	}
	s.once, s.said = true, now
	p.Share = &southbound.Rates{Fair: true, Priority: now}
}

func samePriority(a, b southbound.Priority) bool {
	return a.Coflow == b.Coflow && a.Priority == b.Priority && slices.Equal(a.Low, b.Low)
}

// look brings the started coflows up to date with a view, and reports whether anything that ranks them has changed.
func (s *Priority) look(v *controller.View) (changed bool) {
	s.findHeads(v)
	s.was, s.ranked = s.ranked, s.was[:0]
	k := 0
	for i := range v.Coflows {
		c := &v.Coflows[i]
		if !c.Started {
			continue
		}
		for k < len(s.was) && s.was[k].id < c.ID {
			k, changed = k+1, true
		}
		n := len(s.ranked)
		s.ranked = slices.Grow(s.ranked, 1)[:n+1]
		if x := &s.ranked[n]; k < len(s.was) && s.was[k].same(c) {
			*x, s.was[k] = s.was[k], ranked{}
			k++
		} else {
			*x, changed = s.newRanked(v, c), true
		}
		x := &s.ranked[n]
		low := x.queued && s.head(x.user) != x.job
		changed, x.low = changed || low != x.low, low
	}
	return changed || k < len(s.was)
}

// same reports whether a coflow is as it was.
func (x *ranked) same(c *controller.CoflowView) bool {
	return x.id == c.ID && x.generation == c.Generation && x.live == c.LiveRows && x.start == c.Start &&
		c.Generation > 0 && c.LiveRows > 0
}

// priorities ranks the started coflows.
func (s *Priority) priorities() []southbound.Priority {
	s.order = s.order[:0]
	for i := range s.ranked {
		s.order = append(s.order, int32(i))
	}
	slices.SortFunc(s.order, func(a, b int32) int { return s.compare(&s.ranked[a], &s.ranked[b]) })
	clear(s.met)
	for _, i := range s.order {
		x := &s.ranked[i]
		x.level = 0
		for _, h := range x.dst {
			for int(h) >= len(s.met) {
				s.met = append(s.met, 0)
			}
			x.level = max(x.level, s.level(x, s.met[h]))
			s.met[h]++
		}
	}
	var out []southbound.Priority
	for i := range s.ranked {
		if x := &s.ranked[i]; x.level > 0 {
			out = append(out, southbound.Priority{Coflow: x.id, Priority: x.level, Low: x.near})
		}
	}
	slices.SortFunc(out, func(a, b southbound.Priority) int { return cmp.Compare(a.Coflow, b.Coflow) })
	return out
}

// compare orders the coflows of one machine.
func (s *Priority) compare(a, b *ranked) int {
	if s.Intent == OrderIntent {
		return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.job, b.job), cmp.Compare(a.id, b.id))
	}
	switch {
	case a.low != b.low && b.low:
		return -1
	case a.low != b.low:
		return 1
	}
	return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.job, b.job),
		cmp.Compare(a.since, b.since),
		cmp.Compare(a.id, b.id))
}

// bins are the upper ends of the size bins but the last, in bytes.
var bins = [...]float64{1e6, 1e7, 1e8, 1e9, 1e10, 1e11}

// Bin returns the size bin of a coflow, 0 to 6.
func Bin(size float64) int {
	n, _ := slices.BinarySearch(bins[:], size)
	return n
}

// level is the priority of a coflow that is at that rank at its machine.
func (s *Priority) level(x *ranked, rank int) uint8 {
	switch {
	case s.Intent == BinIntent:
		return uint8(southbound.MaxPriority - Bin(x.size))
	case x.low:
		return 0
	}
	return uint8(max(southbound.MaxPriority-rank, 1))
}

// newRanked is a coflow with the machines that receive some of it.
func (s *Priority) newRanked(v *controller.View, c *controller.CoflowView) ranked {
	j := jobOf(v, c.Job)
	x := ranked{id: c.ID, generation: c.Generation, live: c.LiveRows, start: c.Start, job: c.Job, since: c.Start,
		size: s.size(v, c, j), near: near(v, c)}
	if s.Intent == OrderIntent {
		x.since = c.Arrival
	}
	if j != nil && s.Intent.Ordered(j.User) {
		x.queued, x.user = true, j.User
	}
	last := controller.NoHost
	for r, over := range c.Ended {
		if !over && c.Dst[r] != last { // rows are sorted by destination
			last = c.Dst[r]
			x.dst = append(x.dst, last)
		}
	}
	return x
}

// size is how many bytes the coflow's stage sends, all of its coflows together.
func (s *Priority) size(v *controller.View, c *controller.CoflowView, j *controller.Job) float64 {
	if j == nil || int(c.Edge) >= len(j.Edges) || j.Edges[c.Edge].Kind == controller.Fixed {
		sum := 0.0
		for _, b := range c.Size {
			sum += float64(b)
		}
		return sum
	}
	if s.Size != nil {
		return s.Size(v, j, int(c.Edge))
	}
	return Sends(j, int(c.Edge))
}

// Sends is how many bytes the stage that an edge leaves sends over all of its edges.
func Sends(j *controller.Job, edge int) float64 {
	sum := 0.0
	for i := range j.Edges {
		if e := &j.Edges[i]; e.Kind != controller.Fixed && e.From == j.Edges[edge].From {
			sum += float64(e.Bytes)
		}
	}
	return sum
}

// near lists the rows of a coflow that stay in their rack, where racks have several hosts and some rows
// leave theirs.
func near(v *controller.View, c *controller.CoflowView) []int32 {
	var low []int32
	for r := range c.Src {
		if rack := v.HostRack(c.Src[r]); rack == v.HostRack(c.Dst[r]) && v.Fabric.HostsOf(int(rack)) > 1 {
			low = append(low, int32(r))
		}
	}
	return low
}

// jobOf returns a job of a view that is placed; nil where there is none of that id.
func jobOf(v *controller.View, id controller.JobID) *controller.Job {
	for i := range v.Partial {
		if j := v.Partial[i].Job; j.ID == id {
			return j
		}
	}
	for i := range v.Running {
		if j := v.Running[i].Job; j.ID == id {
			return j
		}
	}
	return nil
}

// findHeads finds the head of each FIFO queue.
func (s *Priority) findHeads(v *controller.View) {
	s.heads = s.heads[:0]
	if s.Intent != FIFOIntent && s.Intent != QueueIntent {
		return
	}
	for i := range v.Running {
		s.arrived(v.Running[i].Job)
	}
	for i := range v.Partial {
		s.arrived(v.Partial[i].Job)
	}
}

// arrived makes a job the head of its queue if it arrived before that.
func (s *Priority) arrived(j *controller.Job) {
	if !s.Intent.Ordered(j.User) {
		return
	}
	i := slices.IndexFunc(s.heads, func(h queueHead) bool { return h.user == j.User })
	if i < 0 {
		s.heads = append(s.heads, queueHead{j.User, j.Arrival, j.ID})
		return
	}
	h := &s.heads[i]
	if cmp.Or(cmp.Compare(j.Arrival, h.at), cmp.Compare(j.ID, h.job)) < 0 {
		*h = queueHead{j.User, j.Arrival, j.ID}
	}
}

// head returns the head of a queue.
func (s *Priority) head(user string) controller.JobID {
	for i := range s.heads {
		if s.heads[i].user == user {
			return s.heads[i].job
		}
	}
	return -1
}
