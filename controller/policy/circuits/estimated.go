package circuits

import (
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// estimated returns the demand of a view whose traffic is an estimate: pairs of racks without coflows.
// All of it is one demand, of AnyCoflow, and its circuits carry any flow between the two racks. A pair
// counts from the elephant threshold on, as a coflow's does.
func estimated(v *controller.View, ends []port) []coflowDemand {
	nic := nics(v)
	d := coflowDemand{id: controller.AnyCoflow}
	for i, row := range v.Traffic.Bytes {
		for j, b := range row {
			if b <= 0 || b < v.ElephantThreshold || i == j || !ends[i].ok || !ends[j].ok {
				continue
			}
			need := lasts(v, b, min(ends[i].up, ends[j].down), fastest(v, nic, i, 0), fastest(v, nic, j, 1))
			d.pairs = append(d.pairs, pair{in: southbound.Port(i), out: southbound.Port(j), size: b,
				left: b, whole: need,
				need: need})
		}
	}
	if len(d.pairs) == 0 {
		return nil
	}
	d.bound = bound(d.pairs, v.Delta, len(ends)) / time.Duration(v.Fabric.Spec.CircuitsARack())
	return []coflowDemand{d}
}

// worthless reports whether the estimate cannot be planned from: bytes that waited at the last reading
// have been planned for then, and what is left of them is unknown before the next reading. Rates stay
// valid.
func worthless(v *controller.View) bool {
	return v.Traffic != nil && v.Traffic.Ahead == 0 && v.Now != v.Traffic.At
}

// lasts is how long bytes take on a circuit: at its rate, or at what all hosts of a rack can do. Bytes
// of a rate that lasts are known to come from hosts that send them no faster than one link, and not to
// last beyond the estimate.
func lasts(v *controller.View, b pathmap.Bytes, circuit, out, in pathmap.BitsPerSecond) time.Duration {
	hosts := pathmap.BitsPerSecond(v.Fabric.HostsPerRack)
	wire := v.Wire(b)
	d := wire.Over(min(circuit, out*hosts, in*hosts))
	if v.Traffic.Ahead > 0 {
		d = max(d, min(wire.Over(min(out, in)), v.Traffic.Ahead))
	}
	return min(d, longest)
}

// fastest is the rate of a rack's fastest host, out of it (side 0) or into it.
func fastest(v *controller.View, nic [][2]pathmap.BitsPerSecond, rack, side int) pathmap.BitsPerSecond {
	rate := pathmap.BitsPerSecond(1)
	for h := v.Fabric.FirstHost[rack]; h < v.Fabric.FirstHost[rack+1]; h++ {
		rate = max(rate, nic[h][side])
	}
	return rate
}
