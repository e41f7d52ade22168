package experiment

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/pathmap"
)

// contested are the grounds of joint-wide: four on which joint was developed, the cells of the grid of grounds whose
// headroom was 30 % and more on seed 1 and those of the Facebook trace that move in 10 ms, workflows, and, for held-out
// seeds alone, one that nobody had looked at.
func contested(n int, seed uint64) []ground {
	all := wideGrounds(cmp.Or(n, 60))
	chosen := map[string][]string{ // by dark time
		"10ms":  {"wide", "wide, alike", "FB2010, free racks"},
		"100ms": {"wide", "wide, alike", "few reduces"},
		"500ms": {"wide", "wide, alike", "few reduces", "SWIM, 20 % heavy", "SWIM, 60 % heavy"},
	}
	for _, g := range grounds(cmp.Or(n, 40)) {
		if slices.Contains(chosen[g.dark], g.source.name) || g.name == "SWIM, 60 % heavy, dark 100ms, offered 50 %" {
			all = append(all, g)
		}
	}
	all = append(all, ground{"workflows", groundFabric("10ms"), "10ms", 0, source{"workflows", true, workflows}})
	if seed >= heldOut {
		all = append(all, unseen(cmp.Or(n, 40)))
	}
	return all
}

// wideGrounds are 12 racks that jobs of wide shuffles do not fit into.
func wideGrounds(n int) []ground {
	const fabric = "hybrid:racks=12,hosts=8,slots=2,spines=2,nic=1Gbps,eps=500Mbps,ocs=10Gbps,dark="
	make := func(name, fabric, dark string, gap time.Duration) ground {
		return ground{name, fabric, dark, 0, source{name, false, func(_ *Bench, seed uint64) ([]controller.Job, error) {
			return drawWide(n, gap, seed), nil
		}}}
	}
	return []ground{
		make("wide", fabric+"10ms", "10ms", 600*time.Millisecond),
		make("busier", fabric+"10ms", "10ms", 300*time.Millisecond),
		make("dark 200 ms", fabric+"200ms", "200ms", 600*time.Millisecond),
		make("circuits of 2 Gb/s", "hybrid:racks=12,hosts=8,slots=2,spines=2,nic=1Gbps,eps=250Mbps,ocs=2Gbps,dark=10ms",
			"10ms", 600*time.Millisecond),
	}
}

func wideAssumptions() []string {
	return []string{"wide, busier, dark 200 ms, circuits of 2 Gb/s: 12 racks of 8 hosts with 2 slots; 60 jobs of 4–16 maps " +
		"and 4–16 reduces (even in the logarithm), one every 0.6 s, busier 0.3 s; a pair of tasks has 3.6 MB × Pareto(1.3) " +
		"up to 36 MB on average; maps compute 0.1–1.5 s, reduces half of that; packets 2 × 500 Mb/s a rack, circuits 10 Gb/s",
		"dark N, offered P %: as the experiment grounds has them",
		"workflows: one of six in WfFormat a run, three of them for held-out seeds only; tasks compute 60 times as fast"}
}

// drawWide returns the jobs of a run.
func drawWide(n int, gap time.Duration, seed uint64) []controller.Job {
	rng := rand.New(rand.NewPCG(seed, 0x77696465))
	stage := func(name string, n int, mean float64) controller.Stage {
		s := controller.Stage{Name: name}
		for range n {
			s.Tasks = append(s.Tasks, controller.Task{Compute: time.Duration(min(max(rng.ExpFloat64(), .2), 3) * mean * 1e9)})
		}
		return s
	}
	var jobs []controller.Job
	at := time.Duration(0)
	for k := range n {
		size := func() int {
			lo, hi := math.Log(4), math.Log(17)
			return int(math.Exp(lo + rng.Float64()*(hi-lo)))
		}
		m, r := size(), size()
		bytes := float64(m*r) * 12e6 * min(math.Pow(rng.Float64(), -1/1.3), 10) * .3
		jobs = append(jobs, controller.Job{Name: fmt.Sprintf("wide-%d", k), Arrival: at,
			Stages: []controller.Stage{stage("map", m, .5), stage("reduce", r, .25)},
			Edges:  []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: pathmap.Bytes(bytes)}}})
		at += time.Duration(rng.ExpFloat64() * float64(gap))
	}
	return jobs
}

// workflows is one of the workflows in the folder of traces, by seed.
func workflows(b *Bench, seed uint64) ([]controller.Job, error) {
	names, err := filepath.Glob(filepath.Join(b.Data, "dag", "*.json.gz"))
	if err != nil || len(names) < 2 {
		return nil, fmt.Errorf("find workflows: %d files dag/*.json.gz in %q: name a folder with two at least (%w)",
			len(names), b.Data, err)
	}
	slices.Sort(names)
	half := halved(names, seed)
	name := half[seed%uint64(len(half))]
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("find workflows: %w", err)
	}
	defer f.Close()
	jobs, err := workload.ReadWorkflow(f, filepath.Base(name), groundRacks*groundHosts, seed)
	for i := range jobs {
		for s := range jobs[i].Stages {
			for t := range jobs[i].Stages[s].Tasks {
				jobs[i].Stages[s].Tasks[t].Compute /= packetsHaste
			}
		}
	}
	return jobs, err
}

// unseen is a ground that no seed below heldOut runs on: jobs of two shuffles one after the other, on more racks with
// slower circuits.
func unseen(n int) ground {
	const fabric = "hybrid:racks=16,hosts=4,slots=4,spines=2,nic=2Gbps,eps=500Mbps,ocs=4Gbps,dark=40ms"
	return ground{"never looked at: two shuffles a job", fabric, "40ms", 0, source{"two shuffles", false,
		func(_ *Bench, seed uint64) ([]controller.Job, error) {
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
				at += time.Duration(rng.ExpFloat64() * float64(700*time.Millisecond))
			}
			return jobs, nil
		}}}
}
