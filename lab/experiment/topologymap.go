package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// topologyMap times the map of k shortest paths that the cross-layer document computes beforehand (section 2,
// "Pre-computation of Topology-Map").
func topologyMap() Experiment {
	return Experiment{Name: "topology-map", Doc: "time and memory of the k shortest paths at 1,000 hosts",
		Source: "cross-layer scheduling, section 2: about 3 minutes and 6 MB for 1,000 servers, k = 10", Seeds: 20,
		On: []string{OnFlowsim}, Run: runTopologyMap}
}

func runTopologyMap(ctx context.Context, b *Bench) (*Result, error) {
	type setting struct {
		name  string
		build func(seed uint64) (*pathmap.Topology, error)
	}
	settings := []setting{
		{"Jellyfish, 200 switches × 10 links, 1,000 hosts", func(seed uint64) (*pathmap.Topology, error) {
			return topo.Jellyfish(200, 10, 5, pathmap.Gbps, rand.New(rand.NewPCG(seed, 1)))
		}},
		{"fat-tree, k = 16, 1,024 hosts", func(uint64) (*pathmap.Topology, error) {
			return topo.FatTree(16, 0, pathmap.Gbps)
		}},
	}
	out := &Result{Assumptions: []string{
		"paths between the switches that hold hosts: all hosts of a switch share them",
		"k = 10; ties in an order drawn from the seed",
		"wall time of a build that has the machine's processors to itself, after one that is thrown away",
	}}
	for _, s := range settings {
		took, bytes, hops := make([]float64, b.Seeds), make([]float64, b.Seeds), 0
		b.More(b.Seeds)
		for i := range b.Seeds { // one at a time: the build is parallel itself
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			t, err := s.build(b.Seed(i))
			if err != nil {
				return nil, err
			}
			m, d, err := timeBuild(t, b.Seed(i))
			if err != nil {
				return nil, err
			}
			took[i], bytes[i], hops = d.Seconds(), float64(m.Bytes())/1e6, max(hops, longest(m))
			b.Step()
		}
		row := func(metric, unit string, paper float64) Row {
			return Row{Figure: "Section 2", Setting: s.name, Metric: metric, Unit: unit,
				Paper: Number(paper)}
		}
		out.Rows = append(out.Rows,
			row("time to build", "s", 180).Measure(took, b.First).
				Judge(18, "another machine and another algorithm: a search between switches in place of Floyd and Warshall's "+
					"between hosts; no gain of the algorithm alone is claimed"),
			row("map in memory", "MB", 6).Measure(bytes, b.First).
				Judge(0.6, "paths are kept between switches, not between hosts, and as port numbers"),
			row("longest of the k paths, host to host", "hops", 10).Measure([]float64{float64(hops + 2)}, b.First).
				JudgeAtMost(nil, "the document does not give its topologies"))
	}
	return out, nil
}

func timeBuild(t *pathmap.Topology, seed uint64) (m *pathmap.Map, took time.Duration, err error) {
	for range 2 {
		began := time.Now()
		m, err = pathmap.Build(t, topo.ToRs(t), pathmap.Options{K: 10, Seed: seed, Packed: true})
		took = time.Since(began)
		if err != nil {
			return nil, 0, fmt.Errorf("build topology map: %w", err)
		}
	}
	return m, took, nil
}

// longest returns the length of the longest path that the map keeps, in links.
func longest(m *pathmap.Map) int {
	most := 0
	var buf []pathmap.LinkID
	for s := range m.Ends() {
		for d := range s {
			if n := m.Paths(s, d); n > 0 {
				buf = m.AppendPath(buf[:0], s, d, n-1)
				most = max(most, len(buf))
			}
		}
	}
	return most
}
