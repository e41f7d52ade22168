package workload

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// FoldOptions select the coflows of a trace, and the fabric.
type FoldOptions struct {
	Racks        int // of the fabric
	HostsPerRack int
	Coflows      int // the first ones within MaxWidth; 0: all
	MaxWidth     int // leave out coflows of more flows; 0: none
}

// Fold is what was done to a trace for a fabric: for the report.
type Fold struct {
	Trace        string `json:"trace"`
	TraceRacks   int    `json:"trace_racks"`
	Racks        int    `json:"racks"`
	HostsPerRack int    `json:"hosts_per_rack"`
	Folded       bool   `json:"folded"`        // several racks of the trace share a rack: rack modulo Racks
	TooWide      int    `json:"too_wide"`      // coflows left out by MaxWidth
	Empty        int    `json:"empty"`         // coflows left out that send no bytes
	BeyondLimit  int    `json:"beyond_limit"`  // coflows left out by Coflows
	Taken        Totals `json:"taken"`         // what the jobs hold
	LocalInTrace Totals `json:"local_trace"`   // flows whose two racks are the same in the trace
	LocalByFold  Totals `json:"local_by_fold"` // flows that share a host only because racks were folded
	SameRack     Totals `json:"same_rack"`     // flows between two hosts of one rack
}

// String describes it in a sentence or two.
func (f Fold) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d coflows, %d flows, %d MB", f.Trace, f.Taken.Coflows, f.Taken.Flows,
		f.Taken.Bytes/Megabyte)
	if f.Folded {
		fmt.Fprintf(&b, "; its %d racks are folded onto %d (rack modulo %d)", f.TraceRacks, f.Racks, f.Racks)
	}
	if f.Empty > 0 {
		fmt.Fprintf(&b, "; %d coflows that send nothing are left out", f.Empty)
	}
	fmt.Fprintf(&b, "; on one host: %d flows, %d MB, as in the trace", f.LocalInTrace.Flows,
		f.LocalInTrace.Bytes/Megabyte)
	if f.Folded {
		fmt.Fprintf(&b, ", and %d flows, %d MB, by the folding", f.LocalByFold.Flows,
			f.LocalByFold.Bytes/Megabyte)
	}
	return b.String()
}

// Jobs makes one job with one fixed edge of every coflow that is taken, ordered by arrival and then as
// in the file.
//
// A rack of the trace is one port there and one host here: rack q, for the coflow at position c of the
// file, is host (q/Racks + c) mod HostsPerRack of rack q mod Racks. So what is local in the trace stays
// local, racks that fold together spread over the hosts they fold onto, and a rack's hosts take turns
// from coflow to coflow. Flows between the same two hosts are one Flow that counts them. Nothing is
// lost: bytes and counts add up to the trace's.
func (t *Trace) Jobs(opt FoldOptions) ([]controller.Job, Fold, error) {
	if opt.Racks < 1 || opt.HostsPerRack < 1 || opt.Coflows < 0 || opt.MaxWidth < 0 {
		return nil, Fold{}, fmt.Errorf("fold trace %q: %d racks of %d hosts, %d coflows, width %d: racks and hosts are at "+
			"least 1, limits at least 0",
			t.Name, opt.Racks, opt.HostsPerRack, opt.Coflows, opt.MaxWidth)
	}
	f := Fold{Trace: filepath.Base(t.Name), TraceRacks: t.Racks, Racks: opt.Racks,
		HostsPerRack: opt.HostsPerRack,
		Folded:       t.Racks > opt.Racks}
	n := len(t.Coflows)
	if opt.Coflows > 0 {
		n = min(n, opt.Coflows)
	}
	jobs := make([]controller.Job, 0, n)
	var pairs pairSum
	for i := range t.Coflows {
		c := &t.Coflows[i]
		switch {
		case opt.MaxWidth > 0 && c.Width() > opt.MaxWidth:
			f.TooWide++
			continue
		case opt.Coflows > 0 && len(jobs) == opt.Coflows:
			f.BeyondLimit++
			continue
		case c.Bytes() == 0:
			f.Empty++
			continue
		}
		flows := pairs.fold(c, i, opt, &f)
		jobs = append(jobs, controller.Job{
			Name:    fmt.Sprint(coflowPrefix, c.ID),
			Arrival: c.Arrival,
			Weight:  1,
			Edges:   []controller.Edge{{Kind: controller.Fixed, Flows: flows}},
		})
	}
	if len(jobs) == 0 {
		return nil, Fold{}, fmt.Errorf("fold trace %q: no coflow is left of %d: take a larger width, or a trace that "+
			"sends bytes", t.Name, len(t.Coflows))
	}
	slices.SortStableFunc(jobs, func(a, b controller.Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return jobs, f, nil
}

// coflowPrefix comes before a coflow's id in the name of its job.
const coflowPrefix = "coflow-"

// host returns where rack q of the trace stands for the coflow at position c.
func (o FoldOptions) host(q int32, c int) southbound.HostID {
	rack := int(q) % o.Racks
	return southbound.HostID(rack*o.HostsPerRack + (int(q)/o.Racks+c)%o.HostsPerRack)
}

// pairSum adds up flows by pair of hosts; its memory is used again for every coflow.
type pairSum struct{ flows []controller.Flow }

func (p *pairSum) fold(c *TraceCoflow, at int, opt FoldOptions, f *Fold) []controller.Flow {
	p.flows = p.flows[:0]
	for _, r := range c.Reducers {
		dst := opt.host(r.Rack, at)
		for i, m := range c.Mappers {
			src := opt.host(m, at)
			bytes := r.From(i, len(c.Mappers))
			if bytes == 0 {
				continue
			}
			p.flows = append(p.flows, controller.Flow{Src: src, Dst: dst, Bytes: bytes, Count: 1})
			switch {
			case m == r.Rack:
				f.LocalInTrace.add(bytes)
			case src == dst:
				f.LocalByFold.add(bytes)
			case int(src)/opt.HostsPerRack == int(dst)/opt.HostsPerRack:
				f.SameRack.add(bytes)
			}
			f.Taken.add(bytes)
		}
	}
	f.Taken.Coflows++
	return merge(p.flows)
}

func (t *Totals) add(b pathmap.Bytes) { t.Flows++; t.Bytes += b }

// merge adds up flows between the same two hosts, sorted by (Dst, Src), into fresh memory that just
// holds them.
func merge(flows []controller.Flow) []controller.Flow {
	if len(flows) == 0 {
		return nil
	}
	slices.SortFunc(flows, func(a, b controller.Flow) int {
		return cmp.Or(cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Src, b.Src))
	})
	last := 0
	for i := 1; i < len(flows); i++ {
		if f, to := &flows[i], &flows[last]; to.Src == f.Src && to.Dst == f.Dst {
			to.Bytes += f.Bytes
			to.Count += f.Count
			continue
		}
		last++
		flows[last] = flows[i]
	}
	return append(make([]controller.Flow, 0, last+1), flows[:last+1]...)
}

// Sum returns the sums of jobs: every edge is a coflow; flows of an edge between stages are its pairs
// of tasks, and a broadcast's bytes count once for each receiver, as they travel.
func Sum(jobs []controller.Job) Totals {
	var t Totals
	for i := range jobs {
		j := &jobs[i]
		for k := range j.Edges {
			t.Coflows++
			t.edge(j, &j.Edges[k])
		}
	}
	return t
}

func (t *Totals) edge(j *controller.Job, e *controller.Edge) {
	if e.Reads != nil {
		flows, bytes := e.ReadSum(len(j.Stages[e.To].Tasks))
		t.Flows += flows
		t.Bytes += bytes
		return
	}
	if e.Kind == controller.Fixed || e.Kind == controller.Pairs {
		for _, f := range e.Flows {
			t.Flows += int64(max(f.Count, 1))
			t.Bytes += f.Bytes
		}
		return
	}
	from, to := int64(len(j.Stages[e.From].Tasks)), int64(len(j.Stages[e.To].Tasks))
	switch e.Kind {
	case controller.OneToOne:
		t.Flows += from
		t.Bytes += e.Bytes
	case controller.Broadcast:
		t.Flows += from * to
		t.Bytes += e.Bytes * pathmap.Bytes(to)
	case controller.ScatterGather, controller.Fields:
		t.Flows += from * to
		t.Bytes += e.Bytes
	case controller.Global:
		t.Flows += from
		t.Bytes += e.Bytes
	}
}
