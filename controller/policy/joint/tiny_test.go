package joint_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestNearExhaustiveSchedule: on tiny instances (up to 4 racks of one host and 3 jobs, all at time 0)
// the sum of the times that joint's places and circuits need is near the least over all placements and
// all non-preemptive orders of circuits. Packets are too slow to matter.
func TestNearExhaustiveSchedule(t *testing.T) {
	var ratios []float64
	worst, most, sent := "", 0.0, 0
	for seed := uint64(0); sent < tries.Of(150, 1000); seed++ {
		x := newTinyInstance(t, seed)
		ours := x.decided(t)
		best := x.optimum(ours)
		switch {
		case ours == 0:
			continue // nothing need be sent, and nothing is
		case best == 0:
			t.Fatalf("seed %d: %v where nothing need be sent: %v", seed, ours, x)
		default:
			ratios = append(ratios, float64(ours)/float64(best))
			sent++
		}
		if last := ratios[len(ratios)-1]; last > most {
			most = last
			worst = fmt.Sprintf("seed %d: %v, best %v: %v", seed, ours, best, x)
		}
	}
	slices.Sort(ratios)
	mean := 0.0
	for _, r := range ratios {
		mean += r / float64(len(ratios))
	}
	p95 := ratios[(len(ratios)*95+99)/100-1]
	t.Logf("%d instances in which something is sent: mean %.4f, p95 %.4f, worst %.4f (%s)",
		len(ratios), mean, p95,
		ratios[len(ratios)-1], worst)
	if mean > 1.05 || p95 > 1.15 {
		t.Errorf("mean %.4f, p95 %.4f: want at most 1.05 and 1.15", mean, p95)
	}
}

// tinyInstance is a view of jobs that wait, and of nothing else.
type tinyInstance struct {
	v    *controller.View
	best time.Duration
}

func (x *tinyInstance) String() string {
	s := fmt.Sprintf("dark %v, slots %v, jobs", x.v.Delta, x.v.Free)
	for _, j := range x.v.Waiting {
		s += fmt.Sprintf(" %d×%d of %d MB", len(j.Stages[0].Tasks), len(j.Stages[1].Tasks), j.Edges[0].Bytes/1e6)
	}
	return s
}

func newTinyInstance(t *testing.T, seed uint64) *tinyInstance {
	rng := rand.New(rand.NewPCG(seed, 0x74696e79))
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 2 + rng.IntN(3), Hosts: 1, Spines: 1,
		NIC: pathmap.Gbps,
		EPS: pathmap.BitsPerSecond(1000), OCS: pathmap.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	v := &controller.View{Seed: seed, Now: 0, Fabric: f, Paths: m,
		Circuits: make([]controller.CircuitView, f.Racks),
		Delta:    []time.Duration{0, 10 * time.Millisecond, time.Second}[rng.IntN(3)]}
	for i := range v.Circuits {
		v.Circuits[i] = controller.CircuitView{Out: southbound.NoPort, Coflow: controller.AnyCoflow}
	}
	tasks := 0
	for k := range 1 + rng.IntN(3) {
		j := shuffle(controller.JobID(k), 1+rng.IntN(3), 1+rng.IntN(2))
		if tasks+j.Tasks() > 9 {
			break
		}
		tasks += j.Tasks()
		j.FirstCoflow = southbound.CoflowID(k)
		j.Edges[0].Bytes = pathmap.Bytes(1+rng.IntN(300)) * 1e6
		v.Waiting = append(v.Waiting, j)
	}
	v.Free = make([]int32, f.Hosts())
	for n := 0; n < tasks+rng.IntN(2); n++ {
		v.Free[rng.IntN(len(v.Free))]++
	}
	return &tinyInstance{v: v}
}

// decided returns the sum of the times under the policy's places and reservations.
func (x *tinyInstance) decided(t *testing.T) time.Duration {
	p := decide(t, "joint", x.v)
	if err := policytest.Check(x.v, p); err != nil || len(p.Place) != len(x.v.Waiting) {
		t.Fatalf("%d placements, %v", len(p.Place), err)
	}
	started := *x.v
	started.Waiting = nil
	for _, pl := range p.Place {
		j := x.v.Waiting[slices.IndexFunc(x.v.Waiting, func(j *controller.Job) bool { return j.ID == pl.Job })]
		c := controller.Expand(j, &j.Edges[0], pl.Hosts)
		cv := controller.CoflowView{ID: j.FirstCoflow, Job: j.ID, Generation: 1, Routed: true,
			Started: true, Src: c.Src,
			Dst: c.Dst, Size: c.Size, Flows: c.Flows, Ended: make([]bool,
				len(c.Src)), Tag: make([]southbound.Tag, len(c.Src)),
			Remaining: southbound.Remaining{F: 1}}
		for _, size := range c.Size {
			cv.Remaining.Base = append(cv.Remaining.Base, float64(size))
		}
		if len(c.Src) > 0 {
			started.Coflows = append(started.Coflows, cv)
		}
	}
	ends := map[southbound.CoflowID]time.Duration{}
	for _, r := range decide(t, "joint", &started).Reserve {
		ends[r.Coflow] = max(ends[r.Coflow], r.NotAfter)
	}
	sum := time.Duration(0)
	for _, c := range started.Coflows {
		if ends[c.ID] == 0 {
			t.Fatalf("coflow %d has no circuit: %v", c.ID, x)
		}
		sum += ends[c.ID]
	}
	return sum
}

// tinyPair is what a job has for a pair of racks.
type tinyPair struct {
	job, in, out int
	need         time.Duration
}

// tinySpan is a time for which a port is taken.
type tinySpan struct {
	from, to time.Duration
	peer     int
}

// optimum returns the least sum of all placements and orders, at most the given one.
func (x *tinyInstance) optimum(atMost time.Duration) time.Duration {
	x.best = atMost
	hosts := make([][]southbound.HostID, len(x.v.Waiting))
	x.put(hosts, 0, slices.Clone(x.v.Free))
	return x.best
}

// put tries all hosts for the tasks of jobs from one on; tasks of a stage are alike.
func (x *tinyInstance) put(hosts [][]southbound.HostID, job int, free []int32) {
	if job == len(hosts) {
		x.order(hosts)
		return
	}
	j := x.v.Waiting[job]
	if len(hosts[job]) == j.Tasks() {
		x.put(hosts, job+1, free)
		return
	}
	first := southbound.HostID(0)
	if k := len(hosts[job]); k > 0 && k != len(j.Stages[0].Tasks) {
		first = hosts[job][k-1]
	}
	for h := first; int(h) < len(free); h++ {
		if free[h] == 0 {
			continue
		}
		free[h]--
		hosts[job] = append(hosts[job], h)
		x.put(hosts, job, free)
		hosts[job] = hosts[job][:len(hosts[job])-1]
		free[h]++
	}
}

func (x *tinyInstance) order(hosts [][]southbound.HostID) {
	var all []tinyPair
	for k, j := range x.v.Waiting {
		c := controller.Expand(j, &j.Edges[0], hosts[k])
		for row := range c.Src { // one host a rack: rows are pairs
			all = append(all, tinyPair{k, int(c.Src[row]), int(c.Dst[row]),
				x.v.Wire(c.Size[row]).Over(pathmap.Gbps)})
		}
	}
	x.next(all, make([][]tinySpan, 2*len(x.v.Free)), make([]time.Duration, len(hosts)))
}

// next lays every remaining pair in turn at its earliest.
func (x *tinyInstance) next(left []tinyPair, ports [][]tinySpan, ends []time.Duration) {
	sum := time.Duration(0)
	for _, e := range ends {
		sum += e
	}
	if sum >= x.best {
		return
	}
	if len(left) == 0 {
		x.best = sum
		return
	}
	for i, p := range left {
		from, to := x.earliest(p, ports[2*p.in], ports[2*p.out+1])
		rest := slices.Delete(slices.Clone(left), i, i+1)
		was := ends[p.job]
		in, out := ports[2*p.in], ports[2*p.out+1]
		ports[2*p.in] = append(slices.Clone(in), tinySpan{from, to, p.out})
		ports[2*p.out+1] = append(slices.Clone(out), tinySpan{from, to, p.in})
		ends[p.job] = max(was, to)
		x.next(rest, ports, ends)
		ends[p.job], ports[2*p.in], ports[2*p.out+1] = was, in, out
	}
}

// earliest returns when a pair can have its circuit first. Right after one between the same ports it
// costs no delay.
func (x *tinyInstance) earliest(p tinyPair, in, out []tinySpan) (from, to time.Duration) {
	at := []time.Duration{0}
	for _, s := range slices.Concat(in, out) {
		at = append(at, s.to)
	}
	slices.Sort(at)
	for _, from := range at {
		to := from + x.v.Delta + p.need
		if slices.ContainsFunc(in, func(s tinySpan) bool { return s.to == from && s.peer == p.out }) {
			to -= x.v.Delta
		}
		if !slices.ContainsFunc(slices.Concat(in, out),
			func(s tinySpan) bool { return s.from < to && from < s.to }) {
			return from, to
		}
	}
	panic("after all others a pair fits")
}
