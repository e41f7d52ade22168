package program

import (
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/route"
	"lightloom/southbound"
)

// routing is what a program that chooses paths has been told: the numbers of the paths between racks.
type routing struct {
	*process
	paths map[[2]southbound.RackID][]int
}

func (a *routing) answer(v *controller.View, all []route.Choice) ([]int, error) {
	if a.know(v) {
		a.paths = nil
	}
	q := &Question{Now: v.Now}
	if a.paths == nil {
		a.paths = map[[2]southbound.RackID][]int{}
	}
	for i := range all {
		c := &all[i]
		pair := [2]southbound.RackID{v.HostRack(c.Src), v.HostRack(c.Dst)}
		if told, ok := a.paths[pair]; !ok || !slices.Equal(told, c.Paths) {
			a.paths[pair] = c.Paths
			q.Paths = append(q.Paths, describePaths(v, c, pair))
		}
		q.Rows = append(q.Rows, Row{c.Coflow, c.Src, c.Dst})
	}
	got, err := a.ask(q)
	if err != nil {
		return nil, err
	}
	return got.Route, nil
}

func describePaths(v *controller.View, c *route.Choice, pair [2]southbound.RackID) PairPaths {
	d := PairPaths{From: pair[0], To: pair[1]}
	for _, n := range c.Paths {
		d.Paths = append(d.Paths, Path{n, c.Links(v, n)})
	}
	return d
}
