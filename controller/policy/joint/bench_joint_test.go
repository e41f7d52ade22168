package joint_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
)

// moments are when a decision is made: a wide job waits for its places, its shuffle is ready to start,
// or it has started and a decision is requested again without any change.
const (
	waits  = "waits"
	starts = "starts"
	again  = "again"
)

// wide is a view of a hybrid fabric beside whose running shuffles, of 20 × 10 tasks, one of width ×
// width is decided. The reservations that the policy has made for those that run stand; none has begun.
func wide(b testing.TB, spec, moment, name string, width, running int) *controller.View {
	b.Helper()
	jobs := workloadOf(b, "hadoop:jobs=201,maps=20,reduces=10", running+1)
	last := &jobs[running]
	for s := range last.Stages {
		last.Stages[s].Tasks = make([]controller.Task, width)
	}
	v := crowd(b, spec, jobs, 1)
	v.Circuits, v.Delta = make([]controller.CircuitView, v.Fabric.Racks), 20*time.Millisecond
	for i := range v.Circuits {
		v.Circuits[i] = controller.CircuitView{Out: -1, Coflow: controller.AnyCoflow}
	}
	v.ElephantThreshold = 9 * v.Fabric.Spec.OCS.In(10*time.Millisecond)
	for h := range v.Free {
		v.Free[h] = max(2, int32(1+2*width/len(v.Free)))
	}
	waiting := v.Waiting
	v.Waiting = nil
	v.Reserved = slices.Clone(decide(b, name, v).Reserve)
	if v.Waiting = waiting; moment != waits {
		v.Waiting = nil
		run(v, last, v.Paths.Paths, v.Rand("bench", 1))
	}
	if moment == again {
		p := decide(b, name, v)
		v.Reserved = slices.Concat(slices.DeleteFunc(v.Reserved, func(r controller.CircuitReservation) bool {
			return slices.Contains(p.Withdraw, r.Coflow)
		}), p.Reserve)
		slices.SortFunc(v.Reserved, func(x, y controller.CircuitReservation) int {
			return slices.Compare([]int64{int64(x.In), int64(x.NotBefore)},
				[]int64{int64(y.In), int64(y.NotBefore)})
		})
	}
	return v
}

// BenchmarkJoint is the time of one decision about a wide shuffle, beside crosslayer+sunflow's about
// the same.
func BenchmarkJoint(b *testing.B) {
	for _, f := range []struct{ name, spec string }{
		{"hybrid_hosts_16_racks_8", "hybrid:racks=8,hosts=2,spines=2,nic=500Mbps,eps=50Mbps,ocs=1Gbps"},
		{"hybrid_hosts_1020_racks_60", "hybrid:racks=60,hosts=17,spines=4,nic=10Gbps,eps=2500Mbps,ocs=100Gbps"},
	} {
		for _, width := range []int{10, 40} {
			for _, running := range []int{0, 20} {
				for _, moment := range []string{waits, starts, again} {
					for _, name := range []string{"joint", "crosslayer+sunflow"} {
						b.Run(fmt.Sprintf("%s/width_%dx%d/running_%d/%s/%s", f.name, width, width, running,
							moment, name),
							func(b *testing.B) {
								decideRepeatedly(b, wide(b, f.spec, moment, name, width, running), name)
							})
					}
				}
			}
		}
	}
}

// TestWideBench: the benchmark's decisions are those that its name states.
func TestWideBench(t *testing.T) {
	const spec = "hybrid:racks=8,hosts=2,spines=2,nic=500Mbps,eps=50Mbps,ocs=1Gbps"
	for _, moment := range []string{waits, starts, again} {
		v := wide(t, spec, moment, "joint", 10, 3)
		p, err := policy.New("joint", policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		plan := p.Decide(v, nil)
		if placed := len(plan.Place) == 1; placed != (moment == waits) {
			t.Errorf("%s: %d placements", moment, len(plan.Place))
		}
		if moment == starts && len(plan.Reserve) == 0 {
			t.Errorf("%s: nothing is lit", moment)
		}
	}
}
