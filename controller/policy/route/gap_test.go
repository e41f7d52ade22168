package route

import (
	"math/rand/v2"
	"testing"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/certified"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// gapView is a view of a fat-tree of 128 hosts with one new coflow of random flows of 70 to 100 MB.
func gapView(b *testing.B, seed uint64, flows int) *controller.View {
	b.Helper()
	s, err := topo.ParseSpec("fattree:k=8,hosts=128,rate=1Gbps")
	if err != nil {
		b.Fatal(err)
	}
	f, err := topo.New(s)
	if err != nil {
		b.Fatal(err)
	}
	m, err := f.PathMap(16, 1)
	if err != nil {
		b.Fatal(err)
	}
	v, rng := &controller.View{Seed: seed, Fabric: f, Paths: m}, rand.New(rand.NewPCG(seed, 0x67))
	j := &controller.Job{Weight: 1, Edges: []controller.Edge{{Kind: controller.Fixed}}}
	for range flows {
		src := rng.IntN(f.Hosts())
		dst := (src + 1 + rng.IntN(f.Hosts()-1)) % f.Hosts()
		j.Edges[0].Flows = append(j.Edges[0].Flows, controller.Flow{Src: southbound.HostID(src),
			Dst: southbound.HostID(dst), Bytes: pathmap.Bytes(70e6 + 30e6*rng.Float64())})
	}
	c := controller.Expand(j, &j.Edges[0], nil)
	cv := controller.CoflowView{Src: c.Src, Dst: c.Dst, Size: c.Size, Flows: c.Flows,
		Ended:     make([]bool, len(c.Src)),
		Remaining: southbound.Remaining{F: 1}}
	for _, size := range c.Size {
		cv.Remaining.Base = append(cv.Remaining.Base, float64(size))
	}
	v.Coflows = []controller.CoflowView{cv}
	return v
}

// BenchmarkGap is how far the routes of one coflow are above the bounds of CoRBA (the time of the last
// flow) and of FRoBA (the sum of transfer times) in the mean of seeds 1 to 20, at the best rates on
// these routes.
func BenchmarkGap(b *testing.B) {
	const seeds = 20
	for _, x := range []struct {
		name string
		part func() part
	}{
		{"anneal", func() part { return &Annealed{} }},
		{"anneal-paper", func() part { return &Annealed{Options: anneal.Options{Paper: true}} }},
		{"ecmp", func() part { return ECMP{} }},
		{"corba-best", func() part { return &Certified{Router: certified.CoRBABest, ByCoflow: true} }},
		{"froba-best", func() part { return &Certified{Router: certified.FRoBABest} }},
	} {
		b.Run(x.name, func(b *testing.B) {
			last, total := 0.0, 0.0
			for b.Loop() {
				last, total = 0, 0
				for seed := range uint64(seeds) {
					l, t := gaps(b, gapView(b, seed+1, 100), x.part())
					last, total = last+100*l/seeds, total+100*t/seeds
				}
			}
			b.ReportMetric(last, "%/last")
			b.ReportMetric(total, "%/total")
		})
	}
}

// gaps are by how much of the bounds a part's routes are above them.
func gaps(b *testing.B, v *controller.View, p part) (last, total float64) {
	b.Helper()
	todo := gather(v, &controller.Plan{}, nil, false)
	in := newInstance(v, todo)
	tags, paths := fillOf(v, p).Route[0].Tags, make([][]int32, len(in.Volume))
	for r, k := range in.index[0] {
		if k >= 0 {
			paths[k] = in.over(todo[0].rows[r].Src, todo[0].rows[r].Dst, PathOf(tags[r]))
		}
	}
	_, ends, err := in.Makespan(paths)
	if err != nil {
		b.Fatal(err)
	}
	sum, err := in.Total(paths)
	if err != nil {
		b.Fatal(err)
	}
	c, err := certified.CoRBABest(&in.Instance, certified.Effort{})
	if err != nil {
		b.Fatal(err)
	}
	f, err := certified.FRoBABest(&in.Instance, certified.Effort{Trials: 1})
	if err != nil {
		b.Fatal(err)
	}
	return ends/c.Bound - 1, sum.Value/f.Bound - 1
}
