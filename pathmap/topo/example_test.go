package topo_test

import (
	"fmt"
	"log"
	"strings"

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
	fmt.Println(strings.ReplaceAll(err.Error(), ": ", ":\n  "))
	// Output:
	// hybrid:racks=16,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms
	// a host's link: 5Gbps
	// the same racks without OCS: leafspine:racks=16,hosts=2,spines=2,eps=6Gbps,nic=5Gbps
	// parse fabric spec "hybrid:racks=16,ports=20":
	//   column 17:
	//   ports:
	//   20 OCS ports for 16 racks:
	//   write ports=16 or fewer, at least 1
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

// A map follows its network: a spine that fails takes a path from every two racks, and gives it back.
func ExampleFabric_Follow() {
	fabric, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 3, Spines: 2})
	if err != nil {
		log.Fatal(err)
	}
	live, err := fabric.Follow(2, 1)
	if err != nil {
		log.Fatal(err)
	}
	spine, _ := fabric.Topology.Named("spine0")
	fmt.Println("changed:", live.FailNode(spine), "paths left:", live.Map().Paths(0, 1))
	fmt.Println("changed:", live.HealNode(spine), "paths again:", live.Map().Paths(0, 1))
	uplink := fabric.Topology.OutPort(fabric.ToRNode[2], 2)
	fmt.Println("rack 2's first uplink is used by", live.Users(uplink))
	// Output:
	// changed: [{0 1} {0 2} {1 2}] paths left: 1
	// changed: [{0 1} {0 2} {1 2}] paths again: 2
	// rack 2's first uplink is used by [{0 2} {1 2}]
}
