package place

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap/topo"
)

func job(id controller.JobID, tasks int, arrival time.Duration) *controller.Job {
	j := &controller.Job{ID: id, Arrival: arrival}
	if tasks > 0 {
		j.Stages = []controller.Stage{{Tasks: make([]controller.Task, tasks)}}
	}
	return j
}

func TestAdmit(t *testing.T) {
	for _, tc := range []struct {
		name    string
		free    []int32
		now     time.Duration
		waiting []*controller.Job
		want    []controller.JobID
	}{
		{"all fit", []int32{2, 2}, 0, []*controller.Job{job(0, 2, 0), job(1, 2, 0)}, []controller.JobID{0, 1}},
		{"the second does not", []int32{2, 1}, 0, []*controller.Job{job(0, 2, 0), job(1, 2, 0)}, []controller.JobID{0}},
		{"a smaller one overtakes", []int32{2, 1}, 0, []*controller.Job{job(0, 4, 0), job(1, 2, 0), job(2, 1, 0)},
			[]controller.JobID{1, 2}},
		{"not for ever", []int32{2, 1}, Patience, []*controller.Job{job(0, 4, 0), job(1, 2, 0), job(2, 1, 0)}, nil},
		{"bare coflows need no slot", []int32{0, 0}, time.Hour, []*controller.Job{job(0, 4, 0), job(1, 0, 0)},
			[]controller.JobID{1}},
		{"order of acceptance", []int32{2}, 0, []*controller.Job{job(7, 2, 0), job(3, 2, 0)}, []controller.JobID{3}},
		{"a host in debt", []int32{-3, 2}, 0, []*controller.Job{job(0, 2, 0)}, []controller.JobID{0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []controller.JobID
			for _, j := range Admit(&controller.View{Free: tc.free, Now: tc.now, Waiting: tc.waiting}) {
				got = append(got, j.ID)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("admits %v, want %v", got, tc.want)
			}
		})
	}
}

func view(t *testing.T, seed uint64, free []int32, jobs ...*controller.Job) *controller.View {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: len(free) / 2, Hosts: 2})
	if err != nil {
		t.Fatal(err)
	}
	return &controller.View{Seed: seed, Fabric: f, Free: free, Waiting: jobs}
}

// TestRandomIsUniform: over many seeds a slot of each host is drawn in proportion to its slots.
func TestRandomIsUniform(t *testing.T) {
	free := []int32{1, 0, 3, 2}
	count := make([]int, len(free))
	const n = 6000
	for seed := range uint64(n) {
		var p controller.Plan
		Random{}.Fill(view(t, seed, free, job(0, 1, 0)), nil, &p)
		count[p.Place[0].Hosts[0]]++
	}
	for h, f := range free {
		want := n / 6 * int(f)
		if d := count[h] - want; d < -150 || d > 150 { // four standard deviations
			t.Errorf("host %d with %d slots drawn %d times, want about %d", h, f, count[h], want)
		}
	}
}

func TestFairSpreads(t *testing.T) {
	for seed := range uint64(50) {
		var p controller.Plan
		new(Fair).Fill(view(t, seed, []int32{2, 2, 2, 2}, job(0, 4, 0), job(1, 2, 0)), nil, &p)
		hosts := slices.Clone(p.Place[0].Hosts)
		slices.Sort(hosts)
		if fmt.Sprint(hosts) != "[0 1 2 3]" {
			t.Errorf("seed %d: four tasks on %v, want one on each", seed, hosts)
		}
		if a, b := p.Place[1].Hosts[0], p.Place[1].Hosts[1]; a/2 == b/2 {
			t.Errorf("seed %d: two tasks on %d and %d of one rack", seed, a, b)
		}
	}
}

// TestSlotsRunOut: placing to the last slot takes each slot once.
func TestSlotsRunOut(t *testing.T) {
	for name, part := range map[string]interface {
		Fill(*controller.View, []controller.Event, *controller.Plan)
	}{"random": Random{}, "fair": new(Fair)} {
		free := []int32{1, 3, 0, 2}
		var p controller.Plan
		part.Fill(view(t, 1, free, job(0, 4, 0), job(1, 2, 0), job(2, 0, 0)), nil, &p)
		left := slices.Clone(free)
		for _, pl := range p.Place {
			for _, h := range pl.Hosts {
				left[h]--
			}
		}
		if fmt.Sprint(left) != "[0 0 0 0]" || len(p.Place) != 3 {
			t.Errorf("%s: %+v leaves %v", name, p.Place, left)
		}
	}
}
