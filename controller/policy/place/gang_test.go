package place

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// gangJob has a stage of each of those many tasks, and a shuffle of those bytes from each to the next.
func gangJob(id controller.JobID, shuffle pathmap.Bytes, tasks ...int) *controller.Job {
	j := &controller.Job{ID: id, Name: fmt.Sprint(tasks)}
	for s, n := range tasks {
		j.Stages = append(j.Stages, controller.Stage{Name: fmt.Sprint(s), Tasks: make([]controller.Task, n)})
		if s > 0 {
			j.Edges = append(j.Edges, controller.Edge{Kind: controller.ScatterGather, From: s - 1, To: s,
				Bytes: shuffle})
		}
	}
	return j
}

// gangView is a hybrid of racks of two hosts with those many free slots each, from which 1000 bytes are
// an elephant.
func gangView(t testing.TB, racks int, free int32, jobs ...*controller.Job) *controller.View {
	f := allocatorFabric(t, racks, int(free))
	return &controller.View{Fabric: f, Seed: 3, Free: slices.Repeat([]int32{free}, f.Hosts()), Waiting: jobs,
		Delta: 20 * time.Millisecond, ElephantThreshold: 1000}
}

func racksOf(v *controller.View, hosts []southbound.HostID) []int {
	count := make([]int, v.Fabric.Racks)
	for _, h := range hosts {
		count[v.Fabric.HostRack[h]]++
	}
	return count
}

// TestGangIsGuided: the pairs of racks of a heavy shuffle are elephants or none, where Fair's spreading
// makes mice.
func TestGangIsGuided(t *testing.T) {
	for _, tc := range []struct {
		name    string
		shuffle pathmap.Bytes
		tasks   []int
		free    int32
		part    filler
		mice    bool // some pair of racks has fewer than 1000 bytes
		as      bool // as Fair does
	}{
		{"a shuffle of 4400 bytes", 4400, []int{8, 8}, 8, new(CoScheduler), false, false},
		{"as Fair has it", 4400, []int{8, 8}, 8, new(Fair), true, true},
		{"two shuffles, of a job of three stages", 4400, []int{8, 8, 8}, 8, new(CoScheduler), false, false},
		{"a mouse", 999, []int{8, 8}, 8, new(CoScheduler), true, true},
		{"nothing is guided", 4400, []int{8, 8}, 8, &CoScheduler{NoData: true}, true, true},
		{"one stage", 0, []int{8}, 8, new(CoScheduler), false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := gangView(t, 12, tc.free, gangJob(0, tc.shuffle, tc.tasks...))
			var p, fair controller.Plan
			tc.part.Fill(v, nil, &p)
			new(Fair).Fill(v, nil, &fair)
			if got := slices.Equal(p.Place[0].Hosts, fair.Place[0].Hosts); got != tc.as {
				t.Errorf("as Fair places it: %v, want %v", got, tc.as)
			}
			mice := false
			for i := range v.Waiting[0].Edges {
				c := controller.Expand(v.Waiting[0], &v.Waiting[0].Edges[i], p.Place[0].Hosts)
				pairs := map[[2]int32]pathmap.Bytes{}
				for b := range c.Size {
					pairs[[2]int32{v.Fabric.HostRack[c.Src[b]], v.Fabric.HostRack[c.Dst[b]]}] += c.Size[b]
				}
				for pair, bytes := range pairs {
					mice = mice || pair[0] != pair[1] && bytes < 1000
				}
			}
			if mice != tc.mice {
				t.Errorf("mice: %v, want %v; maps by rack %v", mice, tc.mice, racksOf(v, p.Place[0].Hosts[:8]))
			}
		})
	}
}

// TestOrderOfStreams: streams that lead in a circle, or to their own stage, have an order too.
func TestOrderOfStreams(t *testing.T) {
	j := &controller.Job{Stages: make([]controller.Stage, 4), Edges: []controller.Edge{
		{From: 3, To: 2, Kind: controller.OneToOne, Stream: true}, {From: 2, To: 3, Kind: controller.OneToOne, Stream: true},
		{From: 0, To: 0, Kind: controller.OneToOne, Stream: true}, {From: 3, To: 1, Kind: controller.OneToOne}}}
	if got := inOrder(j); !slices.Equal(got, []int{0, 2, 3, 1}) {
		t.Errorf("%v", got)
	}
}

// TestGangFits: whatever jobs come and whichever slots are free, every job that Fair would place is
// placed, and no slot is given twice.
func TestGangFits(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 9))
		var jobs []*controller.Job
		for i := range 1 + r.IntN(4) {
			tasks := make([]int, 1+r.IntN(4))
			for s := range tasks {
				tasks[s] = 1 + r.IntN(6)
			}
			j := gangJob(controller.JobID(i), pathmap.Bytes(r.IntN(20_000)), tasks...)
			if n := len(tasks); n > 2 && r.IntN(2) == 0 { // the order of stages is not that of their numbers
				j.Edges = append(j.Edges[1:], controller.Edge{Kind: controller.ScatterGather, From: n - 1, To: 0,
					Bytes: pathmap.Bytes(r.IntN(20_000))})
			}
			jobs = append(jobs, j)
		}
		v := gangView(t, 2+r.IntN(6), 4, jobs...)
		for h := range v.Free {
			v.Free[h] = int32(r.IntN(6)) - 1
		}
		free := slices.Clone(v.Free)
		var p, fair controller.Plan
		(&CoScheduler{NoReduces: seed%5 == 0}).Fill(v, nil, &p)
		new(Fair).Fill(v, nil, &fair)
		if len(p.Place) != len(fair.Place) {
			t.Fatalf("seed %d: %d jobs placed, Fair places %d", seed, len(p.Place), len(fair.Place))
		}
		for _, pl := range p.Place {
			if len(pl.Hosts) != jobs[pl.Job].Tasks() {
				t.Fatalf("seed %d: job %d: %d hosts", seed, pl.Job, len(pl.Hosts))
			}
			for _, h := range pl.Hosts {
				if free[h]--; free[h] < 0 {
					t.Fatalf("seed %d: host %d is given more than its %d slots", seed, h, v.Free[h])
				}
			}
		}
	}
}
