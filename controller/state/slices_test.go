package state_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// podState is the state of a pod of four small cubes.
func podState(t *testing.T) *state.State {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.PodKind, Racks: 4})
	if err != nil {
		t.Fatal(err)
	}
	return state.New(f)
}

// placed is the entry of a slice at the named cubes.
func placed(t *testing.T, s *state.State, name string, shape torus.Shape, cubes ...int) state.Entry {
	t.Helper()
	pod := state.PodOf(s.Fabric())
	got := torus.Settle(pod, state.SliceRule(), []torus.Slice{pod.Asked(name, shape, cubes)}, make([]torus.Lack, 1))
	if len(got) != 1 || got[0].Place == nil {
		t.Fatalf("%+v", got)
	}
	return state.Entry{Kind: state.SliceSet, At: time.Second, Planning: state.Planning{Slice: &state.Slice{Slice: got[0],
		Owner: "ann", Request: "r1", Asked: time.Second, Since: time.Second, Readied: state.Unset}}}
}

// TestFrozenSlice: what level 8 adds, slices, is written as it was, and refused by a cluster of a lower level.
func TestFrozenSlice(t *testing.T) {
	s := podState(t)
	set := placed(t, s, "a", torus.Box(2, 2, 4), 1, 3)
	set.Slice.Swaps, set.Slice.Why = 1, "for people"
	batch := []state.Entry{set, {Kind: state.SliceDeleted, At: 2 * time.Second, Request: "a"}}
	b, err := state.Encode(batch)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := state.Decode(b); err != nil || !reflect.DeepEqual(back, batch) {
		t.Errorf("%s is read as %+v, %v", b, back, err)
	}
	golden(t, "level8-slices.jsonl", append(b, '\n'))
	for level, taken := range map[state.Level]bool{7: false, 8: true} {
		s := podState(t)
		apply(t, s, state.Entry{Kind: state.ClusterFounded, Cluster: &state.Cluster{Epoch: 1, Level: level}})
		if err := s.Apply(&set); (err == nil) != taken || err != nil && !errors.Is(err, state.ErrLevel) {
			t.Errorf("level %d: %v", level, err)
		}
	}
}

// TestSlicesTakePorts: a slice has nodes and ports for itself; a circuit that no slice has is refused.
func TestSlicesTakePorts(t *testing.T) {
	s := podState(t)
	reserve := func(in, out southbound.Port) error {
		return s.Apply(&state.Entry{Kind: state.CircuitReserved, CircuitReservation: &controller.CircuitReservation{
			In: in, Out: out, NotAfter: southbound.Never, Coflow: controller.AnyCoflow}})
	}
	// Of the first switch, upper faces have ports 4 to 7. The slice joins cube 1 to itself there, and to cube 3 along z.
	if err := reserve(5, 1); err == nil || !strings.Contains(err.Error(),
		"no slice has a circuit from the upper x face of cube1 at 0,0 to the lower x face of cube1") {
		t.Errorf("without a slice: %v", err)
	}
	apply(t, s, placed(t, s, "a", torus.Box(2, 2, 4), 1, 3))
	if err := reserve(5, 1); err != nil {
		t.Errorf("a cube with itself: %v", err)
	}
	for _, wrong := range [][2]southbound.Port{{5, 0}, {5, 7}, {5, 9}, {4, 0}} {
		if err := reserve(wrong[0], wrong[1]); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
	clash := placed(t, s, "b", torus.Box(2, 2, 2), 3)
	if err := s.Apply(&clash); err == nil || !strings.Contains(err.Error(), "another slice's") {
		t.Errorf("nodes of another: %v", err)
	}
	moved := placed(t, s, "a", torus.Box(2, 2, 4), 0, 1) // over its own old place
	apply(t, s, moved, clash, state.Entry{Kind: state.SliceDeleted, Request: "a"})
	if err := s.Apply(&state.Entry{Kind: state.SliceDeleted, Request: "a"}); !errors.Is(err, state.ErrStale) {
		t.Errorf("deleted again: %v", err)
	}
	if s.SliceCircuit(5) != southbound.NoPort || s.SliceCircuit(7) != 3 {
		t.Errorf("ports lead to %d and %d", s.SliceCircuit(5), s.SliceCircuit(7))
	}
}

// TestSliceSnapshots: a snapshot holds the slices, and one whose slices cannot stand is refused.
func TestSliceSnapshots(t *testing.T) {
	s := podState(t)
	apply(t, s, placed(t, s, "a", torus.Box(2, 2, 4), 1, 3), placed(t, s, "b", torus.Box(2, 2, 2), 0))
	snap, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := podState(t)
	if err := again.Restore(snap); err != nil || again.Digest() != s.Digest() || again.SliceCircuit(5) != 1 {
		t.Fatalf("%v, leads to %d", err, again.SliceCircuit(5))
	}
	for what, lie := range map[string]func(all []state.Slice){
		"two of one name":  func(all []state.Slice) { all[1].Name = "a" },
		"nodes of another": func(all []state.Slice) { all[1].Place.Pieces[0].Cube = 1 },
		"no such cube":     func(all []state.Slice) { all[1].Place.Pieces[0].Cube = 9 },
		"no state":         func(all []state.Slice) { all[1].State = "Perfect" },
		"waits on nodes":   func(all []state.Slice) { all[1].State = torus.Pending },
		"a name that none": func(all []state.Slice) { all[1].Name = "B b" },
		"another's shape":  func(all []state.Slice) { all[1].Shape = torus.Box(2, 2, 6) },
	} {
		var d state.Data
		if err := json.Unmarshal(snap, &d); err != nil {
			t.Fatal(err)
		}
		lie(d.Slices)
		bad, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := podState(t).Restore(bad); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
	hybrid := state.New(fabric(t))
	none := state.Entry{Kind: state.SliceSet, Planning: state.Planning{Slice: &state.Slice{}}}
	if err := hybrid.Apply(&none); !errors.Is(err, state.ErrNoPod) {
		t.Errorf("on a fabric that is no pod: %v", err)
	}
}

// TestSliceNamedAsOfJob: a user's slice from before jobs had any can be named as one of theirs. A job that could be
// taken for its owner is refused, and one that asks for no slice never is.
func TestSliceNamedAsOfJob(t *testing.T) {
	s := podState(t)
	accept := func(slice string) error {
		return s.Apply(&state.Entry{Kind: state.JobAccepted, Job: &controller.Job{Name: "j", Slice: slice,
			Stages: []controller.Stage{{Name: "s", Tasks: []controller.Task{{Compute: time.Second}}}}}})
	}
	set := func(name string, cubes ...int) {
		e := placed(t, s, name, torus.Box(2, 2, 2), cubes...)
		e.Slice.Request = name
		apply(t, s, e)
	}
	ofJob := func(name string, want bool) {
		t.Helper()
		if x, ok := s.Slice(name); !ok || s.OfJob(&x) != want || (s.JobOf(&x) != nil) != want {
			t.Errorf("%s is of a job: %v, want %v", name, s.OfJob(&x), want)
		}
	}
	set("job-1", 0)
	ofJob("job-1", false)
	for range 2 {
		if err := accept("2x2x2"); err == nil || !strings.Contains(err.Error(), `slice "job-1" has a name that is kept`) {
			t.Errorf("a job with a slice: %v", err)
		}
		if err := accept(""); err != nil {
			t.Errorf("a job without one: %v", err)
		}
	}
	ofJob("job-1", false)
	if err := accept("2x2x2"); err != nil {
		t.Error(err)
	}
	set("job-2", 1)
	ofJob("job-2", true)
}
