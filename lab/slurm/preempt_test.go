package slurm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/torus"
)

// floor is Slurm's jobs and nodes over three racks of two, in partition low of tier 1 and high of tier 10.
type floor struct {
	*desk
	*testing.T
	jobs  map[int]*Job
	state map[string]string // of nodes; where there is none, jobs that run there decide
	low   string            // what low and high are, but for their nodes
	high  string
	only  string // nodes of high begin so
}

var floorNodes = strings.Fields("h0-0 h0-1 h1-0 h1-1 h2-0 h2-1")

func newFloor(t *testing.T, jobs ...*Job) (*floor, *Broker) {
	f := &floor{desk: &desk{slices: map[string]*apiv1.Slice{}}, T: t, jobs: map[int]*Job{}, state: map[string]string{},
		low: "up 1 GANG,REQUEUE low", high: "up 10 OFF high"}
	for _, j := range jobs {
		f.jobs[j.ID] = j
		if strings.HasPrefix(j.Mark, "lightloom") && j.State == "RUNNING" {
			f.slices[sliceName(j.ID)] = &apiv1.Slice{Name: sliceName(j.ID), Owner: owner, Hosts: j.Nodes,
				State: string(torus.Ready)}
		}
	}
	b := f.broker(t)
	n := network(t, "hybrid:racks=3,hosts=2")
	b.Network = func(context.Context) (Network, error) { return *n, nil }
	b.Slurm = f
	return f, b
}

func (f *floor) Job(_ context.Context, id int) (Job, error) { return *f.jobs[id], nil }

func (f *floor) Jobs(context.Context) (out []Job, err error) {
	for _, id := range slices.Sorted(maps.Keys(f.jobs)) {
		out = append(out, *f.jobs[id])
	}
	return out, nil
}

func (f *floor) Nodes(context.Context) (Nodes, error) {
	var b strings.Builder
	for _, n := range floorNodes {
		state := f.state[n]
		for _, j := range f.jobs {
			if state == "" && slices.Contains(j.Nodes, n) && (j.Completing || j.State == "RUNNING") {
				if state = "alloc"; j.Completing {
					state = "comp"
				}
			}
		}
		if state == "" {
			state = "idle"
		}
		fmt.Fprintln(&b, n, state, f.low)
		if strings.HasPrefix(n, f.only) {
			fmt.Fprintln(&b, n, state, f.high)
		}
	}
	return ParseNodes(b.String())
}

func (f *floor) Preempts(context.Context) (bool, error) { return true, nil }

// Preempt has a job be completing: its slice stays until it is over.
func (f *floor) Preempt(_ context.Context, id int, requeue bool) error {
	what := "cancel"
	if requeue {
		what = "requeue"
	}
	f.told = append(f.told, fmt.Sprint(what, " ", id))
	f.ends(id)
	return nil
}

func (f *floor) ends(id int) { f.jobs[id].State, f.jobs[id].Completing = "COMPLETED", true }

// over is the end of all that is completing, and agents free slices then.
func (f *floor) over() {
	for id, j := range f.jobs {
		if j.Completing {
			delete(f.jobs, id)
			delete(f.slices, sliceName(id))
		}
	}
}

func (f *floor) Require(_ context.Context, j *Job, nodes []string) error {
	f.told = append(f.told, fmt.Sprint("require ", j.ID, " ", strings.Join(nodes, " ")))
	f.jobs[j.ID].Require, f.jobs[j.ID].Mark = nodes, releasing
	return nil
}

func (f *floor) Mark(_ context.Context, j *Job, mark string) error {
	f.jobs[j.ID].Mark = mark
	return nil
}

func (f *floor) Release(_ context.Context, id int) error {
	f.jobs[id].Reason = "Resources"
	return nil
}

func (f *floor) Hold(_ context.Context, j *Job) error {
	f.told = append(f.told, fmt.Sprint("hold ", j.ID))
	f.jobs[j.ID].Reason, f.jobs[j.ID].Mark = "JobHeldAdmin", releasing
	return nil
}

// look serves all jobs, and checks what Slurm is told.
func (f *floor) look(b *Broker, what string, want ...string) {
	f.Helper()
	jobs, _ := f.Jobs(f.Context())
	err := b.Serve(f.Context(), time.Unix(0, 0), jobs)
	told := slices.DeleteFunc(f.told, func(x string) bool { return strings.HasPrefix(x, "create") || x == "delete" })
	if err != nil || !slices.Equal(told, want) {
		f.Errorf("%s: %v, %q, want %q", what, err, told, want)
	}
	f.told = nil
}

// lit runs with circuits, plain without.
func lit(id int, partition, nodes string) *Job {
	j := plain(id, partition, nodes)
	j.Mark = placed
	return j
}

func plain(id int, partition, nodes string) *Job {
	return &Job{ID: id, State: "RUNNING", Partitions: strings.Split(partition, ","), Nodes: strings.Fields(nodes),
		Requeue: true}
}

func asks(id int, partitions string, count int) *Job {
	return &Job{ID: id, State: "PENDING", Reason: "JobHeldUser", Mark: held, Comment: "lightloom:circuits=required",
		Partitions: strings.Split(partitions, ","), Count: count}
}

// TestPreempt: what is told Slurm at one look, by what runs and waits.
func TestPreempt(t *testing.T) {
	named := func(j *Job, nodes string) *Job { j.Require, j.Named = strings.Fields(nodes), true; return j }
	once := func(j *Job) *Job { j.Requeue = false; return j }
	for _, tt := range []struct {
		name   string
		jobs   []*Job
		change func(f *floor)
		want   []string
	}{
		{"idle nodes are enough", []*Job{lit(1, "low", "h0-0 h1-0"), asks(9, "high", 2)}, nil,
			[]string{"require 9 h2-0 h2-1"}},
		{"one without circuits is Slurm's to end",
			[]*Job{plain(1, "low", "h0-0 h1-0 h1-1"), plain(2, "low", "h2-0 h2-1"), asks(9, "high", 2)}, nil,
			[]string{"require 9 h2-0 h2-1"}},
		{"the youngest", []*Job{lit(1, "low", "h0-0 h0-1 h1-0"), lit(2, "low", "h1-1 h2-0 h2-1"), asks(9, "high", 2)}, nil,
			[]string{"requeue 2"}},
		{"named nodes", []*Job{lit(1, "low", "h0-0 h1-0"), lit(2, "low", "h2-0 h2-1"),
			named(asks(9, "high", 2), "h0-0 h1-0")}, nil, []string{"requeue 1"}},
		{"ports alone", []*Job{lit(1, "low", "h0-0 h1-0 h2-0"), named(asks(9, "high", 2), "h1-1 h2-1")}, nil,
			[]string{"requeue 1"}},
		{"one that cannot be requeued", []*Job{once(lit(1, "low", strings.Join(floorNodes, " "))), asks(9, "high", 2)}, nil,
			[]string{"cancel 1"}},
		{"a partition that cancels", []*Job{lit(1, "low", strings.Join(floorNodes, " ")), asks(9, "high", 2)},
			func(f *floor) { f.low = "up 1 WITHIN,CANCEL low" }, []string{"cancel 1"}},
		{"a partition that suspends", []*Job{lit(1, "low", strings.Join(floorNodes, " ")), asks(9, "high", 2)},
			func(f *floor) { f.low = "up 1 GANG,SUSPEND low" }, nil},
		{"none is of a lower tier", []*Job{lit(1, "high", strings.Join(floorNodes, " ")), asks(9, "high", 2)}, nil, nil},
		{"another's slice", []*Job{plain(1, "low", "h0-0 h0-1 h1-0 h1-1 h2-0 h2-1"), asks(9, "high", 2)}, func(f *floor) {
			f.slices["train"] = &apiv1.Slice{Name: "train", Owner: "train", Hosts: floorNodes[:5]}
		}, nil},
		{"nodes of low, where it would be of the same tier", []*Job{lit(1, "low", "h0-0 h0-1 h1-0"),
			lit(2, "low", "h1-1 h2-0 h2-1"), asks(9, "low,high", 3)}, func(f *floor) { f.only = "h2" }, nil},
		{"nodes of high", []*Job{lit(1, "low", "h0-0 h0-1 h1-0"), lit(2, "low", "h1-1 h2-0 h2-1"), asks(9, "low,high", 2)},
			func(f *floor) { f.only = "h2" }, []string{"requeue 2"}},
		{"one victim for two jobs", []*Job{lit(1, "high", "h0-0 h0-1 h1-0 h1-1"), lit(3, "low", "h2-0 h2-1"),
			asks(8, "high", 2), asks(9, "high", 2)}, nil, []string{"requeue 3"}},
		{"each has its own", []*Job{lit(1, "high", "h0-0 h0-1"), lit(2, "low", "h1-0 h1-1"), lit(3, "low", "h2-0 h2-1"),
			asks(8, "high", 2), asks(9, "high", 2)}, nil, []string{"requeue 3", "requeue 2"}},
		{"idle nodes that another counts on", []*Job{lit(2, "low", "h1-0 h2-0"), plain(4, "high", "h1-1 h2-1"),
			asks(8, "low", 2), asks(9, "high", 4)}, nil, []string{"requeue 2"}},
		{"draining nodes", []*Job{lit(1, "high", "h0-0 h0-1 h1-0 h1-1"), lit(3, "low", "h2-0 h2-1"), asks(9, "high", 2)},
			func(f *floor) { f.state["h2-0"], f.state["h2-1"] = "drng", "drng" }, nil},
		{"draining nodes of one without circuits",
			[]*Job{lit(1, "high", "h0-0 h0-1 h1-0 h1-1"), plain(3, "low", "h2-0 h2-1"), asks(9, "high", 2)},
			func(f *floor) { f.state["h2-0"], f.state["h2-1"] = "drng", "drng" }, nil},
		{"a partition that is down", []*Job{asks(9, "high", 2)}, func(f *floor) { f.high = "down 10 OFF high" }, nil},
		{"one that takes no more jobs, and starts those that wait", []*Job{asks(9, "high", 2)},
			func(f *floor) { f.high = "drain 10 OFF high" }, []string{"require 9 h0-0 h0-1"}},
		{"one is enough", []*Job{plain(4, "high", "h2-1"), lit(3, "low", "h0-0 h0-1"), lit(1, "low", "h1-0 h1-1 h2-0"),
			asks(9, "high", 3)}, nil, []string{"requeue 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, b := newFloor(t, tt.jobs...)
			if tt.change != nil {
				tt.change(f)
			}
			f.look(b, "a look", tt.want...)
		})
	}
}

// TestPreemptOnce: while the job that was ended is completing, no other is; what is idle is kept meanwhile.
func TestPreemptOnce(t *testing.T) {
	f, b := newFloor(t, lit(1, "low", "h0-0"), lit(2, "low", "h1-0 h1-1"), lit(3, "low", "h2-0 h2-1"),
		asks(8, "low", 1), asks(9, "high", 3))
	f.look(b, "it ends one", "requeue 3")
	f.look(b, "that one is completing")
	f.over()
	f.look(b, "it is over", "require 9 h2-0 h2-1 h0-1")
	f.look(b, "it starts soon")
}

// TestPreemptByState: in 22.05 a job that is completing has no other state, and its slice stays until it is over.
func TestPreemptByState(t *testing.T) {
	f, b := newFloor(t, lit(2, "low", "h0-0 h1-0 h0-1 h1-1"), lit(3, "low", "h2-0 h2-1"), asks(9, "high", 2))
	f.look(b, "it ends one", "requeue 3")
	f.jobs[3].State = "COMPLETING"
	f.look(b, "that one is completing")
	f.jobs[3].State = "RUNNING" // since it was listed, it has ended
	f.jobs[3].Completing = false
	f.state["h2-0"], f.state["h2-1"] = "comp", "comp"
	delete(f.slices, "slurm-3")
	f.look(b, "the list is old")
}

// TestReleased: a job that was released stays so while Slurm ends others for it, and backfill plans its nodes.
func TestReleased(t *testing.T) {
	f, b := newFloor(t, plain(1, "low", strings.Join(floorNodes, " ")), asks(9, "high", 3))
	f.look(b, "what runs there is Slurm's to end", "require 9 h2-0 h2-1 h1-0")
	f.look(b, "nothing has happened yet")
	f.ends(1)
	f.look(b, "Slurm has ended the other")
	f.over()
	for _, n := range floorNodes {
		f.state[n] = "plnd"
	}
	f.look(b, "backfill plans to start it")
	f.state["h2-0"] = "drain"
	f.look(b, "a node is drained", "hold 9")
}

// TestPartitionDown: a job that was released has no circuits while its partition starts none.
func TestPartitionDown(t *testing.T) {
	f, b := newFloor(t, asks(9, "high", 3))
	f.look(b, "all is idle", "require 9 h2-0 h2-1 h1-0")
	f.high = "inact 10 OFF high"
	f.look(b, "its partition is inactive", "hold 9")
	if len(f.slices) != 0 {
		t.Errorf("it keeps %v", f.slices)
	}
	f.look(b, "it waits")
	f.high = "up 10 OFF high"
	f.look(b, "it is up", "require 9 h2-0 h2-1 h1-0")
}

// TestNoSwap: two jobs of both partitions do not end each other in turns: running in low, each is of its tier only on
// nodes that high has not.
func TestNoSwap(t *testing.T) {
	f, b := newFloor(t, lit(1, "low", "h0-0 h0-1 h1-0 h1-1"), asks(2, "low,high", 4))
	f.only = "h2"
	f.look(b, "it cannot be in high")
	f.jobs[2].Count = 2
	f.look(b, "it can", "require 2 h2-0 h2-1")
}
