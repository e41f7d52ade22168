package flowsim

// steadyOf returns southbound.Remaining.Steady and Carried of a coflow whose rows follow its pace or are backfilled.
// They are zero where links between switches bind, where rows can end before their last byte or wait in racks.
// They are zero also once a route has led nowhere: rows that hold there are on no link until they get an extra.
func (f *fluid) steadyOf(co *coflow) (steady uint64, carried float64) {
	if !f.flat || len(f.up) > denseHosts || co.late > 0 || f.quantum > 0 || f.relay != nil ||
		f.severed {
		co.steady = 0
		return 0, 0
	}
	if co.steady == 0 {
		f.steadies++
		co.steady = f.steadies
	}
	// Rows that were late in between can have ended with that much left each.
	return co.steady, float64(f.clock.Now())*f.fastest*f.perBit*(1+10*slack) + nothing*float64(f.ends)
}
