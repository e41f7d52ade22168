package certified

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap/tries"
)

// fatTree is the network of the dissertation (sections 4.7.1.1 and 5.6.1.1): a fat-tree of k pods with
// over times as many hosts in a rack, all links of 10 Gb/s and undirected, under four noise flows a
// host, which take links between switches only unless onHosts.
func fatTree(rng *rand.Rand, k, over, flows int, onHosts bool) *Instance {
	half := int32(k / 2)
	tors, cores := int32(k)*half, half*half
	hosts := tors * half * int32(over)
	tor, agg, core := func(i int32) int32 { return hosts + i }, func(i int32) int32 { return hosts + tors + i },
		func(i int32) int32 { return hosts + 2*tors + i }
	var arcs []Arc
	links := int32(0)
	join := func(a, b int32) {
		arcs = append(arcs, Arc{a, b, links}, Arc{b, a, links})
		links++
	}
	for h := range hosts {
		join(h, tor(h/(half*int32(over))))
	}
	for t := range tors {
		for a := range half {
			join(tor(t), agg(t/half*half+a))
		}
	}
	for a := range tors {
		for c := range half {
			join(agg(a), core(a%half*half+c))
		}
	}
	in := &Instance{Capacity: make([]float64, links)}
	for l := range in.Capacity {
		in.Capacity[l] = 10e9
	}
	noise(rng, in, int(hosts), NewGraph(int(hosts+2*tors+cores), arcs,
		pairs(rng, hosts, 4*int(hosts))), onHosts)
	for range flows {
		in.Volume = append(in.Volume, 1e12*(0.7+0.3*rng.Float64()))
	}
	in.Router = NewGraph(int(hosts+2*tors+cores), arcs, pairs(rng, hosts, flows))
	return in
}

func pairs(rng *rand.Rand, hosts int32, n int) [][2]int32 {
	out := make([][2]int32, n)
	for i := range out {
		s, d := rng.Int32N(hosts), rng.Int32N(hosts-1)
		if d >= s {
			d++
		}
		out[i] = [2]int32{s, d}
	}
	return out
}

// noise takes up to half of what is left of a random shortest path, flow after flow.
func noise(rng *rand.Rand, in *Instance, hosts int, g *Graph, onHosts bool) {
	random := make([]float64, len(in.Capacity))
	for i := range g.ends {
		for l := range random {
			if i%16 == 0 {
				random[l] = rng.Float64()
			}
		}
		links := g.Shortest(i, random)
		if !onHosts {
			links = slices.DeleteFunc(links, func(l int32) bool { return int(l) < hosts })
		}
		take := narrowest(links, in.Capacity) * rng.Float64() / 2
		for _, l := range links {
			in.Capacity[l] -= take
		}
	}
}

// tiny is a random connected network with a few flows, some of them of no volume.
func tiny(rng *rand.Rand) (in *Instance, all [][][]int32) {
	nodes := int32(4 + rng.IntN(3))
	var arcs []Arc
	in = &Instance{}
	join := func(a, b int32) {
		l := int32(len(in.Capacity))
		arcs = append(arcs, Arc{a, b, l}, Arc{b, a, l})
		in.Capacity = append(in.Capacity, 1+9*rng.Float64())
	}
	for n := int32(1); n < nodes; n++ {
		join(n, rng.Int32N(n))
	}
	for range 3 {
		if a, b := rng.Int32N(nodes), rng.Int32N(nodes); a != b {
			join(a, b)
		}
	}
	ends := pairs(rng, nodes, 1+rng.IntN(4))
	for i := range ends {
		in.Volume = append(in.Volume, math.Exp(2*rng.NormFloat64()))
		if rng.IntN(10) == 0 {
			in.Volume[i] = 0
		}
		all = append(all, simplePaths(arcs, ends[i][0], ends[i][1], int(nodes), map[int32]bool{}))
	}
	in.Router = NewGraph(int(nodes), arcs, ends)
	return in, all
}

// simplePaths are the paths of at most some links.
func simplePaths(arcs []Arc, from, to int32, most int, seen map[int32]bool) (out [][]int32) {
	if from == to {
		return [][]int32{{}}
	}
	if len(seen) == most {
		return nil
	}
	seen[from] = true
	defer delete(seen, from)
	for _, a := range arcs {
		if a.From != from || seen[a.To] {
			continue
		}
		for _, rest := range simplePaths(arcs, a.To, to, most, seen) {
			out = append(out, append([]int32{a.Link}, rest...))
		}
	}
	return out
}

// best tries all routings.
func best(in *Instance, all [][][]int32, value func(paths [][]int32) float64) float64 {
	least := math.Inf(1)
	paths := make([][]int32, len(all))
	var try func(i int)
	try = func(i int) {
		if i == len(all) {
			least = min(least, value(paths))
			return
		}
		if in.Volume[i] == 0 {
			try(i + 1)
			return
		}
		for _, p := range all[i] {
			paths[i] = p
			try(i + 1)
		}
	}
	try(0)
	return least
}

// TestGraphAgainstCandidates: a graph's searches find what looking through all simple paths finds.
func TestGraphAgainstCandidates(t *testing.T) {
	for seed := range uint64(tries.Of(300, 5000)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		in, all := tiny(rng)
		for i := range in.Volume {
			_, got := in.Router.Cheapest(i, in.Capacity, math.Inf(1))
			if _, want := Candidates(all).Cheapest(i, in.Capacity, math.Inf(1)); math.Abs(got-want) > 1e-9 {
				t.Fatalf("seed %d: cheapest %v, want %v", seed, got, want)
			}
			for name, pair := range map[string][2][]int32{
				"widest":   {in.Router.Widest(i, in.Capacity), Candidates(all).Widest(i, in.Capacity)},
				"shortest": {in.Router.Shortest(i, in.Capacity), Candidates(all).Shortest(i, in.Capacity)},
			} {
				got, want := pair[0], pair[1]
				if len(got) != len(want) || narrowest(got, in.Capacity) != narrowest(want, in.Capacity) {
					t.Fatalf("seed %d: %s path %v, want %v", seed, name, got, want)
				}
			}
		}
	}
}

// TestCheapestAgainstSearch: the search that leaves out what cannot be wanted finds the path that the
// plain one finds, in networks of many equal and free links, and none where none is cheap enough.
func TestCheapestAgainstSearch(t *testing.T) {
	for seed := range uint64(tries.Of(30, 500)) {
		rng := rand.New(rand.NewPCG(seed, 4))
		in := fatTree(rng, 4, 1, 20, false)
		g := in.Router.(*Graph)
		length := make([]float64, len(in.Capacity))
		for l := range length {
			length[l] = float64(max(0, rng.IntN(4)-1))
			if rng.IntN(20) == 0 {
				length[l] = math.Inf(1)
			}
		}
		for i, e := range g.ends {
			links := slices.Clone(g.search(e[0], e[1], func(key float64, link int32) float64 {
				return max(key, 0) + length[link]
			}, false))
			got, cost := g.Cheapest(i, length, math.Inf(1))
			if !slices.Equal(got, links) {
				t.Fatalf("seed %d, flow %d: path %v of %v, want %v", seed, i, got, cost, links)
			}
			if links == nil {
				continue
			}
			if got, _ := g.Cheapest(i, length, cost); got != nil {
				t.Errorf("seed %d, flow %d: path %v costs less than %v", seed, i, got, cost)
			}
			if got, _ := g.Cheapest(i, length, cost+0.5); !slices.Equal(got, links) {
				t.Errorf("seed %d, flow %d: path %v costs less than %v, want %v", seed, i, got, cost+0.5, links)
			}
		}
	}
}

// TestOddInstances: what is odd has a plan whose certificate holds, and numbers that are numbers, from
// every algorithm.
func TestOddInstances(t *testing.T) {
	t.Parallel()
	shared := Candidates{{{0, 1}, {0, 2}}, {{0, 1}, {0, 2}}, {{0, 1}, {0, 2}}}
	thousand := &Instance{Capacity: []float64{1e10, 4e9, 4e9}}
	var alike Candidates
	for range 1000 {
		thousand.Volume, alike = append(thousand.Volume, 1e9), append(alike, shared[0])
	}
	thousand.Router = alike
	for name, in := range map[string]*Instance{
		"no flows":  {Capacity: []float64{1}, Router: Candidates{}},
		"no volume": {Volume: []float64{0, 0, 0}, Capacity: []float64{1, 1, 1}, Router: shared},
		"twelve orders": {Volume: []float64{1, 1e6, 1e12}, Capacity: []float64{1e10, 1e10, 1e10},
			Router: shared},
		"links of six orders": {Volume: []float64{1, 1, 1}, Capacity: []float64{1e12, 1e6, 1e9}, Router: shared},
		"a link shut":         {Volume: []float64{1, 2, 3}, Capacity: []float64{5, 0, 5}, Router: shared},
		"a thousand alike":    thousand,
	} {
		verify := map[bool]func(p *Plan) error{
			true:  func(p *Plan) error { return p.VerifyTotal(in) },
			false: func(p *Plan) error { return p.VerifyLast(in) },
		}
		for total, algorithms := range map[bool]map[string]func(*Instance, Effort) (*Plan, error){
			true: routings(), false: lasts()} {
			for kind, algorithm := range algorithms {
				p, err := algorithm(in, Effort{Trials: 20})
				if err != nil {
					t.Errorf("%s: %s: %v", name, kind, err)
					continue
				}
				if err := verify[total](p); err != nil || math.IsNaN(p.Value+p.Bound) {
					t.Errorf("%s: %s: %v, value %v, bound %v", name, kind, err, p.Value, p.Bound)
				}
			}
		}
	}
}

// TestRoutersSayWhenTheyStop: a search that hits its bound on routings says so, and what it has found
// verifies.
func TestRoutersSayWhenTheyStop(t *testing.T) {
	in := fatTree(rand.New(rand.NewPCG(2, 5)), 6, 2, 30, false)
	for _, kind := range []struct {
		all    map[string]func(*Instance, Effort) (*Plan, error)
		verify func(*Plan, *Instance) error
	}{{routings(), (*Plan).VerifyTotal}, {lasts(), (*Plan).VerifyLast}} {
		for name, route := range kind.all {
			p, err := route(in, Effort{Trials: 1})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := kind.verify(p, in); err != nil || !p.Exhausted {
				t.Errorf("%s: exhausted %v after %d trials, %v", name, p.Exhausted, p.Trials, err)
			}
		}
	}
}
