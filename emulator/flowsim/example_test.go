package flowsim_test

import (
	"context"
	"fmt"
	"time"

	"lightloom/emulator/flowsim"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Two racks behind one spine: a rule at each switch, a host flow, and the loop that every runner has.
func Example() {
	fabric, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 2, Hosts: 1, Spines: 1, NIC: pathmap.Gbps,
		EPS: 100 * pathmap.Mbps})
	if err != nil {
		panic(err)
	}
	sim, err := flowsim.New(fabric, flowsim.Options{NoHeaders: true})
	if err != nil {
		panic(err)
	}
	to := func(rack southbound.RackID, port southbound.Port) *southbound.Change {
		m := southbound.Match{Dst: rack, Tag: southbound.AnyTag, Src: southbound.AnyRack}
		return &southbound.Change{Rules: []southbound.Rule{{Match: m, Primary: port, Backup: southbound.NoPort}}}
	}
	spine, _ := fabric.Topology.Named("spine0")
	ctx := context.Background()
	if err := sim.Device(fabric.ToRNode[0]).Set(ctx, to(1, 1)); err != nil { // port 0 is the host's
		panic(err)
	}
	if err := sim.Device(spine).Set(ctx, to(1, 1)); err != nil {
		panic(err)
	}
	sim.At(time.Second, func() {
		_ = sim.Host().SetRates(&southbound.Rates{Fair: true})
		err = sim.Host().Start([]southbound.Start{{Coflow: 7, Src: []southbound.HostID{0},
			Dst:  []southbound.HostID{1},
			Size: []pathmap.Bytes{25e6}, Tag: []southbound.Tag{southbound.TagDefault}}})
	})
	for at, ok := sim.Next(); ok; at, ok = sim.Next() {
		events, _, _ := sim.Advance(at, nil, nil)
		for _, e := range events {
			fmt.Printf("%v: host %d has coflow %d, row %d\n", e.At, e.Host, e.Coflow, e.Row)
		}
	}
	fmt.Println(err, sim.Counters().EPS, "bytes over the spine")
	// Output:
	// 3s: host 1 has coflow 7, row 0
	// <nil> 25000000 bytes over the spine
}
