package topo_test

import (
	"fmt"
	"log"

	"lightloom/pathmap/topo"
)

// A fabric is named by one line of text; what is left out has a default.
func ExampleParseSpec() {
	spec, err := topo.ParseSpec("hybrid:racks=16,spines=2,eps=1Gbps,ocs=10Gbps")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(spec)
	fmt.Println("a host's link:", spec.NIC)
	fmt.Println("the same racks without OCS:", spec.WithoutOCS(true))

	_, err = topo.ParseSpec("hybrid:racks=16,ports=20")
	fmt.Println(err)
	// Output:
	// hybrid:racks=16,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms
	// a host's link: 5Gbps
	// the same racks without OCS: leafspine:racks=16,hosts=2,spines=2,eps=6Gbps,nic=5Gbps
	// parse fabric spec "hybrid:racks=16,ports=20": column 17: ports: 20 OCS ports for 16 racks: write ports=16 or fewer, at least 1
}

// The paths between two racks: one over each spine, then those by way of a third rack.
func ExampleFabric_PathMap() {
	fabric, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 3, Spines: 2})
	if err != nil {
		log.Fatal(err)
	}
	paths, err := fabric.PathMap(6, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(paths.Paths(0, 1), "paths,", paths.Shortest(0, 1), "of them shortest")
	for i := range paths.Paths(0, 1) {
		fmt.Print(fabric.Topology.Node(fabric.ToRNode[0]).Name)
		for _, l := range paths.AppendPath(nil, 0, 1, i) {
			fmt.Print(" ", fabric.Topology.Node(fabric.Topology.Link(l).To).Name)
		}
		fmt.Println()
	}
	// Output:
	// 4 paths, 2 of them shortest
	// tor0 spine0 tor1
	// tor0 spine1 tor1
	// tor0 spine0 tor2 spine1 tor1
	// tor0 spine1 tor2 spine0 tor1
}
