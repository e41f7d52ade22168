// Package topo makes topologies: generators for the fabrics of the field, and the readers of fabric specs and files.
// It is not the graph itself, which is package pathmap's, and it knows nothing of jobs or devices.
package topo

import (
	"time"

	"lightloom/pathmap"
)

// Fabric is a data-center fabric as its users speak of it: racks of hosts behind ToRs, a packet network, and perhaps an
// optical circuit switch with one port a rack. Slices are by index and borrowed.
//
// Host h stands in rack h / HostsPerRack. On a ToR, port i < HostsPerRack goes to the rack's host i; then come the
// uplinks; the last port goes to the OCS where there is one. OCS port r goes to rack r.
type Fabric struct {
	Spec         Spec
	Topology     *pathmap.Topology
	Racks        int
	HostsPerRack int
	HostNode     []pathmap.NodeID // by host
	ToRNode      []pathmap.NodeID // by rack
	OCSNode      pathmap.NodeID   // pathmap.None without an OCS
	OCSUplink    []int32          // by rack: the ToR's port to the OCS; nil without an OCS
}

// Hosts returns the number of hosts.
func (f *Fabric) Hosts() int { return f.Racks * f.HostsPerRack }

// RackOf returns the rack of a host.
func (f *Fabric) RackOf(host int32) int32 { return host / int32(f.HostsPerRack) }

// HasOCS says whether the fabric has an optical circuit switch.
func (f *Fabric) HasOCS() bool { return f.OCSNode != pathmap.None }

// Spec says what to build. The zero value of a field means its default. The text form is
// "hybrid:racks=16,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms"; YAML has the same keys.
type Spec struct {
	Kind   string                // hybrid, leafspine or crossbar
	Racks  int                   // racks
	Hosts  int                   // hosts a rack
	Spines int                   // spine switches of the packet network
	NIC    pathmap.BitsPerSecond // nic: host link
	EPS    pathmap.BitsPerSecond // eps: each ToR–spine link
	OCS    pathmap.BitsPerSecond // ocs: each ToR–OCS link
	Ports  int                   // ports: OCS ports, at most Racks (the racks beyond have none); default Racks
	Dark   time.Duration         // dark: mirrors in motion, per moved port
	Slots  int                   // slots: tasks a host runs at once
}
