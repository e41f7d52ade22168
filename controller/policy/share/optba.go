package share

import (
	"cmp"
	"math"
	"slices"

	"lightloom/controller"
	"lightloom/controller/certified"
	"lightloom/controller/policy/route"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// OptBA sets the rates of all host flows that are under way together, by what they have left: those at
// which the last of them ends earliest (OptBA: equation 4.7 of Shi, "Task Scheduling in Modern Data
// Center", 2016), or with Total those of the least sum of transfer times (OptBA-TTT, section 5.4.1).
// Host flows on circuits come first and share max-min fairly. Rates are decided again whenever a host
// flow starts or ends.
type OptBA struct {
	Total bool

	ordered Ordered
	tell    route.Explainer
}

// maxTotal is above how many host flows Total gives way to OptBA's closed form, which takes no time to
// speak of.
const maxTotal = 4000

// Wants implements the part's list of events.
func (*OptBA) Wants() controller.KindSet { return ofFlows() }

// Fill sets the rates of all coflows.
func (a *OptBA) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	o := &a.ordered
	o.start(v, p)
	keys, in, paths := a.instance(v)
	rates, proof := a.rates(in, paths)
	if a.tell != nil && proof != nil && len(keys) > 0 {
		proof.Flows = len(keys)
		a.tell(v, route.Why{Coflow: keys[0].Coflow, Proof: proof})
	}
	for i, rate := range rates {
		whole := pathmap.BitsPerSecond(rate * (1 - 1e-12)) // rounds down
		if whole >= 1 {
			o.rates.Extra = append(o.rates.Extra, southbound.Extra{HostFlowKey: keys[i], Rate: whole})
		}
	}
	o.finish(p)
}

// Tell has every decision's proof reported from now on: of rates on the routes that host flows have.
func (a *OptBA) Tell(to route.Explainer) { a.tell = to }

// rates solves for the rates of host flows. There is no proof where they are for another objective than
// asked.
func (a *OptBA) rates(in *certified.Instance, paths [][]int32) ([]float64, *route.Proof) {
	if a.Total && len(paths) <= maxTotal {
		if answer, err := in.Total(paths); err == nil && !math.IsInf(answer.Value, 1) {
			return answer.Rate, &route.Proof{Value: answer.Value, Bound: answer.Bound}
		}
	}
	rate, last, err := in.Makespan(paths)
	switch {
	case err != nil: // every link has capacity, so none is expected
		return nil, nil
	case a.Total:
		return rate, nil
	}
	return rate, &route.Proof{Value: last, Bound: in.Busiest(paths)}
}

// instance returns the host flows that can send over packets, by coflow and row, and the links that
// they take. It holds every coflow by a pace of zero, on top of which each host flow has its rate.
func (a *OptBA) instance(v *controller.View) (keys []southbound.HostFlowKey, in *certified.Instance,
	paths [][]int32) {
	o, g := &a.ordered, &a.ordered.topologyContext
	in = &certified.Instance{Capacity: make([]float64, len(g.free))}
	for l := range g.free {
		if !g.gone(pathmap.LinkID(l)) {
			in.Capacity[l] = g.free[l]
		}
	}
	for _, i := range byID(v) {
		c := &v.Coflows[i]
		tags := g.tags(c)
		if !c.Started || tags == nil {
			continue
		}
		o.rates.Pace = append(o.rates.Pace, southbound.Pace{Coflow: c.ID})
		for r := range c.Src {
			row := int32(r)
			if c.Ended[r] || !g.onPackets(v, c, row, tags[r]) {
				continue
			}
			links := make([]int32, 0, 8)
			for _, l := range g.links(v, c.Src[r], c.Dst[r], tags[r]) {
				links = append(links, int32(l))
			}
			if slices.ContainsFunc(links, func(l int32) bool { return in.Capacity[l] == 0 }) {
				continue
			}
			keys = append(keys, southbound.HostFlowKey{Coflow: c.ID, Row: row})
			in.Volume = append(in.Volume, max(1, c.Remaining.Row(row)*g.bits))
			paths = append(paths, links)
		}
	}
	return keys, in, paths
}

// byID returns the positions of a view's coflows, by id.
func byID(v *controller.View) []int {
	order := make([]int, len(v.Coflows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v.Coflows[a].ID, v.Coflows[b].ID) })
	return order
}
