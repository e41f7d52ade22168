package astrasim

import (
	"fmt"

	"lightloom/controller/training"
)

// Figure is a time that ASTRA-sim itself printed for one collective of 1 MiB.
type Figure struct {
	Name        string
	Op          training.Op
	Options     Options
	Nanoseconds int64
}

// String returns what the figure is of.
func (f *Figure) String() string {
	mode := "aware"
	if f.Options.Unaware {
		mode = "unaware"
	}
	return fmt.Sprintf("%s, %v, %s", f.Name, f.Op, mode)
}

// Workload returns the job of the figure.
func (f *Figure) Workload() *training.Workload {
	w := training.NewWorkload(f.Name, f.Options.Network.Size())
	for r := range w.Ranks {
		w.Add(r, training.Node{Kind: training.Collective, Op: f.Op, Bytes: 1 << 20})
	}
	return w
}

// chunks4 is the system Ring_4chunks of the tool's examples, with one implementation for all collectives.
func chunks4(name string) *System {
	impl := []string{name}
	return &System{Scheduling: "LIFO", Optimization: "localBWAware", EndpointDelay: 10, ActiveChunks: 1, Splits: 4,
		Memory: 1600, AllReduce: impl, AllGather: impl, ReduceScatter: impl, AllToAll: impl}
}

// one returns a network of one dimension.
func one(topology string, n int, bandwidth, latency float64) *Network {
	return &Network{Topology: []string{topology}, NPUs: []int{n}, Bandwidth: []float64{bandwidth},
		Latency: []float64{latency}}
}

// times are those of an all-reduce, all-gather, reduce-scatter and all-to-all.
type times [4]int64

// Reference returns the figures of ASTRA-sim at 518bd51 on its own example systems and networks: a ring or a full mesh
// of 50 GB/s and 500 ns, a switch, direct collectives, and its validated HGX-H100.
func Reference() []Figure {
	hgx := chunks4("ring")
	hgx.ActiveChunks, hgx.Memory = 2, 3350
	var out []Figure
	for _, r := range []struct {
		name           string
		system         *System
		network        *Network
		aware, unaware times
	}{
		{"ring of 4", chunks4("ring"), one("Ring", 4, 50, 500), times{43_000, 64_744, 22_240, 41_560},
			times{43_000, 64_744, 22_240, 41_560}},
		{"full mesh of 4", chunks4("ring"), one("FullyConnected", 4, 50, 500), times{43_000, 64_744, 22_240, 41_560},
			times{43_000, 64_744, 22_240, 41_560}},
		{"ring of 16", chunks4("ring"), one("Ring", 16, 50, 500), times{99_640, 323_560, 50_740, 391_240},
			times{99_640, 323_560, 50_740, 391_240}},
		{"full mesh of 16", chunks4("ring"), one("FullyConnected", 16, 50, 500), times{99_640, 323_560, 50_740, 391_240},
			times{99_640, 323_560, 50_740, 391_240}},
		{"switch of 8", chunks4("ring"), one("Switch", 8, 50, 500), times{126_600, 301_712, 64_160, 249_800},
			times{92_440, 165_016, 47_080, 181_480}},
		{"ring of 8, direct", chunks4("direct"), one("Ring", 8, 50, 500), times{57_160, 199_360, 28_720, 28_480},
			times{21_240, 27_608, 10_760, 10_520}},
		{"full mesh of 16, direct", chunks4("direct"), one("FullyConnected", 16, 50, 500),
			times{6_680, 21_608, 3_420, 3_300}, times{6_680, 21_608, 3_420, 3_300}},
		{"HGX-H100", hgx, one("Switch", 8, 400, 936.25), times{57_426, 44_058, 28_950, 114_000},
			times{55_222, 34_908, 27_810, 109_668}},
	} {
		for i, op := range []training.Op{training.AllReduce, training.AllGather, training.ReduceScatter, training.AllToAll} {
			out = append(out, Figure{r.name, op, Options{System: r.system, Network: r.network}, r.aware[i]},
				Figure{r.name, op, Options{System: r.system, Network: r.network, Unaware: true}, r.unaware[i]})
		}
	}
	return out
}
