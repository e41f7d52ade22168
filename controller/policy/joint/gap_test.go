package joint_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/certified"
	"lightloom/controller/policy"
)

// BenchmarkPlaceGap is how far the end of a job of 100 tasks with loads is above TaPRA's bound in the
// mean of seeds 1 to 20, where a policy places them: with the best vCPUs on these places, and with the
// equal parts that policies get that give none. The annealer knows what tasks send each other, and not
// their loads.
func BenchmarkPlaceGap(b *testing.B) {
	const seeds = 20
	for _, name := range []string{"crosslayer", "crosslayer-paper", "fair", "tapra"} {
		b.Run(name, func(b *testing.B) {
			best, equal := 0.0, 0.0
			for b.Loop() {
				best, equal = 0, 0
				for seed := range uint64(seeds) {
					x, y := placeGaps(b, name, seed+1)
					best, equal = best+100*x/seeds, equal+100*y/seeds
				}
			}
			b.ReportMetric(best, "%/best-vcpus")
			b.ReportMetric(equal, "%/equal-vcpus")
		})
	}
}

func placeGaps(b *testing.B, name string, seed uint64) (best, equal float64) {
	b.Helper()
	const tasks, slots = 100, 8
	rng := rand.New(rand.NewPCG(seed, 0x70))
	s := controller.Stage{Tasks: make([]controller.Task, tasks)}
	t := &certified.Tasks{}
	v := crowd(b, "fattree:k=8,hosts=128,rate=1Gbps,slots=8,vcpus=16/4", []controller.Job{{}}, seed)
	for h := range v.Free {
		v.Free[h] = slots
		s.Efficiency = append(s.Efficiency, 0.1+0.9*rng.Float64())
		t.Limits = append(t.Limits, certified.Limit{Name: "host", Servers: []int32{int32(h)},
			Most: float64(v.Fabric.VCPUs(h))})
	}
	for i := range s.Tasks {
		s.Tasks[i].Load = time.Duration(float64(time.Hour) * (1 - rng.Float64()))
		t.Load, t.Efficiency = append(t.Load, s.Tasks[i].Load.Seconds()), append(t.Efficiency, s.Efficiency)
	}
	*v.Waiting[0] = controller.Job{Name: "job", Weight: 1, Stages: []controller.Stage{s}}
	p, err := policy.New(name, policy.Options{})
	if err != nil {
		b.Fatal(err)
	}
	plan := p.Decide(v, nil)
	if len(plan.Place) != 1 {
		b.Fatalf("%s places %d jobs", name, len(plan.Place))
	}
	bound, err := certified.TaPRA(t, certified.Effort{})
	if err != nil {
		b.Fatal(err)
	}
	work, last := make([]float64, len(v.Free)), 0.0
	for i, h := range plan.Place[0].Hosts {
		w := t.Load[i] / s.Efficiency[h]
		work[h] += w
		last = max(last, w*slots/float64(v.Fabric.VCPUs(int(h))))
	}
	ends := 0.0
	for h, w := range work {
		ends = max(ends, w/float64(v.Fabric.VCPUs(h)))
	}
	return ends/bound.Bound - 1, last/bound.Bound - 1
}
