package state_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// readFrom has some of the tasks that a placement gives hosts read their blocks from others.
func (w *walk) readFrom(p *controller.Placement) {
	j := w.s.Job(p.Job)
	tasks := w.s.Data().TasksOf(j)
	for t := 0; w.blocks && t < len(p.Hosts); t++ {
		first, _ := j.StageTasks(int(tasks[t].Stage))
		from := southbound.HostID(w.r.IntN(w.s.Fabric().Hosts()))
		if j.Job.Stages[tasks[t].Stage].Tasks[t-first].Input == 0 || j.Stages[tasks[t].Stage].Streams > 0 ||
			tasks[t].Host != controller.NoHost || p.Hosts[t] == controller.NoHost || tasks[t].Ended != state.Unset ||
			from == p.Hosts[t] || w.s.Lost(from) {
			continue
		}
		p.NonLocal, p.ReadFrom = append(p.NonLocal, int32(t)), append(p.ReadFrom, from)
	}
}

// TestWalksWithBlocks is TestWalks while tasks read blocks over the network, hosts fail and come back, and jobs are
// cancelled. A task computes only once its block is there, and in the end every job has ended.
func TestWalksWithBlocks(t *testing.T) {
	t.Parallel()
	f := fabric(t)
	seeds := tries.Of[uint64](8, 60)
	read, again := 0, 0
	for seed := range seeds {
		w := &walk{t: t, r: rand.New(rand.NewPCG(seed, 42)), s: state.New(f), seed: seed, lossy: true, blocks: true,
			ending: seed%2 == 0, received: map[[2]int]pathmap.Bytes{}}
		for range 200 {
			w.step()
			if err := reading(w.s.Data()); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		w.end = true
		for n := 0; w.s.Finished() < len(w.s.Data().Jobs); n++ {
			if n == 4000 {
				t.Fatalf("seed %d: %d of %d jobs end", seed, w.s.Finished(), len(w.s.Data().Jobs))
			}
			w.step()
		}
		w.restore()
		for _, j := range w.s.Data().Jobs {
			for _, id := range j.Blocks {
				read++
				if w.s.Coflow(id).HostFlows == 0 {
					again++
				}
			}
		}
	}
	if read < 3*int(seeds) || again == 0 {
		t.Errorf("only %d times were blocks read in %d walks, and %d times from a host that was lost", read, seeds, again)
	}
}

// reading checks that a task waits for its block exactly as long as one coflow brings it.
func reading(d *state.Data) error {
	brings := map[int]int{}
	for _, c := range d.Coflows {
		j := d.Job(c.Job)
		for _, p := range c.Pairs {
			if c.Block && c.Ended == state.Unset {
				brings[int(j.FirstTask)+int(p.Dst)]++
			}
		}
	}
	for i := range d.Tasks {
		t := &d.Tasks[i]
		if n := brings[i]; (n == 1) != t.Reading || n > 1 || t.Reading && t.Started != state.Unset {
			return fmt.Errorf("task %d is %+v, and %d coflows bring its block", i, *t, n)
		}
	}
	return nil
}

// mapper is a job of three tasks that read blocks.
func mapper() *controller.Job {
	return &controller.Job{Name: "mapper", Stages: []controller.Stage{{Name: "map", Tasks: []controller.Task{
		{Compute: 5, Input: 100}, {Compute: 5, Input: 100}, {Compute: 5, Input: 100}}}}}
}

// TestReadThenCompute: of three tasks two read from another host, one of them begins at once, and the others once their
// blocks are there.
func TestReadThenCompute(t *testing.T) {
	s := state.New(fabric(t))
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: mapper()},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{0, 1, 1},
			NonLocal: []int32{1, 2}, ReadFrom: []southbound.HostID{4, 4}}},
		state.Entry{Kind: state.StageStarted})
	if x := s.ReadyCoflows(); len(x) != 1 {
		t.Fatalf("coflows %v are ready", x)
	}
	id := s.ReadyCoflows()[0]
	apply(t, s, state.Entry{Kind: state.CoflowStarted, Coflow: id})
	tasks := s.Data().Tasks
	if c := s.Coflow(id); len(c.Done) != 1 || c.Bytes != 200 || tasks[0].Started == state.Unset ||
		tasks[1].Started != state.Unset || len(s.ReadyStages()) != 0 {
		t.Errorf("%+v, tasks %+v", c, tasks)
	}
	apply(t, s, state.Entry{Kind: state.HostFlowEnded, Coflow: id}, state.Entry{Kind: state.StageStarted})
	if tasks = s.Data().Tasks; tasks[1].Started == state.Unset || tasks[2].Started == state.Unset || tasks[1].Slower() {
		t.Errorf("tasks %+v", tasks)
	}
	for i := range southbound.TaskID(3) {
		apply(t, s, state.Entry{Kind: state.TaskEnded, Task: i})
	}
	if s.Finished() != 1 {
		t.Error("the job has not ended")
	}
}

// TestReadAgain: a task whose block's host is lost gives its slot back, and is placed anew.
func TestReadAgain(t *testing.T) {
	s := state.New(fabric(t))
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: mapper()},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{0, 1, 1},
			NonLocal: []int32{1, 2}, ReadFrom: []southbound.HostID{4, 5}}})
	id := s.ReadyCoflows()[0]
	apply(t, s, state.Entry{Kind: state.CoflowStarted, Coflow: id}, state.Entry{Kind: state.HostSeen, Host: 4})
	var v controller.View
	s.FillView(&v, nil)
	if len(v.Evicted) != 1 || !slices.Equal(v.Evicted[0].Hosts, []southbound.HostID{0, -1, 1}) {
		t.Fatalf("evicted %+v", v.Evicted)
	}
	if free := v.Free[1]; free != int32(s.Fabric().Spec.Slots)-1 {
		t.Errorf("host 1 has %d slots free", free)
	}
	apply(t, s, state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{0, 2, 1},
		NonLocal: []int32{1}, ReadFrom: []southbound.HostID{5}}})
	again := s.ReadyCoflows()
	if len(again) != 1 || s.Coflow(again[0]).Columns.Src[0] != 5 || s.Coflow(again[0]).Columns.Dst[0] != 2 {
		t.Errorf("coflows %v are ready", again)
	}
}

// TestBadBlocks: what cannot be read is refused with what to do, and changes nothing.
func TestBadBlocks(t *testing.T) {
	racks := func(r ...southbound.RackID) *controller.Job {
		j := mapper()
		if j.Stages[0].Tasks[1].Replicas = r; r == nil {
			j.Stages[0].Tasks[1].Replicas = []southbound.RackID{}
		}
		return j
	}
	empty := mapper()
	empty.Stages[0].Tasks[1] = controller.Task{Replicas: []southbound.RackID{0}}
	for want, j := range map[string]*controller.Job{
		"has no replica: name 1 to 3 racks":    racks(),
		"on rack 99: the fabric's racks are 0": racks(0, 99),
		"with 4 replicas":                      racks(0, 1, 2, 3),
		"two replicas on rack 1":               racks(1, 0, 1),
		"and reads none":                       empty,
	} {
		s := state.New(fabric(t))
		before := s.Digest()
		err := s.Apply(&state.Entry{Kind: state.JobAccepted, Job: j})
		if err == nil || !strings.Contains(err.Error(), want) || s.Digest() != before {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, p := range map[string]controller.Placement{
		"2 tasks read from afar, and 1 hosts": {NonLocal: []int32{0, 1}, ReadFrom: []southbound.HostID{4}},
		"is lost or does not exist":           {NonLocal: []int32{0}, ReadFrom: []southbound.HostID{99}},
		"on which it runs":                    {NonLocal: []int32{0}, ReadFrom: []southbound.HostID{0}},
	} {
		s := state.New(fabric(t))
		apply(t, s, state.Entry{Kind: state.JobAccepted, Job: mapper()})
		p.Hosts = []southbound.HostID{0, 1, 1}
		before := s.Digest()
		err := s.Apply(&state.Entry{Kind: state.Placed, Placement: &p})
		if err == nil || !strings.Contains(err.Error(), want) || s.Digest() != before {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
