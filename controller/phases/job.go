package phases

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/topoeng"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// mostCells bounds the numbers by pair of racks that a leader keeps while it plans: what a job sends, and what pairs of
// topologies share, are 32 MB each at most.
const mostCells = 1 << 22

// OfJob returns the phases of a job whose stages follow each other: what stages compute at one distance from the
// first, and then send. hosts is by task of the job, rack says where a host is. A phase's kind is the last word of its
// stages' names. Phases that send alike share their form. level is by edge: its phase; -1 for one of none.
//
// No phase has a form where a job sends in more than 4 Mi / racks² different ways (64 on 256 racks): nothing is
// planned for it, since its leader has other jobs.
func OfJob(j *controller.Job, hosts []southbound.HostID, racks int, rack func(southbound.HostID) int) (out []Phase,
	level []int) {
	out, level = levels(j)
	edges := make([][]*controller.Edge, len(out))
	for i, l := range level {
		if l >= 0 {
			edges[l] = append(edges[l], &j.Edges[i])
		}
	}
	known := map[[sha256.Size]byte][]Form{}
	for l := range out {
		sent := map[[2]int]float64{}
		for _, e := range edges[l] {
			c := controller.Expand(j, e, hosts)
			for r := range c.Src {
				if a, b := rack(c.Src[r]), rack(c.Dst[r]); a != b {
					sent[[2]int{a, b}] += float64(controller.Wire(c.Size[r]))
				}
			}
		}
		if len(sent) == 0 {
			continue
		}
		k := digest(sent)
		if known[k] == nil {
			if (len(known)+1)*racks*racks > mostCells {
				for i := range out {
					out[i].Forms = nil
				}
				return out, level
			}
			known[k] = []Form{{Name: string(out[l].Kind), Demand: noDemand(racks)}}
			for at, bytes := range sent {
				known[k][0].Demand[at[0]][at[1]] = bytes
			}
		}
		out[l].Forms = known[k]
	}
	return out, level
}

// levels returns the phases of a job without what they send, and by edge its phase; -1 for one of none.
func levels(j *controller.Job) (out []Phase, level []int) {
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
	for i := range j.Edges {
		if e := &j.Edges[i]; e.Kind == controller.Fixed || e.Stream {
			level = append(level, -1)
		} else {
			level = append(level, depth[e.From])
		}
	}
	return out, level
}

func noDemand(racks int) topoeng.Demand {
	d := make(topoeng.Demand, racks)
	for i := range d {
		d[i] = make([]float64, racks)
	}
	return d
}

// digest tells what is sent between racks from all else.
func digest(sent map[[2]int]float64) [sha256.Size]byte {
	pairs := slices.SortedFunc(maps.Keys(sent), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	var b []byte
	for _, at := range pairs {
		for _, x := range []uint64{uint64(at[0]), uint64(at[1]), math.Float64bits(sent[at])} {
			b = binary.BigEndian.AppendUint64(b, x)
		}
	}
	return sha256.Sum256(b)
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

// Representative returns an iteration that sends in so few ways that Candidates takes it, and Decide can compare all
// pairs of what that returns: six on 32 racks, three on 256. Phases that send between the same racks count as one way,
// by their mean, and only the ways of most bytes stay.
func Representative(iteration []Phase) []Phase {
	type way struct {
		form   Form
		phases []int
		bytes  float64
	}
	var ways []*way
	known := map[*Form]*way{} // most phases repeat
	for i := range iteration {
		if len(iteration[i].Forms) == 0 {
			continue
		}
		first := &iteration[i].Forms[0]
		d, w := first.Demand, known[first]
		if w == nil {
			k := slices.IndexFunc(ways, func(w *way) bool { return samePairs(w.form.Demand, d) })
			if k < 0 {
				ways = append(ways, &way{form: Form{first.Name, noDemand(len(d))}})
				k = len(ways) - 1
			}
			w = ways[k]
			known[first] = w
		}
		w.phases = append(w.phases, i)
		for a := range d {
			for b := range d[a] {
				w.form.Demand[a][b] += d[a][b]
				w.bytes += d[a][b]
			}
		}
	}
	slices.SortStableFunc(ways, func(a, b *way) int { return cmp.Compare(b.bytes, a.bytes) })
	if len(ways) > 0 {
		ways = ways[:min(len(ways), mostWays(len(ways[0].form.Demand)))]
	}
	out := make([]Phase, len(iteration))
	for i := range out {
		out[i] = Phase{Kind: iteration[i].Kind, Compute: iteration[i].Compute}
	}
	for _, w := range ways {
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

// mostWays returns how many ways to send, one at least, have few enough topologies: with n of them there are 2ⁿ-1.
func mostWays(racks int) int {
	n := mostForms
	for n > 1 && (1<<n-1)*(1<<n-1)*racks*racks > mostCells {
		n--
	}
	return n
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
	out := Fabric{Racks: f.Racks, Switches: s.CircuitsARack(), Steered: true, RailCount: s.Rails, Delta: delta,
		Circuit: min(s.OCS, s.NIC*pathmap.BitsPerSecond(f.HostsPerRack))}
	if !controller.CircuitsOnly(f) {
		out.Packets = s.EPS * pathmap.BitsPerSecond(max(s.Spines, 1))
	}
	return out
}

// Bound returns what no placement of circuits is faster than, for a job whose stages follow each other: in each phase
// the slowest task computes, and then the busiest host sends or receives at the rate of its network card.
func Bound(j *controller.Job, hosts []southbound.HostID, f *topo.Fabric) (sum time.Duration) {
	each, level := levels(j)
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
