package onwire

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// BenchmarkSaturated fills the demo's packet network and 200 Mb/s of each circuit (2 Gb/s of each
// direction in all) by 64 connections, each host flow big enough for a second, and reports what it
// costs.
func BenchmarkSaturated(b *testing.B) {
	w := newWorld(b, "hybrid:racks=8,hosts=2,spines=2,nic=500Mbps,eps=50Mbps,ocs=180Mbps")
	w.ring(b)
	const long = 2 * time.Second
	events := 0
	for b.Loop() {
		co := southbound.Start{Coflow: southbound.CoflowID(events)}
		for d := range southbound.HostID(16) {
			add := func(src southbound.HostID, rate pathmap.BitsPerSecond, tag southbound.Tag) {
				co.Src, co.Dst = append(co.Src, src), append(co.Dst, d)
				co.Size, co.Tag = append(co.Size, payload(rate, long)), append(co.Tag, tag)
			}
			near := (d/2 + 7) % 8 * 2
			rows := []struct {
				src  southbound.HostID
				rate pathmap.BitsPerSecond
				tag  southbound.Tag
			}{{near, 45 * pathmap.Mbps, southbound.TagCircuit}, {near + 1, 45 * pathmap.Mbps,
				southbound.TagCircuit},
				{(near + 6 - d%2) % 16, 25 * pathmap.Mbps, 1}, {(near + 9 - d%2) % 16, 25 * pathmap.Mbps, 2}}
			for i := range rows {
				for k := range rows[:i] {
					if rows[k].src > rows[i].src {
						rows[i], rows[k] = rows[k], rows[i]
					}
				}
			}
			for _, r := range rows {
				add(r.src, r.rate, r.tag)
			}
		}
		before, began := cpu(b), w.now()
		must(b, w.SetRates(&southbound.Rates{Fair: true}))
		must(b, w.Start([]southbound.Start{co}))
		events += len(co.Src)
		w.take(b, events)
		took := w.now() - began
		sum := pathmap.Bytes(0)
		for _, n := range co.Size {
			sum += n
		}
		b.ReportMetric((cpu(b)-before).Seconds()/took.Seconds(), "cores")
		b.ReportMetric(float64(sum)*8/took.Seconds()/1e9, "Gb/s")
		b.ReportMetric(float64(len(co.Src)), "connections")
	}
}

func cpu(t testing.TB) time.Duration {
	var u unix.Rusage
	must(t, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
