package feed

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// journal keeps which jobs have changed lately, as they stood then, for any number of watchers.
type journal struct {
	mu    sync.Mutex
	pages []page // ascending
	jobs  int    // in them
	floor uint64 // what has changed up to that index is not known
	moved chan struct{}
}

// page is all that has changed from the page before up to an index.
type page struct {
	index uint64
	jobs  []*apiv1.JobInfo
	told  []*apiv1.JobsChanged // the same, in as many messages as it takes
}

// add adds a page. After a gap the journal begins with it.
func (n *journal) add(p page, gap bool) {
	for part := range slices.Chunk(p.jobs, mostTold) {
		p.told = append(p.told, &apiv1.JobsChanged{Jobs: part})
	}
	if len(p.told) > 0 {
		p.told[len(p.told)-1].Index = p.index
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if gap {
		n.pages, n.jobs, n.floor = nil, 0, p.index
	} else if len(p.jobs) > 0 {
		n.pages, n.jobs = append(n.pages, p), n.jobs+len(p.jobs)
	}
	for len(n.pages) > 1 && n.jobs > keptChanges {
		n.floor, n.jobs = n.pages[0].index, n.jobs-len(n.pages[0].jobs)
		n.pages[0] = page{}
		n.pages = n.pages[1:]
	}
	close(n.moved)
	n.moved = make(chan struct{})
}

// after returns the pages behind an index and a channel that signals more; false if some of them are
// not kept.
func (n *journal) after(index uint64) (pages []page, moved <-chan struct{}, kept bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at, _ := slices.BinarySearchFunc(n.pages, index+1,
		func(p page, i uint64) int { return cmp.Compare(p.index, i) })
	return slices.Clone(n.pages[at:]), n.moved, index >= n.floor
}

// note marks the jobs that an entry has changed, and publishes its events.
func (f *Feed) note(e *state.Entry) {
	switch e.Kind {
	case state.HostSeen, state.PortSeen, state.FabricChanged: // what jobs wait for can be another thing now
		for _, j := range f.cfg.State.Live().Jobs {
			if j.Ended == state.Unset {
				f.changed[j.ID] = true
			}
		}
	default:
		if j := f.of(e); j != nil {
			f.changed[j.ID] = true
			if e.Kind == state.JobAccepted || j.Ended != state.Unset {
				f.noteReaders(j)
			}
		}
	}
	f.publishEvent(e)
	if len(f.changed) > 0 {
		f.rouse()
	}
}

// noteReaders marks the jobs that wait, or waited until now, for what one writes that has come or ended.
func (f *Feed) noteReaders(of *state.Job) {
	for _, id := range f.blocked {
		if j := f.cfg.State.Job(id); j != nil && j.User == of.User && slices.Contains(j.ParentNames(), of.Name) {
			f.changed[id] = true
		}
	}
	f.blocked = append(f.blocked[:0], f.cfg.State.Blocked()...)
}

// of returns the job that an entry has changed; nil: none.
func (f *Feed) of(e *state.Entry) *state.Job {
	s := f.cfg.State
	switch e.Kind {
	case state.JobAccepted:
		return s.Job(s.Live().Next.Job - 1)
	case state.Placed:
		return s.Job(e.Placement.Job)
	case state.StageStarted, state.JobCancelled:
		return s.Job(e.JobID)
	case state.TaskEnded:
		j, _ := s.Task(e.Task)
		return j
	case state.CoflowStarted, state.HostFlowEnded, state.AdmissionDecided:
		return f.ofCoflow(e.Coflow)
	case state.Routed:
		return f.ofCoflow(e.Routing.Coflow)
	}
	return nil
}

func (f *Feed) ofCoflow(id southbound.CoflowID) *state.Job {
	if c := f.cfg.State.Coflow(id); c != nil {
		return f.cfg.State.Job(c.Job)
	}
	return nil
}

// publish adds to the journal what has changed since it last did. A job that has left the state since
// then makes a gap: that takes seconds after its end, so it happens where a log is applied again.
func (f *Feed) publish() {
	p, gap := page{}, false
	f.cfg.View(func(index uint64) {
		p.index, gap = index, f.gap
		for _, id := range slices.Sorted(maps.Keys(f.changed)) {
			j := f.cfg.State.Job(id)
			if j == nil {
				gap = true
				continue
			}
			p.jobs = append(p.jobs, f.info(live(f.cfg.State, j), someHosts))
		}
		f.gap = false
		clear(f.changed)
	})
	f.journal.add(p, gap)
}

// mostTold bounds the jobs of one message.
const mostTold = 512

// WatchJobs implements api.JobReader.
func (f *Feed) WatchJobs(ctx context.Context, after uint64,
	sink func(*apiv1.JobsChanged) error) (err error) {
	f.watchers.Add(1)
	defer f.watchers.Add(-1)
	for ctx.Err() == nil {
		pages, moved, kept := f.journal.after(after)
		if after == 0 || !kept {
			if after, err = f.begin(sink); err != nil {
				return err
			}
			continue
		}
		for _, p := range pages {
			for _, m := range p.told {
				if err := sink(m); err != nil {
					return err
				}
			}
			after = p.index
		}
		select {
		case <-moved:
		case <-ctx.Done():
		}
	}
	return nil
}

// begin sends all jobs of the state and returns an index up to which they hold all changes.
func (f *Feed) begin(sink func(*apiv1.JobsChanged) error) (after uint64, err error) {
	from := controller.JobID(0)
	for m := (&apiv1.JobsChanged{Reset_: true}); ; m = new(apiv1.JobsChanged) {
		f.cfg.View(func(index uint64) {
			if after == 0 {
				after = max(index, 1)
			}
			jobs := f.cfg.State.Live().Jobs
			at, _ := slices.BinarySearchFunc(jobs, from, func(j *state.Job, id controller.JobID) int {
				return cmp.Compare(j.ID, id)
			})
			for _, j := range jobs[at:min(at+mostTold, len(jobs))] {
				m.Jobs, from = append(m.Jobs, f.info(live(f.cfg.State, j), someHosts)), j.ID+1
			}
			if at+mostTold >= len(jobs) {
				m.Index = after
			}
		})
		if err := sink(m); err != nil || m.Index > 0 {
			return after, err
		}
	}
}
