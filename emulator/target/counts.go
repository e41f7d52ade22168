package target

import (
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// PortCount is what has passed a port since it was made. Octets are of layer 2.
type PortCount struct {
	InOctets, InPkts   uint64
	OutOctets, OutPkts uint64
	OutDiscards        uint64 // found the queue full
	Queue              uint64 // bytes that wait to go out now
}

// portCounts puts the counters of ports (openconfig-interfaces) into the tree.
func portCounts(t *tree, all []PortCount) {
	for i, c := range all {
		at := path("interfaces").Entry("interface", "name", gnmi.InterfaceName(southbound.Port(i))).With("state", "counters")
		t.put(at.With("in-octets"), c.InOctets)
		t.put(at.With("in-pkts"), c.InPkts)
		t.put(at.With("out-octets"), c.OutOctets)
		t.put(at.With("out-pkts"), c.OutPkts)
		t.put(at.With("out-discards"), c.OutDiscards)
	}
}
