package controller

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// Columns are the host flows of one coflow, sorted by (Dst, Src): what travels together between two hosts.
type Columns struct {
	Src, Dst []southbound.HostID
	Size     []pathmap.Bytes // above zero
	Flows    []int32         // flows of the trace or pairs of tasks that the host flow holds
	Local    pathmap.Bytes   // bytes whose two ends share a host: they never enter the network
}

// Expand returns the host flows of an edge once its tasks have hosts (hosts is by task of the job;
// unused where the edge is Fixed). It is the one rule, of Apply and of every policy alike. Bytes are
// split evenly and the remainder is carried by the first pairs, a byte each, so that the sum is the
// edge's.
func Expand(j *Job, e *Edge, hosts []southbound.HostID) Columns {
	if e.Reads != nil {
		first, end := j.StageTasks(e.To)
		return gather(e.ReadBy(hosts[first:end]), false)
	}
	if e.Kind == Fixed {
		return gather(e.Flows, e.KeepLocal)
	}
	ff, fe := j.StageTasks(e.From)
	tf, te := j.StageTasks(e.To)
	from, to := hosts[ff:fe], hosts[tf:te]
	if e.Rate > 0 {
		endless := *e
		endless.Bytes = j.Volume(e)
		e = &endless
	}
	var flows []Flow
	switch e.Kind {
	case OneToOne:
		for i := range from {
			flows = append(flows, Flow{Src: from[i], Dst: to[i], Bytes: share(e.Bytes, len(from), i), Count: 1})
		}
	case Broadcast:
		flows = allToAll(from, to, func(i, _ int) pathmap.Bytes { return share(e.Bytes, len(from), i) })
	case ScatterGather:
		switch {
		case j.Incremental:
			return gather(e.byHost(from, to), false)
		case e.Reducers != nil:
			each := e.received()
			return gather(allToAll(from, to, func(i, k int) pathmap.Bytes { return share(each[k], len(from), i) }), false)
		}
		flows = allToAll(from, to, func(i, k int) pathmap.Bytes {
			return share(e.Bytes, len(from)*len(to), i*len(to)+k)
		})
	case Fields:
		flows = e.byKey(from, to)
	case Pairs:
		for _, f := range e.Flows {
			flows = append(flows, Flow{Src: from[f.Src], Dst: to[f.Dst], Bytes: f.Bytes, Count: f.Count})
		}
	case Global:
		for i := range from {
			flows = append(flows, Flow{Src: from[i], Dst: to[0], Bytes: share(e.Bytes, len(from), i), Count: 1})
		}
	}
	return gather(flows, false)
}

// allToAll makes the flows from every task to every other, by hosts, as gather wants them: that is
// sooner than sorting them all.
func allToAll(from, to []southbound.HostID, bytes func(i, k int) pathmap.Bytes) []Flow {
	flows, senders := make([]Flow, 0, len(from)*len(to)), inHostOrder(from)
	for rest := inHostOrder(to); len(rest) > 0; {
		n := 1 // receivers on the same host
		for n < len(rest) && to[rest[n]] == to[rest[0]] {
			n++
		}
		for _, i := range senders {
			for _, k := range rest[:n] {
				flows = append(flows, Flow{Src: from[i], Dst: to[k], Bytes: bytes(i, k), Count: 1})
			}
		}
		rest = rest[n:]
	}
	return flows
}

// inHostOrder lists tasks by their hosts.
func inHostOrder(hosts []southbound.HostID) []int {
	order := make([]int, len(hosts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(hosts[a], hosts[b]) })
	return order
}

// byHost makes the flows of a shuffle between hosts at once, where tasks are too many to read every two
// of them. Each two hosts have the part of the bytes that their tasks have of all pairs of tasks; what
// rounding leaves goes along, so that the sum is the edge's.
func (e *Edge) byHost(from, to []southbound.HostID) []Flow {
	if e.Reducers != nil {
		return e.skewedByHost(from, to)
	}
	a, b := countByHost(from), countByHost(to)
	pairs := uint64(len(from)) * uint64(len(to))
	var flows []Flow
	upTo, sent := uint64(0), pathmap.Bytes(0)
	for _, dst := range b {
		for _, src := range a {
			upTo += uint64(src.tasks) * uint64(dst.tasks)
			all := portion(e.Bytes, upTo, pairs)
			flows = append(flows, Flow{Src: src.host, Dst: dst.host, Bytes: all - sent,
				Count: int32(min(int64(src.tasks)*int64(dst.tasks), math.MaxInt32))})
			sent = all
		}
	}
	return flows
}

// manned is a host and how many tasks of a stage it has.
type manned struct {
	host  southbound.HostID
	tasks int32
}

// countByHost counts tasks by host, in the order of hosts.
func countByHost(hosts []southbound.HostID) []manned {
	sorted := slices.Sorted(slices.Values(hosts))
	var out []manned
	for _, h := range sorted {
		if n := len(out); n > 0 && out[n-1].host == h {
			out[n-1].tasks++
			continue
		}
		out = append(out, manned{h, 1})
	}
	return out
}

// DefaultKeys is the number of keys of a fields grouping that does not specify it.
const DefaultKeys = 1024

// byKey splits each sender's bytes over the receivers as its keys fall to them. All keys are alike, so
// that what makes receivers unequal is the hash alone: with few keys much, with many little.
func (e *Edge) byKey(from, to []southbound.HostID) []Flow {
	keys := cmp.Or(e.Keys, DefaultKeys)
	upTo := make([]uint64, len(to)+1) // keys of the receivers before
	for k := range keys {
		upTo[hashKey(k)%uint64(len(to))+1]++
	}
	for k := range to {
		upTo[k+1] += upTo[k]
	}
	var flows []Flow
	for i := range from {
		b := share(e.Bytes, len(from), i)
		for k := range to {
			if part := portion(b, upTo[k+1], uint64(keys)) - portion(b, upTo[k], uint64(keys)); part > 0 {
				flows = append(flows, Flow{Src: from[i], Dst: to[k], Bytes: part, Count: 1})
			}
		}
	}
	return flows
}

// hashKey is the finalizer of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, 2014).
func hashKey(k int32) uint64 {
	h := uint64(k)*0x9e3779b97f4a7c15 + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// portion returns b × part ÷ of, rounded down.
func portion(b pathmap.Bytes, part, of uint64) pathmap.Bytes {
	hi, lo := bits.Mul64(uint64(b), part)
	q, _ := bits.Div64(hi, lo, of)
	return pathmap.Bytes(q)
}

// share is the even part of the i-th of n.
func share(total pathmap.Bytes, n, i int) pathmap.Bytes {
	s := total / pathmap.Bytes(n)
	if pathmap.Bytes(i) < total%pathmap.Bytes(n) {
		s++
	}
	return s
}

// Gather returns the host flows of flows, sorted. With local it makes host flows of flows between a
// host and itself too.
func Gather(flows []Flow, local bool) Columns { return gather(flows, local) }

// gather sums flows into host flows. Flows of a trace come sorted, and then nothing is copied but what
// is returned.
func gather(flows []Flow, local bool) Columns {
	if !inOrder(flows) {
		flows = slices.Clone(flows)
		slices.SortFunc(flows, func(a, b Flow) int { // sums do not depend on the order within a pair
			return cmp.Or(cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Src, b.Src))
		})
	}
	c := newColumns(distinct(flows, local))
	for i := range flows {
		f := &flows[i]
		n := max(f.Count, 1)
		switch last := len(c.Src) - 1; {
		case f.Bytes == 0:
		case f.Src == f.Dst && !local:
			c.Local += f.Bytes
		case last >= 0 && c.Src[last] == f.Src && c.Dst[last] == f.Dst:
			c.Size[last] += f.Bytes
			c.Flows[last] += n
		default:
			c.Src, c.Dst = append(c.Src, f.Src), append(c.Dst, f.Dst)
			c.Size, c.Flows = append(c.Size, f.Bytes), append(c.Flows, n)
		}
	}
	return c
}

// inOrder reports whether flows are sorted by (Dst, Src).
func inOrder(flows []Flow) bool {
	for i := 1; i < len(flows); i++ {
		if a, b := &flows[i-1], &flows[i]; b.Dst < a.Dst || b.Dst == a.Dst && b.Src < a.Src {
			return false
		}
	}
	return true
}

// distinct counts the pairs of hosts of sorted flows: the room to make, but for flows without bytes.
func distinct(flows []Flow, local bool) int {
	n := 0
	for i := range flows {
		f := &flows[i]
		if f.Bytes != 0 && (local || f.Src != f.Dst) &&
			(i == 0 || f.Src != flows[i-1].Src || f.Dst != flows[i-1].Dst) {
			n++
		}
	}
	return n
}

// newColumns has room for n host flows, none if there are to be none.
func newColumns(n int) Columns {
	if n == 0 {
		return Columns{}
	}
	return Columns{Src: make([]southbound.HostID, 0, n), Dst: make([]southbound.HostID, 0, n),
		Size: make([]pathmap.Bytes, 0, n), Flows: make([]int32, 0, n)}
}
