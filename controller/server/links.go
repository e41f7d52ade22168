package server

import (
	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/pathmap"
)

// namedLinks gives rates the names of their links; those of which nothing is known are left out.
func namedLinks(t *pathmap.Topology, all []controller.LinkRate) (out []api.Link) {
	for i, r := range all {
		if l := t.Link(pathmap.LinkID(i)); r.Span > 0 {
			out = append(out, api.Link{ID: pathmap.LinkID(i), From: t.Node(l.From).Name,
				To: t.Node(l.To).Name, LinkRate: r})
		}
	}
	return out
}
