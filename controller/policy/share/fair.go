package share

import (
	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
	"lightloom/southbound"
)

// Fair gives every host flow an equal part of each of its links, and so the least of these parts: what
// a link's host flows leave because they are held back elsewhere stays idle. That is per-port fairness
// as coflowsim has it under FAIR (Varys' baseline of per-flow fairness), and less than max-min
// fairness, which maxmin gives.
type Fair struct{ MaxMin }

// Fill plans the rates that have changed.
func (f *Fair) Fill(v *controller.View, ev []controller.Event, p *controller.Plan) {
	if f.ports.serves(v) {
		p.Share = f.ports.equal(v, ev)
		return
	}
	classes, flows := live(v, p)
	first := f.said == nil
	count := make([]int64, len(v.Fabric.Topology.Links()))
	in := make([]maxmin.Class, len(classes))
	for i, c := range classes {
		in[i].Links = f.links(v, c)
		for _, l := range in[i].Links {
			count[l] += flows[i]
		}
	}
	rates := make([]pathmap.BitsPerSecond, len(classes))
	for i := range classes {
		rates[i] = pathmap.BitsPerSecond(1<<63 - 1)
		for _, l := range in[i].Links {
			rates[i] = min(rates[i], v.Room(l)/pathmap.BitsPerSecond(count[l]))
		}
	}
	if pairs := f.news(classes, rates); first || len(pairs) > 0 {
		p.Share = &southbound.Rates{Pairs: pairs}
	}
}
