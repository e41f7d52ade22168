package policytest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// briefly checks that a policy decides alike on brief reports of what coflows have left, and on whole ones that do not
// say how far that can have changed. One instance for each goes through the same views, because what a policy remembers
// of a coflow may spare it to read more.
func briefly(t Reporter, seed uint64, fresh func() controller.Policy) {
	t.Helper()
	g := &generator{rng: rand.New(rand.NewPCG(seed, 0x31)), v: &controller.View{Seed: seed}}
	g.wide()
	whole, short := fresh(), fresh()
	for step := range 6 {
		w := *g.v
		w.Coflows = slices.Clone(w.Coflows)
		for i := range w.Coflows {
			w.Coflows[i].Remaining.Steady, w.Coflows[i].Remaining.Carried = 0, 0
		}
		want, got := text(whole.Decide(&w, nil)), text(short.Decide(brief(g.v), nil))
		if !same(want, got, true) {
			t.Fatalf("view %d, step %d: decides\n%s\nwhere what is left is brief, else\n%s", seed, step, got, want)
		}
		g.goOn()
	}
}

// wide makes a view of coflows of many rows on a fabric of ports alone. All of them hold, and some of their rows are
// off their pace.
func (g *generator) wide() {
	f, err := topo.New(topo.Spec{Kind: topo.Crossbar, Racks: 10})
	if err != nil {
		panic("policytest: " + err.Error())
	}
	g.v.Fabric, g.v.Now, g.v.Free = f, time.Minute, make([]int32, f.Hosts())
	if g.v.Paths, err = f.PathMap(1, g.v.Seed); err != nil {
		panic("policytest: " + err.Error())
	}
	for id := range southbound.CoflowID(5) {
		e, most := controller.Edge{Kind: controller.Fixed}, 8e5+g.rng.Int64N(4e5) // so that orders change
		for dst := range southbound.HostID(9) {
			for src := range southbound.HostID(9) {
				e.Flows = append(e.Flows, controller.Flow{Src: src, Dst: dst + 1, Bytes: pathmap.Bytes(1 + g.rng.Int64N(most))})
			}
		}
		g.coflowsOf(&controller.Job{ID: controller.JobID(id), FirstCoflow: id, Weight: 1, Edges: []controller.Edge{e}})
	}
	for i := range g.v.Coflows {
		c := &g.v.Coflows[i]
		c.Started, c.Routed = true, true
		clear(c.Ended)
		c.LiveRows = int32(len(c.Src))
		c.Remaining = southbound.Remaining{F: 1, Base: make([]float64, len(c.Src)), Live: c.LiveRows, Version: 1}
		for row, size := range c.Size {
			c.Remaining.Base[row] = float64(size)
			if g.rng.IntN(4) == 0 {
				c.Remaining.Off = append(c.Remaining.Off, southbound.OffLoad{Row: int32(row), Src: c.Src[row], Dst: c.Dst[row]})
			}
		}
		c.Remaining.Load = onPace(g.v.Fabric, c)
	}
	g.goOn()
}

// goOn has rows off the pace of some coflows receive bytes, by little or by much.
func (g *generator) goOn() {
	g.v.Now += 10 * time.Millisecond
	for i := range g.v.Coflows {
		c := &g.v.Coflows[i]
		left := &c.Remaining
		left.Base, left.Off, left.At = slices.Clone(left.Base), slices.Clone(left.Off), g.v.Now
		most := []float64{0, 1e-6, 0.1, 0.9}[g.rng.IntN(4)]
		for k := range left.Off {
			o := &left.Off[k]
			fell := left.Base[o.Row] * most * g.rng.Float64()
			left.Base[o.Row] -= fell
			o.Base = left.Base[o.Row]
			left.Carried += fell // over one link at most
		}
		if left.Steady == 0 || g.rng.IntN(8) == 0 {
			left.Steady = uint64(100*i) + uint64(g.v.Now/time.Millisecond)
		}
	}
}

// onPace adds up what the rows on a coflow's pace have left over the links of hosts.
func onPace(f *topo.Fabric, c *controller.CoflowView) (load []southbound.LinkLoad) {
	for row := range c.Src {
		if slices.ContainsFunc(c.Remaining.Off, func(o southbound.OffLoad) bool { return o.Row == int32(row) }) {
			continue
		}
		up := f.Topology.Out(f.HostNode[c.Src[row]])[0]
		down := pathmap.Reverse(f.Topology.Out(f.HostNode[c.Dst[row]])[0])
		for _, l := range []pathmap.LinkID{up, down} {
			i := slices.IndexFunc(load, func(u southbound.LinkLoad) bool { return u.Link == l })
			if i < 0 {
				i, load = len(load), append(load, southbound.LinkLoad{Link: l})
			}
			load[i].Rows++
			load[i].Base += c.Remaining.Base[row]
		}
	}
	return load
}

// brief returns a copy of a view in which what coflows have left is brief. Base is no number for the rows off the pace,
// which are all where there are no sums.
func brief(v *controller.View) *controller.View {
	c := *v
	c.Coflows = slices.Clone(v.Coflows)
	for i := range c.Coflows {
		left := &c.Coflows[i].Remaining
		left.Base = slices.Clone(left.Base)
		for row := range left.Base {
			if left.Load == nil {
				left.Base[row] = math.NaN()
			}
		}
		for _, o := range left.Off {
			left.Base[o.Row] = math.NaN()
		}
		left.Brief, left.Off = true, nil
	}
	c.Rest = func(id southbound.CoflowID) (southbound.Remaining, bool) {
		i, found := v.FindCoflow(id)
		if !found {
			panic(fmt.Sprintf("policytest: asks for what coflow %d has left, which is not in the view", id))
		}
		return v.Coflows[i].Remaining, true
	}
	return &c
}
