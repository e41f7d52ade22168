package collective_test

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/controller/collective"
	"lightloom/pathmap"
)

// processorTime returns what this thread's process has used.
func processorTime(b *testing.B) time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// median runs something for as long as the benchmark asks, and reports the median of its processor time.
func median(b *testing.B, do func()) {
	var took []time.Duration
	for b.Loop() {
		from := processorTime(b)
		do()
		took = append(took, processorTime(b)-from)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-cpu-ms")
}

func BenchmarkAllGather(b *testing.B) {
	for _, hold := range []bool{true, false} {
		n := collective.Torus([]int{8, 8, 8}, fifty, halfMic)
		n.Hold = hold
		name := "pipelined"
		if hold {
			name = "held"
		}
		for chunks, text := range map[int]string{1: "1_chunk", 2: "2_chunks"} {
			b.Run("torus_8x8x8_"+name+"_"+text, func(b *testing.B) {
				median(b, func() {
					if _, _, err := collective.AllGather(n, chunks, gib/512/pathmap.Bytes(chunks)); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}

// BenchmarkRepair: a cable of a torus dies, both of its links.
func BenchmarkRepair(b *testing.B) {
	n := collective.Torus([]int{8, 8, 8}, fifty, halfMic)
	s, _, err := collective.AllGather(n, 1, gib/512)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("torus_8x8x8_1_chunk", func(b *testing.B) {
		median(b, func() {
			if _, _, _, err := collective.Repair(n, s, 100, 101); err != nil {
				b.Fatal(err)
			}
		})
	})
}
