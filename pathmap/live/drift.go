package live

import (
	"slices"

	"lightloom/pathmap/internal/ksp"
)

// drift brings a row of distances in line with one cable that has gone or come back, node by node: most
// often there is one whose distance changes. It reads how far neighbours are apart, which is all that a
// row knows.
type drift struct {
	node []int32 // whose distance changes
	old  []int32 // the distance that each had, beside that of the first
	now  []int32 // and has
}

// driftNodes is of how many nodes the distance may change: with more, the row is filled anew.
const driftNodes = 24

func (d *drift) begin(x int32) {
	d.node, d.old, d.now = append(d.node[:0], x), append(d.old[:0], 0), d.now[:0]
}

// sink brings r in line with the loss of a cable with which x has lost its last nearer neighbour. It
// reports whether it could; if not, r is as it was.
func (d *drift) sink(r ksp.Row, g *ksp.Graph, x int32) bool {
	d.begin(x)
	for i := 0; i < len(d.node); i++ { // all of one distance before the next farther ones
		n, code := d.node[i], r.Code(d.node[i])
		for _, to := range g.To[g.Start[n]:g.Start[n+1]] {
			if ksp.Detour(code, r.Code(to)) != 2 || slices.Contains(d.node, to) || d.held(r, g, to) {
				continue
			}
			if len(d.node) == driftNodes {
				return false
			}
			d.node, d.old = append(d.node, to), append(d.old, d.old[i]+1)
		}
	}
	for i, n := range d.node {
		least, code := int32(far), r.Code(n)
		for _, to := range g.To[g.Start[n]:g.Start[n+1]] {
			if !slices.Contains(d.node, to) { // none is nearer
				least = min(least, d.old[i]+int32(ksp.Detour(code, r.Code(to))))
			}
		}
		d.now = append(d.now, least)
	}
	for changed := true; changed; {
		changed = false
		for i, n := range d.node {
			for _, to := range g.To[g.Start[n]:g.Start[n+1]] {
				if k := slices.Index(d.node, to); k >= 0 && d.now[k]+1 < d.now[i] {
					d.now[i], changed = d.now[k]+1, true
				}
			}
		}
	}
	d.write(r)
	return true
}

// held reports whether a node keeps a nearer neighbour whose distance stays.
func (d *drift) held(r ksp.Row, g *ksp.Graph, n int32) bool {
	code := r.Code(n)
	for _, to := range g.To[g.Start[n]:g.Start[n+1]] {
		if ksp.Detour(code, r.Code(to)) == 0 && !slices.Contains(d.node, to) {
			return true
		}
	}
	return false
}

// rise brings r in line with a cable between x and y which is back, and with which x is nearer by so
// much. It reports whether it could; if not, r is as it was.
func (d *drift) rise(r ksp.Row, g *ksp.Graph, x, y, by int32) bool {
	d.begin(x)
	d.now = append(d.now, -by)
	for i := 0; i < len(d.node); i++ {
		n, code, next := d.node[i], r.Code(d.node[i]), i
		for _, to := range g.To[g.Start[n]:g.Start[n+1]] {
			if n == x && to == y {
				continue // they were no neighbours
			}
			old := d.old[i] + int32(ksp.Detour(code, r.Code(to))) - 1
			k := slices.Index(d.node, to)
			switch now := d.now[i] + 1; {
			case k < 0 && now < old:
				if len(d.node) == driftNodes {
					return false
				}
				d.node, d.old, d.now = append(d.node, to), append(d.old, old), append(d.now, now)
			case k >= 0 && now < d.now[k]:
				d.now[k] = now
				next = min(next, k-1) // look at its neighbours again
			}
		}
		i = next
	}
	d.write(r)
	return true
}

// write records the new distances in r.
func (d *drift) write(r ksp.Row) {
	for i, n := range d.node {
		code := uint8(ksp.Unreached)
		if d.now[i] < far {
			code = uint8((int32(r.Code(n)) + (d.now[i]-d.old[i])%3 + 3) % 3)
		}
		r.Set(n, code)
	}
}
