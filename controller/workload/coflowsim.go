package workload

import (
	"cmp"
	"slices"

	"lightloom/pathmap"
)

// AsCoflowsim changes a trace to what coflowsim (github.com/coflow/coflowsim) makes of it: the mappers
// of a rack are one, the reducers of a rack are one of all their megabytes, and these are rounded up to
// a multiple of the mappers, at least a megabyte for each, so that all flows of a reducer are alike. It
// returns how many coflows are not as they were.
func (t *Trace) AsCoflowsim() (changed int) {
	for i := range t.Coflows {
		c := &t.Coflows[i]
		was := TraceCoflow{Mappers: slices.Clone(c.Mappers), Reducers: slices.Clone(c.Reducers)}
		slices.Sort(c.Mappers)
		c.Mappers = slices.Compact(c.Mappers)
		slices.SortStableFunc(c.Reducers, func(a, b Reducer) int { return cmp.Compare(a.Rack, b.Rack) })
		out := c.Reducers[:0]
		for _, r := range c.Reducers {
			if last := len(out) - 1; last >= 0 && out[last].Rack == r.Rack {
				out[last].Bytes += r.Bytes
			} else {
				out = append(out, r)
			}
		}
		c.Reducers = out
		n := pathmap.Bytes(len(c.Mappers)) * Megabyte
		for k := range c.Reducers {
			c.Reducers[k].Bytes = (max(c.Reducers[k].Bytes, 1) + n - 1) / n * n
		}
		if was.Bytes() != c.Bytes() || len(was.Mappers) != len(c.Mappers) ||
			len(was.Reducers) != len(c.Reducers) {
			changed++
		}
	}
	return changed
}
