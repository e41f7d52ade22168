// Package route holds the parts of a policy that decide which paths host flows take over the packet
// network, as one tag a host flow.
//
// It ignores circuits: a host flow on a circuit leaves its tag aside and comes back to it.
package route

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/pending"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Wants are the events after which a coflow can lack routes, or hold a broken one.
func Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.FabricChanged)
}

// option is a path between two racks that a tag can name and that has light.
type option struct{ path, hops int }

// picker chooses among the options of a host flow; there is at least one.
type picker func(c southbound.CoflowID, src, dst southbound.HostID, opts []option) southbound.Tag

// finder answers for the paths of one view. Lookups cost microseconds and coflows hold thousands of
// host flows, so that it keeps what it has found.
type finder struct {
	v    *controller.View
	buf  []pathmap.LinkID
	opts map[[2]southbound.RackID][]option
	over map[[2]southbound.RackID]bool // has a path over a link that has changed
}

func newFinder(v *controller.View) *finder {
	return &finder{v: v, opts: map[[2]southbound.RackID][]option{}, over: map[[2]southbound.RackID]bool{}}
}

// options returns the usable paths between two racks, in the map's order. Borrowed.
func (f *finder) options(s, d southbound.RackID) []option {
	key := [2]southbound.RackID{s, d}
	opts, ok := f.opts[key]
	if !ok {
		for i := range min(f.v.Paths.Paths(int(s), int(d)), southbound.MaxNamedPaths) {
			f.buf = f.v.Paths.AppendPath(f.buf[:0], int(s), int(d), i)
			if f.lit(f.buf) {
				opts = append(opts, option{i, len(f.buf)})
			}
		}
		f.opts[key] = opts
	}
	return opts
}

// changed reports whether a path between two racks has a link that came or went since the last
// decision. Their host flows are then routed again: those on it because they must, the others because
// capacity has changed.
func (f *finder) changed(s, d southbound.RackID) bool {
	switch {
	case f.v.Changed == nil:
		return false
	case f.v.Touched != nil:
		pair := pathmap.Pair{A: int32(min(s, d)), B: int32(max(s, d))}
		_, over := slices.BinarySearchFunc(f.v.Touched, pair, pathmap.ComparePairs)
		return over
	}
	key := [2]southbound.RackID{s, d}
	over, ok := f.over[key]
	if !ok {
		for i := range min(f.v.Paths.Paths(int(s), int(d)), southbound.MaxNamedPaths) {
			f.buf = f.v.Paths.AppendPath(f.buf[:0], int(s), int(d), i)
			over = over || slices.ContainsFunc(f.buf, func(l pathmap.LinkID) bool { return f.v.Changed[l] })
		}
		f.over[key] = over
	}
	return over
}

// stale reports whether a host flow of a routed coflow must be routed again.
func (f *finder) stale(c *controller.CoflowView, row int) bool {
	s, d := f.v.HostRack(c.Src[row]), f.v.HostRack(c.Dst[row])
	if c.Ended[row] || s == d || len(f.options(s, d)) == 0 {
		return false
	}
	return f.changed(s, d) || !f.leads(s, d, c.Tag[row])
}

func (f *finder) lit(links []pathmap.LinkID) bool {
	return f.v.Down == nil || !slices.ContainsFunc(links, func(l pathmap.LinkID) bool { return f.v.Down[l] })
}

// leads reports whether the path of a tag between two racks is up. The default is the map's first path.
func (f *finder) leads(s, d southbound.RackID, t southbound.Tag) bool {
	return slices.ContainsFunc(f.options(s, d), func(o option) bool { return o.path == PathOf(t) })
}

// tag chooses for one host flow. Between hosts of one rack there is nothing to choose; where nothing
// leads, the default goes as far as the switches' own backups carry it.
func (f *finder) tag(pick picker, c southbound.CoflowID, src, dst southbound.HostID) southbound.Tag {
	s, d := f.v.HostRack(src), f.v.HostRack(dst)
	if s == d {
		return southbound.TagDefault
	}
	if opts := f.options(s, d); len(opts) > 0 {
		return pick(c, src, dst, opts)
	}
	return southbound.TagDefault
}

// fill routes what has no route yet: coflows that the plan creates, those that the view holds unrouted;
// and routes those once more whose path has gone dark, or for whose racks a link has come or gone. All
// others are left alone.
func fill(v *controller.View, p *controller.Plan, pick picker) {
	f := newFinder(v)
	for _, c := range pending.Placed(v, p) {
		p.Route = append(p.Route, controller.Routing{Coflow: c.ID, Tags: f.tags(pick, c.ID, c.Src, c.Dst)})
	}
	for i := range v.Coflows {
		switch c := &v.Coflows[i]; {
		case len(c.Src) == 0:
		case !c.Routed:
			p.Route = append(p.Route, controller.Routing{Coflow: c.ID, Tags: f.tags(pick, c.ID, c.Src, c.Dst)})
		case v.Down != nil || v.Changed != nil:
			if tags := f.mend(pick, c); tags != nil {
				p.Route = append(p.Route, controller.Routing{Coflow: c.ID, Tags: tags})
			}
		}
	}
	slices.SortFunc(p.Route, func(a, b controller.Routing) int { return cmp.Compare(a.Coflow, b.Coflow) })
}

func (f *finder) tags(pick picker, c southbound.CoflowID, src, dst []southbound.HostID) []southbound.Tag {
	tags := make([]southbound.Tag, len(src))
	for r := range tags {
		tags[r] = f.tag(pick, c, src[r], dst[r])
	}
	return tags
}

// mend returns a coflow's tags with those replaced that lead nowhere and can be, or for whose racks a
// link has come or gone; nil where that changes nothing.
func (f *finder) mend(pick picker, c *controller.CoflowView) []southbound.Tag {
	var tags []southbound.Tag
	for r, t := range c.Tag {
		if !f.stale(c, r) {
			continue
		}
		if to := f.tag(pick, c.ID, c.Src[r], c.Dst[r]); to != t {
			if tags == nil {
				tags = slices.Clone(c.Tag)
			}
			tags[r] = to
		}
	}
	return tags
}
