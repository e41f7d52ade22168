package astrasim

import (
	"fmt"
	"testing"
	"time"

	"lightloom/controller/training"
	"lightloom/pathmap"
)

// single returns a workload of one collective among n ranks.
func single(n int, op training.Op, bytes int64) *training.Workload {
	w := training.NewWorkload("single", n)
	for r := range n {
		w.Add(r, training.Node{Kind: training.Collective, Op: op, Bytes: pathmap.Bytes(bytes)})
	}
	return w
}

// ring4 is the system Ring_4chunks of the tool's examples, with one implementation for all collectives.
func ring4(impl ...string) *System {
	return &System{Scheduling: "LIFO", Optimization: "localBWAware", EndpointDelay: 10, ActiveChunks: 1, Splits: 4,
		Memory: 1600, AllReduce: impl, AllGather: impl, ReduceScatter: impl, AllToAll: impl}
}

func network(topology string, n int, bandwidth, latency float64) *Network {
	return &Network{Topology: []string{topology}, NPUs: []int{n}, Bandwidth: []float64{bandwidth},
		Latency: []float64{latency}}
}

func end(t *testing.T, w *training.Workload, o Options) int64 {
	t.Helper()
	out, err := Run(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	return int64(out.End() / time.Nanosecond)
}

// TestReferenceTable: what the tool itself printed on its own examples and on variations of them, in ns.
func TestReferenceTable(t *testing.T) {
	hgx := &System{Scheduling: "LIFO", Optimization: "localBWAware", EndpointDelay: 10, ActiveChunks: 2, Splits: 4,
		Memory: 3350, AllReduce: []string{"ring"}, AllGather: []string{"ring"}, ReduceScatter: []string{"ring"},
		AllToAll: []string{"ring"}}
	for _, c := range []struct {
		name           string
		system         *System
		network        *Network
		aware, unaware [4]int64 // all-reduce, all-gather, reduce-scatter, all-to-all
	}{
		{"ring 4", ring4("ring"), network("Ring", 4, 50, 500), [4]int64{43_000, 64_744, 22_240, 41_560},
			[4]int64{43_000, 64_744, 22_240, 41_560}},
		{"full mesh 4", ring4("ring"), network("FullyConnected", 4, 50, 500), [4]int64{43_000, 64_744, 22_240, 41_560},
			[4]int64{43_000, 64_744, 22_240, 41_560}},
		{"ring 16", ring4("ring"), network("Ring", 16, 50, 500), [4]int64{99_640, 323_560, 50_740, 391_240},
			[4]int64{99_640, 323_560, 50_740, 391_240}},
		{"full mesh 16", ring4("ring"), network("FullyConnected", 16, 50, 500),
			[4]int64{99_640, 323_560, 50_740, 391_240}, [4]int64{99_640, 323_560, 50_740, 391_240}},
		{"switch 8", ring4("ring"), network("Switch", 8, 50, 500), [4]int64{126_600, 301_712, 64_160, 249_800},
			[4]int64{92_440, 165_016, 47_080, 181_480}},
		{"ring 8, direct", ring4("direct"), network("Ring", 8, 50, 500), [4]int64{57_160, 199_360, 28_720, 28_480},
			[4]int64{21_240, 27_608, 10_760, 10_520}},
		{"full mesh 16, direct", ring4("direct"), network("FullyConnected", 16, 50, 500),
			[4]int64{6_680, 21_608, 3_420, 3_300}, [4]int64{6_680, 21_608, 3_420, 3_300}},
		{"HGX-H100", hgx, network("Switch", 8, 400, 936.25), [4]int64{57_426, 44_058, 28_950, 114_000},
			[4]int64{55_222, 34_908, 27_810, 109_668}},
	} {
		for i, op := range []training.Op{training.AllReduce, training.AllGather, training.ReduceScatter, training.AllToAll} {
			for _, unaware := range []bool{false, true} {
				want := c.aware[i]
				if unaware {
					want = c.unaware[i]
				}
				t.Run(fmt.Sprintf("%s/%v/unaware=%v", c.name, op, unaware), func(t *testing.T) {
					got := end(t, single(c.network.Size(), op, 1<<20), Options{System: c.system, Network: c.network,
						Unaware: unaware})
					if got != want {
						t.Errorf("%d ns, and the tool has %d", got, want)
					}
				})
			}
		}
	}
}
