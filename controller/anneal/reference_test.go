package anneal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// reference values a network state from nothing but each flow's links and the job's graph, task by
// task: slow, and obviously right. All flows but those of p are bare ones alone.
func reference(p *placing, j *controller.Job) int64 {
	n := p.s.net
	flows := map[int32]int64{}
	for l := range n.lists {
		flows[int32(l)] = int64(n.lists[l].len)
	}
	rate := func(f int32) int64 {
		r := int64(math.MaxInt64)
		for _, h := range n.hopsOf(f) {
			r = min(r, n.links[h.link].capacity/flows[h.link])
		}
		if !n.paper {
			r /= int64(n.flows[f].pairs)
		}
		return r
	}
	sum := int64(0)
	for g := range n.groups {
		if n.groups[g].job == p.flow.job {
			continue
		}
		for _, f := range n.groups[g].members {
			sum += min(rate(f), n.links[n.hopsOf(f)[1].link].capacity)
		}
	}
	for t, h := range p.host {
		if stage := int(p.g.stage[t]); isSink(j, stage) {
			least := n.capacity[p.s.topology.dn[h]]
			for i := range p.live {
				b := &p.live[i]
				e := &p.g.edges[b.key.edge]
				if e.To == stage && b.key.dst == h || e.To != stage && reaches(j, e.To, stage, nil) {
					least = min(least, rate(b.flow))
				}
			}
			sum += least
		}
	}
	return sum
}

func counts(e *controller.Edge) bool {
	return e.Kind != controller.Fixed && e.Bytes > 0 && e.From != e.To
}

func isSink(j *controller.Job, stage int) bool {
	reads := false
	for i := range j.Edges {
		e := &j.Edges[i]
		if counts(e) && e.From == stage {
			return false
		}
		reads = reads || counts(e) && e.To == stage
	}
	return reads
}

func reaches(j *controller.Job, from, to int, seen []int) bool {
	if slices.Contains(seen, from) {
		return false
	}
	for i := range j.Edges {
		if e := &j.Edges[i]; counts(e) && e.From == from &&
			(e.To == to || reaches(j, e.To, to, append(seen, from))) {
			return true
		}
	}
	return false
}

// checkIndex reports whether the visits of links and the hops of flows name each other.
func checkIndex(t *testing.T, n *network) {
	t.Helper()
	visits, hops := 0, 0
	for l := range n.lists {
		if id := n.id[l]; int(n.number[id]) != l+1 || n.links[l].capacity != n.capacity[id] {
			t.Fatalf("link %d is not at place %d", id, l)
		}
		on := n.flowsOn(int32(l))
		visits += len(on)
		for i, o := range on {
			rate := n.rate[o.flow]
			if h := n.hopsOf(o.flow)[o.hop]; h != (hop{int32(l), int32(i)}) {
				t.Fatalf("link %d: visit %d is not flow %d's hop %d", l, i, o.flow, o.hop)
			}
			if most, least := n.links[l].most, n.bottleneck(o.flow); rate > most || rate != least {
				t.Fatalf("link %d: flow %d has %d, of at most %d and a bottleneck of %d", l, o.flow,
					rate, most, least)
			}
		}
	}
	for g := range n.groups {
		for i, f := range n.groups[g].members {
			if n.flows[f].place != int32(i) || n.flows[f].group != int32(g) {
				t.Fatalf("group %d: member %d is not flow %d", g, i, f)
			}
			if n.groups[g].each[i] != n.flows[f].each {
				t.Fatalf("group %d: member %d has %d, its flow %d", g, i, n.groups[g].each[i], n.flows[f].each)
			}
			hops += len(n.hopsOf(f))
		}
	}
	if visits != hops {
		t.Fatalf("%d visits for %d hops", visits, hops)
	}
}

func fabric(t testing.TB, spec string) (*topo.Fabric, *pathmap.Map) {
	t.Helper()
	s, err := topo.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(southbound.MaxPaths, 1)
	if err != nil {
		t.Fatal(err)
	}
	return f, m
}

// randomJob is a job of up to five stages with edges of every kind, circles too.
func randomJob(rng *rand.Rand, widest int) *controller.Job {
	j := &controller.Job{Name: "j"}
	width := 1 + rng.IntN(widest)
	for range 2 + rng.IntN(4) {
		j.Stages = append(j.Stages, controller.Stage{Tasks: make([]controller.Task, width)})
		if rng.IntN(2) == 0 {
			width = 1 + rng.IntN(widest)
		}
	}
	join := func(from, to int) {
		e := controller.Edge{Kind: controller.ScatterGather, From: from, To: to, Bytes: 1e6, Stream: true}
		switch a, b := len(j.Stages[from].Tasks), len(j.Stages[to].Tasks); {
		case a == b && rng.IntN(2) == 0:
			e.Kind = controller.OneToOne
		case rng.IntN(3) == 0:
			e.Kind = controller.EdgeKind(int(controller.Broadcast) + rng.IntN(3))
		case rng.IntN(8) == 0:
			e.Bytes = 0
		}
		j.Edges = append(j.Edges, e)
	}
	for to := 1; to < len(j.Stages); to++ {
		join(rng.IntN(to), to)
	}
	for range rng.IntN(4) {
		join(rng.IntN(len(j.Stages)), rng.IntN(len(j.Stages)))
	}
	return j
}

func slots(f *topo.Fabric, each int32) []int32 {
	free := make([]int32, f.Hosts())
	for h := range free {
		free[h] = each
	}
	return free
}

// runSome puts random flows on the network, as running coflows would.
func runSome(s *NetworkState, rng *rand.Rand, n int) {
	hosts := s.topology.fabric.Hosts()
	for range n {
		a, b := southbound.HostID(rng.IntN(hosts)), southbound.HostID(rng.IntN(hosts))
		if a == b {
			continue
		}
		candidates := s.topology.Candidates(a, b)
		links := append([]pathmap.LinkID{s.topology.up[a], s.topology.dn[b]},
			candidates[rng.IntN(len(candidates))].Links...)
		s.Run(Coflow{Rows: []HostFlow{{Src: a, Dst: b, Flows: int32(rng.IntN(3))}}}, [][]pathmap.LinkID{links})
	}
}

// TestUtilityNeverDrifts walks both levels at random, takes moves back at random, and compares with the
// reference implementation.
func TestUtilityNeverDrifts(t *testing.T) {
	t.Parallel()
	specs := []string{"leafspine:racks=4,hosts=2,spines=3,eps=100Mbps,nic=500Mbps",
		"hybrid:racks=6,hosts=3,spines=2,eps=1Gbps,ocs=10Gbps"}
	type mapped struct {
		f *topo.Fabric
		m *pathmap.Map
	}
	var all []mapped
	for _, spec := range specs {
		f, m := fabric(t, spec)
		all = append(all, mapped{f, m})
	}
	for seed := range tries.Of[uint64](600, 2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g := all[seed%2]
		down := make([]bool, len(g.f.Topology.Links()))
		if seed%3 == 0 {
			l := rng.IntN(len(down))
			down[l], down[l^1] = true, true
		}
		s := NewNetworkState(NewTopologyContext(g.f, g.m, down, nil),
			Options{Paper: seed%4 == 0, Blind: seed%5 == 0, RouteSteps: 3})
		runSome(s, rng, rng.IntN(20))
		j := randomJob(rng, 3)
		p := newPlacing(s.clone(1), j, slots(g.f, 2))
		p.Reset(int(seed%2), rng)
		for range 12 {
			before := p.Utility()
			if got := reference(p, j); got != before {
				t.Fatalf("seed %d: utility %d, computed afresh %d", seed, before, got)
			}
			hosts := append([]southbound.HostID(nil), p.host...)
			p.Move(rng)
			if got := reference(p, j); got != p.Utility() {
				t.Fatalf("seed %d: utility %d after a move, computed afresh %d", seed, p.Utility(), got)
			}
			if rng.IntN(2) == 0 {
				p.Undo()
				if p.Utility() != before {
					t.Fatalf("seed %d: utility %d after undo, was %d", seed, p.Utility(), before)
				}
				if fmt.Sprint(hosts) != fmt.Sprint(p.host) {
					t.Fatalf("seed %d: hosts %v after undo, were %v", seed, p.host, hosts)
				}
			} else {
				p.Save()
			}
		}
		if p.best.host != nil {
			p.Restore()
		}
		if got := reference(p, j); got != p.Utility() {
			t.Fatalf("seed %d: utility %d after restore, computed afresh %d", seed, p.Utility(), got)
		}
		checkIndex(t, p.s.net)
		checkFree(t, p, g.f)
	}
}

// checkFree reports whether the slots left and the tasks placed add up.
func checkFree(t *testing.T, p *placing, f *topo.Fabric) {
	t.Helper()
	free := slots(f, 2)
	for _, h := range p.host {
		free[h]--
	}
	for h := range free {
		if free[h] != p.free[h] || free[h] < 0 {
			t.Fatalf("host %d: %d slots free, counted %d", h, p.free[h], free[h])
		}
	}
}
