package live_test

import (
	"math/rand/v2"
	"slices"
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

// BenchmarkMillion builds the implicit map of a million hosts, looks any of the paths of random pairs up, and takes
// random links down and brings them back.
func BenchmarkMillion(b *testing.B) {
	for _, n := range pathtest.Million() {
		b.Run(n.Name, func(b *testing.B) {
			t, err := n.Build()
			if err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(5, 5))
			for b.Loop() {
				began := pathtest.ProcessorTime(b)
				followed, err := live.Follow(t, topo.ToRs(t), pathmap.Options{K: 10, Seed: 1})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(pathtest.ProcessorTime(b)-began)/1e9, "build_cpu_s")
				b.ReportMetric(float64(followed.Map().Bytes())/1e6, "map_MB")
				b.ReportMetric(lookUps(b, followed.Map(), r), "any_cpu_µs")
				down, up := repairs(b, followed, len(t.Links()), r)
				b.ReportMetric(down, "down_cpu_ms")
				b.ReportMetric(up, "up_cpu_ms")
			}
		})
	}
}

// lookUps returns the mean time of one of the ten paths of a random pair, in microseconds.
func lookUps(b *testing.B, m *pathmap.Map, r *rand.Rand) float64 {
	const lookups = 100_000
	buf := make([]pathmap.LinkID, 0, 64)
	began := pathtest.ProcessorTime(b)
	for range lookups {
		s := r.IntN(m.Ends())
		d := (s + 1 + r.IntN(m.Ends()-1)) % m.Ends()
		buf = m.AppendPath(buf[:0], s, d, r.IntN(m.K()))
	}
	return float64(pathtest.ProcessorTime(b)-began) / 1e3 / lookups
}

// repairs returns the median times of a repair in line with a link that goes, and comes back, in milliseconds.
func repairs(b *testing.B, followed *live.Paths, links int, r *rand.Rand) (down, up float64) {
	const changes = 41
	var times [2][]int64
	for range changes {
		l := pathmap.LinkID(r.IntN(links))
		for i, change := range []func(pathmap.LinkID) []pathmap.Pair{followed.FailLink, followed.HealLink} {
			began := pathtest.ProcessorTime(b)
			change(l)
			times[i] = append(times[i], pathtest.ProcessorTime(b)-began)
		}
	}
	for _, t := range times {
		slices.Sort(t)
	}
	return float64(times[0][changes/2]) / 1e6, float64(times[1][changes/2]) / 1e6
}
