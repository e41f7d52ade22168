package phases

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/topoeng"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// OfJob returns the phases of a job whose stages follow each other: what stages compute at one distance from the
// first, and then send. hosts is by task of the job, rack says where a host is. A phase's kind is the last word of its
// stages' names. Phases that send alike share their form. level is by edge: its phase; -1 for one of none.
func OfJob(j *controller.Job, hosts []southbound.HostID, racks int, rack func(southbound.HostID) int) (out []Phase,
	level []int) {
	depth := depths(j)
	out = make([]Phase, 1+slices.Max(append(depth, 0)))
	for s := range j.Stages {
		p := &out[depth[s]]
		for k := range j.Stages[s].Tasks {
			p.Compute = max(p.Compute, j.Stages[s].Tasks[k].Compute)
		}
		words := strings.Fields(j.Stages[s].Name)
		if len(words) > 0 {
			p.Kind = Kind(words[len(words)-1])
		}
	}
	sends := make([]topoeng.Demand, len(out))
	for i := range j.Edges {
		e := &j.Edges[i]
		if e.Kind == controller.Fixed || e.Stream {
			level = append(level, -1)
			continue
		}
		level = append(level, depth[e.From])
		d := &sends[depth[e.From]]
		c := controller.Expand(j, e, hosts)
		for r := range c.Src {
			if a, b := rack(c.Src[r]), rack(c.Dst[r]); a != b {
				if *d == nil {
					*d = noDemand(racks)
				}
				(*d)[a][b] += float64(controller.Wire(c.Size[r]))
			}
		}
	}
	form(out, sends)
	return out, level
}

func noDemand(racks int) topoeng.Demand {
	d := make(topoeng.Demand, racks)
	for i := range d {
		d[i] = make([]float64, racks)
	}
	return d
}

// form gives phases their forms, equal ones the same.
func form(out []Phase, sends []topoeng.Demand) {
	for i, d := range sends {
		if d == nil {
			continue
		}
		for k := range i {
			if sends[k] != nil && equal(sends[k], d) {
				out[i].Forms = out[k].Forms
				break
			}
		}
		if out[i].Forms == nil {
			out[i].Forms = []Form{{Name: string(out[i].Kind), Demand: d}}
		}
	}
}

func equal(a, b topoeng.Demand) bool {
	return slices.EqualFunc(a, b, slices.Equal[[]float64])
}

// depths returns by stage how many edges lead to it at most, one after the other.
func depths(j *controller.Job) []int {
	out := make([]int, len(j.Stages))
	for again := true; again; { // edges mostly lead to later stages, so that two rounds are enough
		again = false
		for i := range j.Edges {
			e := &j.Edges[i]
			if e.Kind != controller.Fixed && !e.Stream && out[e.To] <= out[e.From] {
				out[e.To], again = out[e.From]+1, true
			}
		}
	}
	return out
}

// Representative returns an iteration that sends in so few ways that Candidates takes it: phases that send between the
// same racks count as one way, by their mean, and only the ways of most bytes stay.
func Representative(iteration []Phase) []Phase {
	type way struct {
		form   Form
		phases []int
		bytes  float64
	}
	var ways []*way
	for i := range iteration {
		if len(iteration[i].Forms) == 0 {
			continue
		}
		d := iteration[i].Forms[0].Demand
		k := slices.IndexFunc(ways, func(w *way) bool { return samePairs(w.form.Demand, d) })
		if k < 0 {
			ways = append(ways, &way{form: Form{iteration[i].Forms[0].Name, noDemand(len(d))}})
			k = len(ways) - 1
		}
		w := ways[k]
		w.phases = append(w.phases, i)
		for a := range d {
			for b := range d[a] {
				w.form.Demand[a][b] += d[a][b]
				w.bytes += d[a][b]
			}
		}
	}
	slices.SortStableFunc(ways, func(a, b *way) int { return cmp.Compare(b.bytes, a.bytes) })
	out := make([]Phase, len(iteration))
	for i := range out {
		out[i] = Phase{Kind: iteration[i].Kind, Compute: iteration[i].Compute}
	}
	for _, w := range ways[:min(len(ways), mostForms)] {
		for a := range w.form.Demand {
			for b := range w.form.Demand[a] {
				w.form.Demand[a][b] /= float64(len(w.phases))
			}
		}
		forms := []Form{w.form}
		for _, i := range w.phases {
			out[i].Forms = forms
		}
	}
	return out
}

// samePairs reports whether two demands are between the same racks.
func samePairs(sum, d topoeng.Demand) bool {
	for a := range d {
		for b := range d[a] {
			if (sum[a][b] > 0) != (d[a][b] > 0) {
				return false
			}
		}
	}
	return true
}

// FabricOf is a fabric as this package knows it. A circuit is no faster than the hosts of a rack together.
func FabricOf(f *topo.Fabric, delta time.Duration) Fabric {
	s := &f.Spec
	out := Fabric{Racks: f.Racks, Switches: s.Planes(), Steered: true, Delta: delta,
		Circuit: min(s.OCS, s.NIC*pathmap.BitsPerSecond(f.HostsPerRack))}
	if !controller.CircuitsOnly(f) {
		out.Packets = s.EPS * pathmap.BitsPerSecond(max(s.Spines, 1))
	}
	return out
}

// Bound returns what no placement of circuits is faster than, for a job whose stages follow each other: in each phase
// the slowest task computes, and then the busiest host sends or receives at the rate of its network card.
func Bound(j *controller.Job, hosts []southbound.HostID, f *topo.Fabric) (sum time.Duration) {
	each, level := OfJob(j, hosts, f.Hosts(), func(h southbound.HostID) int { return int(h) })
	busiest := make([]pathmap.Bytes, len(each))
	for l := range each {
		out, in := map[southbound.HostID]pathmap.Bytes{}, map[southbound.HostID]pathmap.Bytes{}
		for i := range j.Edges {
			if level[i] != l {
				continue
			}
			c := controller.Expand(j, &j.Edges[i], hosts)
			for r := range c.Src {
				b := controller.Wire(c.Size[r])
				out[c.Src[r]] += b
				in[c.Dst[r]] += b
				busiest[l] = max(busiest[l], out[c.Src[r]], in[c.Dst[r]])
			}
		}
		sum += each[l].Compute + busiest[l].Over(f.Spec.NIC)
	}
	return sum
}
