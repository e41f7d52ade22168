package simulated_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/emulator/fault"
	"lightloom/southbound"
)

// sliceJob is a job that computes on a slice, sends an all-to-all there, and computes again.
func sliceJob(name, shape string, tasks int, compute time.Duration) *controller.Job {
	stage := func(n string) controller.Stage {
		return controller.Stage{Name: n, Tasks: slices.Repeat([]controller.Task{{Compute: compute, Slots: 1}}, tasks)}
	}
	return &controller.Job{Name: name, User: "anna", Weight: 1, Slice: shape,
		Stages: []controller.Stage{stage("map"), stage("reduce")},
		Edges:  []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 1e6}}}
}

func (p *pod) submit(j *controller.Job) {
	p.At(p.Now(), func(ctx context.Context) error {
		j.Arrival = p.Now()
		return p.Submit(ctx, 0, j)
	})
}

func (p *pod) jobNamed(name string) *state.Job {
	p.Helper()
	for _, j := range p.State.Data().Jobs {
		if j.Name == name {
			return j
		}
	}
	p.Fatalf("no job %s", name)
	return nil
}

// onSlice checks that all tasks of a job are on the cubes of its slice.
func (p *pod) onSlice(j *state.Job, x *state.Slice) {
	p.Helper()
	used := map[southbound.HostID]bool{}
	for i, h := range j.Hosts {
		used[h] = true
		if h < 0 || !slices.Contains(x.Place.Cubes(), int(p.Fabric().RackOf(int32(h)))) {
			p.Errorf("task %d of %s is on host %d, and its slice has the cubes %v", i, j.Name, h, x.Place.Cubes())
		}
	}
	if len(used) != x.Shape.Nodes() {
		p.Errorf("%s uses %d of %d nodes", j.Name, len(used), x.Shape.Nodes())
	}
}

// TestJobWaitsForItsSlice: a job that asks for a slice begins once that is Ready, on its nodes alone and with nothing
// else there; a second one waits until there is room; slices end with their jobs.
func TestJobWaitsForItsSlice(t *testing.T) {
	p := newPod(t, smallPod)
	p.settle(time.Second)
	p.ask("other", "4x4x2")
	p.submit(sliceJob("first", "2x2x8", 16, time.Second))
	p.submit(sliceJob("second", "2x2x4", 8, time.Second))
	p.settle(500 * time.Millisecond)
	first, second := p.jobNamed("first"), p.jobNamed("second")
	x := p.is(state.JobSliceName(first.ID), torus.Ready, torus.CircuitsLit)
	if x.Owner != "anna" || first.Placed < x.Readied || first.Placed > x.Readied+100*time.Millisecond {
		t.Errorf("the slice of %s was Ready at %v, the job placed at %v", x.Owner, x.Readied, first.Placed)
	}
	p.onSlice(first, &x)
	if second.Placed != state.Unset {
		t.Error("the second is placed without a slice")
	}
	p.is(state.JobSliceName(second.ID), torus.Pending, torus.NoRoom)
	plain := sliceJob("plain", "", 4, time.Second)
	p.submit(plain)
	p.settle(500 * time.Millisecond)
	for _, h := range p.jobNamed("plain").Hosts {
		if slices.Contains(x.Place.Cubes(), int(p.Fabric().RackOf(int32(h)))) {
			t.Errorf("a job without a slice has host %d of one", h)
		}
	}
	p.settle(10 * time.Second)
	if first.Ended == state.Unset || second.Ended == state.Unset {
		t.Fatalf("jobs end at %v and %v", first.Ended, second.Ended)
	}
	if second.Placed < first.Ended {
		t.Errorf("the second was placed at %v, before the first ended at %v", second.Placed, first.Ended)
	}
	if all := p.State.Slices(); len(all) != 1 || all[0].Name != "other" {
		t.Errorf("slices that are left: %+v", all)
	}
	if n := p.lit(); n != 4*12*2 {
		t.Errorf("%d circuits are lit", n)
	}
}

// TestJobSliceSwapsCube: a cube dies under a job. The slice gets another one, the tasks that were lost begin again
// there, and the job ends.
func TestJobSliceSwapsCube(t *testing.T) {
	p := newPod(t, smallPod)
	p.settle(time.Second)
	p.submit(sliceJob("j", "2x2x4", 16, 3*time.Second))
	p.settle(500 * time.Millisecond)
	j := p.jobNamed("j")
	name := state.JobSliceName(j.ID)
	x := p.is(name, torus.Ready, torus.CircuitsLit)
	dead := x.Place.Cubes()[0]
	for i := range int32(8) {
		p.apply(fault.Change{Kind: fault.Host, Host: southbound.HostID(p.Fabric().FirstHost[dead] + i)})
	}
	p.settle(2 * time.Second)
	y := p.is(name, torus.Ready, torus.CircuitsLit)
	if y.Swaps == 0 || slices.Contains(y.Place.Cubes(), dead) {
		t.Errorf("the slice has %v, cube %d is dead", y.Place.Cubes(), dead)
	}
	p.onSlice(p.jobNamed("j"), &y)
	p.settle(20 * time.Second)
	if j := p.jobNamed("j"); j.Ended == state.Unset {
		t.Error("the job has not ended")
	}
}

// TestCancelledJobEndsItsSlice: whether the job waits or runs.
func TestCancelledJobEndsItsSlice(t *testing.T) {
	p := newPod(t, smallPod)
	p.settle(time.Second)
	p.submit(sliceJob("runs", "4x4x4", 64, time.Minute))
	p.submit(sliceJob("waits", "2x2x2", 8, time.Minute))
	p.settle(time.Second)
	runs, waits := p.jobNamed("runs"), p.jobNamed("waits")
	if runs.Placed == state.Unset || waits.Placed != state.Unset {
		t.Fatalf("placed at %v and %v", runs.Placed, waits.Placed)
	}
	p.At(p.Now(), func(ctx context.Context) error {
		_, err := p.CancelAll(ctx)
		return err
	})
	p.settle(2 * time.Second)
	if all := p.State.Slices(); len(all) != 0 || p.lit() != 0 {
		t.Errorf("slices that are left: %+v", all)
	}
}

// TestSliceNamesOfJobs: nobody makes a slice of such a name, or ends one.
func TestSliceNamesOfJobs(t *testing.T) {
	p := newPod(t, smallPod)
	p.settle(time.Second)
	p.submit(sliceJob("j", "2x2x2", 8, time.Minute))
	p.settle(time.Second)
	name := state.JobSliceName(p.jobNamed("j").ID)
	shape, _ := torus.ParseShape("2x2x2")
	var told []string
	refused := func(err error) { told = append(told, err.Error()) }
	p.request(loop.SliceRequest{Name: "job-77", Shape: shape, Request: "r", Refused: refused})
	p.request(loop.SliceRequest{Name: name, Delete: true, Refused: refused})
	p.settle(time.Second)
	if len(told) != 2 || !strings.Contains(told[0], "it is made for a job and ends with it") {
		t.Errorf("told %q", told)
	}
	p.is(name, torus.Ready, torus.CircuitsLit)
}

// TestJobSlicesRefused: a slice that a job can never have is refused as the job comes, with the nearest.
func TestJobSlicesRefused(t *testing.T) {
	f := fabricOf(t, smallPod)
	incremental := sliceJob("j", "2x2x4", 8, time.Second)
	incremental.Incremental = true
	for _, tc := range []struct {
		fabric string
		job    *controller.Job
		want   string
	}{
		{smallPod, sliceJob("j", "4x4x6", 8, time.Second), "nearest:"},
		{smallPod, sliceJob("j", "4x4", 8, time.Second), "it has 2 sides"},
		{smallPod, sliceJob("j", "4x4x4_twisted", 8, time.Second), "nearest: 2x4x4_twisted"},
		{smallPod, sliceJob("j", "2x2x2", 16, time.Second), "its tasks take 32 slots of 2 a node: ask for 16 nodes or more"},
		{smallPod, incremental, "leave one out"},
		{fourOCSes, sliceJob("j", "2x2x2", 4, time.Second), "has racks instead of cubes; nearest: racks=2,circuits=1"},
	} {
		err := tc.job.CheckOn(fabricOf(t, tc.fabric))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s on %s: %v, want %s", tc.job.Slice, tc.fabric, err, tc.want)
		}
	}
	if err := sliceJob("j", "2x2x4", 16, time.Second).CheckOn(f); err != nil {
		t.Error(err)
	}
}

// makeRoom asks for moves, or has them done.
func (p *pod) makeRoom(shape torus.Shape, do bool) (plan *torus.Defragmentation) {
	p.Helper()
	p.request(loop.SliceRequest{Shape: shape, MakeRoom: &loop.MakeRoom{Do: do,
		Planned: func(d *torus.Defragmentation) { plan = d }}, Refused: func(err error) {
		if err != nil {
			p.Error(err)
		}
	}})
	p.settle(time.Second)
	return plan
}

// TestDefragmentMovesSlices: four half cubes and a job's slice keep one from fitting. The moves that make room are
// listed first, and then done: as few nodes move as have to, no circuit of another slice goes dark, and what waited
// becomes Ready.
func TestDefragmentMovesSlices(t *testing.T) {
	p := newPod(t, smallPod)
	p.settle(time.Second)
	for i := range 6 {
		p.ask(fmt.Sprintf("half%d", i), "2x2x1")
	}
	p.settle(time.Second)
	p.submit(sliceJob("job", "2x2x1", 4, time.Hour))
	p.ask("half7", "2x2x1")
	p.ask("stands", "2x4x4")
	p.settle(time.Second)
	for _, name := range []string{"half1", "half3", "half5", "half7"} {
		p.end(name)
	}
	p.settle(time.Second)
	p.ask("waits", "2x2x2")
	p.is("stands", torus.Ready, torus.CircuitsLit)
	p.settle(time.Second)
	p.is("waits", torus.Pending, torus.NoRoom)
	before := map[int]state.Circuit{}
	stands, _ := p.State.Slice("stands")
	if err := state.SlicePorts(p.Fabric(), &stands.Slice, func(in, _ southbound.Port) {
		before[int(in)] = p.State.Circuit(in)
	}); err != nil {
		t.Fatal(err)
	}
	shape, _ := torus.ParseShape("2x2x2")
	list := p.makeRoom(shape, false)
	if list == nil || len(list.Moves) != 1 || list.Nodes != 4 || list.Bound != 4 {
		t.Fatalf("moves: %+v", list)
	}
	p.is("waits", torus.Pending, torus.NoRoom)
	did := p.makeRoom(shape, true)
	if did == nil || did.Moves[0].Name != list.Moves[0].Name {
		t.Errorf("listed %+v, done %+v", list, did)
	}
	p.is("waits", torus.Ready, torus.CircuitsLit)
	moved := p.is(list.Moves[0].Name, torus.Ready, torus.CircuitsLit)
	if !slices.Equal(moved.Place.Cubes(), list.Moves[0].To.Cubes()) {
		t.Errorf("it is on %v", moved.Place.Cubes())
	}
	for in, c := range before {
		if now := p.State.Circuit(southbound.Port(in)); now != c {
			t.Errorf("circuit %d of another slice was %+v, is %+v", in, c, now)
		}
	}
	if again := p.makeRoom(shape, true); again == nil || len(again.Moves) != 1 {
		t.Errorf("room for another one: %+v", again)
	}
	if none := p.makeRoom(torus.Box(2, 4, 4), false); none != nil {
		t.Errorf("moves that make room where there is none: %+v", none)
	}
}
