package target

import (
	"slices"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// PortCount is what has passed a port since it was made. Octets are of layer 2.
type PortCount struct {
	InOctets, InPkts   uint64
	OutOctets, OutPkts uint64
	OutDiscards        uint64       // found the queue full
	Queue              uint64       // bytes that wait to go out now
	Looks              QueueSamples // samples of Queue
}

// QueueSamples sums up repeated samples of a queue's length, in bytes.
type QueueSamples struct {
	Number     uint64 // of samples; 0: none
	Most, Mean uint64
}

// leaves are the counters below a path, under the names that a model has for them.
func (c PortCount) leaves(at schema.Path, names gnmi.CounterNames) []schema.Leaf {
	return []schema.Leaf{
		{Path: at.With(names.InOctets), Value: c.InOctets}, {Path: at.With(names.InPkts), Value: c.InPkts},
		{Path: at.With(names.OutOctets), Value: c.OutOctets}, {Path: at.With(names.OutPkts), Value: c.OutPkts},
		{Path: at.With(names.OutDiscards), Value: c.OutDiscards},
	}
}

// portCounts puts the counters of ports (openconfig-interfaces) that have changed into the tree.
func portCounts(t *tree, all []PortCount) {
	was := t.counted
	t.counted = slices.Clone(all)
	for i, c := range all {
		if i < len(was) && c == was[i] {
			continue
		}
		at := path("interfaces").Entry("interface", "name",
			gnmi.InterfaceName(southbound.Port(i))).With("state", "counters")
		for _, l := range c.leaves(at, gnmi.OpenConfigCounters()) {
			t.put(l.Path, l.Value)
		}
		queue := QueuePath(southbound.Port(i))
		t.put(queue.With("transmit-octets"), c.OutOctets)
		t.put(queue.With("transmit-pkts"), c.OutPkts)
		t.put(queue.With("dropped-pkts"), c.OutDiscards)
		if c.Looks.Number > 0 {
			t.put(queue.With("max-queue-len"), c.Looks.Most)
			t.put(queue.With("avg-queue-len"), c.Looks.Mean)
		}
	}
}

// QueuePath is where the state of a port's one queue is (openconfig-qos).
func QueuePath(p southbound.Port) schema.Path {
	return path("qos", "interfaces").Entry("interface", "interface-id",
		gnmi.InterfaceName(p)).With("output", "queues").
		Entry("queue", "name", "0").With("state")
}
