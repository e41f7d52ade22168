package pathtest

import (
	"fmt"
	"math/rand/v2"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Fabric is a topology of the benchmarks, made when it is its turn: the large ones take memory.
type Fabric struct {
	Name  string
	Build func() (*pathmap.Topology, error)
}

// Named returns the topologies of the benchmarks. Jellyfish is named by switches and links between
// switches; there are as many hosts as ports are left in switches of the fat-tree's size, but a path
// map does not see them.
func Named() []Fabric {
	return []Fabric{
		{"jellyfish_200x10", jellyfish(200, 10)}, {"fattree_k16", fattree(16)},
		{"jellyfish_1000x24", jellyfish(1000, 24)}, {"fattree_k34", fattree(34)},
		{"jellyfish_4000x49", jellyfish(4000, 49)}, {"fattree_k74", fattree(74)},
	}
}

// Million returns topologies for a million hosts: of switches with 50 links and 62 hosts, which the map does not see,
// and of those with 160 ports. They are for implicit maps: packed ones would take gigabytes.
func Million() []Fabric {
	return []Fabric{{"jellyfish_16384x50", jellyfish(16384, 50)}, {"fattree_k160", fattree(160)}}
}

func jellyfish(switches, degree int) func() (*pathmap.Topology, error) {
	return func() (*pathmap.Topology, error) {
		return topo.Jellyfish(switches, degree, 0, pathmap.Gbps, rand.New(rand.NewPCG(1, 1)))
	}
}

func fattree(k int) func() (*pathmap.Topology, error) {
	return func() (*pathmap.Topology, error) { return topo.FatTree(k, 0, pathmap.Gbps) }
}

// Samples returns topologies of each kind that are small enough for others' tools.
func Samples() map[string]*pathmap.Topology {
	built := map[string]*pathmap.Topology{}
	add := func(name string, topology *pathmap.Topology, err error) {
		if err != nil {
			panic(fmt.Sprintf("pathtest: %s: %v", name, err))
		}
		built[name] = topology
	}
	fat, err := topo.FatTree(6, 30, pathmap.Gbps)
	add("fattree_k6", fat, err)
	for _, c := range [][2]int{{40, 3}, {30, 5}, {24, 8}} {
		jelly, err := topo.Jellyfish(c[0], c[1], 1, pathmap.Gbps, rand.New(rand.NewPCG(5, 5)))
		add(fmt.Sprintf("jellyfish_%dx%d", c[0], c[1]), jelly, err)
	}
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 12, Spines: 3})
	if err != nil {
		panic("pathtest: " + err.Error())
	}
	add("leafspine_12x3", f.Topology, nil)
	return built
}

// Hubs returns a few hubs that all leaves hang on, and some cables between leaves, which make circles
// odd; ends are some of all nodes.
func Hubs(r *rand.Rand, hubs, leaves, extra int) (*pathmap.Topology, []pathmap.NodeID) {
	b := pathmap.NewBuilder()
	n := hubs + leaves
	for i := range n {
		b.Add(pathmap.Node{Name: fmt.Sprint("n", i), Role: pathmap.ToR, Rack: pathmap.None})
	}
	port := make([]int32, n)
	cable := func(x, y int) {
		b.Cable(pathmap.NodeID(x), port[x], pathmap.NodeID(y), port[y], pathmap.Gbps, pathmap.Gbps)
		port[x]++
		port[y]++
	}
	for _, l := range r.Perm(leaves) {
		for h := range hubs {
			cable(h, hubs+l)
		}
	}
	for range extra {
		x := r.IntN(n)
		cable(x, (x+1+r.IntN(n-1))%n) // at times a second one between the same two
	}
	topology, err := b.Build()
	if err != nil {
		panic("pathtest: " + err.Error())
	}
	var ends []pathmap.NodeID
	for _, e := range r.Perm(n)[:7] {
		ends = append(ends, pathmap.NodeID(e))
	}
	return topology, append(ends, 0)
}
