package flowsim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// webSearch is the distribution of flow sizes of a web search cluster (Alizadeh et al., "Data center
// TCP (DCTCP)", SIGCOMM 2010) in the steps that simulators share: bytes, and the part of flows with at
// most as many. Sizes between two steps are uniform; the mean is 1.71 MB.
var webSearch = [][2]float64{{1, 0}, {10e3, 0.15}, {20e3, 0.2}, {30e3, 0.3}, {50e3, 0.4}, {80e3, 0.53}, {200e3, 0.6},
	{1e6, 0.7}, {2e6, 0.8}, {5e6, 0.9}, {10e6, 0.97}, {30e6, 1}}

// drawSize draws a flow's size.
func drawSize(rng *rand.Rand, steps [][2]float64) pathmap.Bytes {
	u := rng.Float64()
	for i := 1; ; i++ {
		a, b := steps[i-1], steps[i]
		if u < b[1] || i == len(steps)-1 {
			return pathmap.Bytes(a[0] + (b[0]-a[0])*(u-a[1])/(b[1]-a[1]))
		}
	}
}

func meanSize(steps [][2]float64) (mean float64) {
	for i := 1; i < len(steps); i++ {
		mean += (steps[i][0] + steps[i-1][0]) / 2 * (steps[i][1] - steps[i-1][1])
	}
	return mean
}

// single is a flow that is a coflow by itself.
type single struct {
	at       time.Duration
	src, dst southbound.HostID
	size     pathmap.Bytes
	tag      southbound.Tag
}

// flowStream draws flows one after the other: Poisson arrivals at a load of the hosts' links, sizes of
// web search, hosts and paths uniform.
type flowStream struct {
	rng   *rand.Rand
	gap   float64 // mean, nanoseconds
	at    float64
	hosts int
	tags  int
}

func newFlowStream(seed uint64, f *topo.Fabric, load float64, tags int) *flowStream {
	rate := float64(f.Topology.Link(f.Topology.Out(f.HostNode[0])[0]).Capacity)
	each := meanSize(webSearch) * 8 / rate * 1e9 // nanoseconds of a host's link
	return &flowStream{rand.New(rand.NewPCG(seed, 43)), each / load / float64(f.Hosts()), 0, f.Hosts(), tags}
}

func (g *flowStream) next() single {
	g.at += g.rng.ExpFloat64() * g.gap
	src := g.rng.IntN(g.hosts)
	dst := g.rng.IntN(g.hosts - 1)
	if dst >= src {
		dst++
	}
	return single{time.Duration(math.Ceil(g.at)), southbound.HostID(src), southbound.HostID(dst),
		drawSize(g.rng, webSearch), southbound.PathTag(g.rng.IntN(g.tags))}
}

// streamed is what came of a stream of flows.
type streamed struct {
	ends int
	last time.Duration
	most int           // live at once
	took time.Duration // sum of flow completion times
}

// stream runs n flows on a simulator whose hosts share by themselves. It writes completion times into
// took, unless that is nil.
func stream(t testing.TB, s *Sim, n int, next func() single, took []time.Duration) (out streamed) {
	rates(t, s, southbound.Rates{Fair: true})
	var ev []southbound.Event
	starts := []southbound.Start{{Src: make([]southbound.HostID, 1), Dst: make([]southbound.HostID, 1),
		Size: make([]pathmap.Bytes, 1), Tag: make([]southbound.Tag, 1)}}
	begun := map[southbound.CoflowID]time.Duration{}
	started, fl := 0, next()
	for {
		at, ok := s.Next()
		if started < n && (!ok || fl.at < at) {
			at, ok = fl.at, true
		}
		if !ok {
			return out
		}
		var err error
		if ev, _, err = s.Advance(at, ev[:0], nil); err != nil {
			t.Fatal(err)
		}
		for _, e := range ev {
			fct := e.At - begun[e.Coflow]
			if out.took += fct; took != nil {
				took[e.Coflow] = fct
			}
			delete(begun, e.Coflow)
			out.ends++
			out.last = e.At
		}
		for ; started < n && fl.at <= at; fl = next() {
			start := &starts[0]
			start.Coflow = southbound.CoflowID(started)
			start.Src[0], start.Dst[0], start.Size[0], start.Tag[0] = fl.src, fl.dst, fl.size, fl.tag
			if err := s.Host().Start(starts); err != nil {
				t.Fatal(err)
			}
			begun[start.Coflow] = fl.at
			started++
		}
		out.most = max(out.most, len(begun))
	}
}

// wireFatTree programs a fat-tree: a path's number, its source and its destination choose the aggregation
// switch and there the core, so that all links of a layer have the same load.
func wireFatTree(t testing.TB, s *Sim, paths int) {
	t.Helper()
	f := s.fabric
	half := f.Spec.K / 2
	rule := func(c *southbound.Change, dst int, tag southbound.Tag, port int) {
		c.Rules = append(c.Rules, southbound.Rule{Match: southbound.Match{Dst: southbound.RackID(dst), Tag: tag,
			Src: southbound.AnyRack}, Primary: southbound.Port(port), Backup: southbound.NoPort})
	}
	program := func(n int, each func(c *southbound.Change, dst int)) {
		c := &southbound.Change{Replace: true}
		for dst := range f.Racks {
			each(c, dst)
		}
		if err := s.Device(southbound.DeviceID(n)).Set(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	}
	pods := (f.Racks + half - 1) / half
	for e := range f.Racks {
		program(e, func(c *southbound.Change, dst int) {
			for i := 0; dst != e && i < paths; i++ {
				rule(c, dst, southbound.PathTag(i), half+(2*i+dst+e)%half)
			}
		})
	}
	for a := range pods * half {
		program(f.Racks+a, func(c *southbound.Change, dst int) {
			if dst/half == a/half {
				rule(c, dst, southbound.AnyTag, dst%half)
				return
			}
			for i := range paths {
				rule(c, dst, southbound.PathTag(i), half+(2*i+dst+a/half)%half)
			}
		})
	}
	for core := range half * half {
		program(f.Racks+pods*half+core, func(c *southbound.Change, dst int) {
			rule(c, dst, southbound.AnyTag, dst/half)
		})
	}
	advance(t, s, s.Now())
}

// BenchmarkFlows runs one-flow coflows of web search sizes on 1,000 hosts of a fat-tree, and on one big
// switch, max-min fair at every event.
func BenchmarkFlows(b *testing.B) {
	const flows = 50_000
	tree := topo.Spec{Kind: topo.FatTreeKind, K: 16, Servers: 1000, EPS: 10 * pathmap.Gbps}
	for _, load := range []float64{0.5, 0.8} {
		b.Run(fmt.Sprintf("fattree_1000/load=%v", load), func(b *testing.B) {
			f := fabric(b, tree)
			busy := time.Duration(0)
			for b.Loop() {
				b.StopTimer()
				s := simulate(b, f, Options{NoHeaders: true})
				wireFatTree(b, s, 4)
				runtime.GC()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				b.StartTimer()
				busy -= processor()
				out := stream(b, s, flows, newFlowStream(1, f, load, 4).next, nil)
				b.StopTimer()
				busy += processor()
				runtime.GC()
				runtime.ReadMemStats(&after)
				if out.ends != flows {
					b.Fatalf("%d flows ended", out.ends)
				}
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/flows, "B/flow")
				b.ReportMetric(float64(out.most), "live")
				b.ReportMetric(out.took.Seconds()/flows*1e3, "mean-FCT-ms")
				runtime.KeepAlive(s)
				b.StartTimer()
			}
			b.ReportMetric(flows*float64(b.N)/busy.Seconds(), "flows/CPU-s")
		})
	}
}

// processor returns the processor time of this process so far: others may use the machine, too.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
