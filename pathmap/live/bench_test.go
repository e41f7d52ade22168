package live_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/live"
	"lightloom/pathmap/pathtest"
	"lightloom/pathmap/topo"
)

// BenchmarkRepair takes a random link down, and brings it back: one operation is both. Settling is a
// figure of its own.
func BenchmarkRepair(b *testing.B) {
	for _, n := range pathtest.Named()[:3] {
		b.Run(n.Name, func(b *testing.B) {
			t, err := n.Build()
			if err != nil {
				b.Fatal(err)
			}
			followed, err := live.Follow(t, topo.ToRs(t), pathmap.Options{K: 10, Seed: 1, Packed: true})
			if err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(4, 4))
			fabric := pathmap.LinkID(0)
			for l, link := range t.Links() {
				if t.Node(link.From).Role != pathmap.Host && t.Node(link.To).Role != pathmap.Host {
					fabric = pathmap.LinkID(l)
				}
			}
			pairs := 0
			// down and up: processor time of all threads, and from the change to the end by the clock
			var apart, settling, packed [2]float64
			for b.Loop() {
				l := pathmap.LinkID(r.IntN(int(fabric) + 1))
				for i, change := range []func(pathmap.LinkID) []pathmap.Pair{followed.FailLink, followed.HealLink} {
					began, at := pathtest.ProcessorTime(b), time.Now()
					change(l)
					right := pathtest.ProcessorTime(b)
					pairs += len(followed.Settle())
					apart[i] += float64(right - began)
					packed[i] += float64(time.Since(at))
					settling[i] += float64(pathtest.ProcessorTime(b) - right)
				}
			}
			for i, name := range []string{"down", "up"} {
				b.ReportMetric(apart[i]/1e3/float64(b.N), name+"_cpu_µs")
				b.ReportMetric(settling[i]/1e3/float64(b.N), name+"_settle_cpu_µs")
				b.ReportMetric(packed[i]/1e3/float64(b.N), name+"_packed_µs")
			}
			b.ReportMetric(float64(pairs)/2/float64(b.N), "pairs/change")
			b.ReportMetric(float64(followed.Bytes()), "live_bytes")
		})
	}
}
