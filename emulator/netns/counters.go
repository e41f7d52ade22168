package netns

import (
	"fmt"

	"github.com/vishvananda/netlink"

	"lightloom/emulator/device"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// LinkCount is what has left through one link: bytes of layer 2, counted by HTB (exact, where an
// interface's own counters take a large segment for one packet), and packets that found its queue full.
type LinkCount struct {
	Bytes      pathmap.Bytes
	Packets    uint64 // modulo 2³²
	QueueDrops uint64 // modulo 2³²; a large segment counts once
	Backlog    int64  // bytes of layer 2 that wait now
}

// Counters are all counts of a fabric, one namespace after the other: microseconds lie between the
// first and the last.
type Counters struct {
	Links   []LinkCount // by LinkID
	Dropped []uint64    // by node: packets at dark or unmatched ports, 0 for hosts
}

// Counters reads all counters.
func (f *Fabric) Counters() (Counters, error) {
	c := Counters{Links: make([]LinkCount, len(f.ports)), Dropped: make([]uint64, len(f.planes))}
	byPort, err := RootCounts(f.wire.Handle)
	if err != nil {
		return c, fmt.Errorf("count bytes of switches: %w", err)
	}
	for l, link := range f.spec.Topology.Links() {
		if h := f.hostAt(link.From); h < 0 {
			c.Links[l] = byPort[f.ports[l]]
		} else if c.Links[l], err = nicCount(f.hosts[h].wire); err != nil {
			return c, fmt.Errorf("count bytes of host %d: %w", h, err)
		}
	}
	for n, p := range f.planes {
		if p == nil {
			continue
		}
		if c.Dropped[n], err = p.Dropped(); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Acknowledged returns the bytes that have left each port of a switch at the highest priority, which
// acknowledgements have, by LinkID; 0 for ports of hosts.
func (f *Fabric) Acknowledged() ([]pathmap.Bytes, error) {
	out := make([]pathmap.Bytes, len(f.ports))
	for l, link := range f.spec.Topology.Links() {
		if f.hostAt(link.From) >= 0 {
			continue
		}
		port := &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: f.ports[l]}}
		classes, err := f.wire.ClassList(port, netlink.HANDLE_NONE)
		if err != nil {
			return nil, fmt.Errorf("list classes of a port: %w", err)
		}
		for _, c := range classes {
			a := c.Attrs()
			if a.Handle == netlink.MakeHandle(htbMajor, lowClass+priorities-1) && a.Statistics != nil &&
				a.Statistics.Basic != nil {
				out[l] = pathmap.Bytes(a.Statistics.Basic.Bytes)
			}
		}
	}
	return out, nil
}

// Backlogs returns the bytes of layer 2 that wait now at each port of a switch, by LinkID; 0 for ports
// of hosts. It reads one namespace, where Counters reads all.
func (f *Fabric) Backlogs() ([]int64, error) {
	return ofSwitches(f, func(c LinkCount) int64 { return c.Backlog })
}

// Sent returns the bytes of layer 2 that have left each port of a switch, like Backlogs.
func (f *Fabric) Sent() ([]pathmap.Bytes, error) {
	return ofSwitches(f, func(c LinkCount) pathmap.Bytes { return c.Bytes })
}

// ofSwitches returns a count of each port of a switch, by LinkID.
func ofSwitches[T any](f *Fabric, of func(LinkCount) T) ([]T, error) {
	byPort, err := RootCounts(f.wire.Handle)
	if err != nil {
		return nil, fmt.Errorf("read counts of switches: %w", err)
	}
	out := make([]T, len(f.ports))
	for l, link := range f.spec.Topology.Links() {
		if f.hostAt(link.From) < 0 {
			out[l] = of(byPort[f.ports[l]])
		}
	}
	return out, nil
}

// RootCounts reads the counts of every HTB root of a namespace, by interface.
func RootCounts(nl *netlink.Handle) (map[int]LinkCount, error) {
	qdiscs, err := nl.QdiscList(nil)
	if err != nil {
		return nil, fmt.Errorf("list qdiscs: %w", err)
	}
	counts := map[int]LinkCount{}
	for _, q := range qdiscs {
		a := q.Attrs()
		if q.Type() != "htb" || a.Parent != netlink.HANDLE_ROOT || a.Statistics == nil ||
			a.Statistics.Basic == nil {
			continue
		}
		n := LinkCount{Bytes: pathmap.Bytes(a.Statistics.Basic.Bytes),
			Packets: uint64(a.Statistics.Basic.Packets)}
		if a.Statistics.Queue != nil {
			n.QueueDrops = uint64(a.Statistics.Queue.Drops)
			n.Backlog = int64(a.Statistics.Queue.Backlog)
		}
		counts[a.LinkIndex] = n
	}
	return counts, nil
}

func nicCount(w *wire) (LinkCount, error) {
	counts, err := RootCounts(w.Handle)
	var sum LinkCount
	for _, n := range counts { // one, and a sum has no order
		sum.Bytes += n.Bytes
		sum.Packets += n.Packets
		sum.QueueDrops += n.QueueDrops
		sum.Backlog += n.Backlog
	}
	return sum, err
}

// Plane returns how a switch's packets are moved, nil for a host.
func (f *Fabric) Plane(d southbound.DeviceID) device.Plane {
	if p := f.planes[d]; p != nil {
		return p
	}
	return nil
}

// Settings returns the options as they came out.
func (f *Fabric) Settings() Settings { return f.settings }

// Spec returns what the fabric was built from.
func (f *Fabric) Spec() *topo.Fabric { return f.spec }
