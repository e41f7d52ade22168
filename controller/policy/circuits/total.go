package circuits

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/circuits/schedule"
	"lightloom/southbound"
)

// total is what the elephants of all coflows together have left, as a matrix over the ports that any of
// them needs.
type total struct {
	matrix schedule.Matrix
	port   []southbound.Port // by row and column of the matrix, ascending
}

// sum adds coflows up.
func sum(v *controller.View, p *controller.Plan) total {
	all := schedule.New(v.Fabric.Racks)
	for _, d := range demands(v, p, ports(v)) {
		for _, x := range d.pairs {
			all[x.in][x.out] = min(all[x.in][x.out]+x.need, longest)
		}
	}
	return compact(v, all)
}

// compact drops the ports that nothing is for. A pair with less than a circuit carries in a
// reconfiguration delay is left to packets, where there are any.
func compact(v *controller.View, all schedule.Matrix) total {
	residual := v.Delta
	if controller.CircuitsOnly(v.Fabric) {
		residual = 0
	}
	used := make([]bool, len(all))
	for i := range all {
		for j, d := range all[i] {
			if d <= residual {
				all[i][j] = 0
				continue
			}
			used[i], used[j] = true, true
		}
	}
	var t total
	for r, u := range used {
		if u {
			t.port = append(t.port, southbound.Port(r))
		}
	}
	t.matrix = schedule.New(len(t.port))
	for i, in := range t.port {
		for j, out := range t.port {
			t.matrix[i][j] = all[in][out]
		}
	}
	return t
}

// lit returns what leads where among the ports of the matrix.
func (t *total) lit(v *controller.View) []southbound.Port {
	row := make(map[southbound.Port]southbound.Port, len(t.port))
	for i, p := range t.port {
		row[p] = southbound.Port(i)
	}
	all := lit(v)
	out := make([]southbound.Port, len(t.port))
	for i, p := range t.port {
		out[i] = southbound.NoPort
		if int(p) < len(all) && all[p] != southbound.NoPort {
			if to, ok := row[all[p]]; ok {
				out[i] = to
			}
		}
	}
	return out
}

// reservedTime returns when the last reservation ends, v.Now where none stands.
func reservedTime(v *controller.View) time.Duration {
	end := v.Now
	for i := range v.Reserved {
		end = max(end, v.Reserved[i].NotAfter)
	}
	return end
}
