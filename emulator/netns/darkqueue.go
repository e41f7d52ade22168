package netns

import (
	"errors"
	"fmt"
	"slices"

	"lightloom/emulator/dataplane"
	"lightloom/emulator/dataplane/ebpf"
	"lightloom/emulator/dataplane/park"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// ErrNoDarkQueues: packets cannot be kept in a queue for each rack while its circuit is dark.
var ErrNoDarkQueues = &Hinted{errors.New("queues for dark circuits need the ebpf dataplane, which needs root (docs/decisions/dark-queues-wait-in-user-space.md)"),
	"run as root with --dataplane ebpf, or leave --dark-queues away: while a circuit is dark its bundles go on over packets, or wait in their hosts"}

// errNoFibre: there is nothing that could be dark.
var errNoFibre = &Hinted{errors.New("queues for dark circuits: the fabric has no optical switch"), "leave --dark-queues away, or take a fabric of kind hybrid"}

// MinDarkQueue is the least that a queue may hold: two segments of 64 kB, which is what TCP sends at once.
const MinDarkQueue = 128 << 10

// DarkQueuesSupported says why packets cannot be parked while a circuit is dark, or nil. It parks one, in a namespace that
// is gone afterwards.
func DarkQueuesSupported() error {
	if err := ebpf.ParkSupported(); err != nil {
		return fmt.Errorf("%w: %w", err, ErrNoDarkQueues)
	}
	return nil
}

func (o Options) checkDarkQueues() error {
	switch {
	case o.DarkQueues == 0:
		return nil
	case o.DarkQueues < max(MinDarkQueue, 2*o.MTU) || o.DarkQueues > maxQueue:
		return fmt.Errorf("queues for dark circuits of %d bytes: take %d (two large segments) to %d", o.DarkQueues, max(MinDarkQueue, 2*o.MTU), maxQueue)
	case o.Dataplane == Mirred:
		return fmt.Errorf("queues for dark circuits with --dataplane mirred: %w", ErrNoDarkQueues)
	}
	if err := DarkQueuesSupported(); err != nil {
		return fmt.Errorf("queues for dark circuits: %w", err)
	}
	return nil
}

// darkQueues gives a ToR with a fibre the pair of interfaces that packets are parked through.
func (f *Fabric) darkQueues(n pathmap.NodeID, opt Options) (d dataplane.Dark, err error) {
	rack := slices.Index(f.spec.ToRNode, n)
	if opt.DarkQueues == 0 || rack < 0 || f.spec.OCSUplink[rack] == pathmap.None {
		return d, nil
	}
	fibre := f.spec.OCSUplink[rack]
	rate := f.spec.Topology.Link(f.spec.Topology.OutPort(n, fibre)).Capacity
	d = dataplane.Dark{Limit: opt.DarkQueues, Fibre: southbound.Port(fibre), Room: linkShape(rate, opt.MTU, opt.QueueBytes).queue / 2}
	names := [2]string{fmt.Sprintf("park%da", n), fmt.Sprintf("park%db", n)}
	if err := f.wire.LinkAdd(f.veth(names[0], names[1])); err != nil {
		return d, fmt.Errorf("add veth: %w", err)
	}
	for i, name := range names {
		if d.Park[i], err = f.up(name); err != nil {
			return d, err
		}
	}
	return d, dataplane.AwaitUp(f.wire.Handle, d.Park[0])
}

// Parked returns what became of packets that met a dark circuit, by rack of the ToR and by destination rack; nil where
// packets are not parked.
func (f *Fabric) Parked() [][]park.Count {
	if f.settings.DarkQueues == 0 {
		return nil
	}
	out := make([][]park.Count, f.spec.Racks)
	for rack, n := range f.spec.ToRNode {
		if p, ok := f.planes[n].(interface{ Parked() []park.Count }); ok {
			out[rack] = p.Parked()
		}
	}
	return out
}
