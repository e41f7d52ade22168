package route

import (
	"slices"

	"lightloom/controller"
)

// row is which row of its coflow a row is.
func (c *coflow) row(r int) int {
	if c.again != nil {
		return c.at[r]
	}
	return r
}

// staleRows returns the rows of a routed coflow that are to be routed once more; with all, those are all
// that go from rack to rack and have not ended.
func (f *finder) staleRows(c *controller.CoflowView, all bool) (rows []int) {
	for r := range c.Src {
		apart := f.v.HostRack(c.Src[r]) != f.v.HostRack(c.Dst[r])
		if all && apart && !c.Ended[r] || f.stale(c, r) {
			rows = append(rows, r)
		}
	}
	return rows
}

// pick returns those values; nil for none.
func pick[T any](all []T, at []int) []T {
	if all == nil {
		return nil
	}
	out := make([]T, len(at))
	for i, r := range at {
		out[i] = all[r]
	}
	return out
}

// lift returns a view without the rows that are to be routed once more.
func lift(v *controller.View, todo []coflow) *controller.View {
	var out *controller.View
	for i := range todo {
		again := todo[i].again
		if again == nil {
			continue
		}
		if out == nil {
			copied := *v
			copied.Coflows = slices.Clone(v.Coflows)
			out = &copied
		}
		k := slices.IndexFunc(v.Coflows, func(c controller.CoflowView) bool { return c.ID == again.ID })
		c := &out.Coflows[k]
		c.Ended = slices.Clone(c.Ended)
		for _, r := range todo[i].at {
			c.Ended[r] = true
		}
	}
	if out == nil {
		return v
	}
	return out
}
