package route

import (
	"cmp"
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Asked routes host flows over the paths that Ask chooses.
type Asked struct {
	// Ask returns the number of a path for every choice; these are sorted by coflow, destination and source.
	Ask func(v *controller.View, all []Choice) ([]int, error)
}

// Choice is a host flow between two racks that lacks a path, and the paths that it can take. There is
// at least one.
type Choice struct {
	Coflow   southbound.CoflowID
	Src, Dst southbound.HostID
	Paths    []int // by what the path map calls them, shortest first
}

// Links returns the links of a path of a choice.
func (c *Choice) Links(v *controller.View, path int) []pathmap.LinkID {
	return v.Paths.AppendPath(nil, int(v.HostRack(c.Src)), int(v.HostRack(c.Dst)), path)
}

// Wants implements the part's list of events.
func (*Asked) Wants() controller.KindSet { return Wants() }

// Fill routes coflows. It finds out twice what lacks a route: to ask for everything at once, and to
// fill in the answers.
func (a *Asked) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	var all []Choice
	draft := *p
	draft.Route = nil
	fill(v, &draft, func(c southbound.CoflowID, src, dst southbound.HostID, opts []option) southbound.Tag {
		q := Choice{Coflow: c, Src: src, Dst: dst, Paths: make([]int, len(opts))}
		for i, o := range opts {
			q.Paths[i] = o.path
		}
		all = append(all, q)
		return southbound.TagDefault
	})
	if len(all) == 0 {
		p.Route = append(p.Route, draft.Route...)
		return
	}
	slices.SortFunc(all, byRow) // whatever the view's order
	paths, err := a.Ask(v, all)
	if err == nil {
		err = checkPaths(all, paths)
	}
	if err != nil {
		p.Err = fmt.Errorf("route host flows: %w", err)
		return
	}
	fill(v, p, func(c southbound.CoflowID, src, dst southbound.HostID, _ []option) southbound.Tag {
		i, _ := slices.BinarySearchFunc(all, Choice{Coflow: c, Src: src, Dst: dst}, byRow)
		return southbound.PathTag(paths[i])
	})
}

func byRow(a, b Choice) int {
	return cmp.Or(cmp.Compare(a.Coflow, b.Coflow), cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Src, b.Src))
}

func checkPaths(all []Choice, paths []int) error {
	if len(paths) != len(all) {
		return fmt.Errorf("%d paths for %d host flows", len(paths), len(all))
	}
	for i, q := range all {
		known := false
		for _, x := range q.Paths {
			known = known || x == paths[i]
		}
		if !known {
			return fmt.Errorf("host flow %d→%d of coflow %d is given path %d; it can take %d", q.Src,
				q.Dst, q.Coflow, paths[i],
				q.Paths)
		}
	}
	return nil
}
