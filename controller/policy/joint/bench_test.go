package joint_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/workload"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// mapped is a fabric with its path map.
func mapped(b testing.TB, spec string) (*topo.Fabric, *pathmap.Map) {
	b.Helper()
	s, err := topo.ParseSpec(spec)
	if err != nil {
		b.Fatal(err)
	}
	f, err := topo.New(s)
	if err != nil {
		b.Fatal(err)
	}
	m, err := f.PathMap(10, 1)
	if err != nil {
		b.Fatal(err)
	}
	return f, m
}

// crowd is a view of a fabric on which that many jobs run, on random hosts and paths, and one more waits.
func crowd(b testing.TB, spec string, jobs []controller.Job, seed uint64) *controller.View {
	b.Helper()
	f, m := mapped(b, spec)
	return crowdOn(f, m, jobs, seed)
}

// crowdOn is crowd on a fabric with its paths.
func crowdOn(f *topo.Fabric, m *pathmap.Map, jobs []controller.Job, seed uint64) *controller.View {
	v := &controller.View{Seed: seed, Now: time.Second, Fabric: f, Paths: m, Free: make([]int32, f.Hosts())}
	for h := range v.Free {
		v.Free[h] = 2
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	coflow := southbound.CoflowID(0)
	for i := range jobs {
		j := &jobs[i]
		j.ID, j.FirstCoflow = controller.JobID(i), coflow
		coflow += southbound.CoflowID(len(j.Edges))
		if i == len(jobs)-1 {
			v.Waiting = []*controller.Job{j}
			break
		}
		run(v, j, m.Paths, rng)
	}
	return v
}

// run puts a job on random hosts and its host flows on random paths.
func run(v *controller.View, j *controller.Job, paths func(s, d int) int, rng *rand.Rand) {
	hosts := make([]southbound.HostID, j.Tasks())
	for i := range hosts {
		hosts[i] = southbound.HostID(rng.IntN(len(v.Free)))
	}
	v.Running = append(v.Running, controller.Running{Job: j, Hosts: hosts})
	for k := range j.Edges {
		c := controller.Expand(j, &j.Edges[k], hosts)
		cv := controller.CoflowView{ID: j.FirstCoflow + southbound.CoflowID(k), Job: j.ID,
			Edge: int32(k), Generation: 1,
			Routed:  true,
			Started: true,
			Src:     c.Src, Dst: c.Dst, Size: c.Size, Flows: c.Flows, Ended: make([]bool, len(c.Src)),
			Remaining: southbound.Remaining{F: 1}}
		for r := range c.Src {
			tag := southbound.TagDefault
			if s, d := v.HostRack(c.Src[r]), v.HostRack(c.Dst[r]); s != d {
				tag = southbound.PathTag(rng.IntN(paths(int(s), int(d))))
			}
			cv.Tag, cv.Remaining.Base = append(cv.Tag, tag), append(cv.Remaining.Base, float64(c.Size[r]))
		}
		v.Coflows = append(v.Coflows, cv)
	}
}

func workloadOf(b testing.TB, text string, n int) []controller.Job {
	b.Helper()
	d, err := workload.ParseDrawn(text)
	if err != nil {
		b.Fatal(err)
	}
	jobs, err := d.Jobs(1, 1, n, nil)
	if err != nil {
		b.Fatal(err)
	}
	return jobs
}

// BenchmarkDecision is the wall time of one decision for a new job: streams of 10 bolts and 2 spouts,
// and shuffles of 20 maps and 10 reduces, on fat-trees and Jellyfishes, beside jobs that run.
func BenchmarkDecision(b *testing.B) {
	fabrics := []struct{ name, spec string }{
		{"fattree_k16_hosts_200", "fattree:k=16,hosts=200,rate=1Gbps"},
		{"fattree_k16_hosts_1000", "fattree:k=16,hosts=1000,rate=1Gbps"},
		{"jellyfish_40x10_hosts_200", "jellyfish:switches=40,degree=10,hosts=200,rate=1Gbps"},
		{"jellyfish_200x10_hosts_1000", "jellyfish:switches=200,degree=10,hosts=1000,rate=1Gbps"},
	}
	for _, w := range []struct{ name, text string }{{"storm", "storm:jobs=201"},
		{"hadoop", "hadoop:jobs=201,maps=20,reduces=10"}} {
		for _, f := range fabrics {
			for _, running := range []int{0, 20, 200} {
				for _, name := range []string{"crosslayer", "crosslayer-paper"} {
					b.Run(fmt.Sprintf("%s/%s/running_%d/%s", w.name, f.name, running, name), func(b *testing.B) {
						decideRepeatedly(b, crowd(b, f.spec, workloadOf(b, w.text, running+1), 1), name)
					})
				}
			}
		}
	}
}

// BenchmarkLarge is BenchmarkDecision on a hundred thousand hosts, beside 20 jobs that run. The first decision, which
// looks paths up that are kept from then on, is a figure of its own.
func BenchmarkLarge(b *testing.B) {
	f, m := mapped(b, "fattree:k=74,rate=1Gbps")
	for _, w := range []struct{ name, text string }{{"storm", "storm:jobs=201"},
		{"hadoop", "hadoop:jobs=201,maps=20,reduces=10"}} {
		b.Run(fmt.Sprintf("%s/hosts_%d/running_20", w.name, f.Hosts()), func(b *testing.B) {
			v := crowdOn(f, m, workloadOf(b, w.text, 21), 1)
			p, err := policy.New("crosslayer", policy.Options{})
			if err != nil {
				b.Fatal(err)
			}
			before := userTime(b)
			plan := p.Decide(v, nil)
			first := userTime(b) - before
			decideRepeatedly(b, v, "crosslayer")
			b.ReportMetric(float64(first.Microseconds())/1e3, "first-cpu-ms")
			b.Logf("places %v", plan.Place[0].Hosts)
		})
	}
}

func userTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

func decideRepeatedly(b *testing.B, v *controller.View, name string) {
	p, err := policy.New(name, policy.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var c controller.AnnealCounts
	p.Decide(v, nil) // the paths that it looks up are kept, as in a controller that runs
	b.ResetTimer()
	before := userTime(b)
	for b.Loop() {
		c = p.Decide(v, nil).Anneal
	}
	// all threads; wall times are others' too
	b.ReportMetric(float64((userTime(b)-before).Microseconds())/1e3/float64(b.N), "cpu-ms/op")
	moves := float64(c.Place.Evaluated + c.Route.Evaluated)
	b.ReportMetric(moves, "moves")
	b.ReportMetric(moves*float64(b.N)/b.Elapsed().Seconds(), "moves/s")
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "procs")
}
