package netns

import (
	"errors"
	"fmt"
	"slices"

	"lightloom/emulator/dataplane"
	"lightloom/emulator/dataplane/ebpf"
	"lightloom/emulator/dataplane/voq"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// ErrNoVOQs means that packets cannot be kept in a queue for each rack while its circuit is dark.
var ErrNoVOQs = &Hinted{errors.New("queues for dark circuits need the ebpf dataplane, which needs root " +
	"(docs/decisions/0036-user-space-queues-for-dark-circuits.md)"),
	"run as root with --dataplane ebpf, or leave --voq-bytes away: while a circuit is dark its host flows go on over " +
		"packets, or wait in their hosts"}

// errNoFibre: there is nothing that could be dark.
var errNoFibre = &Hinted{errors.New("queues for dark circuits: the fabric has no optical switch"),
	"leave --voq-bytes away, or take a fabric of kind hybrid"}

// errManyFibres: a ToR keeps queues for one fibre.
var errManyFibres = &Hinted{errors.New("queues for dark circuits: the fabric has several optical switches, and a ToR " +
	"has queues for one"), "leave --voq-bytes away, or ocses"}

// MinVOQBytes is the least that a queue can hold: two segments of 64 kB, which is what TCP sends at once.
const MinVOQBytes = 128 << 10

// VOQsSupported returns an error if packets cannot be queued while a circuit is dark. It queues one, in
// a namespace that is gone afterwards.
func VOQsSupported() error {
	if err := ebpf.VOQSupported(); err != nil {
		return fmt.Errorf("%w: %w", err, ErrNoVOQs)
	}
	return nil
}

func (o Options) checkVOQs() error {
	switch {
	case o.VOQBytes == 0:
		return nil
	case o.VOQBytes < max(MinVOQBytes, 2*o.MTU) || o.VOQBytes > maxQueue:
		return fmt.Errorf("queues for dark circuits of %d bytes: take %d (two large segments) to %d", o.VOQBytes,
			max(MinVOQBytes, 2*o.MTU), maxQueue)
	case o.Dataplane == Mirred:
		return fmt.Errorf("queues for dark circuits with --dataplane mirred: %w", ErrNoVOQs)
	}
	if err := VOQsSupported(); err != nil {
		return fmt.Errorf("queues for dark circuits: %w", err)
	}
	return nil
}

// voqs gives a ToR with a fibre the pair of interfaces that packets are queued through.
func (f *Fabric) voqs(n pathmap.NodeID, opt Options) (d dataplane.Dark, err error) {
	rack := slices.Index(f.spec.ToRNode, n)
	if opt.VOQBytes == 0 || rack < 0 || f.spec.OCSUplink[rack] == pathmap.None {
		return d, nil
	}
	fibre := f.spec.OCSUplink[rack]
	rate := f.spec.Topology.Link(f.spec.Topology.OutPort(n, fibre)).Capacity
	d = dataplane.Dark{Limit: opt.VOQBytes, Fibre: southbound.Port(fibre),
		Room: linkShape(rate, opt.MTU, opt.QueueBytes).queue / 2}
	names := [2]string{fmt.Sprintf("park%da", n), fmt.Sprintf("park%db", n)}
	if err := f.wire.LinkAdd(f.veth(names[0], names[1])); err != nil {
		return d, fmt.Errorf("add veth: %w", err)
	}
	for i, name := range names {
		if d.Queue[i], err = f.up(name); err != nil {
			return d, err
		}
	}
	return d, dataplane.AwaitUp(f.wire.Handle, d.Queue[0])
}

// Queued returns what became of packets that met a dark circuit, by rack of the ToR and by destination
// rack; nil where packets are not queued.
func (f *Fabric) Queued() [][]voq.Count {
	if f.settings.VOQBytes == 0 {
		return nil
	}
	out := make([][]voq.Count, f.spec.Racks)
	for rack, n := range f.spec.ToRNode {
		if p, ok := f.planes[n].(interface{ Queued() []voq.Count }); ok {
			out[rack] = p.Queued()
		}
	}
	return out
}
