package state_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestWalks drives jobs through their lives by entries that could be, in random order. After every
// entry what the state derives step by step is what the slow reference implementation finds by looking
// at everything, a replica restored from a snapshot shows policies the same, and the ledgers hold what
// they must. In the end every job has ended.
func TestWalks(t *testing.T) {
	t.Parallel()
	f := fabric(t)
	seeds := tries.Of[uint64](10, 100)
	unchanged, brief := 0, 0
	for seed := range seeds {
		w := &walk{t: t, r: rand.New(rand.NewPCG(seed, 2)), s: state.New(f), seed: seed,
			received: map[[2]int]pathmap.Bytes{}}
		for range 120 {
			w.step()
		}
		for n := 0; w.s.Finished() < len(w.s.Data().Jobs); n++ {
			if n == 2000 {
				t.Fatalf("seed %d: %d of %d jobs end", seed, w.s.Finished(), len(w.s.Data().Jobs))
			}
			w.end = true
			w.step()
		}
		unchanged += w.unchanged
		brief += w.brief
	}
	if brief < int(seeds) {
		t.Errorf("only %d times a view was brought up to date in %d walks", brief, seeds)
	}
	if unchanged < int(seeds) {
		t.Errorf("only %d times a job had not changed in %d walks", unchanged, seeds)
	}
}

type walk struct {
	t    *testing.T
	r    *rand.Rand
	s    *state.State
	seed uint64
	now  time.Duration
	end  bool // nothing but progress any more

	families  bool // jobs read from others and from data sets
	lossy     bool // hosts fail and come back
	moving    bool // tasks of running jobs are moved
	ending    bool // jobs are cancelled
	blocks    bool // tasks read blocks
	cancelled int
	jobs      []*controller.Job
	unchanged int                              // times that a job's tasks were compared with what they were
	received  map[[2]int]pathmap.Bytes         // by job and edge
	rows      map[uint64]controller.CoflowView // by generation

	lean   *state.State // the same, but what has ended leaves; nil: none
	leaves int          // jobs that have left it

	shows *state.State    // the same, which brings one view up to date
	shown controller.View // that view
	brief int             // times that it was not filled anew

	frozen  *state.Frozen // some time ago
	was     []byte        // its snapshot at that time
	readers sync.WaitGroup
}

func (w *walk) step() {
	w.now += time.Duration(w.r.IntN(5))
	e := w.entry()
	e.At = w.now
	var before [32]byte
	look := w.r.IntN(8) == 0 // a digest costs more than everything else here
	var seen string
	var tasks map[uint64]string
	if look {
		before, seen, tasks = w.s.Digest(), w.placing(), w.changed(look)
	}
	counted := w.s.TaskChanges()
	var sized pathmap.Bytes
	if e.Kind == state.HostFlowEnded {
		sized = w.s.Coflow(e.Coflow).Columns.Size[e.Row]
	}
	err := w.s.Apply(&e)
	if w.lean != nil {
		w.compare(&e, err)
	}
	w.show(&e)
	if err != nil {
		if look && w.s.Digest() != before {
			w.t.Fatalf("seed %d: %v changed the state and was refused: %v", w.seed, e.Kind, err)
		}
		if !errors.Is(err, state.ErrStale) && !errors.Is(err, state.ErrConflict) {
			w.t.Fatalf("seed %d: %+v: %v", w.seed, e, err)
		}
		return
	}
	if look && w.s.TaskChanges() == counted && w.placing() != seen {
		w.t.Fatalf("seed %d: %v changes what tasks are placed by, and is not counted:\n%s\n%s", w.seed, e.Kind, seen,
			w.placing())
	}
	for changes, now := range w.changed(look) {
		if was, seen := tasks[changes]; seen && was != now {
			w.t.Fatalf("seed %d: %v changes tasks of a job, and is not counted for it:\n%s\n%s", w.seed, e.Kind, was, now)
		} else if seen {
			w.unchanged++
		}
	}
	switch e.Kind {
	case state.JobAccepted:
		w.jobs = append(w.jobs, e.Job)
	case state.JobCancelled:
		w.cancelled++
	case state.HostFlowEnded:
		c := w.s.Coflow(e.Coflow)
		w.received[[2]int{int(c.Job), int(c.Edge)}] += sized
	}
	if err := derived(w.s); err != nil {
		w.t.Fatalf("seed %d: after %+v: %v", w.seed, e, err)
	}
	if err := ledgers(w.s.Data()); err != nil {
		w.t.Fatalf("seed %d: after %+v: %v", w.seed, e, err)
	}
	if look {
		w.generations()
	}
	if w.r.IntN(40) == 0 {
		w.restore()
	}
	if w.r.IntN(10) == 0 {
		w.freeze()
	}
}

// show wants a view that is brought up to date, now and then, to be as one that is filled anew, and to name the coflows
// that have changed.
func (w *walk) show(e *state.Entry) {
	if w.shows == nil {
		w.shows = state.New(w.s.Fabric())
	}
	_ = w.shows.Apply(e)
	switch w.r.IntN(20) {
	case 0:
		w.shows.Freeze()
	case 1:
		w.shows.FillView(&w.shown, nil)
	case 2, 3:
	default:
		return
	}
	was := shownCoflows(&w.shown)
	w.shows.FillBlindView(&w.shown)
	var v controller.View
	w.s.FillBlindView(&v)
	now := shownCoflows(&v)
	if diff := cmp.Diff(now, shownCoflows(&w.shown)); diff != "" || len(w.shown.Running) != len(v.Running) {
		w.t.Fatalf("seed %d: after %+v: a view brought up to date is another (-anew +so):\n%s", w.seed, e, diff)
	}
	sh, unrouted := w.shown.Showing, 0
	for i := range v.Coflows {
		if c := &v.Coflows[i]; len(c.Src) > 0 && !c.Routed {
			unrouted++
		}
	}
	if sh.Unrouted != unrouted {
		w.t.Fatalf("seed %d: after %+v: %d coflows are counted as without routes, want %d", w.seed, e, sh.Unrouted, unrouted)
	}
	if sh.Full {
		return
	}
	w.brief++
	for id := range w.shows.Data().Next.Coflow {
		if _, named := slices.BinarySearch(sh.Changed, id); !named && was[id] != now[id] {
			w.t.Fatalf("seed %d: after %+v: coflow %d is shown as %q and was as %q, but named are %v", w.seed, e, id, now[id],
				was[id], sh.Changed)
		}
	}
}

// shownCoflows writes down the coflows of a blind view.
func shownCoflows(v *controller.View) map[southbound.CoflowID]string {
	out := map[southbound.CoflowID]string{}
	for i := range v.Coflows {
		c := &v.Coflows[i]
		c.Remaining.Base, c.Remaining.F = nil, 0 // of FillView
		out[c.ID] = fmt.Sprint(*c)
	}
	return out
}

// placing writes down what policies see that can change where tasks could go, but for the load of links.
func (w *walk) placing() string {
	var v controller.View
	w.s.FillView(&v, nil)
	out := fmt.Sprintln(v.Free, v.VCPUs, v.Lost)
	for _, j := range v.Waiting {
		out += fmt.Sprintln("waiting", j.ID)
	}
	for i := range v.Evicted {
		e := &v.Evicted[i]
		out += fmt.Sprintln("evicted", e.Job.ID, e.Hosts, e.Ended)
	}
	for i := range v.Partial {
		p := &v.Partial[i]
		out += fmt.Sprintf("partial %d %v %+v %v %v\n", p.Job.ID, p.Hosts, p.Tasks, p.Waits, p.PolicyState)
	}
	return out
}

// changed writes down the hosts and tasks of the jobs that have begun to be placed, by when they last changed; nothing
// unless the walk compares them.
func (w *walk) changed(look bool) map[uint64]string {
	out := map[uint64]string{}
	if !look {
		return out
	}
	var v controller.View
	w.s.FillView(&v, nil)
	for i := range v.Partial {
		if p := &v.Partial[i]; p.Changes > 0 {
			out[uint64(p.Job.ID)<<32|p.Changes] = fmt.Sprintf("job %d: %v %+v", p.Job.ID, p.Hosts, p.Tasks)
		}
	}
	return out
}

// freeze wants what was frozen some time ago to be what it was, and what it hashes to what its snapshot
// does.
func (w *walk) freeze() {
	w.readers.Wait()
	if w.frozen != nil {
		now, err := w.frozen.Snapshot()
		if err != nil || !bytes.Equal(now, w.was) {
			w.t.Fatalf("seed %d: %v: what was frozen has changed from\n%s\nto\n%s", w.seed, err, w.was, now)
		}
		o := state.New(w.s.Fabric())
		if err := o.Restore(w.was); err != nil || o.Digest() != w.frozen.Digest() {
			w.t.Fatalf("seed %d: %v: the restored state has another digest\n%s", w.seed, err, w.was)
		}
	}
	w.frozen = w.s.Freeze()
	w.was, _ = w.frozen.Snapshot()
	f := w.frozen
	w.readers.Go(func() { f.Digest() }) // while entries are applied
}

// generations wants a generation to stand for the same rows of one coflow, whatever happens.
func (w *walk) generations() {
	if w.rows == nil {
		w.rows = map[uint64]controller.CoflowView{}
	}
	var v controller.View
	w.s.FillView(&v, nil)
	for i := range v.Coflows {
		c := &v.Coflows[i]
		was, seen := w.rows[c.Generation]
		same := was.ID == c.ID && slices.Equal(was.Src, c.Src) && slices.Equal(was.Dst, c.Dst) &&
			slices.Equal(was.Size, c.Size) && slices.Equal(was.Flows, c.Flows)
		if c.Generation == 0 || seen && !same {
			w.t.Fatalf("seed %d: generation %d of coflow %d has other rows than before:\n%+v\n%+v",
				w.seed, c.Generation, c.ID,
				was, c)
		}
		w.rows[c.Generation] = *c
	}
}

// restore compares what a policy sees on a replica that has been restored with what it sees here.
func (w *walk) restore() {
	snap, err := w.s.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	o := state.New(w.s.Fabric())
	if err := o.Restore(snap); err != nil {
		w.t.Fatalf("seed %d: %v", w.seed, err)
	}
	var a, b controller.View
	w.s.FillView(&a, nil)
	o.FillView(&b, nil)
	a.Fabric, b.Fabric = nil, nil
	if diff := cmp.Diff(a, b, cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(controller.CoflowView{}, "Generation"), cmpopts.IgnoreFields(controller.View{}, "Showing"),
		cmpopts.IgnoreFields(controller.Partial{}, "Changes")); diff != "" {
		w.t.Fatalf("seed %d: a restored replica shows policies something else (-here +there):\n%s", w.seed, diff)
	}
}

// entry returns an entry that is possible now, or harmless.
func (w *walk) entry() state.Entry {
	d, r := w.s.Data(), w.r
	port := func() southbound.Port { return southbound.Port(r.IntN(len(d.Circuits))) }
	if w.end && len(d.Lost) > 0 {
		return state.Entry{Kind: state.HostSeen, Host: d.Lost[0], OK: true}
	}
	progress := []state.Kind{state.Placed, state.StageStarted, state.CoflowStarted, state.TaskEnded,
		state.HostFlowEnded}
	if w.ending && r.IntN(20) == 0 && len(d.Jobs) > 0 {
		return w.cancel()
	}
	for {
		kinds := 15
		if w.lossy {
			kinds = 16
		}
		kind := state.Kind(1 + r.IntN(kinds))
		if w.end {
			kind = progress[r.IntN(len(progress))]
		}
		switch kind {
		case state.JobAccepted:
			j := w.job()
			if w.families && w.s.CheckParents([]*controller.Job{j}) != nil {
				continue
			}
			j.Incremental = r.IntN(2) == 0 && inParts(j)
			return state.Entry{Kind: state.JobAccepted, Job: j, Request: fmt.Sprint(r.IntN(20))}
		case state.Placed:
			if w.moving && r.IntN(2) == 0 {
				if e, ok := w.migrate(); ok {
					return e
				}
			}
			if e, ok := w.place(); ok {
				return e
			}
		case state.Routed:
			if ids := w.s.Active(); len(ids) > 0 {
				id := ids[r.IntN(len(ids))]
				route := &controller.Routing{Coflow: id, Tags: make([]southbound.Tag, len(w.s.Coflow(id).Tag))}
				for i := range route.Tags {
					route.Tags[i] = southbound.Tag(r.IntN(7))
				}
				return state.Entry{Kind: state.Routed, Routing: route}
			}
		case state.StageStarted:
			if st := w.s.ReadyStages(); len(st) > 0 {
				x := st[r.IntN(len(st))]
				return state.Entry{Kind: state.StageStarted, JobID: x.Job, Stage: x.Stage}
			}
		case state.CoflowStarted:
			if ids := w.s.ReadyCoflows(); len(ids) > 0 {
				return state.Entry{Kind: state.CoflowStarted, Coflow: ids[r.IntN(len(ids))]}
			}
		case state.TaskEnded:
			for i := range d.Tasks {
				if t := &d.Tasks[i]; t.Started != state.Unset && !w.s.Held(t.Job, t.Stage) &&
					(t.Ended == state.Unset || r.IntN(20) == 0) {
					return state.Entry{Kind: state.TaskEnded, Task: southbound.TaskID(i)}
				}
			}
		case state.HostFlowEnded:
			for _, id := range w.s.Active() {
				if c := w.s.Coflow(id); c.Started != state.Unset && len(c.Done) > 0 {
					return state.Entry{Kind: state.HostFlowEnded, Coflow: id, Row: int32(r.IntN(len(c.Done)))}
				}
			}
		case state.Withdrawn:
			if n := len(d.Coflows); n > 0 {
				return state.Entry{Kind: state.Withdrawn, Coflow: southbound.CoflowID(r.IntN(n))}
			}
		case state.CircuitReserved:
			if in, out, n := port(), port(), len(d.Coflows); in != out && n > 0 {
				from := w.now + time.Duration(r.IntN(30))
				return state.Entry{Kind: state.CircuitReserved,
					CircuitReservation: &controller.CircuitReservation{In: in, Out: out,
						NotBefore: from,
						NotAfter:  from + time.Duration(1+r.IntN(20)), Coflow: southbound.CoflowID(r.IntN(n+1) - 1),
						Fallback: controller.Fallback(r.IntN(2))}}
			}
		case state.CircuitReservationBegun:
			return state.Entry{Kind: state.CircuitReservationBegun, Port: port()}
		case state.CircuitReservationEnded:
			return state.Entry{Kind: state.CircuitReservationEnded, Port: port(), Cause: state.RanOut}
		case state.CircuitIntended:
			if in, out := port(), port(); in != out {
				return state.Entry{Kind: state.CircuitIntended, Port: in, Out: out}
			}
		case state.CircuitSettled:
			in := port()
			return state.Entry{Kind: state.CircuitSettled, Port: in, Out: w.s.Circuit(in).Out, OK: r.IntN(2) == 0}
		case state.Planned:
			return state.Entry{Kind: state.Planned, Planning: state.Planning{Wake: w.now + 10}}
		case state.PortSeen:
			return state.Entry{Kind: state.PortSeen, Device: southbound.DeviceID(r.IntN(6)),
				Port: southbound.Port(r.IntN(3)),
				OK:   r.IntN(2) == 0}
		case state.HostSeen:
			return state.Entry{Kind: state.HostSeen,
				Host: southbound.HostID(r.IntN(w.s.Fabric().Hosts())), OK: r.IntN(3) > 0}
		}
	}
}

// inParts reports whether a job may be placed incrementally.
func inParts(j *controller.Job) bool {
	return len(j.Stages) > 0 && j.Sizes() == nil &&
		!slices.ContainsFunc(j.Edges, func(e controller.Edge) bool { return e.Stream })
}

func (w *walk) job() *controller.Job {
	host := func() southbound.HostID { return southbound.HostID(w.r.IntN(w.s.Fabric().Hosts())) }
	stage := func(n int) controller.Stage {
		s := controller.Stage{Tasks: make([]controller.Task, n)}
		for i := range s.Tasks {
			if w.ending {
				s.Tasks[i].Slots = int32(w.r.IntN(3))
			}
			if w.blocks {
				s.Tasks[i].Input = pathmap.Bytes(w.r.IntN(3))
			}
		}
		return s
	}
	n := 1 + w.r.IntN(3)
	kinds := 6
	if w.ending {
		kinds = 7
	}
	if w.families && w.r.IntN(3) > 0 {
		return w.reader(stage(1+w.r.IntN(2)), stage(n))
	}
	switch w.r.IntN(kinds) {
	case 6: // streams that go on until they are cancelled
		return &controller.Job{Name: "endless", Lifetime: time.Duration(w.r.IntN(2) * 50),
			Stages: []controller.Stage{stage(1), stage(n), stage(1)}, Edges: []controller.Edge{
				{Kind: controller.ScatterGather, From: 0, To: 1, Rate: 1e12, Stream: true},
				{Kind: controller.Broadcast, From: 1, To: 2, Rate: 1e12, Stream: true}}}
	case 4: // a stream in a circle, with one that carries nothing and one to itself
		return &controller.Job{Name: "stream", Stages: []controller.Stage{stage(1), stage(n),
			stage(1), stage(1)},
			Edges: []controller.Edge{
				{Kind: controller.Fields, From: 0, To: 1, Bytes: 9, Stream: true, Keys: 3},
				{Kind: controller.Global, From: 1, To: 2, Bytes: 6, Stream: true},
				{Kind: controller.ScatterGather, From: 2, To: 1, Bytes: 4, Stream: true},
				{Kind: controller.Broadcast, From: 1, To: 1, Bytes: 1, Stream: true},
				{Kind: controller.OneToOne, From: 2, To: 3, Stream: true}}}
	case 5: // batch, then a stream, then batch
		var parts []int64
		if w.ending && n == 3 {
			parts = []int64{2, 0, 5}
		}
		return &controller.Job{Name: "mixed", Stages: []controller.Stage{stage(1), stage(n), stage(n), stage(1)},
			Edges: []controller.Edge{
				{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 9, Reducers: parts}, {Kind: controller.OneToOne,
					From: 1, To: 2, Bytes: 8,
					Stream: true},
				{Kind: controller.ScatterGather, From: 2, To: 3, Bytes: 9}}}
	case 0: // bare, sometimes all within one host
		e := controller.Edge{Kind: controller.Fixed}
		for range n {
			e.Flows = append(e.Flows, controller.Flow{Src: host(), Dst: host(), Bytes: 5})
		}
		return &controller.Job{Name: "bare", Edges: []controller.Edge{e, e}}
	case 1:
		return shuffle()
	case 2: // a diamond, with an edge that carries nothing
		return &controller.Job{Name: "diamond", Stages: []controller.Stage{stage(n), stage(n),
			stage(1), stage(1)},
			Edges: []controller.Edge{
				{Kind: controller.OneToOne, From: 0, To: 1, Bytes: 7}, {Kind: controller.Broadcast, From: 0,
					To: 2, Bytes: 3},
				{Kind: controller.ScatterGather, From: 1, To: 3, Bytes: 9}, {Kind: controller.ScatterGather,
					From: 2, To: 3}}}
	}
	return &controller.Job{Name: "tasks alone", Stages: []controller.Stage{stage(n)}}
}

// withoutReceivers has tasks that receive from others of their job wait for hosts.
func withoutReceivers(j *controller.Job, hosts []southbound.HostID) {
	for i := range j.Edges {
		if e := &j.Edges[i]; e.FollowsTasks() && e.Reads == nil {
			for t, end := j.StageTasks(e.To); t < end; t++ {
				hosts[t] = controller.NoHost
			}
		}
	}
}

// place places the first job that fits.
func (w *walk) place() (state.Entry, bool) {
	var v controller.View
	w.s.FillView(&v, nil)
	for i := range v.Partial {
		if p := &v.Partial[i]; slices.Contains(p.Hosts, controller.NoHost) {
			e := controller.Evicted{Job: p.Job, Hosts: p.Hosts}
			for _, t := range p.Tasks {
				e.Ended = append(e.Ended, t.Ended != state.Unset)
			}
			v.Evicted = append(v.Evicted, e)
		}
	}
	for i := range v.Evicted {
		if hosts, ok := rescheduled(&v, &v.Evicted[i], w.r); ok {
			p := &controller.Placement{Job: v.Evicted[i].Job.ID, Hosts: hosts}
			w.readFrom(p)
			return state.Entry{Kind: state.Placed, Placement: p}, true
		}
	}
	for _, j := range v.Waiting {
		sizes := j.Sizes()
		if sizes == nil {
			sizes = slices.Repeat([]int32{1}, j.Tasks())
		}
		if hosts := controller.Pack(sizes, slices.Clone(v.Free)); hosts != nil {
			if j.Sizes() == nil {
				w.r.Shuffle(len(hosts), func(a, b int) { hosts[a], hosts[b] = hosts[b], hosts[a] })
			}
			if j.Incremental && w.r.IntN(2) == 0 {
				withoutReceivers(j, hosts)
			}
			p := &controller.Placement{Job: j.ID, Hosts: hosts}
			w.readFrom(p)
			return state.Entry{Kind: state.Placed, Placement: p}, true
		}
	}
	return state.Entry{}, false
}
