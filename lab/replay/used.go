package replay

import (
	"slices"

	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Fabric returns the fabric of a case, as run.
func (r *Ran) Fabric() *topo.Fabric { return r.fabric }

// Used returns the cables between switches that carried host flows which had not ended when the case
// stopped, by the path that the flow's tag names. Each cable is named by its even direction; they are
// in ascending order.
func (r *Ran) Used() ([]pathmap.LinkID, error) {
	paths, err := r.fabric.PathMap(r.fabric.Spec.PathsKept(), r.seed)
	if err != nil {
		return nil, err
	}
	var buf, out []pathmap.LinkID
	for _, c := range r.State.Coflows {
		if c.Started == state.Unset || c.Ended != state.Unset {
			continue
		}
		for row, tag := range c.Tag {
			from, to := r.fabric.RackOf(int32(c.Columns.Src[row])), r.fabric.RackOf(int32(c.Columns.Dst[row]))
			i, named := tag.Path()
			if c.Done[row] || from == to || !named {
				continue
			}
			for _, l := range paths.AppendPath(buf[:0], int(from), int(to), i) {
				out = append(out, l&^1)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
