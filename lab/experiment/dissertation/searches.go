package dissertation

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"lightloom/controller"
	"lightloom/controller/certified"
	"lightloom/controller/policy/route"
	"lightloom/controller/solve"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// method is a search that ends when its effort says so; what it begins with and cannot divide takes
// what it takes.
type method struct {
	name string
	by   func(certified.Effort) (*solve.Certificate, error)
}

// contest compares searches on one kind of instance at equal processor time.
type contest struct {
	Name    string
	Methods []string
	draw    func(seed uint64) ([]method, error)
}

// contests are one of places, and three of routes; small ones try the command.
func contests(small bool) []contest {
	servers, tasks, k, flows, pods := 12, 100, 14, 100, 8
	if small {
		servers, tasks, k, flows, pods = 6, 20, 4, 10, 4
	}
	return []contest{
		{fmt.Sprintf("%d tasks, %d servers, last task", tasks, newCenter(servers).servers), placerNames(),
			func(seed uint64) ([]method, error) { return searchers(seed, servers, tasks), nil }},
		{fmt.Sprintf("%d flows, k = %d, last flow", flows, k),
			[]string{"CoRBA", "CoRBA-fast", "ours", "ours, fast"},
			func(seed uint64) ([]method, error) {
				return routers(seed, routing{k: k, flows: flows}, coflowRouters()), nil
			}},
		{fmt.Sprintf("%d flows, k = %d, sum of times", flows*4/5, k),
			[]string{"FRoBA", "FRoBA-fast", "ours", "ours, fast"},
			func(seed uint64) ([]method, error) {
				return routers(seed, routing{k: k, flows: flows * 4 / 5}, flowRouters()), nil
			}},
		{fmt.Sprintf("%d flows, 16 paths in %d pods, last flow", flows, pods),
			[]string{"anneal", "ours", "ours, fast"},
			func(seed uint64) ([]method, error) { return annealers(seed, pods, flows) }},
	}
}

// sample is the best answer of a method up to an instant; Ms is the processor time of the run that found it.
type sample struct{ Ms, Value float64 }

// Run returns the best bound of the instance, and each method's samples by instant, in ms; nil before
// its first answer.
func (c *contest) Run(seed uint64, at []float64) (bound float64, out map[string][]*sample, err error) {
	all, err := c.draw(seed)
	if err != nil {
		return 0, nil, err
	}
	bound, out = math.Inf(-1), map[string][]*sample{}
	for _, m := range all {
		var best *sample
		for _, ms := range at {
			a, took, err := timed(func() (*solve.Certificate, error) { return m.by(within(ms)) })
			if none := new(solve.InfeasibleError); err != nil && !errors.As(err, &none) {
				return 0, nil, fmt.Errorf("%s: %w", m.name, err)
			}
			if err == nil {
				bound = max(bound, a.Bound)
			}
			// An answer belongs to the instant that it is within a tenth of, since no search ends at once.
			if err == nil && took <= 1.1*ms && (best == nil || a.Value < best.Value) {
				best = &sample{took, a.Value}
			}
			out[m.name] = append(out[m.name], best)
		}
	}
	return bound, out, nil
}

// searchers are the placers on one job.
func searchers(seed uint64, pods, n int) (out []method) {
	rng := rand.New(rand.NewPCG(seed, 0x34))
	t, _ := newCenter(pods).job(rng, n)
	for _, a := range placers() {
		out = append(out, method{a.name, func(e certified.Effort) (*solve.Certificate, error) {
			p, err := a.by(t, e, rng)
			if err != nil {
				return nil, err
			}
			return &p.Certificate, nil
		}})
	}
	return out
}

// routers are those that draw nothing, on one network.
func routers(seed uint64, s routing, all []router) (out []method) {
	_, in, _ := randomNetwork(rand.New(rand.NewPCG(seed, 0x43)), s)
	for _, r := range all {
		if r.plain != nil {
			out = append(out, planned(r.Name, in, r.plain))
		}
	}
	return out
}

func planned(name string, in *certified.Instance, by planner) method {
	return method{name, func(e certified.Effort) (*solve.Certificate, error) {
		p, err := by(in, e)
		if err != nil {
			return nil, err
		}
		return &p.Certificate, nil
	}}
}

// annealers are routes over a path map's candidates in a fat-tree without noise. Annealing begins anew,
// with another seed, until its time is over.
func annealers(seed uint64, pods, flows int) ([]method, error) {
	spec, err := topo.ParseSpec(fmt.Sprintf("fattree:k=%d,hosts=%d,rate=1Gbps", pods, pods*pods*pods/4))
	if err != nil {
		return nil, fmt.Errorf("name fabric: %w", err)
	}
	f, err := topo.New(spec)
	if err != nil {
		return nil, fmt.Errorf("build fabric: %w", err)
	}
	m, err := f.PathMap(16, 1)
	if err != nil {
		return nil, fmt.Errorf("list paths: %w", err)
	}
	rng := rand.New(rand.NewPCG(seed, 0x67))
	v := &controller.View{Fabric: f, Paths: m,
		Coflows: []controller.CoflowView{{Remaining: southbound.Remaining{F: 1}}}}
	c, in := &v.Coflows[0], &certified.Instance{}
	for l := range f.Topology.Links() {
		in.Capacity = append(in.Capacity, float64(v.Room(pathmap.LinkID(l))))
	}
	var paths certified.Candidates
	for range flows {
		src := rng.IntN(f.Hosts())
		s, d := southbound.HostID(src), southbound.HostID((src+1+rng.IntN(f.Hosts()-1))%f.Hosts())
		bytes := 70e6 + 30e6*rng.Float64()
		c.Src, c.Dst, c.Size = append(c.Src, s), append(c.Dst, d), append(c.Size, pathmap.Bytes(bytes))
		c.Flows, c.Ended = append(c.Flows, 1), append(c.Ended, false)
		c.Remaining.Base = append(c.Remaining.Base, bytes)
		in.Volume, paths = append(in.Volume, 8*bytes), append(paths, between(v, s, d))
	}
	in.Router = paths
	anneal := func(in *certified.Instance, e certified.Effort) (*certified.Plan, error) {
		best := &certified.Plan{Certificate: solve.Certificate{Value: math.Inf(1), Bound: math.Inf(-1)}}
		for v.Seed = seed; v.Seed == seed || !e.Stop(); v.Seed++ {
			var p controller.Plan
			p.Reset()
			(&route.Annealed{}).Fill(v, nil, &p)
			chosen := make([][]int32, flows)
			for i, tag := range p.Route[0].Tags {
				chosen[i] = paths[i][min(route.PathOf(tag), len(paths[i])-1)]
			}
			_, last, err := in.Makespan(chosen)
			if err != nil {
				return nil, err
			}
			best.Value = min(best.Value, last)
		}
		return best, nil
	}
	return []method{planned("anneal", in, anneal), planned("ours", in, certified.CoRBABest),
		planned("ours, fast", in, certified.CoRBAGreedy)}, nil
}

// between are the paths of the map between two hosts, as links.
func between(v *controller.View, src, dst southbound.HostID) (out [][]int32) {
	up, down := route.HostLinks(v, src, dst)
	s, d := int(v.HostRack(src)), int(v.HostRack(dst))
	if s == d {
		return [][]int32{{int32(up), int32(down)}}
	}
	for k := range v.Paths.Paths(s, d) {
		links := []int32{int32(up)}
		for _, l := range v.Paths.AppendPath(nil, s, d, k) {
			links = append(links, int32(l))
		}
		out = append(out, append(links, int32(down)))
	}
	return out
}
