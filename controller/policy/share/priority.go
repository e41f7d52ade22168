package share

import (
	"cmp"
	"math"
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

	said []southbound.Priority
	once bool
	at   []ranked
}

// ranked is a coflow at one machine that receives it.
type ranked struct {
	dst   southbound.HostID
	low   bool
	size  float64
	job   controller.JobID
	since time.Duration // by arrival of the job, else of the coflow
	id    southbound.CoflowID
}

// Wants implements the part's list of events.
func (*Priority) Wants() controller.KindSet {
	return controller.Kinds(controller.CoflowStarted, controller.CoflowEnded, controller.FabricChanged)
}

// Fill plans the priorities if they have changed.
func (s *Priority) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	now := s.priorities(v)
	if s.once && slices.EqualFunc(now, s.said, samePriority) {
		return
	}
	s.once, s.said = true, now
	p.Share = &southbound.Rates{Fair: true, Priority: now}
}

func samePriority(a, b southbound.Priority) bool {
	return a.Coflow == b.Coflow && a.Priority == b.Priority && slices.Equal(a.Low, b.Low)
}

// priorities ranks the started coflows of a view.
func (s *Priority) priorities(v *controller.View) []southbound.Priority {
	jobs := jobsOf(v)
	heads := s.heads(jobs)
	s.at = s.at[:0]
	for i := range v.Coflows {
		if c := &v.Coflows[i]; c.Started {
			s.receivers(v, c, jobs[c.Job], heads)
		}
	}
	slices.SortFunc(s.at, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.dst, b.dst), s.compare(&a, &b))
	})
	best := map[southbound.CoflowID]uint8{}
	rank := 0
	for i := range s.at {
		x := &s.at[i]
		if rank++; i == 0 || s.at[i-1].dst != x.dst {
			rank = 0
		}
		if level := s.level(x, rank); level > best[x.id] {
			best[x.id] = level
		}
	}
	var out []southbound.Priority
	for i := range v.Coflows {
		if c := &v.Coflows[i]; best[c.ID] > 0 {
			out = append(out, southbound.Priority{Coflow: c.ID, Priority: best[c.ID], Low: near(v, c)})
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
	low := func(x *ranked) int {
		if x.low {
			return 1
		}
		return 0
	}
	return cmp.Or(low(a)-low(b), cmp.Compare(a.size, b.size), cmp.Compare(a.job, b.job),
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

// receivers lists a coflow at each machine that receives some of it.
func (s *Priority) receivers(v *controller.View, c *controller.CoflowView, j *controller.Job,
	heads map[string]controller.JobID) {
	x := ranked{id: c.ID, job: c.Job, since: c.Start, size: s.size(v, c, j), dst: controller.NoHost}
	if s.Intent == OrderIntent {
		x.since = c.Arrival
	}
	if j != nil && s.Intent.Ordered(j.User) {
		x.low = heads[j.User] != j.ID
	}
	for r, over := range c.Ended {
		if !over && c.Dst[r] != x.dst { // rows are sorted by destination
			x.dst = c.Dst[r]
			s.at = append(s.at, x)
		}
	}
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

// jobsOf returns the jobs of a view that are placed.
func jobsOf(v *controller.View) map[controller.JobID]*controller.Job {
	all := make(map[controller.JobID]*controller.Job, len(v.Partial)+len(v.Running))
	for i := range v.Running {
		all[v.Running[i].Job.ID] = v.Running[i].Job
	}
	for i := range v.Partial {
		all[v.Partial[i].Job.ID] = v.Partial[i].Job
	}
	return all
}

// heads returns the head of each FIFO queue: the first to have arrived of the jobs that have tasks.
func (s *Priority) heads(jobs map[controller.JobID]*controller.Job) map[string]controller.JobID {
	type head struct {
		at time.Duration
		id controller.JobID
	}
	first := map[string]head{}
	for id, j := range jobs {
		h, known := first[j.User]
		if !known {
			h = head{math.MaxInt64, id}
		}
		if c := cmp.Or(cmp.Compare(j.Arrival, h.at), cmp.Compare(id, h.id)); c <= 0 {
			h = head{j.Arrival, id}
		}
		first[j.User] = h
	}
	out := make(map[string]controller.JobID, len(first))
	for user, h := range first {
		out[user] = h.id
	}
	return out
}
