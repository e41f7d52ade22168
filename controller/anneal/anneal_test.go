package anneal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// hill is a line of heights; a neighbour is one step to either side.
type hill struct {
	heights         []int64
	at, from, saved int
	moves, left     int
}

func (h *hill) Reset(_ int, rng *rand.Rand) { h.at = rng.IntN(len(h.heights)) }
func (h *hill) Move(rng *rand.Rand) bool {
	h.from, h.moves = h.at, h.moves+1
	h.at = min(max(h.at+1-2*rng.IntN(2), 0), len(h.heights)-1)
	return true
}
func (h *hill) Undo()          { h.at = h.from }
func (h *hill) Utility() int64 { return h.heights[h.at] }
func (h *hill) Save()          { h.saved = h.at }
func (h *hill) Restore()       { h.at = h.saved }
func (h *hill) Spent() bool    { return h.left > 0 && h.moves >= h.left }

func TestRunEndsAtBestSeen(t *testing.T) {
	for _, s := range []Schedule{{Restarts: 5, Steps: 200, Start: 0.5, End: 0.01},
		{Restarts: 5, Steps: 200, Paper: true}} {
		for seed := range uint64(200) {
			h := &hill{heights: []int64{1e6, 9e6, 2e6, 3e6, 30e6, 5e6, 1e6, 8e6, 7e6, 0}}
			count := Run(h, s, rand.New(rand.NewPCG(seed, 0)))
			if h.heights[h.at] != 30e6 {
				t.Errorf("%+v, seed %d: ended at %d", s, seed, h.heights[h.at])
			}
			if count.Evaluated != 1000 || count.Accepted <= 0 || count.Accepted >= 1000 {
				t.Errorf("%+v, seed %d: counts %+v", s, seed, count)
			}
		}
	}
}

func TestRunEndsWhenSpent(t *testing.T) {
	h := &hill{heights: make([]int64, 50), left: 30}
	if count := Run(h, Schedule{Restarts: 5, Steps: 200, Start: 0.1, End: 0.1},
		rand.New(rand.NewPCG(1, 1))); count.Evaluated != 30 {
		t.Errorf("%d moves evaluated, the work allows 30", count.Evaluated)
	}
}

// shuffle is a map-reduce job.
func shuffle(maps, reduces int) *controller.Job {
	return &controller.Job{
		Stages: []controller.Stage{{Tasks: make([]controller.Task, maps)},
			{Tasks: make([]controller.Task, reduces)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 1e6}},
	}
}

// TestPlacesWithinRack: four tasks fit into a rack whose links are ten times as fast as the network:
// there they go.
func TestPlacesWithinRack(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=8,hosts=2,spines=2,eps=50Mbps,nic=500Mbps")
	for seed := range uint64(20) {
		s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{})
		placed := s.Place(shuffle(2, 2), slots(f, 2), rand.New(rand.NewPCG(seed, 0)))
		// Each reducer reads from the map on its own host and from one over the rack: 2 sinks × 500 Mb/s.
		if s.Utility() != 1000e6 {
			t.Errorf("seed %d: hosts %v, utility %d", seed, placed.Hosts, s.Utility())
		}
	}
}

// TestSlotsAreExact: a job that takes every slot still moves, by changing places.
func TestSlotsAreExact(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=4,hosts=2,spines=2,eps=50Mbps,nic=500Mbps")
	for _, paper := range []bool{false, true} {
		s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{Paper: paper})
		placed := s.Place(shuffle(9, 7), slots(f, 2), rand.New(rand.NewPCG(3, 0)))
		n := make([]int, f.Hosts())
		for _, h := range placed.Hosts {
			n[h]++
		}
		if slices.Max(n) != 2 || slices.Min(n) != 2 {
			t.Errorf("paper %v: tasks by host %v, want 2 each", paper, n)
		}
		if placed.Place.Evaluated < 500 || placed.Place.Accepted == 0 {
			t.Errorf("paper %v: %+v", paper, placed.Place)
		}
	}
}

// TestRouteKeepsApart: two flows between the same racks take two spines.
func TestRouteKeepsApart(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=2,hosts=2,spines=2,eps=50Mbps,nic=500Mbps")
	for _, paper := range []bool{false, true} {
		s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{Paper: paper})
		candidates, count := s.Route([]Coflow{{Rows: []HostFlow{{Src: 0, Dst: 2}, {Src: 1, Dst: 3}}}},
			rand.New(rand.NewPCG(1, 0)))
		if candidates[0][0] == candidates[0][1] || s.Utility() != 100e6 {
			t.Errorf("paper %v: paths %v, utility %d", paper, candidates, s.Utility())
		}
		if count.Evaluated == 0 {
			t.Errorf("paper %v: no move was evaluated", paper)
		}
	}
}

// TestAvoidsDarkLinks: with one spine's link dark no host flow goes that way.
func TestAvoidsDarkLinks(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=2,hosts=2,spines=2,eps=50Mbps,nic=500Mbps")
	down := make([]bool, len(f.Topology.Links()))
	dark := m.AppendPath(nil, 0, 1, 0)[0]
	down[dark], down[dark^1] = true, true
	s := NewNetworkState(NewTopologyContext(f, m, down, nil), Options{})
	candidates, _ := s.Route([]Coflow{{Rows: []HostFlow{{Src: 0, Dst: 2}, {Src: 1, Dst: 3}},
		Hints: []int{0, 0}}},
		rand.New(rand.NewPCG(1, 0)))
	if candidates[0][0] != 1 || candidates[0][1] != 1 {
		t.Errorf("paths %v, want the lit one, 1, twice", candidates[0])
	}
}

// TestWeights: in a chain only the middle has source and sink next to it.
func TestWeights(t *testing.T) {
	chain := &controller.Job{Stages: make([]controller.Stage, 3), Edges: []controller.Edge{
		{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 1},
		{Kind: controller.ScatterGather, From: 1, To: 2, Bytes: 1}}}
	for i := range chain.Stages {
		chain.Stages[i].Tasks = make([]controller.Task, 1)
	}
	for _, tc := range []struct {
		name string
		job  *controller.Job
		want []int64 // running sums
	}{
		{"chain of three", chain, []int64{0, 2, 2}},
		{"three maps, two reduces", shuffle(3, 2), []int64{2, 4, 6, 9, 12}},
		{"no bytes", &controller.Job{Stages: chain.Stages}, []int64{0, 0, 0}},
	} {
		if got := newGraph(tc.job).draw; !slices.Equal(got, tc.want) {
			t.Errorf("%s: weights %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestPick: tasks are drawn by their weights, and uniformly where they have none or as asked.
func TestPick(t *testing.T) {
	for _, tc := range []struct {
		name    string
		draw    []int64 // running sums
		uniform float64
		want    []float64 // shares
	}{
		{"weights", []int64{1, 1, 4}, 0, []float64{.25, 0, .75}},
		{"no weights", []int64{0, 0}, 0, []float64{.5, .5}},
		{"half of them uniformly", []int64{0, 8}, .5, []float64{.25, .75}},
	} {
		const draws = 4000
		g, rng, drawn := &graph{draw: tc.draw}, rand.New(rand.NewPCG(1, 2)), make([]float64, len(tc.draw))
		for range draws {
			drawn[g.pick(tc.uniform, rng)]++
		}
		for task, want := range tc.want {
			if got := drawn[task] / draws; math.Abs(got-want) > .04 || want == 0 && got > 0 {
				t.Errorf("%s: task %d is %v of the draws, want %v", tc.name, task, got, want)
			}
		}
	}
}

// TestBlind: the upper level alone evaluates no route and leaves host flows on paths of all lengths.
func TestBlind(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=4,hosts=2,spines=4,eps=50Mbps,nic=500Mbps,slots=1")
	used := map[int]bool{}
	for seed := range uint64(20) {
		s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{Blind: true})
		rng := rand.New(rand.NewPCG(seed, 0))
		placed := s.Place(shuffle(4, 4), slots(f, 1), rng)
		if placed.Route != (Count{}) || placed.Place.Evaluated == 0 {
			t.Fatalf("counts %+v and %+v", placed.Place, placed.Route)
		}
		candidates, count := s.Route([]Coflow{{Rows: []HostFlow{{Src: 0, Dst: 2}, {Src: 1, Dst: 3}},
			Hints: []int{3, -1}}},
			rng)
		if count != (Count{}) || candidates[0][0] != 3 {
			t.Fatalf("paths %v, counts %+v", candidates, count)
		}
		used[candidates[0][1]] = true
	}
	if len(used) != southbound.MaxPaths {
		t.Errorf("paths %v of %d were used", used, southbound.MaxPaths)
	}
}

// TestPaperRestartsBothLevels: the lower level of one state of the upper one evaluates 50 steps in each of
// five restarts, as printed, and 50 by default.
func TestPaperRestartsBothLevels(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=4,hosts=2,spines=2,eps=100Mbps,nic=500Mbps")
	for _, tc := range []struct {
		name  string
		paper bool
		want  int64
	}{{"as printed", true, 250}, {"default", false, 50}} {
		t.Run(tc.name, func(t *testing.T) {
			s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{Paper: tc.paper})
			p := newPlacing(s.clone(1), shuffle(4, 4), slices.Repeat([]int32{1}, f.Hosts()))
			p.Reset(1, rand.New(rand.NewPCG(1, 1)))
			if p.counts.Evaluated != tc.want {
				t.Errorf("%d states of the lower level, want %d", p.counts.Evaluated, tc.want)
			}
		})
	}
}

// TestWorkIsBounded: a wide job on a busy network ends soon after its work is used up.
func TestWorkIsBounded(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=8,hosts=4,spines=2,eps=1Gbps,nic=1Gbps")
	s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{Work: 100_000})
	rng := rand.New(rand.NewPCG(1, 0))
	runSome(s, rng, 2000)
	before := s.net.work
	s.Place(shuffle(30, 30), slots(f, 2), rng)
	if done := s.net.work - before; done > 10*100_000 {
		t.Errorf("%d flows visited, %d were allowed", done, 100_000)
	}
}

func TestSameSeedSamePlace(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=5,hosts=3,spines=3,eps=1Gbps,nic=1Gbps")
	run := func() ([]southbound.HostID, Placed) {
		s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{})
		rng := rand.New(rand.NewPCG(5, 0))
		runSome(s, rng, 40)
		p := s.Place(shuffle(6, 5), slots(f, 2), rng)
		return p.Hosts, p
	}
	hosts, first := run()
	for range 5 {
		again, p := run()
		if !slices.Equal(hosts, again) || p.Place != first.Place || p.Route != first.Route {
			t.Fatalf("hosts %v %+v, then %v %+v", hosts, first.Route, again, p.Route)
		}
	}
}

// TestExplain: evaluating alternatives changes nothing. Where four tasks fill one rack every other
// place costs more, and a host flow's other path is equally good while no other flow uses it.
func TestExplain(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=8,hosts=2,spines=2,eps=50Mbps,nic=500Mbps")
	for _, blind := range []bool{false, true} {
		for seed := range tries.Of[uint64](15, 50) {
			rng := rand.New(rand.NewPCG(seed, 4))
			plain, told := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{Blind: blind}),
				NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{Explain: true, Blind: blind})
			j := randomJob(rng, 2)
			a := plain.Place(j, slots(f, 1), rand.New(rand.NewPCG(seed, 5)))
			b := told.Place(j, slots(f, 1), rand.New(rand.NewPCG(seed, 5)))
			if !slices.Equal(a.Hosts, b.Hosts) || plain.Utility() != told.Utility() ||
				len(b.Why) != j.Tasks() || a.Why != nil {
				t.Fatalf("seed %d: hosts %v and %v, utility %d and %d", seed, a.Hosts, b.Hosts,
					plain.Utility(), told.Utility())
			}
			checkIndex(t, told.net)
			rows := []Coflow{{Rows: []HostFlow{{Src: 0, Dst: 2}, {Src: 1, Dst: 3}, {Src: 4, Dst: 5}}}}
			x, _ := plain.Route(rows, rand.New(rand.NewPCG(seed, 6)))
			y, _ := told.Route(rows, rand.New(rand.NewPCG(seed, 6)))
			if !slices.Equal(x[0], y[0]) || plain.Utility() != told.Utility() || len(told.Why()) != 3 ||
				plain.Why() != nil {
				t.Fatalf("seed %d: paths %v and %v", seed, x, y)
			}
			if w := told.Why()[2]; w.Next != -1 || w.Hops != 0 {
				t.Errorf("within a rack: %+v", w)
			}
		}
	}
	s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{Explain: true})
	placed := s.Place(shuffle(2, 2), slots(f, 2), rand.New(rand.NewPCG(1, 0)))
	for _, w := range placed.Why {
		if w.Here+w.Rack != 2 || w.Apart != 0 || w.Next < 0 || w.Cost <= 0 || w.Tried != 14 ||
			w.Objective != 1000e6 ||
			w.Before != 0 {
			t.Errorf("%+v", w)
		}
	}
	s.Route([]Coflow{{Rows: []HostFlow{{Src: 14, Dst: 0}}}}, rand.New(rand.NewPCG(1, 0)))
	if w := s.Why()[0]; w.Rate != 50e6 || w.Others != 0 || w.Hops != 2 || w.Equal < 1 ||
		w.Cost != 0 || w.Next < 0 {
		t.Errorf("%+v", w)
	}
}

// TestLayFirst: work that laying uses up leaves none for the search, unless laying does not count.
func TestLayFirst(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=4,hosts=2,spines=3,eps=100Mbps,nic=500Mbps")
	rows := []HostFlow{{Src: 0, Dst: 2}, {Src: 1, Dst: 3}, {Src: 0, Dst: 4}, {Src: 1, Dst: 5}}
	for _, first := range []bool{false, true} {
		s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{Work: 5, LayFirst: first})
		_, count := s.Route([]Coflow{{Rows: rows}}, rand.New(rand.NewPCG(1, 0)))
		if searched := count.Evaluated > 0; searched != first {
			t.Errorf("laying first %v: %d moves evaluated", first, count.Evaluated)
		}
	}
}
