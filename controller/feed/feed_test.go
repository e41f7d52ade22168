package feed

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"lightloom/controller"
	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/history"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func fabric(t testing.TB) *topo.Fabric {
	t.Helper()
	spec, err := topo.ParseSpec("hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms,slots=4")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// replica is a state with its history and feed.
type replica struct {
	*Feed
	mu      sync.Mutex
	index   uint64
	machine state.Machine
	history *history.Store
}

func newReplica(t testing.TB, f *topo.Fabric, keep state.Keep) *replica {
	t.Helper()
	r := &replica{machine: state.Machine{State: state.New(f)}}
	var err error
	r.history, err = history.Open(filepath.Join(t.TempDir(), "history"), 0, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.history.Close(); err != nil {
			t.Error(err)
		}
	})
	keep.Left = r.history.Put
	r.machine.KeepEnded(keep)
	r.Feed = New(Config{State: r.machine.State, History: r.history, Epoch: time.Unix(1000, 0), View: r.view})
	return r
}

func (r *replica) view(fn func(uint64)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fn(r.index)
}

func (r *replica) apply(t testing.TB, batch ...state.Entry) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	b, err := state.Encode(batch)
	if err == nil {
		err = r.machine.Apply(b)
	}
	if err != nil {
		t.Fatalf("%+v: %v", batch, err)
	}
	r.index += 2 // others are of the log itself
}

// restore begins again from a snapshot of another replica.
func (r *replica) restore(t testing.TB, from *replica) {
	t.Helper()
	snap, err := from.machine.Snapshot()
	if err == nil {
		err = r.machine.Restore(snap)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.index = from.index
	r.Restored()
}

// walk makes jobs come, run and end at random.
type walk struct {
	t     testing.TB
	r     *rand.Rand
	at    time.Duration
	whole *replica // keeps all
	lean  [2]*replica

	parents [][2]string // users and names of jobs that others read from
}

func newWalk(t testing.TB, seed uint64) *walk {
	f := fabric(t)
	w := &walk{t: t, r: rand.New(rand.NewPCG(seed, 3)), whole: newReplica(t, f, state.Keep{})}
	for i := range w.lean {
		w.lean[i] = newReplica(t, f, state.Keep{Ended: 20, Together: 1})
	}
	return w
}

// step applies a random entry, if it can be.
func (w *walk) step() {
	w.at++
	e := state.Entry{At: w.at}
	s := w.whole.machine.State
	switch j := w.any(); {
	case j == nil || w.r.IntN(4) == 0:
		tasks := make([]controller.Task, 1+w.r.IntN(3))
		e.Kind, e.Job = state.JobAccepted, &controller.Job{Name: fmt.Sprint("job", w.r.IntN(5)),
			User: fmt.Sprint("user", w.r.IntN(3)), Weight: 1, Arrival: w.at,
			Stages: []controller.Stage{{Name: "only", Tasks: tasks}}}
		switch w.r.IntN(6) {
		case 0: // no two read the same: replicas that forget earlier do not find the same jobs of a name
			name := fmt.Sprint("parent", w.at)
			w.parents = append(w.parents, [2]string{e.Job.User, name})
			e.Job.Edges = []controller.Edge{{Reads: &controller.Read{Job: name, Kind: controller.OneToOne}}}
		case 1, 2:
			if n := len(w.parents); n > 0 {
				p := w.parents[w.r.IntN(n)]
				e.Job.User, e.Job.Name = p[0], p[1]
			}
		}
	case w.r.IntN(10) == 0:
		e.Kind, e.JobID = state.JobCancelled, j.ID
	case slices.Contains(s.Blocked(), j.ID):
		return
	case j.Placed == state.Unset:
		e.Kind, e.Placement = state.Placed, &controller.Placement{Job: j.ID}
		for range j.Tasks() {
			e.Placement.Hosts = append(e.Placement.Hosts, southbound.HostID(w.r.IntN(8)))
		}
		if s.CheckPlacement(e.Placement, state.NewAsked()) != nil {
			return
		}
	case slices.Contains(s.ReadyCoflows(), j.FirstCoflow) && j.Reading():
		e.Kind, e.Coflow = state.CoflowStarted, j.FirstCoflow
	case slices.Contains(s.ReadyStages(), state.StageRef{Job: j.ID}):
		e.Kind, e.JobID = state.StageStarted, j.ID
	default:
		for i, task := range s.Live().TasksOf(j) {
			if task.Ended == state.Unset {
				e.Kind, e.Task = state.TaskEnded, j.FirstTask+southbound.TaskID(i)
			}
		}
	}
	for _, r := range []*replica{w.whole, w.lean[0], w.lean[1]} {
		r.apply(w.t, e)
	}
}

// any returns a job that has not ended; nil: there is none.
func (w *walk) any() *state.Job {
	open := slices.DeleteFunc(slices.Clone(w.whole.machine.Live().Jobs), func(j *state.Job) bool {
		return j.Ended != state.Unset
	})
	if len(open) == 0 {
		return nil
	}
	return open[w.r.IntN(len(open))]
}

// all are the jobs as they are, by id.
func (w *walk) all() (out []*apiv1.JobInfo) {
	for _, j := range w.whole.machine.Live().Jobs {
		out = append(out, w.whole.info(live(w.whole.machine.State, j), someHosts))
	}
	return out
}

// filter is a random one, mostly of little.
func (w *walk) filter() *apiv1.JobFilter {
	f := &apiv1.JobFilter{}
	if w.r.IntN(3) == 0 {
		f.User = fmt.Sprint("user", w.r.IntN(4))
	}
	if w.r.IntN(4) == 0 {
		f.Name = fmt.Sprint("job", w.r.IntN(5))
	}
	for p := apiv1.JobPhase(1); p <= 4; p++ {
		if w.r.IntN(5) == 0 {
			f.Phases = append(f.Phases, p)
		}
	}
	for range w.r.IntN(2) * w.r.IntN(20) {
		f.Ids = append(f.Ids, int32(w.r.IntN(300)))
	}
	return f
}

func equal(a, b []*apiv1.JobInfo) bool {
	return slices.EqualFunc(a, b, func(a, b *apiv1.JobInfo) bool { return proto.Equal(a, b) })
}

// TestPages reads all jobs in pages, in both directions and under filters, and finds what a look at
// every job finds, though most have left the state.
func TestPages(t *testing.T) {
	for seed := range tries.Of[uint64](2, 100) {
		w := newWalk(t, seed)
		for range 600 {
			w.step()
		}
		left := 0
		for _, r := range w.lean {
			left += int(r.machine.Live().Next.Job) - len(r.machine.Live().Jobs)
		}
		if left == 0 {
			t.Fatalf("seed %d: no job has left", seed)
		}
		for n := range 40 {
			q := api.JobQuery{Filter: w.filter(), Down: n%2 == 1, Most: 1 + w.r.IntN(40)}
			want := slices.DeleteFunc(w.all(), func(j *apiv1.JobInfo) bool { return !api.Matches(q.Filter, j) })
			if q.Down {
				q.From = 1<<31 - 1
				slices.Reverse(want)
			}
			got, pages := []*apiv1.JobInfo(nil), 0
			for more := true; more; pages++ {
				page, next, err := w.lean[n%2].Jobs(q)
				if err != nil || len(page) > q.Most {
					t.Fatalf("seed %d: %d jobs of %d, %v", seed, len(page), q.Most, err)
				}
				got, q.From, more = append(got, page...), next, next != api.NoJob
			}
			if !equal(got, want) {
				t.Fatalf("seed %d: filter %v, down %v, %d a page: %d jobs in %d pages, want %d:\n%v\n%v",
					seed, q.Filter, q.Down,
					q.Most, len(got), pages, len(want), got, want)
			}
		}
		for _, j := range w.all() {
			if got, err := w.lean[0].Job(controller.JobID(j.Id)); err != nil || got == nil ||
				!proto.Equal(got.Job, j) {
				t.Fatalf("seed %d: job %d is %v, %v, want %v", seed, j.Id, got, err, j)
			}
		}
		if got, err := w.lean[0].Job(1 << 20); got != nil || err != nil {
			t.Errorf("a job that never was: %v, %v", got, err)
		}
	}
}

var errEnough = errors.New("enough")

// watcher is somebody who watches jobs now at one replica, now at another.
type watcher struct {
	after  uint64
	knows  map[int32]*apiv1.JobInfo
	fresh  map[int32]bool // since the watch began again; nil: it has not
	resets int
}

// look takes what a replica has.
func (x *watcher) look(t testing.TB, r *replica) {
	t.Helper()
	if pages, _, kept := r.journal.after(x.after); x.after > 0 && kept && len(pages) == 0 {
		return
	}
	err := r.WatchJobs(t.Context(), x.after, func(m *apiv1.JobsChanged) error {
		if m.Reset_ {
			x.fresh, x.resets = map[int32]bool{}, x.resets+1
		}
		for _, j := range m.Jobs {
			x.knows[j.Id] = j
			if x.fresh != nil {
				x.fresh[j.Id] = true
			}
		}
		if m.Index == 0 {
			return nil
		}
		x.after = m.Index
		for id := range x.knows { // what is not among them any more
			if x.fresh != nil && !x.fresh[id] {
				j, err := r.Job(controller.JobID(id))
				if err != nil || j == nil {
					return fmt.Errorf("job %d is not known: %w", id, err)
				}
				j.Job.Hosts = j.Job.Hosts[:min(len(j.Job.Hosts), someHosts)]
				x.knows[id] = j.Job
			}
		}
		x.fresh = nil
		if pages, _, _ := r.journal.after(x.after); len(pages) == 0 {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
}

// TestWatch: who goes on watching where the last message was, at any replica, knows of every job how it
// stands, also after replicas have begun again from a snapshot.
func TestWatch(t *testing.T) {
	resets := 0
	for seed := range tries.Of[uint64](3, 200) {
		w := newWalk(t, seed)
		x := watcher{knows: map[int32]*apiv1.JobInfo{}}
		for n := range 500 {
			w.step()
			i := w.r.IntN(2)
			switch r := w.r.IntN(60); {
			case r == 0:
				w.lean[i].restore(t, w.lean[1-i])
			case r < 20:
				w.lean[i].publish()
			case r < 30:
				x.look(t, w.lean[i])
			}
			if n == 499 {
				w.lean[i].publish()
				x.look(t, w.lean[i])
				for _, j := range w.all() {
					known := x.knows[j.Id]
					if known == nil && j.EndedNs == nil || known != nil && !proto.Equal(known, j) {
						t.Fatalf("seed %d: job is %v, known is %v", seed, j, known)
					}
				}
			}
		}
		resets += x.resets
	}
	t.Logf("%d resets", resets)
}

// TestManyJobs: a watch begins with all jobs in several messages, of which the last one has the index.
func TestManyJobs(t *testing.T) {
	r := newReplica(t, fabric(t), state.Keep{})
	var batch []state.Entry
	for range 2*mostTold + 1 {
		batch = append(batch, state.Entry{Kind: state.JobAccepted,
			Job: &controller.Job{Stages: []controller.Stage{
				{Tasks: make([]controller.Task, 1)}}}})
	}
	r.apply(t, batch...)
	var got []string
	err := r.WatchJobs(t.Context(), 0, func(m *apiv1.JobsChanged) error {
		if got = append(got, fmt.Sprint(len(m.Jobs), m.Reset_, m.Index)); m.Index > 0 {
			return errEnough
		}
		return nil
	})
	if want := []string{"512 true 0", "512 false 0", "1 false 2"}; !errors.Is(err, errEnough) ||
		!slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// TestEvents: replicas tell the same events under the same numbers, and one that begins from a snapshot
// tells that it does not know the earlier ones.
func TestEvents(t *testing.T) {
	w := newWalk(t, 1)
	for range 300 {
		w.step()
	}
	read := func(r *replica, after uint64) (out []api.Event) {
		last := r.Hub.Last()
		_ = r.Events(t.Context(), after, func(e api.Event) error { // it returns the listener's own error
			if out = append(out, e); e.Seq >= last {
				return errEnough
			}
			return nil
		})
		return out
	}
	want, got := read(w.lean[0], 0), read(w.lean[1], 0)
	kinds := map[string]int{}
	for _, e := range want {
		kinds[e.Kind]++
	}
	if !slices.Equal(want, got) || kinds["job-submitted"] != len(w.all()) || kinds["job-ended"] == 0 ||
		kinds["job-cancelled"] == 0 ||
		!slices.IsSortedFunc(want, func(a, b api.Event) int { return cmp.Compare(a.Seq, b.Seq) }) {
		t.Fatalf("%v: %d and %d events", kinds, len(want), len(got))
	}
	r := newReplica(t, fabric(t), state.Keep{})
	r.restore(t, w.lean[0])
	if got := read(r, want[5].Seq); len(got) != 1 || got[0].Kind != api.Gap {
		t.Errorf("after a restore: %v", got)
	}
	e := state.Entry{Kind: state.HostSeen, At: w.at, Host: 1}
	r.apply(t, e)
	w.lean[1].apply(t, e)
	if a, b := read(r, want[len(want)-1].Seq), read(w.lean[1], want[len(want)-1].Seq); len(a) != 2 ||
		len(b) != 1 ||
		a[1] != b[0] || b[0].Subject != "host h0-1" {
		t.Errorf("%v and %v", a, b)
	}
}
