package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// The experiment topology-map times the map of k shortest paths that the cross-layer document computes
// beforehand (section 2, "Pre-computation of Topology-Map").

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
	out := b.Result(
		"paths between the switches that hold hosts: all hosts of a switch share them",
		"k = 10; ties in an order drawn from the seed",
		"wall time of a build that has the machine's processors to itself, after one that is thrown away",
	)
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
		h := out.At("Section 2", s.name, "another machine and another algorithm: a search between switches in place of "+
			"Floyd and Warshall's between hosts; no gain of the algorithm alone is claimed")
		h.Within("time to build", "s", 180, 18, took)
		h.Because("paths are kept between switches, not between hosts, and as port numbers").
			Within("map in memory", "MB", 6, 0.6, bytes)
		h.Because("the document does not give its topologies").
			AtMost("longest of the k paths, host to host", "hops", 10, []float64{float64(hops + 2)})
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
