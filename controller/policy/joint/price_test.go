package joint

import (
	"math"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/circuits"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// TestPortTime: a pair of racks takes the sender's port for a circuit and its dark time, or to the
// packet network if that is sooner, if one of them has no circuits, or if the forecast has no circuits;
// a rack's own bytes take none.
func TestPortTime(t *testing.T) {
	job := &controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, 4)},
		{Tasks: make([]controller.Task, 2)}}, Edges: []controller.Edge{{Kind: controller.ScatterGather,
		To: 1, Bytes: 8e6}}}
	for _, tc := range []struct {
		name  string
		blind bool
		ports bool
		count [][]int32
		want  float64
	}{
		{"within a rack", false, true, [][]int32{{4, 0, 0}, {2, 0, 0}}, 0},
		{"a circuit", false, true, [][]int32{{4, 0, 0}, {0, 2, 0}}, 0.010 + 8e6/1e8},
		{"two, with half of a stage each", false, true, [][]int32{{2, 2, 0}, {0, 0, 2}}, 2 * (0.010 + 4e6/1e8)},
		{"packets", true, true, [][]int32{{4, 0, 0}, {0, 2, 0}}, 8e6 / 1e7},
		{"no port at the receiver", false, false, [][]int32{{4, 0, 0}, {0, 2, 0}}, 8e6 / 1e7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &forecast{v: &controller.View{Fabric: &topo.Fabric{}, Delta: 10 * time.Millisecond}, blind: tc.blind}
			x := &shapes{f: f, job: job, need: []int32{4, 2}}
			f.rates[rackUp], f.optical[0] = []float64{1e7, 1e7, 1e7}, []float64{1e8, 1e8, 1e8}
			if f.optical[1] = []float64{1e8, 1e8, 1e8}; !tc.ports {
				f.optical[1][1] = 0
			}
			if got := x.portTime(tc.count); math.Abs(got-tc.want) > 1e-9 {
				t.Errorf("%v s, want %v", got, tc.want)
			}
		})
	}
}

// TestReadTime: what a task reads from given hosts takes their racks' ports, unless it is in the same
// rack, and what no circuit can carry takes the packet network's.
func TestReadTime(t *testing.T) {
	job := &controller.Job{Edges: []controller.Edge{{Kind: controller.Fixed},
		{Kind: controller.ScatterGather}}}
	f := &forecast{v: &controller.View{Fabric: &topo.Fabric{}, Delta: 10 * time.Millisecond}}
	x := &shapes{f: f, job: job}
	f.rates[rackUp], f.optical = []float64{1e7, 1e7}, [2][]float64{{1e8, 1e8}, {1e8, 1e8}}
	coflow := func(up pathmap.Bytes, pairs ...circuits.Pair) *liveCoflow {
		c := &liveCoflow{pairs: pairs}
		c.ports[rackUp] = []portBytes{{at: 1, bytes: float64(up), flows: 1}}
		return c
	}
	for _, tc := range []struct {
		name  string
		reads *liveCoflow
		want  float64
	}{
		{"nothing from elsewhere", nil, 0},
		{"a circuit", coflow(8e6, circuits.Pair{In: 1, Bytes: 8e6}), 0.010 + 8e6/1e8},
		{"sooner over packets", coflow(1e4, circuits.Pair{In: 1, Bytes: 1e4}), 1e4 / 1e7},
		{"no circuits", coflow(8e6), 8e6 / 1e7},
		{"a circuit for some", coflow(9e6, circuits.Pair{In: 1, Bytes: 8e6}), 0.010 + 8e6/1e8 + 1e6/1e7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			shuffled := coflow(5e6)
			if got := x.readTime(&liveJob{coflows: []*liveCoflow{tc.reads,
				shuffled}}); math.Abs(got-tc.want) > 1e-9 {
				t.Errorf("%v s, want %v", got, tc.want)
			}
		})
	}
}
