package online

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller/certified"
	"lightloom/pathmap/tries"
)

func tapra(t *certified.Tasks) (*certified.Placed, error) {
	return certified.TaPRA(t, certified.Effort{})
}

// jobs draws jobs on six servers of two racks.
func jobs(rng *rand.Rand, n int) *Tasks {
	t := &Tasks{Capacity: slices.Repeat([]float64{10}, 6), Every: 5, MinFree: 0.1, Place: tapra,
		Groups: []Group{{"rack", []int32{0, 1, 2}, 0.5}, {"rack", []int32{3, 4, 5}, 0.5},
			{"center", []int32{0, 1, 2, 3, 4, 5}, 0.4}}}
	now := 0.0
	for range n {
		now += 3 * rng.ExpFloat64()
		j := Job{Arrival: now}
		for range 1 + rng.IntN(5) {
			j.Load = append(j.Load, 100*rng.Float64())
			row := make([]float64, 6)
			for s := range row {
				row[s] = 0.1 + 0.9*rng.Float64()
			}
			j.Efficiency = append(j.Efficiency, row)
		}
		t.Jobs = append(t.Jobs, j)
	}
	return t
}

// TestTasks: in every order all jobs end, none before its relaxation alone on all servers allows, and
// what DRC gives makes the mean no longer.
func TestTasks(t *testing.T) {
	for seed := range uint64(tries.Of(5, 50)) {
		for _, order := range []Order{SJF, FCFS, SLF, LLF} {
			var mean [2]float64
			for i, drc := range []bool{false, true} {
				run := jobs(rand.New(rand.NewPCG(seed, 1)), 12)
				run.Order, run.DRC = order, drc
				took, err := run.Run()
				if err != nil {
					t.Fatalf("seed %d, order %d: %v", seed, order, err)
				}
				for k, d := range took {
					j := &run.Jobs[k]
					least := 0.0
					for i, l := range j.Load {
						least += l / slices.Max(j.Efficiency[i])
					}
					if d < least/60*(1-1e-9) {
						t.Fatalf("seed %d, order %d: job %d takes %v, all servers need %v", seed, order, k, d, least/60)
					}
					mean[i] += d
				}
			}
			if mean[1] > mean[0]*1.05 {
				t.Errorf("seed %d, order %d: %v with DRC, %v without", seed, order, mean[1], mean[0])
			}
		}
	}
}

// TestTasksByHand: two jobs of one task on one server. SJF runs the short one first and the long one
// when the MAR test passes again; DRC gives each all of the server, which its limit alone would not.
func TestTasksByHand(t *testing.T) {
	run := &Tasks{Capacity: []float64{10}, Groups: []Group{{"center", []int32{0}, 0.5}},
		Place: tapra, Every: 1,
		MinFree: 0.6, Jobs: []Job{{Load: []float64{100}, Efficiency: [][]float64{{1}}},
			{Load: []float64{10}, Efficiency: [][]float64{{0.5}}}}}
	took, err := run.Run()
	if err != nil || math.Abs(took[1]-4) > 1e-9 || math.Abs(took[0]-24) > 1e-9 {
		t.Errorf("%v, %v; want 24 and 4", took, err)
	}
	run.DRC = true
	if took, err = run.Run(); err != nil || math.Abs(took[1]-2) > 1e-9 || math.Abs(took[0]-12) > 1e-9 {
		t.Errorf("%v, %v; want 12 and 2", took, err)
	}
}

// TestRoundedAway: what rounding leaves of a full server is given to nobody.
func TestRoundedAway(t *testing.T) {
	c := &center{Tasks: &Tasks{Capacity: []float64{10, 1}}, tasks: []running{{base: 7}, {base: 3 - 4e-16}}}
	if free := c.free(); !slices.Equal(free, []float64{0, 1}) {
		t.Errorf("%v is free, want 0 and 1", free)
	}
}

// TestNetwork: switches of 4 ports and twice the hosts; shortest paths are paths, and as many as there are.
func TestNetwork(t *testing.T) {
	n := NewNetwork(4, 2, 10)
	if n.Hosts != 32 || n.Nodes != 52 {
		t.Fatalf("%d hosts, %d nodes", n.Hosts, n.Nodes)
	}
	ends := map[int32][2]int32{}
	for _, a := range n.arcs {
		ends[a.Link] = [2]int32{a.From, a.To}
	}
	for s := range n.Hosts {
		for d := range n.Hosts {
			if s == d {
				continue
			}
			all := n.Shortest(s, d)
			if short := n.Router([][2]int32{{s, d}}).Shortest(0, n.Capacity()); len(short) != len(all[0]) {
				t.Fatalf("%d to %d: %v, and %v is a shortest path", s, d, all[0], short)
			}
			for _, links := range all {
				at := s
				for _, l := range links {
					e := ends[l]
					if e[0] != at && e[1] != at {
						t.Fatalf("%d to %d: %v does not hang together", s, d, links)
					}
					at = e[0] + e[1] - at
				}
				if at != d {
					t.Fatalf("%d to %d: %v leads to %d", s, d, links, at)
				}
			}
		}
	}
}

func flowsOf(rng *rand.Rand, net *Network, n int) ([]Flow, []Noise) {
	var flows []Flow
	var noise []Noise
	now := 0.0
	for range n {
		now += 2 * rng.ExpFloat64()
		flows = append(flows, Flow{now, 700 + 300*rng.Float64(), net.Pair(rng)})
		e := net.Pair(rng)
		all := net.Shortest(e[0], e[1])
		noise = append(noise, Noise{now, 1 + 50*rng.Float64(), 5 * rng.Float64(),
			net.Fabric(all[rng.IntN(len(all))], false)})
	}
	return flows, noise
}

// TestFlows: under every selection, algorithm and setting all flows end, none before its host link
// could carry it.
func TestFlows(t *testing.T) {
	net := NewNetwork(4, 2, 10)
	for seed := range uint64(tries.Of(1, 10)) {
		for _, by := range []string{"froba", "fast", "ecmp", "wcmp"} {
			for _, sel := range []Selection{VFF, SFF, SVF, InTurn} {
				for set := range 4 {
					rng := rand.New(rand.NewPCG(seed, 2))
					flows, noise := flowsOf(rng, net, 15)
					route := map[string]RouteFunc{"froba": By(certified.FRoBA, certified.Effort{Trials: 30}),
						"fast": By(certified.FRoBAFast, certified.Effort{Trials: 30}), "ecmp": net.Spread(rng, false, 0.1),
						"wcmp": net.Spread(rng, true, 0.1)}[by]
					run := &Flows{Network: net, Flows: flows, Noise: noise, Select: sel, Route: route, DRB: set&1 > 0,
						Preempt: set&2 > 0, Every: 10, Least: 0.1}
					out, err := run.Run()
					if err != nil {
						t.Fatalf("seed %d, %s, selection %d, setting %d: %v", seed, by, sel, set, err)
					}
					for f, d := range out.Took {
						if d < flows[f].Volume/10*(1-1e-9) || out.Waited[f] > d || math.IsNaN(d) {
							t.Fatalf("seed %d, %s, selection %d, setting %d: flow %d takes %v, waits %v", seed,
								by, sel, set, f, d,
								out.Waited[f])
						}
					}
				}
			}
		}
	}
}

// TestFlowsByHand: two flows from one host, alone in the network. Routed together they share its link;
// one after the other, the first takes all of it.
func TestFlowsByHand(t *testing.T) {
	net := NewNetwork(4, 1, 10)
	for _, c := range []struct {
		sel  Selection
		drb  bool
		want []float64
	}{{VFF, false, []float64{20, 20}}, {SFF, false, []float64{10, 20}}, {InTurn, false, []float64{10, 20}},
		{VFF, true, []float64{20, 20}}} {
		run := &Flows{Network: net, Flows: []Flow{{0, 100, [2]int32{0, 5}}, {0, 100, [2]int32{0, 9}}},
			Select: c.sel,
			DRB:    c.drb, Route: By(certified.FRoBA, certified.Effort{}), Every: 10, Least: 0.1}
		out, err := run.Run()
		if err != nil || math.Abs(out.Took[0]-c.want[0]) > 1e-3 || math.Abs(out.Took[1]-c.want[1]) > 1e-3 {
			t.Errorf("%+v: %v, %v", c, out, err)
		}
	}
}

// TestCoflows: all end under each algorithm, none before its busiest host link could carry it.
func TestCoflows(t *testing.T) {
	net := NewNetwork(4, 2, 10)
	for seed := range uint64(tries.Of(3, 20)) {
		for by := range 3 {
			rng := rand.New(rand.NewPCG(seed, 3))
			_, noise := flowsOf(rng, net, 40)
			run := &Coflows{Network: net, Noise: noise,
				Route: func(in *certified.Instance, ends [][2]int32) (*certified.Plan, error) {
					switch by {
					case 0:
						return certified.CoRBA(in, certified.Effort{})
					case 1:
						return certified.CoRBAFast(in, certified.Effort{})
					}
					return certified.MinCCT(in, net.Candidates(rng, certified.ShortestWidestPaths, 5, ends, in.Capacity),
						certified.Effort{})
				}}
			now := 0.0
			for range 6 {
				now += 40 * rng.ExpFloat64()
				x := Coflow{Arrival: now}
				for range 5 {
					x.Volume, x.Ends = append(x.Volume, 700+300*rng.Float64()), append(x.Ends, net.Pair(rng))
				}
				run.Coflows = append(run.Coflows, x)
			}
			took, err := run.Run()
			if err != nil {
				t.Fatalf("seed %d, %d: %v", seed, by, err)
			}
			for c, d := range took {
				busiest := map[int32]float64{}
				for k, e := range run.Coflows[c].Ends {
					busiest[e[0]] += run.Coflows[c].Volume[k]
					busiest[e[1]] += run.Coflows[c].Volume[k]
				}
				for h, v := range busiest {
					if d < v/10*(1-1e-9) {
						t.Errorf("seed %d, %d: coflow %d takes %v, host %d alone needs %v", seed, by, c, d, h, v/10)
					}
				}
			}
		}
	}
}
