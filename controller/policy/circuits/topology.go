package circuits

import (
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/route"
	"lightloom/controller/topoeng"
	"lightloom/southbound"
)

// Topology is topology engineering: circuits over all switches together for what racks have for each other. Which pairs
// get a circuit leaves the least demand to packets; which switch has which disturbs the fewest that stand; and whether
// they move at all weighs the reconfiguration delay against the gain. Each of the three has its certificate, which the
// explanation tells.
type Topology struct {
	// Groups is into how many groups of switches that follow each other the circuits of each rack are split evenly, such
	// as those that lose power together; below two for none. Fabrics whose switches make no such groups have one.
	Groups int

	explain route.Explainer
}

// assignRounds is how often circuits are dealt anew in search of fewer that are disturbed, where fabrics are small.
const assignRounds = 8

// mostAssigned bounds those fabrics: racks times switches.
const mostAssigned = 1 << 10

// Wants implements the part's list of events.
func (*Topology) Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted, controller.CoflowEnded,
		controller.FabricChanged, controller.WakeReached, controller.TrafficRead)
}

// Tell has every decision to move or to stay explained.
func (x *Topology) Tell(to route.Explainer) { x.explain = to }

// Fill has the circuits reserved that are wanted, and ends what is in their way.
func (x *Topology) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	if !v.Fabric.HasOCS() || v.Fabric.Spec.Pod() {
		return
	}
	own, ends := withoutSlices(v)
	usable := usablePorts(v.Fabric, ends)
	stands, _ := standing(own)
	leaveUsable(stands, usable)
	joined := newWavelengthAssignment(v)
	wants := stands
	d := x.demand(own, p, joined, usable)
	if next, move := x.decide(own, usable, d, stands); move {
		wants = next
	}
	out := slices.Repeat([]southbound.Port{southbound.NoPort}, v.Fabric.OCSPorts()) // by input
	in := slices.Clone(out)                                                         // by output
	eachCircuit(v.Fabric, wants, func(a, b southbound.Port) {
		// A pair keeps its switch as long as a circuit of it is there, in use or not: it gets the other one afterwards.
		// What has no demand any more is in nobody's way, and runs out.
		idle := d[v.Fabric.OCSRack(int32(a))][v.Fabric.OCSRack(int32(b))] == 0
		if !idle && ends[a].ok && ends[b].ok && joined.may(a, b) {
			out[a], in[b] = b, a
			if joined != nil {
				joined.fix(a, b)
			}
		}
	})
	(&Phases{}).reserve(own, p, out, in)
}

// withoutSlices returns a view without the reservations of slices, which never end, and the ports that are not theirs.
func withoutSlices(v *controller.View) (*controller.View, []port) {
	own, ends := *v, opticalPorts(v)
	own.Reserved = slices.DeleteFunc(slices.Clone(v.Reserved), func(r controller.CircuitReservation) bool {
		if r.NotAfter == southbound.Never {
			ends[r.In].ok, ends[r.Out].ok = false, false
			return true
		}
		return false
	})
	return &own, ends
}

// decide returns the circuits that are wanted, and whether it is worth to move those that stand.
func (x *Topology) decide(v *controller.View, usable topoeng.Usable, d topoeng.Demand,
	stands topoeng.Topology) (wants topoeng.Topology, move bool) {
	degree := make([]int, v.Fabric.Racks)
	for _, racks := range usable {
		for r, ok := range racks {
			if ok {
				degree[r]++
			}
		}
	}
	counts, left, err := topoeng.Choose(d, degree)
	if err != nil || left.Value == 0 && !slices.ContainsFunc(counts, anyCircuit) {
		return wants, false
	}
	keepStanding(counts, stands, degree)
	rounds := 0
	if v.Fabric.Racks*len(stands.Out) <= mostAssigned {
		rounds = assignRounds
	}
	there := withLit(v, stands, usable)
	groups := x.groups(usable)
	wants, err = assign(counts, groups, there, rounds, v.Seed)
	if err != nil {
		return wants, false
	}
	wants.Fit(there, usable, d)
	if groups < 2 {
		wants.Spread(there, usable)
	}
	wants.Return(there) // it cannot go elsewhere while it is there
	joins := wants.Counts()
	left = left.At(without(d, joins))
	disturbed := topoeng.Certificate{Bound: float64(stands.Lost(joins))}.At(float64(stands.Disturbed(wants)))
	dec := topoeng.Decide(concerned(d, stands, wants), stands, wants, v.Delta, packetShare(v))
	if x.explain != nil {
		x.explain(v, route.Why{Topology: &route.TopologyWhy{Left: left, Disturbed: disturbed, Decision: dec}})
	}
	return wants, dec.Reconfigure
}

// demand is what racks have for each other that some switch can join, in seconds of a circuit.
func (*Topology) demand(v *controller.View, p *controller.Plan, joined *wavelengthAssignment,
	usable topoeng.Usable) topoeng.Demand {
	all := sum(v, p)
	d := make(topoeng.Demand, len(all))
	for i, row := range all {
		d[i] = make([]float64, len(row))
		for j, need := range row {
			if i != j && need > 0 && v.Fabric.Spec.CircuitMayJoin(i, j) && canJoin(joined, usable, i, j) {
				d[i][j] = need.Seconds()
			}
		}
	}
	return d
}

func anyCircuit(row []int) bool { return slices.Max(row) > 0 }

// keepStanding has circuits that stand keep ports that nothing else wants.
func keepStanding(counts topoeng.Counts, stands topoeng.Topology, degree []int) {
	rows, cols := make([]int, len(counts)), make([]int, len(counts))
	for i := range counts {
		for j, x := range counts[i] {
			rows[i] += x
			cols[j] += x
		}
	}
	for _, outs := range stands.Out {
		for i, j := range outs {
			if j >= 0 && counts[i][j] == 0 && rows[i] < degree[i] && cols[j] < degree[j] {
				counts[i][j] = 1
				rows[i]++
				cols[j]++
			}
		}
	}
}

// assign balances where circuits that are there let it: those that would go back to where they are, for nobody takes
// their ports, would push others to and fro between groups.
func assign(counts topoeng.Counts, groups int, there topoeng.Topology, rounds int,
	seed uint64) (t topoeng.Topology, err error) {
	if groups > 1 {
		if t, _, err = topoeng.Balance(counts, groups, there, rounds, seed); err != nil {
			return t, err
		}
		back := t.Clone()
		if back.Return(there); t.Disturbed(back) == 0 {
			return t, nil
		}
	}
	t, _, err = topoeng.Assign(counts, there, rounds, seed)
	return t, err
}

// groups is into how many groups circuits are split. Where racks lack ports there is one, for
// Balance takes every rack to have a port at every switch.
func (x *Topology) groups(usable topoeng.Usable) int {
	lacks := func(racks []bool) bool { return slices.Contains(racks, false) }
	if n := len(usable); x.Groups < 2 || n%x.Groups != 0 || n <= x.Groups || slices.ContainsFunc(usable, lacks) {
		return 1
	}
	return x.Groups
}

// concerned leaves the demand of pairs that get a circuit, lose it, or have it at another switch: it makes no
// difference to others, and what they take would hide what these gain.
func concerned(d topoeng.Demand, before, after topoeng.Topology) topoeng.Demand {
	out := make(topoeng.Demand, len(d))
	for i := range d {
		out[i] = make([]float64, len(d))
	}
	for k := range before.Out {
		for i, j := range before.Out[k] {
			for _, to := range [2]int32{j, after.Out[k][i]} {
				if to >= 0 && j != after.Out[k][i] {
					out[i][to] = d[i][to]
				}
			}
		}
	}
	return out
}

// packetShare is what a pair of racks can send over packets where all others send, too, as a part of a circuit.
func packetShare(v *controller.View) float64 {
	s := v.Fabric.Spec
	if controller.CircuitsOnly(v.Fabric) || v.Fabric.Racks < 2 || s.OCS <= 0 {
		return 0
	}
	return float64(s.EPS) * float64(max(1, s.Spines)) / float64(s.OCS) / float64(v.Fabric.Racks-1)
}
