package state_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

func fabric(t testing.TB) *topo.Fabric {
	t.Helper()
	spec, err := topo.ParseSpec("hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms,slots=2")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func shuffle() *controller.Job {
	return &controller.Job{Name: "sort", Stages: []controller.Stage{
		{Name: "map", Tasks: []controller.Task{{Compute: time.Second}, {Compute: time.Second}}},
		{Name: "reduce", Tasks: []controller.Task{{Compute: time.Second}}},
	}, Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 101}}}
}

func apply(t testing.TB, s *state.State, entries ...state.Entry) {
	t.Helper()
	for i := range entries {
		if err := s.Apply(&entries[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOneJob walks a map-reduce job through its life by hand.
func TestOneJob(t *testing.T) {
	s := state.New(fabric(t))
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: shuffle(), Request: "a"})
	if err := s.Apply(&state.Entry{Kind: state.JobAccepted, Job: shuffle(), Request: "a"}); !errors.Is(err,
		state.ErrStale) {
		t.Errorf("the same request again: %v, want stale", err)
	}
	apply(t, s, state.Entry{Kind: state.Placed, At: 1,
		Placement: &controller.Placement{Job: 0, Hosts: []southbound.HostID{0, 2, 4}}})
	c := s.Coflow(0)
	want := controller.Columns{Src: []southbound.HostID{0, 2}, Dst: []southbound.HostID{4, 4},
		Size:  c.Columns.Size,
		Flows: []int32{1, 1}}
	if diff := cmp.Diff(want, c.Columns); diff != "" {
		t.Errorf("host flows (-want +got):\n%s", diff)
	}
	if c.Columns.Size[0] != 51 || c.Columns.Size[1] != 50 {
		t.Errorf("sizes %v, want 51 and 50: 101 bytes over two pairs, the remainder to the first",
			c.Columns.Size)
	}
	if got := len(s.ReadyStages()); got != 1 {
		t.Fatalf("%d stages are ready, want the map stage alone", got)
	}
	apply(t, s, state.Entry{Kind: state.StageStarted, At: 2, JobID: 0, Stage: 0},
		state.Entry{Kind: state.TaskEnded, At: 3, Task: 0}, state.Entry{Kind: state.TaskEnded, At: 4, Task: 1})
	if len(s.ReadyCoflows()) != 1 || s.Coflow(0).Ready != 4 {
		t.Fatalf("ready coflows %v since %v, want coflow 0 since 4 ns", s.ReadyCoflows(), s.Coflow(0).Ready)
	}
	apply(t, s, state.Entry{Kind: state.CoflowStarted, At: 5, Coflow: 0},
		state.Entry{Kind: state.HostFlowEnded, At: 6, Coflow: 0, Row: 1},
		state.Entry{Kind: state.HostFlowEnded, At: 7, Coflow: 0,
			Row: 0},
		state.Entry{Kind: state.StageStarted, At: 7, JobID: 0,
			Stage: 1}, state.Entry{Kind: state.TaskEnded, At: 9, Task: 2})
	if c := s.Coflow(0); len(c.Columns.Src)+len(c.Columns.Dst)+len(c.Columns.Size)+len(c.Columns.Flows)+len(c.Tag)+
		len(c.Done) > 0 {
		t.Errorf("a coflow that has ended holds its rows: %+v", c)
	}
	if j := s.Job(0); j.Ended != 9 || s.Finished() != 1 || s.Coflow(0).Ended != 7 {
		t.Errorf("job ended %v, coflow %v, finished %d; want 9 ns, 7 ns, 1", j.Ended,
			s.Coflow(0).Ended, s.Finished())
	}
}

func TestRefusals(t *testing.T) {
	at := func(in, out southbound.Port, from, to time.Duration) *controller.CircuitReservation {
		return &controller.CircuitReservation{In: in, Out: out, NotBefore: from, NotAfter: to,
			Coflow: controller.AnyCoflow}
	}
	s := state.New(fabric(t))
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: shuffle()},
		state.Entry{Kind: state.CircuitReserved, CircuitReservation: at(0, 1, 10, 20)})
	for _, tt := range []struct {
		name string
		e    state.Entry
	}{
		{"input twice", state.Entry{Kind: state.CircuitReserved, CircuitReservation: at(0, 2, 15, 25)}},
		{"output twice", state.Entry{Kind: state.CircuitReserved, CircuitReservation: at(2, 1, 5, 11)}},
		{"to itself", state.Entry{Kind: state.CircuitReserved, CircuitReservation: at(2, 2, 5, 11)}},
		{"no such port", state.Entry{Kind: state.CircuitReserved, CircuitReservation: at(2, 9, 5, 11)}},
		{"no time", state.Entry{Kind: state.CircuitReserved, CircuitReservation: at(2, 3, 11, 11)}},
		{"slots", state.Entry{Kind: state.Placed,
			Placement: &controller.Placement{Job: 0, Hosts: []southbound.HostID{1, 1, 1}}}},
		{"hosts missing", state.Entry{Kind: state.Placed,
			Placement: &controller.Placement{Job: 0, Hosts: []southbound.HostID{1}}}},
		{"no such job", state.Entry{Kind: state.Placed, Placement: &controller.Placement{Job: 7}}},
		{"coflow not ready", state.Entry{Kind: state.CoflowStarted, Coflow: 0}},
		{"stage not placed", state.Entry{Kind: state.StageStarted}},
		{"unknown kind", state.Entry{Kind: 200}},
		{"host below the first", state.Entry{Kind: state.HostSeen, Host: -1}},
		{"host beyond the last", state.Entry{Kind: state.HostSeen, Host: 8}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := s.Digest()
			if err := s.Apply(&tt.e); err == nil {
				t.Error("was taken")
			}
			if s.Digest() != before {
				t.Error("a refused entry has changed the state")
			}
		})
	}
	apply(t, s, state.Entry{Kind: state.CircuitReserved, CircuitReservation: at(0, 2, 20, 25)}) // touching is no overlap
}

// TestDigestTellsJobs: states that differ in a job alone, or in one of its tasks or coflows, have other digests.
func TestDigestTellsJobs(t *testing.T) {
	renamed := shuffle()
	renamed.Name = "other"
	known := map[[32]byte]string{}
	for _, tc := range []struct {
		name        string
		job         *controller.Job
		placed      southbound.HostID
		first, last southbound.TaskID
	}{{"as it is", shuffle(), 0, 0, 1}, {"another name", renamed, 0, 0, 1}, {"a task elsewhere",
		shuffle(), 1, 0, 1},
		{"the other task first", shuffle(), 0, 1, 0}} {
		s := state.New(fabric(t))
		apply(t, s, state.Entry{Kind: state.JobAccepted, Job: tc.job, Request: "a"},
			state.Entry{Kind: state.Placed, At: 1,
				Placement: &controller.Placement{Job: 0, Hosts: []southbound.HostID{tc.placed, 2, 4}}},
			state.Entry{Kind: state.StageStarted, At: 2}, state.Entry{Kind: state.TaskEnded, At: 3,
				Task: tc.first},
			state.Entry{Kind: state.TaskEnded, At: 4, Task: tc.last})
		if other, same := known[s.Digest()]; same {
			t.Errorf("%s: the digest is that of %s", tc.name, other)
		}
		known[s.Digest()] = tc.name
		apply(t, s, state.Entry{Kind: state.CoflowStarted, At: 5})
		if other, same := known[s.Digest()]; same {
			t.Errorf("%s, coflow started: the digest is that of %s", tc.name, other)
		}
		known[s.Digest()] = tc.name + ", coflow started"
	}
}

// TestRandomEntries throws entries of every kind at two replicas, one of which is snapshotted and restored now and
// then: neither panics, no port is ever held twice, and the digests stay equal.
func TestRandomEntries(t *testing.T) {
	f := fabric(t)
	for seed := range tries.Of[uint64](60, 300) {
		r := rand.New(rand.NewPCG(seed, 1))
		a, b := state.New(f), state.New(f)
		for range 200 {
			e := randomEntry(r, a)
			ea, eb := a.Apply(&e), b.Apply(&e)
			if (ea == nil) != (eb == nil) {
				t.Fatalf("seed %d: %+v: %v on one, %v on the other", seed, e, ea, eb)
			}
			if r.IntN(20) == 0 {
				snap, err := b.Snapshot()
				if err != nil {
					t.Fatal(err)
				}
				b = state.New(f)
				if err := b.Restore(snap); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			portsOnce(t, seed, a)
		}
		if a.Digest() != b.Digest() {
			t.Fatalf("seed %d: digests differ", seed)
		}
	}
}

func randomEntry(r *rand.Rand, s *state.State) state.Entry {
	e := state.Entry{Kind: state.Kind(1 + r.IntN(15)), At: time.Duration(r.IntN(1000)),
		Coflow: southbound.CoflowID(r.IntN(6) - 1), Row: int32(r.IntN(4)), Port: southbound.Port(r.IntN(6) - 1),
		Out: southbound.Port(r.IntN(6) - 1), Task: southbound.TaskID(r.IntN(9)), JobID: controller.JobID(r.IntN(4)),
		Stage: int32(r.IntN(3)), OK: r.IntN(2) == 0}
	switch e.Kind {
	case state.JobAccepted:
		e.Job = shuffle()
	case state.Placed:
		e.Placement = &controller.Placement{Job: e.JobID,
			Hosts: []southbound.HostID{southbound.HostID(r.IntN(8)),
				southbound.HostID(r.IntN(8)), southbound.HostID(r.IntN(8))}}
	case state.Routed:
		e.Routing = &controller.Routing{Coflow: e.Coflow, Tags: make([]southbound.Tag, r.IntN(3))}
	case state.CircuitReserved:
		from := time.Duration(r.IntN(100))
		e.CircuitReservation = &controller.CircuitReservation{In: e.Port, Out: e.Out, NotBefore: from,
			NotAfter: from +
				time.Duration(r.IntN(30)), Coflow: e.Coflow}
	}
	return e
}

func portsOnce(t *testing.T, seed uint64, s *state.State) {
	t.Helper()
	outs := map[southbound.Port]bool{}
	for in := range s.Fabric().Racks {
		if c := s.Circuit(southbound.Port(in)); c.Out != southbound.NoPort {
			if outs[c.Out] {
				t.Fatalf("seed %d: output %d has two circuits", seed, c.Out)
			}
			outs[c.Out] = true
		}
	}
}

func FuzzMachine(f *testing.F) {
	batch, err := state.Encode([]state.Entry{{Kind: state.JobAccepted, Job: shuffle()},
		{Kind: state.CircuitReserved, CircuitReservation: &controller.CircuitReservation{In: 0, Out: 1,
			NotAfter: 5}},
		{Kind: state.CircuitReservationBegun}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(batch)
	f.Add([]byte(`[{"k":7,"r":-1}]`))
	f.Add([]byte(`[{"k":15,"d":99}]`))
	f.Add([]byte(`[{"k":15,"d":-1,"p":7}]`))
	f.Add([]byte(`[{"k":15,"d":1,"p":77}]`))
	f.Add([]byte(`[{"k":22,"cluster":{"epoch_unix_ns":1,"level":1}},` +
		`{"k":23,"cluster":{"members":[{"id":"a","level":1}]}}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := state.Machine{State: state.New(fabric(t))}
		_ = m.Apply(b) // refusals are fine; a panic or a broken snapshot is not
		look(m.State)
		snap, err := m.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if err := state.New(fabric(t)).Restore(snap); err != nil {
			t.Fatal(err)
		}
	})
}

// TestRestoreRefusesTasks: a snapshot whose tasks are of no job, stage or host is refused, and changes nothing.
func TestRestoreRefusesTasks(t *testing.T) {
	s := state.New(fabric(t))
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: shuffle()}, state.Entry{Kind: state.Placed,
		Placement: &controller.Placement{Hosts: []southbound.HostID{0, 2, 4}}})
	before := s.Digest()
	hosts := southbound.HostID(fabric(t).Hosts())
	for _, tc := range []struct {
		name  string
		spoil func(x *state.Task)
		ok    bool
	}{
		{"as it was", func(*state.Task) {}, true},
		{"no host yet", func(x *state.Task) { x.Host = controller.NoHost }, true},
		{"the last host", func(x *state.Task) { x.Host = hosts - 1 }, true},
		{"host behind the last", func(x *state.Task) { x.Host = hosts }, false},
		{"job below 0", func(x *state.Task) { x.Job = -1 }, false},
		{"job behind the last", func(x *state.Task) { x.Job = 1 }, false},
		{"stage below 0", func(x *state.Task) { x.Stage = -1 }, false},
		{"stage behind the last", func(x *state.Task) { x.Stage = 2 }, false},
	} {
		b, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		var d state.Data
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatal(err)
		}
		tc.spoil(&d.Tasks[1])
		if b, err = json.Marshal(&d); err != nil {
			t.Fatal(err)
		}
		if err := state.New(fabric(t)).Restore(b); err == nil != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
		if !tc.ok && (s.Restore(b) == nil || s.Digest() != before) {
			t.Errorf("%s: the state has changed", tc.name)
		}
	}
}

func FuzzRestore(f *testing.F) {
	s := state.New(fabric(f))
	apply(f, s, state.Entry{Kind: state.JobAccepted, Job: shuffle()})
	snap, err := s.Snapshot()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(snap)
	for _, part := range []string{
		`"ledger":[{"not_after_ns":5,"in":0,"out":1,"coflow":9}]`,
		`"ledger":[{"not_after_ns":5,"in":0,"out":1,"coflow":-7}]`,
		`"ledger":[{"not_after_ns":5,"in":0,"out":1},{"not_after_ns":5,"in":0,"out":1}]`,
		`"down":[{"device":99,"port":0}]`,
		`"down":[{"device":0,"port":-1}]`,
		`"tasks":[{"host":0,"started_ns":-1,"ended_ns":-1},{"host":-9},{"host":0}]`,
	} {
		field, _, _ := bytes.Cut([]byte(part), []byte(":"))
		f.Add(bytes.Replace(snap, append(field, ":null"...), []byte(part), 1))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := state.New(fabric(t))
		if s.Restore(b) != nil {
			return
		}
		look(s)
		r := rand.New(rand.NewPCG(1, 3))
		for range 100 {
			e := randomEntry(r, s)
			_ = s.Apply(&e)
		}
		look(s)
	})
}

// look calls every method of a state that a loop calls.
func look(s *state.State) {
	s.Digest()
	s.Boundary()
	s.ReconfigurationDelay(1)
	s.FillView(&controller.View{}, nil)
	for _, id := range s.Active() {
		s.AppendTags(nil, id)
	}
	for _, r := range s.Ledger() {
		s.Idle(&r.CircuitReservation)
	}
}
