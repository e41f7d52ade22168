package dptest

import (
	"errors"
	"fmt"
	"time"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Memory is a Network of planes in memory, on a clock that moves when Pass says so: packets walk from
// switch to switch in no time.
type Memory struct {
	spec    *topo.Fabric
	now     time.Duration
	planes  []*mem.Plane // by node
	carried []uint64     // by link
}

var _ Network = (*Memory)(nil)

// NewMemory makes the planes of a fabric.
func NewMemory(spec *topo.Fabric) *Memory {
	t := spec.Topology
	m := &Memory{spec: spec, carried: make([]uint64, len(t.Links())),
		planes: make([]*mem.Plane, len(t.Nodes()))}
	for n, node := range t.Nodes() {
		if node.Role != pathmap.Host {
			m.planes[n] = mem.New(t.Ports(pathmap.NodeID(n)), func() time.Duration { return m.now })
		}
	}
	return m
}

// Spec is Network's.
func (m *Memory) Spec() *topo.Fabric { return m.spec }

// Plane is Network's.
func (m *Memory) Plane(d southbound.DeviceID) device.Plane { return m.planes[d] }

// Pass is Network's.
func (m *Memory) Pass(d time.Duration) { m.now += d }

// Carried is Network's.
func (m *Memory) Carried() ([]uint64, error) { return append([]uint64(nil), m.carried...), nil }

// Send is Network's.
func (m *Memory) Send(src, dst southbound.HostID, tag southbound.Tag, n int) (int, error) {
	arrived := 0
	for range n {
		ok, err := m.walk(src, dst, tag)
		if err != nil {
			return arrived, err
		}
		if ok {
			arrived++
		}
	}
	return arrived, nil
}

// Load is Network's. Packets of another goroutine run into the changes, and the clock stands still.
func (m *Memory) Load(src, dst southbound.HostID, tag southbound.Tag, change func() error) (Flow, error) {
	stop := make(chan struct{})
	done := repeat(change, stop)
	var f Flow
	for range enough {
		f.Sent++
		ok, err := m.walk(src, dst, tag)
		if err != nil {
			close(stop)
			return f, errors.Join(err, <-done)
		}
		if ok {
			f.Arrived++
		}
	}
	close(stop)
	return f, <-done
}

// walk takes one packet from host to host, or to where it is dropped.
func (m *Memory) walk(src, dst southbound.HostID, tag southbound.Tag) (bool, error) {
	t := m.spec.Topology
	l := t.OutPort(m.spec.HostNode[src], 0)
	for range len(t.Nodes()) {
		m.carried[l]++
		link := t.Link(l)
		if link.To == m.spec.HostNode[dst] {
			return true, nil
		}
		out, ok := m.forward(link, src, dst, tag)
		if !ok {
			m.planes[link.To].Drop(1)
			return false, nil
		}
		if l = t.OutPort(link.To, int32(out)); l == pathmap.None {
			return false, fmt.Errorf("%s sends out of port %d, which has no cable", t.Node(link.To).Name, out)
		}
	}
	return false, fmt.Errorf("a packet from host %d to %d with tag %d goes in circles", src, dst, tag)
}

// forward returns the port by which the switch at the end of link sends on.
func (m *Memory) forward(link pathmap.Link, src, dst southbound.HostID,
	tag southbound.Tag) (southbound.Port, bool) {
	p := m.planes[link.To]
	if link.To == m.spec.OCSNode {
		return p.Cross(m.now, southbound.Port(link.ToPort))
	}
	rack := southbound.RackID(m.spec.RackOf(int32(dst)))
	if link.To == m.spec.ToRNode[rack] {
		return southbound.Port(m.spec.HostPort[dst]), true
	}
	return p.Lookup(rack, southbound.RackID(m.spec.RackOf(int32(src))), tag)
}
