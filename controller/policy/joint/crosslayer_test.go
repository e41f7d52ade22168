package joint_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// busy is a view of a leaf-spine fabric with that many running shuffles of random places, and one job
// waiting.
func busy(t testing.TB, spec topo.Spec, running, maps, reduces int, seed uint64) *controller.View {
	t.Helper()
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(southbound.MaxPaths, 1)
	if err != nil {
		t.Fatal(err)
	}
	v := &controller.View{Seed: seed, Now: time.Second, Fabric: f, Paths: m}
	for range f.Hosts() {
		v.Free = append(v.Free, 2)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for id := range running {
		j := shuffle(controller.JobID(id), maps, reduces)
		hosts := make([]southbound.HostID, maps+reduces)
		for i := range hosts {
			hosts[i] = southbound.HostID(rng.IntN(f.Hosts()))
		}
		c := controller.Expand(j, &j.Edges[0], hosts)
		cv := controller.CoflowView{ID: j.FirstCoflow, Job: j.ID, Generation: 1,
			Routed: true, Started: true, Src: c.Src, Dst: c.Dst,
			Size:  c.Size,
			Ended: make([]bool, len(c.Src)), Remaining: southbound.Remaining{F: 1}}
		for r := range c.Src {
			tag := southbound.TagDefault
			if s, d := v.HostRack(c.Src[r]), v.HostRack(c.Dst[r]); s != d {
				tag = southbound.PathTag(rng.IntN(min(m.Paths(int(s), int(d)), southbound.MaxPaths)))
			}
			cv.Tag, cv.Remaining.Base = append(cv.Tag, tag), append(cv.Remaining.Base, float64(c.Size[r]))
		}
		v.Coflows = append(v.Coflows, cv)
	}
	v.Waiting = []*controller.Job{shuffle(controller.JobID(running), maps, reduces)}
	return v
}

func shuffle(id controller.JobID, maps, reduces int) *controller.Job {
	return &controller.Job{ID: id, FirstCoflow: southbound.CoflowID(id),
		Stages: []controller.Stage{{Tasks: make([]controller.Task, maps)},
			{Tasks: make([]controller.Task, reduces)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 1e8}}}
}

func decide(t testing.TB, name string, v *controller.View) *controller.Plan {
	t.Helper()
	p, err := policy.New(name, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p.Decide(v, nil)
}

// least returns how long the waiting job's shuffle takes at max-min rates beside what runs, if nothing
// else changes.
func least(t *testing.T, v *controller.View, p *controller.Plan) float64 {
	t.Helper()
	if err := policytest.Check(v, p); err != nil {
		t.Fatal(err)
	}
	after := *v
	j := v.Waiting[0]
	c := controller.Expand(j, &j.Edges[0], p.Place[0].Hosts)
	if len(c.Src) == 0 {
		return 0
	}
	cv := controller.CoflowView{ID: j.FirstCoflow, Job: j.ID, Generation: 1,
		Routed: true, Started: true, Src: c.Src, Dst: c.Dst,
		Size:  c.Size,
		Ended: make([]bool, len(c.Src)), Tag: p.Route[0].Tags,
		Remaining: southbound.Remaining{F: 1, Base: make([]float64, len(c.Src))}}
	after.Coflows = append(append([]controller.CoflowView(nil), v.Coflows...), cv)
	after.Waiting = nil
	rates := map[string]pathmap.BitsPerSecond{}
	for _, r := range decide(t, "maxmin", &after).Share.Pairs {
		rates[fmt.Sprint(r.Src, r.Dst, r.Tag)] = r.Rate
	}
	worst := 0.0
	for r := range c.Src {
		worst = max(worst, float64(c.Size[r])*8/float64(rates[fmt.Sprint(c.Src[r], c.Dst[r], cv.Tag[r])]))
	}
	return worst
}

// TestBetterThanRandom: over busy networks the job's shuffle ends sooner than where random slots
// and hashed paths put it, on the whole and mostly one by one.
func TestBetterThanRandom(t *testing.T) {
	t.Parallel()
	spec := topo.Spec{Kind: topo.LeafSpine, Racks: 8, Hosts: 2, Spines: 2, NIC: 500 * pathmap.Mbps,
		EPS: 50 * pathmap.Mbps}
	for _, name := range []string{"crosslayer", "crosslayer-paper"} {
		ours, theirs, wins, networks := 0.0, 0.0, 0, tries.Of[uint64](12, 20)
		for seed := range networks {
			v := busy(t, spec, 5, 4, 3, seed)
			a, b := least(t, v, decide(t, name, v)), least(t, v, decide(t, "random+ecmp", v))
			ours, theirs = ours+a, theirs+b
			if a < b {
				wins++
			}
		}
		t.Logf("%s: %.2f s against %.2f s in all, sooner in %d of %d", name, ours, theirs, wins, networks)
		if ours >= theirs || wins < int(networks)*3/4 {
			t.Errorf("%s: %.2f s against %.2f s in all, sooner in %d of %d", name, ours, theirs, wins, networks)
		}
	}
}

// TestCountsBothLevels: moves evaluated and accepted are reported for each level.
func TestCountsBothLevels(t *testing.T) {
	v := busy(t, topo.Spec{Kind: topo.LeafSpine, Racks: 4, Hosts: 2, Spines: 2}, 2, 5, 4, 1)
	c := decide(t, "crosslayer", v).Anneal
	for name, n := range map[string]controller.MoveCounts{"place": c.Place, "route": c.Route} {
		if n.Evaluated == 0 || n.Accepted == 0 || n.Accepted > n.Evaluated {
			t.Errorf("%s: %+v", name, n)
		}
	}
	if c := decide(t, "random+ecmp", v).Anneal; c != (controller.AnnealCounts{}) {
		t.Errorf("random+ecmp counts %+v", c)
	}
}

// TestStaysOnFabricWithCircuits: with circuits in between every host flow still has a route, and
// circuits are for bare coflows that start now.
func TestStaysOnFabricWithCircuits(t *testing.T) {
	v := busy(t, topo.Spec{Kind: topo.Hybrid, Racks: 4, Hosts: 2, Spines: 2}, 2, 5, 4, 1)
	v.Circuits = make([]controller.CircuitView, 4)
	v.ElephantThreshold, v.Delta = 1e6, 10*time.Millisecond
	p := decide(t, "crosslayer+sunflow", v)
	if err := policytest.Check(v, p); err != nil {
		t.Fatal(err)
	}
	if len(p.Reserve) == 0 || len(p.Route) != 1 || len(p.Place) != 1 {
		t.Errorf("%d reservations, %d routings, %d placements", len(p.Reserve), len(p.Route), len(p.Place))
	}
}

// BenchmarkCrossLayer is the time of one decision: the demo's fabric, and 1,000 hosts with 20 running jobs.
func BenchmarkCrossLayer(b *testing.B) {
	for _, bc := range []struct {
		name                   string
		spec                   topo.Spec
		running, maps, reduces int
	}{
		{"hosts_16_jobs_5_tasks_7", topo.Spec{Kind: topo.LeafSpine, Racks: 8, Hosts: 2, Spines: 2,
			NIC: 500 * pathmap.Mbps,
			EPS: 50 * pathmap.Mbps}, 5, 4, 3},
		{"hosts_1000_jobs_20_tasks_12", topo.Spec{Kind: topo.LeafSpine, Racks: 100, Hosts: 10,
			Spines: 6}, 20, 6, 6},
		{"hosts_1000_jobs_20_tasks_30", topo.Spec{Kind: topo.LeafSpine, Racks: 100, Hosts: 10,
			Spines: 6}, 20, 20, 10},
	} {
		for _, name := range []string{"crosslayer", "crosslayer-paper"} {
			b.Run(bc.name+"/"+name, func(b *testing.B) {
				v := busy(b, bc.spec, bc.running, bc.maps, bc.reduces, 1)
				p, err := policy.New(name, policy.Options{})
				if err != nil {
					b.Fatal(err)
				}
				var c controller.AnnealCounts
				for b.Loop() {
					c = p.Decide(v, nil).Anneal
				}
				b.ReportMetric(float64(c.Place.Evaluated), "place-moves")
				b.ReportMetric(float64(c.Route.Evaluated), "route-moves")
			})
		}
	}
}
