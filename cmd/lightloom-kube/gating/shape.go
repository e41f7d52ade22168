package gating

import (
	"fmt"
	"slices"
)

// placeShape gives a group a slice of a pod of cubes. Which cubes it has is the controller's choice.
func (d *decision) placeShape(g *group) {
	if g.slice == nil {
		d.ask(g, nil)
		return
	}
	var hosts []site
	missing := ""
	for _, h := range d.Hosts { // a cube is a rack
		if !slices.Contains(g.slice.Cubes, h.Rack) {
			continue
		}
		i := slices.IndexFunc(d.sites, func(s site) bool { return s.host == h.Name && usable(s.node) })
		if i < 0 {
			missing = h.Name
			continue
		}
		hosts = append(hosts, d.sites[i])
	}
	switch nodes := product(g.Shape); {
	case len(g.slice.Cubes) > 0 && missing != "":
		d.wait(g, NoRoom, fmt.Sprintf("host %s of its slice is no node that is ready", missing))
	case len(g.slice.Cubes) > 0 && len(hosts) != nodes:
		d.wait(g, Impossible, fmt.Sprintf("shape %s takes %d nodes, and its cubes have %d: ask for whole cubes", g.Shape,
			nodes, len(hosts)))
	default:
		d.follow(g, hosts)
	}
}

// product returns the nodes of a shape such as 2x2x4; 0 for what is none.
func product(shape string) int {
	var a, b, c int
	if n, _ := fmt.Sscanf(shape, "%dx%dx%d", &a, &b, &c); n < 3 {
		return 0
	}
	return a * b * c
}
