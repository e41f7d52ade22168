package page

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Try says what would come of a failure now, for Actions. It changes nothing.
func (c *Controller) Try(_ context.Context, part Failed) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.data == nil {
		return nil, fmt.Errorf("try %s %s: nothing is known of the controller's state yet", part.Kind, part.Name)
	}
	if c.paths == nil {
		m, err := c.now.PathMap(c.now.Spec.PathsKept(), c.Seed)
		if err != nil {
			return nil, fmt.Errorf("try %s %s: %w", part.Kind, part.Name, err)
		}
		c.paths = m
	}
	cut, err := cutBy(c.now, part)
	if err != nil {
		return nil, err
	}
	return tried(c.now, c.paths, c.data, part, cut), nil
}

// cutBy returns which links a failure would cut.
func cutBy(f *topo.Fabric, part Failed) ([]bool, error) {
	t := f.Topology
	cut, any := make([]bool, len(t.Links())), false
	for i, l := range t.Links() {
		from, to := t.Node(l.From).Name, t.Node(l.To).Name
		if t.Unplugged(pathmap.LinkID(i)) {
			continue
		}
		hit := part.Kind == "link" && (part.Name == from+"-"+to || part.Name == to+"-"+from) ||
			part.Kind == "switch" && (part.Name == from || part.Name == to)
		cut[i] = hit
		any = any || hit
	}
	if !any {
		return nil, fmt.Errorf("try %s %q: no such part is known: a link is A-B, by the names of its ends", part.Kind,
			part.Name)
	}
	return cut, nil
}

// tried tells what would come of cut links: pairs of racks without a path, host flows that would have
// to move or could not, and circuits that would go dark.
func tried(f *topo.Fabric, paths *pathmap.Map, d *state.Data, part Failed, cut []bool) []string {
	down := slices.Clone(cut)
	for _, p := range d.Down {
		if l := f.Topology.OutPort(p.Device, int32(p.Port)); l != pathmap.None {
			down[l], down[pathmap.Reverse(l)] = true, true
		}
	}
	w := wreck{f: f, paths: paths, cut: cut, down: down, jobs: map[controller.JobID]bool{},
		parted: map[pair]bool{}}
	for s := range f.Racks {
		for e := range f.Racks {
			if s != e && !w.joined(int32(s), int32(e)) {
				w.parted[pair{int32(s), int32(e)}] = true
			}
		}
	}
	for _, c := range d.Coflows {
		if c.Started != state.Unset && c.Ended == state.Unset {
			w.coflow(d, c)
		}
	}
	return w.lines(d, part)
}

// wreck is what a failure would leave.
type wreck struct {
	f         *topo.Fabric
	paths     *pathmap.Map
	cut, down []bool // by link: by this failure, and by all
	buf       []pathmap.LinkID

	parted      map[pair]bool // racks without a path over packets
	moved, lost int           // host flows
	jobs        map[controller.JobID]bool
}

// whole reports whether a path has no link of those.
func (w *wreck) whole(from, to int32, i int, without []bool) bool {
	w.buf = w.paths.AppendPath(w.buf[:0], int(from), int(to), i)
	return !slices.ContainsFunc(w.buf, func(l pathmap.LinkID) bool { return without[l] })
}

func (w *wreck) joined(from, to int32) bool {
	for i := range w.paths.Paths(int(from), int(to)) {
		if w.whole(from, to, i, w.down) {
			return true
		}
	}
	return false
}

// coflow counts the host flows of a coflow that the failure would meet.
func (w *wreck) coflow(d *state.Data, c *state.Coflow) {
	for i := range c.Columns.Src {
		if i < len(c.Done) && c.Done[i] {
			continue
		}
		src, dst := c.Columns.Src[i], c.Columns.Dst[i]
		p := pair{w.f.RackOf(int32(src)), w.f.RackOf(int32(dst))}
		tag := southbound.Tag(0)
		if i < len(c.Tag) {
			tag = c.Tag[i]
		}
		switch {
		case w.cutHost(src) || w.cutHost(dst) || p.from != p.to && w.parted[p]:
			w.lost++
		case p.from == p.to || !w.meets(d, p, tag):
			continue
		default:
			w.moved++
		}
		w.jobs[c.Job] = true
	}
}

// cutHost reports whether a host's own link would be cut.
func (w *wreck) cutHost(h southbound.HostID) bool {
	l := w.f.Topology.OutPort(w.f.HostNode[h], 0)
	return l != pathmap.None && w.cut[l]
}

// meets reports whether the path or the circuit that a tag names would be cut.
func (w *wreck) meets(d *state.Data, p pair, tag southbound.Tag) bool {
	if southbound.NamesCircuit(w.f, tag) {
		for in, c := range d.Circuits {
			if c.Phase != controller.NoCircuit && w.f.OCSRack(int32(in)) == p.from &&
				w.f.OCSRack(int32(c.Out)) == p.to &&
				w.darkens(int32(in), int32(c.Out)) {
				return true
			}
		}
		return false
	}
	i, ok := tag.Path()
	if !ok {
		i = 0 // the default path
	}
	return i < w.paths.Paths(int(p.from), int(p.to)) && !w.whole(p.from, p.to, i, w.cut)
}

// darkens reports whether a circuit would go dark.
func (w *wreck) darkens(in, out int32) bool {
	for _, port := range []int32{in, out} {
		l := w.f.Topology.OutPort(w.f.OCSAt(port))
		if l != pathmap.None && w.cut[l] {
			return true
		}
	}
	return false
}

func (w *wreck) lines(d *state.Data, part Failed) []string {
	dark := 0
	for in, c := range d.Circuits {
		if c.Phase != controller.NoCircuit && w.darkens(int32(in), int32(c.Out)) {
			dark++
		}
	}
	out := []string{fmt.Sprintf("if %s %s failed now:", part.Kind, part.Name)}
	if dark > 0 {
		out = append(out, plural(dark, "circuit")+" would go dark")
	}
	if w.moved > 0 {
		out = append(out, plural(w.moved, "host flow")+" would take another path")
	}
	if w.lost > 0 {
		out = append(out, plural(w.lost, "host flow")+" would stop until it heals")
	}
	if n := len(w.parted); n > 0 {
		out = append(out, plural(n, "pair")+" of racks would have no path over packets")
	}
	if len(w.jobs) > 0 {
		out = append(out, "jobs that notice: "+w.names(d))
	}
	if len(out) == 1 {
		out = append(out, "nothing that runs now would notice")
	}
	return out
}

func (w *wreck) names(d *state.Data) string {
	const most = 6
	var names []string
	for _, j := range d.Jobs {
		if w.jobs[j.ID] {
			names = append(names, fmt.Sprintf("%d %s", j.ID, j.Name))
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
