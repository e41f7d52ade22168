package dissertation

import (
	"fmt"
	"math/rand/v2"

	"lightloom/controller/certified"
	"lightloom/controller/certified/online"
	"lightloom/lab/experiment"
	"lightloom/lab/report"
)

const gigabit = 1e9

// randomNetwork draws a modified fat-tree of switches of k ports, with what noise leaves, and flows of
// 700 to 1,000 Gb.
func randomNetwork(rng *rand.Rand, s routing) (*online.Network, *certified.Instance, [][2]int32) {
	net := online.NewNetwork(s.k, 2, 10*gigabit)
	in := &certified.Instance{Capacity: net.Noisy(rng, s.onHosts)}
	volume, ends := drawn(rng, net, s.flows)
	in.Volume, in.Router = volume, net.Router(ends)
	return net, in, ends
}

func drawn(rng *rand.Rand, net *online.Network, flows int) (volume []float64, ends [][2]int32) {
	for range flows {
		volume, ends = append(volume, 1000*gigabit*(0.7+0.3*rng.Float64())), append(ends, net.Pair(rng))
	}
	return volume, ends
}

// router is an algorithm of the chapter.
type router struct {
	Name string
	by   func(rng *rand.Rand, net *online.Network, in *certified.Instance, ends [][2]int32) (*certified.Plan, error)
	// plain is by where that draws nothing and can be stopped; else nil.
	plain planner
}

type planner = func(*certified.Instance, certified.Effort) (*certified.Plan, error)

func minCCT(name string, kind certified.Kind) router {
	return router{Name: name, by: func(rng *rand.Rand, net *online.Network, in *certified.Instance,
		ends [][2]int32) (*certified.Plan, error) {
		return certified.MinCCT(in, net.Candidates(rng, kind, 5, ends, in.Capacity), certified.Effort{})
	}}
}

func plainly(name string, by planner) router {
	return router{Name: name, plain: by, by: func(_ *rand.Rand, _ *online.Network, in *certified.Instance,
		_ [][2]int32) (*certified.Plan, error) {
		return by(in, certified.Effort{})
	}}
}

func (r router) String() string { return r.Name }

// coflowRouters are the document's five, and ours.
func coflowRouters() []router {
	return []router{plainly("CoRBA", certified.CoRBA), plainly("CoRBA-fast", certified.CoRBAFast),
		minCCT("MinCCT-S", certified.ShortestPaths), minCCT("MinCCT-M", certified.WidestPaths),
		minCCT("MinCCT-SM", certified.ShortestWidestPaths), plainly("ours", certified.CoRBABest),
		plainly("ours, fast", certified.CoRBAGreedy)}
}

// routerNames lists the names of routers.
func routerNames(all []router) (out []string) {
	for _, r := range all {
		out = append(out, r.Name)
	}
	return out
}

// run is one run: values by algorithm, and under "ms", "Gb/s", "hops" and "gap" what else is known of it.
func (s routing) run(seed uint64, all []router, verify func(*certified.Plan, *certified.Instance) error) (
	experiment.Figures, error) {
	rng, out := rand.New(rand.NewPCG(seed, 0x43)), experiment.Figures{}
	net, in, ends := randomNetwork(rng, s)
	bound := 0.0
	for _, r := range all {
		p, ms, err := timed(func() (*certified.Plan, error) { return r.by(rng, net, in, ends) })
		if err == nil && r.Name != "ECMP" && r.Name != "WCMP" {
			err = verify(p, in)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		out[r.Name], out["ms "+r.Name] = p.Value, ms
		for i, links := range p.Path {
			out["Gb/s "+r.Name] += p.Rate[i] / gigabit
			out["hops "+r.Name] += float64(len(links)) / float64(s.flows)
		}
		bound = max(bound, p.Bound)
	}
	for _, r := range all { // the highest bound of all holds for each
		out["gap "+r.Name] = 100 * (out[r.Name]/bound - 1)
	}
	return out, nil
}

// noises draws noise flows until an instant: up to half a link for 1 to 150 s on a shortest path.
func noises(rng *rand.Rand, net *online.Network, rate, until float64, onHosts bool) (out []online.Noise) {
	for now := rng.ExpFloat64() / rate; now < until; now += rng.ExpFloat64() / rate {
		e := net.Pair(rng)
		all := net.Shortest(e[0], e[1])
		if links := net.Fabric(all[rng.IntN(len(all))], onHosts); len(links) > 0 {
			out = append(out, online.Noise{At: now, For: 1 + 149*rng.Float64(), Rate: net.Rate / 2 * rng.Float64(),
				Links: links})
		}
	}
	return out
}

// coflowing is one online setting of coflows.
type coflowing struct {
	Flows   int     // of a coflow
	Noise   float64 // noise flows a second
	OnHosts bool    // noise takes bandwidth of host links too
	By      router
}

func (s coflowing) String() string {
	return s.By.Name + ", " + s.Setting()
}

// Setting is the setting without the algorithm.
func (s coflowing) Setting() string {
	out := fmt.Sprintf("%d flows a coflow, %v noise flows/s", s.Flows, s.Noise)
	if s.OnHosts {
		out += ", on host links too"
	}
	return out
}

// Run returns the mean CCT, in s, of the coflows that arrive within a time, in s, the mean proven gap
// of the decisions, in percent, and how many ms the run took.
func (s coflowing) Run(seed uint64, until float64) (experiment.Figures, error) {
	rng := rand.New(rand.NewPCG(seed, 0x45))
	net := online.NewNetwork(10, 2, 10*gigabit)
	run := &online.Coflows{Network: net}
	for now := 100 * rng.ExpFloat64(); now < until || len(run.Coflows) == 0; now += 100 * rng.ExpFloat64() {
		c := online.Coflow{Arrival: now}
		c.Volume, c.Ends = drawn(rng, net, s.Flows)
		run.Coflows = append(run.Coflows, c)
	}
	run.Noise = noises(rng, net, s.Noise, until, s.OnHosts)
	var proven gaps
	run.Route = func(in *certified.Instance, ends [][2]int32) (*certified.Plan, error) {
		p, err := s.By.by(rng, net, in, ends)
		return noted(&proven, p, err)
	}
	took, ms, err := timed(run.Run)
	return experiment.Figures{"CCT": report.Mean(took), "gap": report.Mean(proven), "ms": ms}, err
}
