package circuits

import (
	"slices"

	"lightloom/controller"
	"lightloom/controller/topoeng"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// usablePorts returns which racks have a port at which switch that circuits can have. Where a fabric has rails, that is
// one switch for all of them, as eachCircuit has it.
func usablePorts(f *topo.Fabric, ends []port) topoeng.Usable {
	u := make(topoeng.Usable, f.Spec.CircuitsARack())
	for k := range u {
		u[k] = make([]bool, f.Racks)
	}
	for p, end := range ends {
		if end.ok {
			u[switchOf(f, southbound.Port(p))][f.OCSRack(int32(p))] = true
		}
	}
	return u
}

// switchOf returns the switch of a topology that a port belongs to.
func switchOf(f *topo.Fabric, p southbound.Port) int {
	if f.Spec.Rails > 0 {
		return 0
	}
	return int(p) / f.Racks
}

// leaveUsable takes away the circuits that are on other ports: they carry nothing, or are of a slice.
func leaveUsable(t topoeng.Topology, usable topoeng.Usable) {
	for k := range t.Out {
		for i, j := range t.Out[k] {
			if j >= 0 && !usable.Joins(k, i, int(j)) {
				t.Out[k][i] = int32(southbound.NoPort)
			}
		}
	}
}

// canJoin reports whether a pair of racks can get a circuit: some switch has usable ports for both. Where a circuit of
// the pair is there, of a slice perhaps, no other switch can have one beside it.
func canJoin(joined *wavelengthAssignment, usable topoeng.Usable, i, j int) bool {
	if len(usable) > 1 && joined != nil {
		if k, there := joined.fixed[[2]southbound.Port{southbound.Port(i), southbound.Port(j)}]; there {
			return usable.Joins(int(k), i, j)
		}
	}
	for k := range usable {
		if usable.Joins(k, i, j) {
			return true
		}
	}
	return false
}

// withLit adds circuits that are there without a reservation. A pair that has one can have no other.
func withLit(v *controller.View, stands topoeng.Topology, usable topoeng.Usable) topoeng.Topology {
	t := stands.Clone()
	for in, at := range v.Circuits {
		if at.Out == southbound.NoPort {
			continue
		}
		k := switchOf(v.Fabric, southbound.Port(in))
		i, j := v.Fabric.OCSRack(int32(in)), v.Fabric.OCSRack(int32(at.Out))
		if usable.Joins(k, int(i), int(j)) && t.Out[k][i] < 0 && !slices.Contains(t.Out[k], j) {
			t.Out[k][i] = j
		}
	}
	return t
}

// without is the demand of pairs that have no circuit.
func without(d topoeng.Demand, joins topoeng.Counts) (left float64) {
	for i := range d {
		for j, x := range d[i] {
			if joins[i][j] == 0 {
				left += x
			}
		}
	}
	return left
}
