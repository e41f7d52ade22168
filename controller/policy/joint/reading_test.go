package joint

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// readers is a job whose maps read blocks, of which each lies on one of some racks, and shuffle little.
func readers(maps int, racks ...southbound.RackID) *controller.Job {
	j := &controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, maps)},
		{Tasks: make([]controller.Task, 2)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, To: 1, Bytes: 5e8}}}
	for t := range maps {
		j.Stages[0].Tasks[t] = controller.Task{Input: 256e6, Replicas: racks[t%len(racks) : t%len(racks)+1]}
	}
	return j
}

// idle is a view of a fabric on which one job waits, and nothing else is.
func idle(t *testing.T, j *controller.Job) *controller.View {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 6, Hosts: 2, Spines: 2, Slots: 4, NIC: pathmap.Gbps,
		EPS: 500 * pathmap.Mbps, OCS: 10 * pathmap.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(6, 1)
	if err != nil {
		t.Fatal(err)
	}
	v := &controller.View{Fabric: f, Paths: m, Free: slices.Repeat([]int32{4}, f.Hosts()),
		Waiting: []*controller.Job{j}, Circuits: make([]controller.CircuitView, f.Racks), Delta: 1e8}
	for i := range v.Circuits {
		v.Circuits[i].Out = -1
	}
	return v
}

// TestTasksGoToTheirBlocks: where the racks with the blocks of a job have slots for it, every map is in the one
// with its own, whether circuits are known or not, and the job is placed at once or piece by piece.
func TestTasksGoToTheirBlocks(t *testing.T) {
	for _, blind := range []bool{false, true} {
		for _, incremental := range []bool{false, true} {
			j := readers(6, 2, 5)
			j.Incremental = incremental
			v, p := idle(t, j), &controller.Plan{}
			c := &CrossLayer{plans: true, blind: blind}
			(&Placer{c}).Fill(v, nil, p)
			if len(p.Place) != 1 {
				t.Fatalf("blind %v, incremental %v: %d placements, want one", blind, incremental, len(p.Place))
			}
			for task, h := range p.Place[0].Hosts[:6] {
				if r, want := v.HostRack(h), j.Stages[0].Tasks[task].Replicas[0]; r != want {
					t.Errorf("blind %v, incremental %v: map %d is in rack %d, its block in rack %d", blind, incremental,
						task, r, want)
				}
			}
		}
	}
}

// TestReadsDelay: a job that reads from other racks ends later than one that does not, by no less than its
// blocks take into the hosts that read.
func TestReadsDelay(t *testing.T) {
	j := readers(4, 0)
	v := idle(t, j)
	b := blocks(slices.Repeat([]southbound.RackID{0}, controller.Replicas*j.Tasks()))
	end := func(hosts ...southbound.HostID) float64 {
		f := newForecast(v, false, -1)
		f.keep(j, hosts, b)
		return f.jobs[0].end
	}
	near, far := end(0, 0, 1, 1, 0, 1), end(2, 2, 3, 3, 2, 3)
	if least := 2 * 256e6 * 8 / 1e9; far-near < least {
		t.Errorf("%v s near the blocks, %v s in another rack, want %v s more", near, far, least)
	}
	f := newForecast(v, false, -1)
	x := newShapes(f, j, slices.Repeat([]southbound.HostID{controller.NoHost}, j.Tasks()), v.Free)
	placed := f.placed(j, []southbound.HostID{2, 2, 3, 3, 2, 3})
	f.reads(placed, []southbound.HostID{2, 2, 3, 3, 2, 3}, b, false)
	if got := x.readTime(placed); got < 4*256e6*8/10e9 {
		t.Errorf("the blocks take a port for %v s", got)
	}
}

// TestAssign: each rack takes as many tasks as it is to, each task is in one, and none is away from its block
// while a rack with a copy holds one that has none there.
func TestAssign(t *testing.T) {
	const racks = 7
	far := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		j := readers(1+rng.IntN(40), 0)
		n := len(j.Stages[0].Tasks)
		b, count := make(blocks, controller.Replicas*j.Tasks()), make([]int32, racks)
		for i := range b {
			b[i] = southbound.RackID(rng.IntN(racks))
		}
		for range n {
			count[rng.IntN(racks)]++
		}
		at, i := make([]southbound.RackID, n), 0
		order := newReading(j, b, racks).assign(0, count)
		for r, n := range count {
			for range n {
				at[order[i]] = southbound.RackID(r)
				i++
			}
		}
		if slices.Sort(order); i != n || len(slices.Compact(order)) != n {
			t.Fatalf("seed %d: order %v of %d tasks", seed, order, n)
		}
		for task := range n {
			if slices.Contains(b.of(task), at[task]) {
				continue
			}
			far++
			for other := range n {
				if slices.Contains(b.of(task), at[other]) && !slices.Contains(b.of(other), at[other]) {
					t.Errorf("seed %d: task %d is away from its block, and task %d is there without", seed, task, other)
				}
			}
		}
	}
	if far == 0 {
		t.Error("no task was away from its block")
	}
}

// TestNearBlocksFits: candidates near blocks place all tasks of a job, within the slots of racks.
func TestNearBlocksFits(t *testing.T) {
	tested := 0
	for seed := range uint64(400) {
		v := policytest.View(seed)
		if len(v.Waiting) == 0 || v.Waiting[0].Tasks() == 0 || !fits(v) {
			continue
		}
		j, rng := v.Waiting[0], rand.New(rand.NewPCG(seed, 2))
		read := *j
		read.Stages = slices.Clone(j.Stages)
		read.Stages[0].Tasks = slices.Clone(j.Stages[0].Tasks)
		for i := range read.Stages[0].Tasks {
			read.Stages[0].Tasks[i].Input = 1e6
		}
		b := make(blocks, controller.Replicas*j.Tasks())
		for i := range b {
			b[i] = southbound.RackID(rng.IntN(v.Fabric.Racks))
		}
		f := newForecast(v, false, -1)
		x := newShapes(f, &read, slices.Repeat([]southbound.HostID{controller.NoHost}, j.Tasks()), v.Free)
		x.reads = newReading(&read, b, v.Fabric.Racks)
		all := x.nearBlocks()
		if len(all) == 0 {
			t.Errorf("view %d: no candidate", seed)
		}
		for _, c := range all {
			for r, room := range x.room {
				for s := range c {
					room -= c[s][r]
				}
				if room < 0 {
					t.Fatalf("view %d: rack %d has %d slots too few", seed, r, -room)
				}
			}
			for s, n := range x.need {
				if got := int32(total(c[s])); len(j.Stages[s].Tasks) > 0 && got != n {
					t.Fatalf("view %d: %d tasks of stage %d are placed, want %d", seed, got, s, n)
				}
			}
			tested++
		}
	}
	if tested < 100 {
		t.Errorf("only %d candidates", tested)
	}
}

// TestBlocksBehindDeadUplinks: where the rack with the blocks reaches others by its circuit alone, a job that does not
// fit into it is placed all the same.
func TestBlocksBehindDeadUplinks(t *testing.T) {
	for _, incremental := range []bool{false, true} {
		j := readers(10, 2)
		j.Incremental = incremental
		v := idle(t, j)
		net := v.Fabric.Topology
		v.Down = make([]bool, len(net.Links()))
		rack := v.Fabric.ToRNode[2]
		hosts := map[pathmap.NodeID]bool{}
		for h := v.Fabric.FirstHost[2]; h < v.Fabric.FirstHost[3]; h++ {
			hosts[v.Fabric.HostNode[h]] = true
		}
		for _, l := range net.Out(rack) {
			if l != net.OutPort(rack, v.Fabric.OCSUplink[2]) && !hosts[net.Links()[l].To] {
				v.Down[l], v.Down[pathmap.Reverse(l)] = true, true
			}
		}
		p := &controller.Plan{}
		(&Placer{&CrossLayer{plans: true}}).Fill(v, nil, p)
		if len(p.Place) == 0 {
			t.Errorf("incremental %v: placed nothing", incremental)
		}
	}
}
