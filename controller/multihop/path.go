// Package multihop finds paths between two racks over circuits that stand: over several in a row, and over circuits
// with packets before them or behind.
//
// It decides nothing and touches no switch: a policy chooses among the paths, and rollout makes rules of them.
package multihop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// MaxLegs is how many legs a path has at most: each circuit is one, and so is the way over packets before, between or
// behind them. MaxPaths is how many paths between two racks are looked at.
const (
	MaxLegs  = 3
	MaxPaths = 16
)

// Circuit is a circuit from an input to an output of one OCS, by the fabric's numbers of ports.
type Circuit struct {
	In  southbound.Port `json:"in"`
	Out southbound.Port `json:"out"`
}

// Path leads from one rack to another over circuits, each from the rack that the one before leads to. Once packets can
// take a spine between: before the first circuit, or from the rack of one circuit to that of the next. From the rack of
// the last one they go on by that rack's default way, unless it is the destination.
type Path struct {
	Src      southbound.RackID `json:"src"`
	Dst      southbound.RackID `json:"dst"`
	Spine    pathmap.NodeID    `json:"spine"` // pathmap.None: there is no such leg before a circuit
	Circuits []Circuit         `json:"circuits"`
}

// Paths are the paths of all pairs of racks that have one, by Compare.
type Paths []Path

// Compare orders paths by source, then destination.
func Compare(p, q Path) int { return cmp.Or(cmp.Compare(p.Src, q.Src), cmp.Compare(p.Dst, q.Dst)) }

// Equal reports whether two paths are the same.
func (p *Path) Equal(q *Path) bool {
	return p.Src == q.Src && p.Dst == q.Dst && p.Spine == q.Spine && slices.Equal(p.Circuits, q.Circuits)
}

// Racks returns the racks that a path leads through, with both ends.
func (p *Path) Racks(f *topo.Fabric) []southbound.RackID {
	racks := []southbound.RackID{p.Src}
	add := func(r southbound.RackID) {
		if racks[len(racks)-1] != r {
			racks = append(racks, r)
		}
	}
	for _, c := range p.Circuits {
		add(southbound.RackID(f.OCSRack(int32(c.In))))
		add(southbound.RackID(f.OCSRack(int32(c.Out))))
	}
	add(p.Dst)
	return racks
}

// Hop returns before which circuit packets take the spine; -1 where there is none.
func (p *Path) Hop(f *topo.Fabric) int {
	at := int32(p.Src)
	for i, c := range p.Circuits {
		if f.OCSRack(int32(c.In)) != at {
			return i
		}
		at = f.OCSRack(int32(c.Out))
	}
	return -1
}

// Check returns why a path is none on a fabric, whatever circuits stand there, or nil.
func (p *Path) Check(f *topo.Fabric) error {
	racks := func(r southbound.RackID) bool { return r >= 0 && int(r) < f.Racks }
	if !racks(p.Src) || !racks(p.Dst) || p.Src == p.Dst {
		return fmt.Errorf("path from rack %d to rack %d: take two racks of 0 to %d", p.Src, p.Dst, f.Racks-1)
	}
	if nodes := f.Topology.Nodes(); p.Spine != pathmap.None && (p.Spine < 0 || int(p.Spine) >= len(nodes) ||
		nodes[p.Spine].Role != pathmap.Switch) {
		return fmt.Errorf("path from rack %d to rack %d: node %d is no spine", p.Src, p.Dst, p.Spine)
	}
	if err := p.checkCircuits(f); err != nil {
		return fmt.Errorf("path from rack %d to rack %d: %w", p.Src, p.Dst, err)
	}
	return nil
}

func (p *Path) checkCircuits(f *topo.Fabric) error {
	if len(p.Circuits) == 0 {
		return errors.New("it has no circuit")
	}
	ports, at, hops := f.OCSPorts(), int32(p.Src), 0
	for _, c := range p.Circuits {
		if min(c.In, c.Out) < 0 || int(max(c.In, c.Out)) >= ports || f.OCSUplink[c.In] < 0 || f.OCSUplink[c.Out] < 0 {
			return fmt.Errorf("circuit %d→%d: no such ports", c.In, c.Out)
		}
		if from := f.OCSRack(int32(c.In)); at != from {
			if hops++; p.Spine == pathmap.None || hops > 1 {
				return fmt.Errorf("packets are at rack %d, and the next circuit begins at rack %d", at, from)
			}
		}
		at = f.OCSRack(int32(c.Out))
	}
	all := p.Racks(f)
	switch {
	case p.Spine != pathmap.None && hops == 0:
		return errors.New("packets take a spine, and each circuit begins where they are already")
	case p.Spine != pathmap.None && at != int32(p.Dst):
		return errors.New("it has packets before a circuit and behind the last one")
	case len(all) < 3 || len(all) > MaxLegs+1:
		return fmt.Errorf("it has %d legs: take 2 to %d", len(all)-1, MaxLegs)
	}
	sorted := slices.Sorted(slices.Values(all))
	if len(slices.Compact(sorted)) < len(all) {
		return errors.New("it meets a rack twice")
	}
	return nil
}
