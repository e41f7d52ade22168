package dissertation

import (
	"fmt"
	"math/rand/v2"

	"lightloom/controller/certified"
	"lightloom/controller/certified/online"
	"lightloom/lab/experiment"
	"lightloom/lab/report"
)

// spread is ECMP or WCMP with the rates of OptBA-TTT.
func spread(name string, weighted bool) router {
	return router{Name: name, by: func(rng *rand.Rand, net *online.Network, in *certified.Instance,
		ends [][2]int32) (*certified.Plan, error) {
		paths, rates, err := net.Spread(rng, weighted, 0)(in, ends)
		if err != nil {
			return nil, err
		}
		p := &certified.Plan{Path: paths, Rate: rates}
		for i, v := range in.Volume {
			if rates[i] == 0 {
				return nil, fmt.Errorf("flow %d has a path without bandwidth", i)
			}
			p.Value += v / rates[i]
		}
		return p, nil
	}}
}

// flowRouters are the document's four, and ours.
func flowRouters() []router {
	return []router{plainly("FRoBA", certified.FRoBA), plainly("FRoBA-fast", certified.FRoBAFast),
		spread("ECMP", false),
		spread("WCMP", true), plainly("ours", certified.FRoBABest), plainly("ours, fast", certified.FRoBAGreedy)}
}

// flowing is one online setting.
type flowing struct {
	Select       online.Selection
	By           string
	DRB, Preempt bool
	OnHosts      bool // noise takes bandwidth of host links too
}

func (s flowing) String() string {
	out := [...]string{"VFF", "SFF", "SLF", "FCFS"}[s.Select] + " with " + s.By
	if !s.DRB {
		out += ", no DRB"
	}
	if s.Preempt {
		out += ", preemptive"
	}
	if s.OnHosts {
		out += ", noise on host links too"
	}
	return out
}

// Run returns the mean FCT and the mean waiting time, in s, of the flows that arrive within a time, in
// s, the mean proven gap of the decisions, in percent, and how many ms the run took.
func (s flowing) Run(seed uint64, until float64) (experiment.Figures, error) {
	rng := rand.New(rand.NewPCG(seed, 0x53))
	net := online.NewNetwork(10, 2, 10*gigabit)
	few := certified.Effort{Trials: 60}
	run := &online.Flows{Network: net, Noise: noises(rng, net, 4, until, s.OnHosts),
		Select: s.Select, DRB: s.DRB,
		Preempt: s.Preempt, Every: 10, Least: net.Rate / 100}
	for now := rng.ExpFloat64() / 0.8; now < until; now += rng.ExpFloat64() / 0.8 {
		volume, ends := drawn(rng, net, 1)
		run.Flows = append(run.Flows, online.Flow{Arrival: now, Volume: volume[0], Ends: ends[0]})
	}
	var proven gaps
	run.Route = map[string]online.RouteFunc{"FRoBA": online.By(proven.noting(certified.FRoBA), few),
		"FRoBA-fast": online.By(proven.noting(certified.FRoBAFast), few), "ECMP": net.Spread(rng,
			false, run.Least),
		"WCMP": net.Spread(rng, true, run.Least)}[s.By]
	out, ms, err := timed(run.Run)
	if err != nil {
		return nil, err
	}
	return experiment.Figures{"FCT": report.Mean(out.Took), "FWT": report.Mean(out.Waited),
		"gap": report.Mean(proven),
		"ms":  ms}, nil
}
