package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
)

// Shuffles draws map-reduce jobs of 4 to 16 maps and as many reduces (log-uniform), which come one
// after the other in exponential gaps of that mean. A pair of tasks has 3.6 MB on average ×
// Pareto(1.3), up to ten times; maps compute
// 0.1 to 1.5 s, reduces half of that.
func Shuffles(n int, gap time.Duration, seed uint64) []controller.Job {
	rng := rand.New(rand.NewPCG(seed, 0x77696465))
	stage := func(name string, n int, mean float64) controller.Stage {
		s := controller.Stage{Name: name}
		for range n {
			s.Tasks = append(s.Tasks, controller.Task{Compute: time.Duration(min(max(rng.ExpFloat64(),
				.2), 3) * mean * 1e9)})
		}
		return s
	}
	size := func() int {
		lo, hi := math.Log(4), math.Log(17)
		return int(math.Exp(lo + rng.Float64()*(hi-lo)))
	}
	var jobs []controller.Job
	at := time.Duration(0)
	for k := range n {
		m, r := size(), size()
		bytes := float64(m*r) * 12e6 * min(math.Pow(rng.Float64(), -1/1.3), 10) * .3
		jobs = append(jobs, controller.Job{Name: fmt.Sprintf("wide-%d", k), Arrival: at,
			Stages: []controller.Stage{stage("map", m, .5), stage("reduce", r, .25)},
			Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1,
				Bytes: pathmap.Bytes(bytes)}}})
		at += time.Duration(rng.ExpFloat64() * float64(gap))
	}
	return jobs
}

// TwoShuffles draws jobs of three stages of 3 to 20 tasks with a shuffle of 500 MB in the median
// between two of them, which come one after the other in exponential gaps of that mean. Computing times
// (200 ms in the median) and bytes are log-normal.
func TwoShuffles(n int, gap time.Duration, seed uint64) []controller.Job {
	rng := rand.New(rand.NewPCG(seed, 0x756e7365656e))
	var jobs []controller.Job
	at := time.Duration(0)
	for k := range n {
		j := controller.Job{Name: fmt.Sprintf("two-%d", k), Arrival: at}
		for s := range 3 {
			stage := controller.Stage{Name: fmt.Sprint("stage-", s)}
			for range 3 + rng.IntN(18) {
				took := math.Exp(rng.NormFloat64()) * float64(200*time.Millisecond)
				stage.Tasks = append(stage.Tasks, controller.Task{Compute: time.Duration(took)})
			}
			j.Stages = append(j.Stages, stage)
			if s > 0 {
				bytes := 5e8 * math.Exp(1.2*rng.NormFloat64())
				j.Edges = append(j.Edges, controller.Edge{Kind: controller.ScatterGather, From: s - 1, To: s,
					Bytes: pathmap.Bytes(bytes)})
			}
		}
		jobs = append(jobs, j)
		at += time.Duration(rng.ExpFloat64() * float64(gap))
	}
	return jobs
}
