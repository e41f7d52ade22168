package slurmjobs

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload/swim"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// The fabric of the proof. Its packet links have a twentieth of 1 Gb/s.
const (
	Fabric = "hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=200Mbps,dark=10ms"

	racks, perRack = 8, 2

	// replayed is the fabric of replays: a node has a slot for each of a job's two stages, as a job has all of its node.
	replayed = "hybrid:racks=8,hosts=2,slots=2,spines=2,eps=50Mbps,ocs=200Mbps,dark=10ms"
)

// Trace is the file in the folder swim of the real traces.
const Trace = "FB-2009_samples_24_times_1hr_0_first50jobs.tsv.gz"

// Scales are what bytes of shuffles are divided by. At 20 they take the time that they would take of 1 Gb/s links.
func Scales() []int { return []int{40, 20, 10} }

const (
	// Seeds are recorded, from 1 on.
	Seeds = 10
	// faster divides arrivals and computing: 47 minutes become 141 s.
	faster    = 20
	mostNodes = 8
	// atOnce is how many tasks of swim-v1 a node runs at a time.
	atOnce = 8
)

// perNode is the shuffle, before it is divided, that a node is taken for, up to mostNodes.
const perNode pathmap.Bytes = 1_000_000

// Work is a job: its nodes compute, each sends each an equal part of the shuffle, and they compute again.
type Work struct {
	Name        string
	Arrival     time.Duration
	Nodes       int
	Map, Reduce time.Duration
	Shuffle     pathmap.Bytes // of all nodes together, with what each keeps
}

// Part is what a node sends each other one.
func (w *Work) Part() pathmap.Bytes {
	return w.Shuffle / pathmap.Bytes(w.Nodes*w.Nodes)
}

// Workload makes the jobs of records at a scale. The seed decides which of them arrives when: the trace's instants are
// dealt out among its jobs.
func Workload(all []swim.Record, scale int, seed uint64) []Work {
	m := swim.V1(racks * perRack * atOnce)
	order := rand.New(rand.NewPCG(seed, 0x736c75726d)).Perm(len(all))
	var out []Work
	for i, at := range order {
		x := &all[i]
		nodes := min(mostNodes, max(1, int((x.Shuffle+perNode-1)/perNode)))
		seconds := func(b pathmap.Bytes, rate float64) time.Duration {
			return time.Duration(float64(m.Start)/faster + float64(b)/rate/float64(nodes*atOnce)/faster*float64(time.Second))
		}
		out = append(out, Work{Name: x.Name, Arrival: all[at].Submit / faster, Nodes: nodes,
			Map: seconds(x.Input, m.MapRate), Reduce: seconds(x.Shuffle, m.ReduceRate),
			Shuffle: x.Shuffle / pathmap.Bytes(scale)})
	}
	slices.SortStableFunc(out, func(a, b Work) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return out
}

// Alone is how long a job takes on packets that it has to itself: as long it sleeps where nothing is sent.
func (w *Work) Alone() time.Duration {
	const link = 50_000_000 // of bits a second, for each node of a rack
	return w.Map + w.Reduce + (pathmap.Bytes(w.Nodes-1) * w.Part()).Over(link)
}

// job is the work as the controller has it: on these hosts, or where a policy places it if there are none.
func (w *Work) job(hosts []southbound.HostID) controller.Job {
	j := controller.Job{Name: w.Name, Arrival: w.Arrival}
	if w.Nodes == 1 {
		j.Stages = []controller.Stage{{Name: "work", Tasks: []controller.Task{{Compute: w.Map + w.Reduce, Slots: 2}},
			Hosts: hosts}}
		return j
	}
	for _, s := range []struct {
		name  string
		takes time.Duration
	}{{"map", w.Map}, {"reduce", w.Reduce}} {
		j.Stages = append(j.Stages, controller.Stage{Name: s.name, Hosts: hosts,
			Tasks: slices.Repeat([]controller.Task{{Compute: s.takes}}, w.Nodes)})
	}
	j.Edges = []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: max(w.Shuffle, 1)}}
	return j
}
