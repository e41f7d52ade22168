package route

import (
	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// WCMP draws a path for every host flow among the equal-cost shortest ones by a seeded hash, a path's
// weight being its available bandwidth (weighted-cost multipath): what its narrowest link would give to
// one host flow more, if those under way shared it equally.
type WCMP struct{}

// Wants implements the part's list of events.
func (WCMP) Wants() controller.KindSet { return Wants() }

// Fill routes coflows.
func (WCMP) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	in := newInstance(v, nil)
	count := make([]float64, len(in.Capacity))
	for _, paths := range in.paths {
		for _, l := range paths[0] {
			count[l]++
		}
	}
	var links []pathmap.LinkID
	fill(v, p, func(c southbound.CoflowID, src, dst southbound.HostID, opts []option) southbound.Tag {
		s, d := v.HostRack(src), v.HostRack(dst)
		sum, weight := 0.0, make([]float64, 0, len(opts))
		for _, o := range opts {
			if o.hops > opts[0].hops {
				break
			}
			links = v.Paths.AppendPath(links[:0], int(s), int(d), o.path)
			w := in.Capacity[links[0]] / (count[links[0]] + 1)
			for _, l := range links {
				w = min(w, in.Capacity[l]/(count[l]+1))
			}
			weight = append(weight, w)
			sum += w
		}
		at := float64(Hash(v.Seed, c, src, dst)>>11) / (1 << 53) * sum
		for i, w := range weight {
			if at -= w; at < 0 {
				return southbound.PathTag(opts[i].path)
			}
		}
		return southbound.PathTag(opts[0].path)
	})
}
