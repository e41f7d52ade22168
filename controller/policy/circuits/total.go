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

// sum adds coflows up, by racks. A pair with less than a circuit carries in a reconfiguration delay is
// left to packets, where there are any.
func sum(v *controller.View, p *controller.Plan) schedule.Matrix {
	all := schedule.New(v.Fabric.Racks)
	for _, d := range demands(v, p, ports(v)) {
		for _, x := range d.pairs {
			all[x.in][x.out] = min(all[x.in][x.out]+x.need, longest)
		}
	}
	leaveResiduals(v, all)
	return all
}

func leaveResiduals(v *controller.View, all schedule.Matrix) {
	if controller.CircuitsOnly(v.Fabric) {
		return
	}
	for i := range all {
		for j, d := range all[i] {
			if d <= v.Delta {
				all[i][j] = 0
			}
		}
	}
}

// deal gives each pair of racks with demand a plane (see wavelengthAssignment), and returns the planes' demands on
// ports that can be used, by plane.
func deal(v *controller.View, ends []port, all schedule.Matrix) []total {
	planes := newWavelengthAssignment(v)
	if planes == nil {
		for i := range all {
			for j := range all[i] {
				if !ends[i].ok || !ends[j].ok {
					all[i][j] = 0
				}
			}
		}
		return []total{compact(all, 0)}
	}
	planes.ends = ends
	whole := coflowDemand{}
	for i := range all {
		for j, d := range all[i] {
			if d > 0 {
				whole.pairs = append(whole.pairs, pair{in: southbound.Port(i), out: southbound.Port(j), need: d})
			}
		}
	}
	one := []coflowDemand{whole}
	planes.paint(one)
	of := make([]schedule.Matrix, planes.waves)
	for w := range of {
		of[w] = schedule.New(len(all))
	}
	n := planes.racks
	for _, p := range one[0].pairs {
		of[p.in/n][p.in%n][p.out%n] = p.need
	}
	out := make([]total, len(of))
	for w := range of {
		out[w] = compact(of[w], southbound.Port(w)*n)
	}
	return out
}

// compact drops the racks that nothing is for. first is the port of the first rack.
func compact(all schedule.Matrix, first southbound.Port) total {
	used := make([]bool, len(all))
	for i := range all {
		for j, d := range all[i] {
			if d > 0 {
				used[i], used[j] = true, true
			}
		}
	}
	var t total
	for r, u := range used {
		if u {
			t.port = append(t.port, first+southbound.Port(r))
		}
	}
	t.matrix = schedule.New(len(t.port))
	for i, in := range t.port {
		for j, out := range t.port {
			t.matrix[i][j] = all[in-first][out-first]
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
