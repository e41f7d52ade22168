package place

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/route"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// family draws jobs of which most read what earlier ones write, or data sets.
func family(r *rand.Rand, f *topo.Fabric) []*controller.Job {
	host := func() southbound.HostID { return southbound.HostID(r.IntN(f.Hosts())) }
	kinds := []controller.EdgeKind{controller.OneToOne, controller.ScatterGather, controller.Broadcast}
	var jobs []*controller.Job
	slots := f.Hosts() * f.Spec.Slots
	const whole = 360360 * 360360 // any number of tasks here has even parts of it
	for i := range 3 + r.IntN(8) {
		j := &controller.Job{Name: fmt.Sprint("job ", i), Incremental: r.IntN(4) > 0,
			Arrival: time.Duration(i*r.IntN(4)) * time.Second}
		n := 1 + r.IntN(max(1, slots/3))
		for s := range 1 + r.IntN(3) {
			j.Stages = append(j.Stages, controller.Stage{Tasks: slices.Repeat([]controller.Task{{
				Compute: time.Duration(1+r.IntN(5)) * time.Second}}, n)})
			if s > 0 {
				j.Edges = append(j.Edges, controller.Edge{Kind: kinds[r.IntN(3)], From: r.IntN(s), To: s,
					Bytes: whole * pathmap.Bytes(r.IntN(100))})
			}
		}
		for range r.IntN(4) {
			read := &controller.Read{Kind: kinds[r.IntN(3)]}
			if i > 0 && r.IntN(3) > 0 {
				read.Job = fmt.Sprint("job ", r.IntN(i))
			} else {
				read.Hosts = []southbound.HostID{host(), host(), host()}
			}
			j.Edges = append(j.Edges, controller.Edge{To: r.IntN(len(j.Stages)),
				Bytes: whole * pathmap.Bytes(r.IntN(300)),
				Reads: read})
		}
		if j.Check(f.Hosts(), slots) == nil {
			jobs = append(jobs, j)
		}
	}
	slices.SortStableFunc(jobs, func(a, b *controller.Job) int { return int(a.Arrival - b.Arrival) })
	return jobs
}

// TestDawnReference runs families of jobs to their end, which proves progress, and compares every
// stage's preferred rack and every choice of Algorithm 1 with slow ones: racks by moving all tasks
// there and counting bytes that cross, choices by sorting as the document prints it.
func TestDawnReference(t *testing.T) {
	compared, dependent := 0, 0
	for seed := range tries.Of[uint64](250, 3000) {
		r := rand.New(rand.NewPCG(seed, 0xda))
		f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 2 + r.IntN(4), Hosts: 1 + r.IntN(3),
			Slots:  1 + r.IntN(3),
			Spines: 1, NIC: pathmap.Gbps, EPS: pathmap.Gbps})
		if err != nil {
			t.Fatal(err)
		}
		jobs := family(r, f)
		for slices.ContainsFunc(jobs, func(j *controller.Job) bool { return orphan(jobs, j) }) {
			jobs = slices.DeleteFunc(jobs, func(j *controller.Job) bool { return orphan(jobs, j) })
		}
		threshold := []float64{1e-9, 0.3, 1}[r.IntN(3)]
		strict := r.IntN(2) == 0
		part := func() filler { return &Dawn{Threshold: threshold, Strict: strict} }
		c := &cluster{t: t, s: state.New(f), make: part}
		c.after = func(v *controller.View, _ *controller.Plan) {
			n := &dawnPass{d: &Dawn{Threshold: threshold}, v: v}
			n.crowded()
			y := newSlotAllocator(v, nil)
			if y == nil {
				return
			}
			aims := n.stages(y)
			n.weigh(aims)
			for _, a := range aims {
				compared++
				if want := slowPreference(n, a); want != a.prefer {
					t.Fatalf("seed %d: stage %d of %s prefers %+v, want %+v (saturated: %v)", seed, a.stage,
						a.w.job.Name, a.prefer,
						want, n.saturated)
				}
				if a.dep {
					dependent++
				}
			}
			for rack := range f.Racks {
				if got, want := n.pick(y, aims, rack), slowPick(n, y, aims, rack); got != want {
					t.Fatalf("seed %d: rack %d takes %+v, want %+v", seed, rack, got, want)
				}
			}
		}
		c.run(jobs)
	}
	if compared < 2000 || dependent < 200 {
		t.Errorf("only %d stages were compared, %d of them placed for their children", compared, dependent)
	}
}

func orphan(all []*controller.Job, j *controller.Job) bool {
	return slices.ContainsFunc(j.ParentNames(), func(name string) bool {
		return !slices.ContainsFunc(all, func(p *controller.Job) bool { return p.Name == name })
	})
}

// crossing returns the bytes of an edge between racks.
func crossing(v *controller.View, j *controller.Job, e *controller.Edge,
	hosts []southbound.HostID) pathmap.Bytes {
	sum := pathmap.Bytes(0)
	x := controller.Expand(j, e, hosts)
	for i := range x.Src {
		if v.HostRack(x.Src[i]) != v.HostRack(x.Dst[i]) {
			sum += x.Size[i]
		}
	}
	return sum
}

// slowPreference moves a stage from rack to rack, and its children after it.
func slowPreference(n *dawnPass, a *aim) prefer {
	v, j := n.v, a.w.job
	first, end := j.StageTasks(a.stage)
	traffic := make([]pathmap.Bytes, v.Fabric.Racks)
	childrens := make([]pathmap.Bytes, v.Fabric.Racks)
	parent := false
	for rack := range traffic {
		hosts := slices.Repeat([]southbound.HostID{0}, j.Tasks())
		copy(hosts, a.w.hosts)
		for t := first; t < end; t++ {
			hosts[t] = southbound.HostID(v.Fabric.FirstHost[rack])
		}
		for i := range j.Edges {
			if e := &j.Edges[i]; e.FollowsTasks() && e.To == a.stage {
				traffic[rack] += crossing(v, j, e, hosts)
			}
		}
		for _, child := range v.Blocked {
			cost, reads := slowChild(v, j, child, hosts[first])
			if reads && slices.Contains(j.Outputs(), first) {
				childrens[rack] += cost
				parent = true
			}
		}
	}
	maxR, depR := 0, 0
	for r := range traffic {
		if traffic[r] < traffic[maxR] {
			maxR = r
		}
		if childrens[r] < childrens[depR] || childrens[r] == childrens[depR] && traffic[r] < traffic[depR] {
			depR = r
		}
	}
	if parent && (!n.saturated || traffic[depR] == traffic[maxR]) {
		return prefer{depR, traffic[depR], true}
	}
	return prefer{maxR, traffic[maxR], false}
}

// slowChild is the least traffic between racks of a child, all of its reading tasks in one, with the
// output of a parent on one host: one task reads all, since Equation 1 counts blocks and not who reads
// them.
func slowChild(v *controller.View, parent, child *controller.Job,
	out southbound.HostID) (pathmap.Bytes, bool) {
	least, reads := pathmap.Bytes(-1), false
	for rack := range v.Fabric.Racks {
		sum := pathmap.Bytes(0)
		for i := range child.Edges {
			e := child.Edges[i]
			if e.Reads == nil {
				continue
			}
			read := *e.Reads
			switch {
			case read.Known && read.Parent == parent.ID:
				read.Hosts, reads = []southbound.HostID{out}, reads || e.Bytes > 0
			case !read.Ready:
				if read.Hosts = written(v, read.Parent, read.Known); read.Hosts == nil {
					continue
				}
			}
			for k, h := range read.Hosts {
				b := e.Bytes / pathmap.Bytes(len(read.Hosts))
				if pathmap.Bytes(k) < e.Bytes%pathmap.Bytes(len(read.Hosts)) {
					b++
				}
				if h >= 0 && int(v.HostRack(h)) != rack {
					sum += b
				}
			}
		}
		if least < 0 || sum < least {
			least = sum
		}
	}
	return least, reads
}

// written is where the output of a running job lies; NoHost where that is not known.
func written(v *controller.View, id controller.JobID, known bool) (out []southbound.HostID) {
	for i := range v.Partial {
		if p := &v.Partial[i]; known && p.Job.ID == id {
			for _, t := range p.Job.Outputs() {
				out = append(out, p.Hosts[t])
			}
			return out
		}
	}
	for i := range v.Running {
		if p := &v.Running[i]; known && p.Job.ID == id {
			for _, t := range p.Job.Outputs() {
				out = append(out, p.Hosts[t])
			}
			return out
		}
	}
	return nil
}

// slowPick is Algorithm 1 as printed, over the stages that have room.
func slowPick(n *dawnPass, y *slotAllocator, aims []*aim, rack int) *aim {
	sorted := slices.Clone(aims)
	slices.SortStableFunc(sorted, func(a, b *aim) int {
		if n.saturated {
			return int(a.traffic - b.traffic)
		}
		return int(b.traffic - a.traffic)
	})
	var set []*aim
	for len(sorted) > 0 {
		a := sorted[0]
		sorted = sorted[1:]
		if a.rack == rack && n.fits(y, a, n.racks(y, a)) {
			set = append(set, a)
			break
		}
	}
	for _, a := range sorted {
		if len(set) > 0 && a.traffic == set[0].traffic && a.rack == rack && n.fits(y, a, n.racks(y, a)) {
			set = append(set, a)
		}
	}
	if len(set) == 0 {
		return nil
	}
	node := func(a *aim) pathmap.Bytes {
		hosts := a.needs.host[n.v.Fabric.FirstHost[rack]:n.v.Fabric.FirstHost[rack+1]]
		sum := pathmap.Bytes(0)
		for _, b := range hosts {
			sum += b
		}
		// blocks have a rack and no host
		return sum - slices.Max(hosts) + a.needs.rack[rack] - sum
	}
	best := set[0]
	for _, a := range set[1:] {
		x, y := node(a), node(best)
		if n.saturated && x < y || !n.saturated && x > y || x == y && (a.w.job.ID < best.w.job.ID ||
			a.w.job.ID == best.w.job.ID && a.stage < best.stage) {
			best = a
		}
	}
	return best
}

// TestDawnKeepsChildrenTogether is Figure 1 in small: two parents whose outputs one child reads. Dawn
// writes both to one rack, where the child then reads without crossing; without the knowledge of
// children they stay where their maps were.
func TestDawnKeepsChildrenTogether(t *testing.T) {
	for _, tc := range []struct {
		name    string
		part    func() filler
		crossed bool
	}{
		{"dawn", func() filler { return new(Dawn) }, false},
		{"saturated", func() filler { return &Dawn{Threshold: -1} }, true},
		{"alone", func() filler { return &Dawn{Alone: true} }, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 3, Hosts: 2, Slots: 4, Spines: 1,
				NIC: pathmap.Gbps,
				EPS: pathmap.Gbps})
			if err != nil {
				t.Fatal(err)
			}
			mapReduce := func(name string, at southbound.HostID) *controller.Job {
				two := controller.Stage{Tasks: make([]controller.Task, 2)}
				return &controller.Job{Name: name, Incremental: true, Stages: []controller.Stage{two, two},
					Edges: []controller.Edge{
						{Kind: controller.ScatterGather, To: 1, Bytes: 100},
						{Bytes: 200, Reads: &controller.Read{Hosts: []southbound.HostID{at},
							Kind: controller.OneToOne}}}}
			}
			child := &controller.Job{Name: "child", Incremental: true,
				Stages: []controller.Stage{{Tasks: make([]controller.Task, 2)}},
				Edges: []controller.Edge{{Bytes: 300, Reads: &controller.Read{Job: "a", Kind: controller.OneToOne}},
					{Bytes: 300, Reads: &controller.Read{Job: "b", Kind: controller.OneToOne}}}}
			c := &cluster{t: t, s: state.New(f), make: tc.part}
			c.run([]*controller.Job{child, mapReduce("a", 2), mapReduce("b", 4)})
			crossed := pathmap.Bytes(0)
			for _, x := range c.s.Data().Coflows {
				if x.Job == 0 {
					crossed += x.Bytes - x.Rack
				}
			}
			if (crossed > 0) != tc.crossed {
				t.Errorf("%d bytes of the child cross racks", crossed)
			}
		})
	}
}

// TestDawnExplains: each task's rack is told with the traffic and load that chose it.
func TestDawnExplains(t *testing.T) {
	f := allocatorFabric(t, 3, 4)
	var told []route.Why
	d := new(Dawn)
	d.Tell(func(_ *controller.View, w route.Why) { told = append(told, w) })
	j := &controller.Job{Incremental: true, Stages: []controller.Stage{{Tasks: make([]controller.Task, 3)}},
		Edges: []controller.Edge{{Bytes: 300, Reads: &controller.Read{Hosts: []southbound.HostID{4, 4, 0},
			Kind: controller.OneToOne}}}}
	c := &cluster{t: t, s: state.New(f), make: func() filler { return new(Dawn) }}
	c.apply(state.Entry{Kind: state.JobAccepted, Job: j})
	v := controller.View{Seed: 7}
	c.s.FillView(&v, nil)
	p := controller.Plan{Wake: southbound.Never}
	d.Fill(&v, nil, &p)
	if len(told) != 3 || told[0].Rack == nil || told[0].Rack.Preferred != 2 || told[0].Rack.Traffic != 100 ||
		told[0].Rack.Host != 4 {
		t.Errorf("told %+v", told)
	}
}

// TestDawnWithLostHosts: what is lost with hosts begins again, and every job ends.
func TestDawnWithLostHosts(t *testing.T) {
	for seed := range tries.Of[uint64](20, 200) {
		r := rand.New(rand.NewPCG(seed, 0xdb))
		f := allocatorFabric(t, 3, 4)
		jobs := family(r, f)
		for slices.ContainsFunc(jobs, func(j *controller.Job) bool { return orphan(jobs, j) }) {
			jobs = slices.DeleteFunc(jobs, func(j *controller.Job) bool { return orphan(jobs, j) })
		}
		lost := southbound.HostID(r.IntN(f.Hosts()))
		c := &cluster{t: t, s: state.New(f), make: func() filler { return new(Dawn) },
			heed: []time.Duration{4 * time.Second, 20 * time.Second}}
		down, up := false, false
		c.each = func() {
			if !down && c.now >= c.heed[0] {
				down = true
				c.lose(lost)
			}
			if !up && c.now >= c.heed[1] {
				up = true
				c.apply(state.Entry{Kind: state.HostSeen, Host: lost, OK: true})
			}
		}
		c.run(jobs)
	}
}

// lose takes a host with the tasks that run on it.
func (c *cluster) lose(h southbound.HostID) {
	for i, t := range c.s.Data().Tasks {
		if t.Host == h {
			delete(c.ends, southbound.TaskID(i))
		}
	}
	c.apply(state.Entry{Kind: state.HostSeen, Host: h})
}

// BenchmarkDawn is a decision with that many jobs, half of which wait for others.
func BenchmarkDawn(b *testing.B) {
	for _, jobs := range []int{12, 100, 400} {
		b.Run(fmt.Sprint("jobs_", jobs), func(b *testing.B) {
			f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 6, Hosts: 6, Slots: 8, Spines: 1,
				NIC: pathmap.Gbps,
				EPS: pathmap.Gbps})
			if err != nil {
				b.Fatal(err)
			}
			s := state.New(f)
			for i := range jobs {
				j := &controller.Job{Name: fmt.Sprint(i), Incremental: true, Stages: []controller.Stage{
					{Tasks: make([]controller.Task, 24)}, {Tasks: make([]controller.Task,
						8)}}, Edges: []controller.Edge{
					{Kind: controller.ScatterGather, To: 1, Bytes: 1e9}, {Bytes: 2e9, Reads: &controller.Read{
						Hosts: []southbound.HostID{southbound.HostID(i % 36),
							southbound.HostID(i % 35)}, Kind: controller.OneToOne}}}}
				if i%2 == 1 {
					j.Edges[1].Reads = &controller.Read{Job: fmt.Sprint(i - 1), Kind: controller.OneToOne}
				}
				if err := s.Apply(&state.Entry{Kind: state.JobAccepted, Job: j,
					Request: fmt.Sprint(i)}); err != nil {
					b.Fatal(err)
				}
			}
			v := controller.View{Seed: 1}
			s.FillView(&v, nil)
			part := new(Dawn)
			for b.Loop() {
				p := controller.Plan{Wake: southbound.Never}
				part.Fill(&v, nil, &p)
			}
		})
	}
}

// TestNeedsOfBlocks: every task's block counts for each rack with a copy, the last one's too.
func TestNeedsOfBlocks(t *testing.T) {
	v := &controller.View{Fabric: allocatorFabric(t, 4, 2)}
	j := &controller.Job{Stages: []controller.Stage{{Tasks: []controller.Task{{Input: 10}, {Input: 20}}}}}
	n := needsOf(v, j, 0, nil, []southbound.RackID{0, 1, 2, 1, 2, 3})
	if want := []pathmap.Bytes{10, 30, 30, 20}; n.total != 30 || !slices.Equal(n.rack, want) {
		t.Errorf("%v of %v, want %v of 30", n.rack, n.total, want)
	}
}
