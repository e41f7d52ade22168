package live

import (
	"fmt"
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/internal/ksp"
)

// Paths is a map that follows its network: links and nodes that go down and come back, and capacities
// that change. After each change it equals the result of pathmap.Build for the current network, path
// for path; only what the change affects is computed anew.
//
// A link is usable while neither it nor a node it joins has failed and both its directions have a
// capacity above zero. Down links keep their place in the order of ties (Options.Down).
//
// A packed map is followed by the index of the cross-layer document (section 2, Fault-tolerance and
// Dynamism): which pairs use a link. It takes about four bytes for each link of each pair's paths, or,
// where many pairs share each link, a bit for each link and pair. An implicit map is followed without
// index: its distances are repaired, and no changed pairs are reported.
//
// A change to a packed map has two halves. The first, which is what waits while packets are lost,
// repairs distances and names the pairs that are touched: from then on their answers are searched for,
// as those of an implicit map are, and all answers are right. The second, Settle, packs them and brings
// the index up to date; a change that finds the one before it unsettled does that first.
//
// A Paths belongs to one goroutine. The maps that it gives out are immutable, and each stays as it was.
type Paths struct {
	t         *pathmap.Topology
	opt       pathmap.Options
	m         *ksp.Table
	entry     []int32 // by link
	end       []int32 // by rank: the end
	bandwidth *pathmap.Bandwidth
	failed    []bool // by cable
	dead      []bool // by node
	out       []bool // by cable: not usable, for whichever reason
	users     *users // nil where the map is implicit
	inverse   [][]uint32
	back      []int32
	local     []int32

	settled   *ksp.Table  // the map before the change that is not settled; nil: m is settled
	pending   []uint32    // pairs, ascending, that the change touched
	returning *gainFilter // of the cables that it brought back; nil where they went
	tallies   []*cableUse // memory of the repairing goroutines
}

// Follow builds the map of t between ends as pathmap.Build does, and follows it. Links that opt.Down
// names have failed.
func Follow(t *pathmap.Topology, ends []pathmap.NodeID, opt pathmap.Options) (*Paths, error) {
	built, err := pathmap.Build(t, ends, opt)
	if err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	m := built.Table()
	v := &Paths{t: t, opt: opt, m: m, bandwidth: pathmap.NewBandwidth(t),
		entry:  m.Graph.Entries(len(t.Links())),
		end:    make([]int32, len(ends)),
		failed: make([]bool, len(t.Links())/2), dead: make([]bool, len(t.Nodes())), out: make([]bool,
			len(t.Links())/2)}
	v.opt.Down = func(l pathmap.LinkID) bool { return v.out[l/2] }
	for e, r := range m.Rank {
		v.end[r] = int32(e)
	}
	for c := range v.out {
		l := pathmap.LinkID(2 * c)
		v.failed[c] = opt.Down != nil && (opt.Down(l) || opt.Down(l+1))
		v.out[c] = v.failed[c]
	}
	if !opt.Packed {
		return v, nil
	}
	v.inverse, v.back, v.local = m.Graph.Inverses(), m.Graph.Backs(len(t.Links())), m.Graph.Locals()
	if v.users, err = newUsers(m, len(v.out), v.back); err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	m.Measure()
	return v, nil
}

// Map returns the map as of now. It does not change: ask again after a change.
func (v *Paths) Map() *pathmap.Map { return pathmap.MapOf(v.m) }

// Options returns what pathmap.Build takes to make the map as of now. Its Down follows later changes.
func (v *Paths) Options() pathmap.Options { return v.opt }

// Bandwidth returns the capacities as of now and what is taken of them. Capacities are changed by
// SetCapacity alone.
func (v *Paths) Bandwidth() *pathmap.Bandwidth { return v.bandwidth }

// Down reports whether link l is not usable now.
func (v *Paths) Down(l pathmap.LinkID) bool { return v.out[l/2] }

// Bytes returns the memory of map and index, and of repairs, the topology not counted.
func (v *Paths) Bytes() int64 {
	n := v.m.Bytes() + int64(4*cap(v.entry)+4*cap(v.end)+4*cap(v.back)+4*cap(v.local)+3*cap(v.out)+
		16*len(v.t.Links()))
	if v.users != nil {
		n += v.users.bytes()
	}
	for _, t := range v.tallies {
		n += t.bytes()
	}
	return n
}

// Users returns the pairs that have link l, in either direction, on at least one of their paths,
// sorted; nil on an implicit map. It settles.
func (v *Paths) Users(l pathmap.LinkID) []pathmap.Pair {
	if v.users == nil {
		return nil
	}
	v.Settle()
	return v.pairs(v.users.append(nil, int32(l/2)))
}

// Settle packs the paths of the pairs that the last change touched, and brings the index up to date. It
// returns the pairs whose paths that change did change, sorted; nil on an implicit map, and where
// nothing is left to settle.
func (v *Paths) Settle() []pathmap.Pair {
	if v.settled == nil {
		return nil
	}
	next := *v.m
	next.Stale, next.Rows = nil, slices.Clone(v.m.Rows)
	v.m = v.settled
	changed := v.renew(&next, v.pending, v.returning)
	v.settled, v.pending, v.returning = nil, nil, nil
	return v.pairs(changed)
}

// FailLink records that link l is down, and with it the other direction of its cable. It returns the
// pairs that this affects, sorted: those that use the link, all of whose paths change. Calls that bring
// links back return the pairs for which a path over them is short enough; Settle returns those whose
// paths change. On an implicit map there are none. Repeating a call changes nothing; the same holds for
// the following methods.
func (v *Paths) FailLink(l pathmap.LinkID) []pathmap.Pair {
	v.failed[l/2] = true
	return v.apply(l)
}

// HealLink records that link l, having failed, is back.
func (v *Paths) HealLink(l pathmap.LinkID) []pathmap.Pair {
	v.failed[l/2] = false
	return v.apply(l)
}

// FailNode records that node n is down, and all its links with it. An end that is down has no paths.
func (v *Paths) FailNode(n pathmap.NodeID) []pathmap.Pair {
	v.dead[n] = true
	return v.apply(v.t.Out(n)...)
}

// HealNode records that node n, having failed, is back. Links that failed by themselves stay down.
func (v *Paths) HealNode(n pathmap.NodeID) []pathmap.Pair {
	v.dead[n] = false
	return v.apply(v.t.Out(n)...)
}

// SetCapacity notes what link l, in its direction, carries from now on. At zero it is down. Above zero
// capacities change no paths.
func (v *Paths) SetCapacity(l pathmap.LinkID, c pathmap.BitsPerSecond) ([]pathmap.Pair, error) {
	if c < 0 {
		return nil, fmt.Errorf("set capacity of link %d: %v is below zero: write 0 for a link that is down", l, c)
	}
	v.bandwidth.SetCapacity(l, c)
	return v.apply(l), nil
}

// apply brings the map in line with the state of links, which is all that can have changed: one, or
// some of one node.
func (v *Paths) apply(links ...pathmap.LinkID) []pathmap.Pair {
	v.Settle()
	var lost, gained []int32
	for _, l := range links {
		c := int32(l / 2)
		link := v.t.Link(l)
		out := v.failed[c] || v.dead[link.From] || v.dead[link.To] || v.bandwidth.Capacity(l) == 0 ||
			v.bandwidth.Capacity(pathmap.Reverse(l)) == 0
		if out == v.out[c] {
			continue
		}
		v.out[c] = out
		switch {
		case v.entry[l] == pathmap.None || v.entry[pathmap.Reverse(l)] == pathmap.None: // no path ever used it
		case out:
			lost = append(lost, c)
		default:
			gained = append(gained, c)
		}
	}
	switch {
	case len(lost) > 0:
		return v.lose(lost)
	case len(gained) > 0:
		return v.gain(gained)
	}
	return nil
}

// pairs names pairs, ascending, by their ends, sorted.
func (v *Paths) pairs(numbers []uint32) []pathmap.Pair {
	ends := len(v.end)
	names, from := make([]pathmap.Pair, len(numbers)), make([]int32, 2*(ends+1))
	byA, byB := from[:ends+1], from[ends+1:]
	b := int32(1)
	for i, n := range numbers {
		for ksp.PairOf(b-1, b) < n {
			b++
		}
		x, y := v.end[n-ksp.PairOf(0, b)], v.end[b]
		names[i] = pathmap.Pair{A: min(x, y), B: max(x, y)}
		byA[names[i].A+1]++
		byB[names[i].B+1]++
	}
	for e := range ends {
		byA[e+1] += byA[e]
		byB[e+1] += byB[e]
	}
	// By B, then by A, each time keeping the order of equals.
	half, sorted := make([]pathmap.Pair, len(names)), names
	for _, p := range names {
		half[byB[p.B]] = p
		byB[p.B]++
	}
	for _, p := range half {
		sorted[byA[p.A]] = p
		byA[p.A]++
	}
	return sorted
}
