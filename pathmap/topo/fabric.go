// Package topo makes topologies: generators for the fabrics of the field, and the readers of fabric
// specs and files. It is not the graph itself, which is package pathmap's, and it knows nothing of jobs
// or devices.
package topo

import (
	"time"

	"lightloom/pathmap"
)

// Fabric is a data-center fabric as its users speak of it: racks of hosts behind ToRs, a packet
// network, and perhaps an optical circuit switch with a port a rack, or several such switches side by
// side. Slices are by index and borrowed.
//
// Hosts are numbered rack by rack, and within a rack by their port on its ToR. A host's only port is 0.
// On the ToR of a hybrid, a leaf-spine or a crossbar, port i below HostsPerRack goes to the rack's host
// i; then come the uplinks; the last port goes to the OCS where there is one, or the last ports, by
// plane. A general fabric (a fat-tree, a Jellyfish, a file) need not have as many hosts in each rack,
// nor its ports in any order.
//
// OCS ports have numbers of the whole fabric, so that one ledger holds the circuits of all OCSes. They
// come in planes: a circuit joins two ports of one plane, which is one wavelength of one OCS. Port
// r + p·Racks goes to rack r and is of plane p; the planes of one OCS follow each other. Of a pod an OCS
// has two planes, of lower and of upper faces, and a circuit joins one of each. The OCS of a rail has ports
// for the racks of that rail alone. Racks without an
// OCS port come last. OCSAt and OCSPort translate to the numbers that an OCS itself has and back; of the
// first OCS, and so of a single one, they are the same.
type Fabric struct {
	Spec         Spec
	Topology     *pathmap.Topology
	Racks        int
	HostsPerRack int              // of the rack that has most
	HostNode     []pathmap.NodeID // by host
	HostRack     []int32          // by host
	HostPort     []int32          // by host: the ToR's port to it
	FirstHost    []int32          // by rack, and one more: rack r has the hosts FirstHost[r] to FirstHost[r+1]-1
	ToRNode      []pathmap.NodeID // by rack
	OCSNode      pathmap.NodeID   // of the first OCS, the others follow; pathmap.None without an OCS
	// by OCS port: the port of its rack's ToR to it, pathmap.None where there is no cable; nil without an OCS
	OCSUplink []int32
	Transit   bool // paths can lead through the ToRs of other racks

	vcpus []int32 // by host, in turn
}

// Hosts returns the number of hosts.
func (f *Fabric) Hosts() int { return len(f.HostNode) }

// RackOf returns the rack of a host.
func (f *Fabric) RackOf(host int32) int32 { return f.HostRack[host] }

// Place returns the rack of a host and its number there, from 0, as the address plan needs them.
func (f *Fabric) Place(host int32) (rack int32, i int) {
	rack = f.HostRack[host]
	return rack, int(host - f.FirstHost[rack])
}

// HostsOf returns how many hosts a rack has.
func (f *Fabric) HostsOf(rack int) int { return int(f.FirstHost[rack+1] - f.FirstHost[rack]) }

// HasOCS reports whether the fabric has an optical circuit switch.
func (f *Fabric) HasOCS() bool { return f.OCSNode != pathmap.None }

// OCSPorts returns how many OCS ports are numbered: one for each rack and plane; 0 without an OCS.
func (f *Fabric) OCSPorts() int { return len(f.OCSUplink) }

// OCSes returns how many optical circuit switches there are.
func (f *Fabric) OCSes() int {
	if !f.HasOCS() {
		return 0
	}
	return f.Spec.ParallelOCSes()
}

// IsOCS reports whether a node is an optical circuit switch.
func (f *Fabric) IsOCS(n pathmap.NodeID) bool {
	return f.HasOCS() && n >= f.OCSNode && n < f.OCSNode+pathmap.NodeID(f.Spec.ParallelOCSes())
}

// OCSAt returns the OCS that has an OCS port, and the port's number there.
func (f *Fabric) OCSAt(port int32) (pathmap.NodeID, int32) {
	if f.Spec.oneOCS() {
		return f.OCSNode, port
	}
	each := f.portsOfOCS()
	if f.Spec.Pod() {
		return f.OCSNode + pathmap.NodeID(port/each), facePort(port%each, int32(f.Racks))
	}
	if f.Spec.Rails > 0 {
		return f.OCSNode + pathmap.NodeID(port/each), f.Spec.railPort(port/each, port%each)
	}
	if port < each {
		return f.OCSNode, port
	}
	return f.OCSNode + pathmap.NodeID(port/each), port % each
}

// OCSPort returns the number in the fabric of a port of an OCS. Of several OCSes, one that numbers a port
// that the fabric does not use gets pathmap.None, never a port of another.
func (f *Fabric) OCSPort(n pathmap.NodeID, port int32) int32 {
	if f.Spec.oneOCS() {
		return port
	}
	each := f.portsOfOCS()
	if port < 0 || port >= each {
		return pathmap.None
	}
	if f.Spec.Pod() {
		port = planePort(port, int32(f.Racks))
	}
	if f.Spec.Rails > 0 {
		return f.railFabricPort(n, port)
	}
	return int32(n-f.OCSNode)*each + port
}

// portsOfOCS returns how many ports of each OCS are numbered.
func (f *Fabric) portsOfOCS() int32 { return int32(f.OCSPorts() / f.Spec.ParallelOCSes()) }

// SamePlane reports whether a circuit can join two OCS ports.
func (f *Fabric) SamePlane(a, b int32) bool {
	if f.Spec.Pod() {
		return f.facesMeet(a, b)
	}
	return f.OCSPorts() <= f.Racks || a/int32(f.Racks) == b/int32(f.Racks)
}

// OCSRack returns the rack that an OCS port goes to.
func (f *Fabric) OCSRack(port int32) int32 {
	if int(port) < f.Racks {
		return port
	}
	return port % int32(f.Racks)
}

// Spec describes a fabric to build. The zero value of a field means its default. The text form is
// "hybrid:racks=16,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms"; YAML has the same keys.
//
// For a general fabric, Racks, Hosts and Ports follow from the other fields or the file, and so do a
// file's rates: if links differ, NIC, EPS and OCS are the rates of the fastest.
type Spec struct {
	Kind   string                // hybrid, leafspine, crossbar, pod, fattree, jellyfish or file
	Racks  int                   // racks; cubes: of a pod, each a rack
	Hosts  int                   // hosts a rack; of a general fabric, of the rack that has most
	Spines int                   // spine switches of the packet network; 0 of a general fabric
	NIC    pathmap.BitsPerSecond // nic: host link
	EPS    pathmap.BitsPerSecond // eps: each ToR–spine link; rate: every link of a fat-tree or Jellyfish
	OCS    pathmap.BitsPerSecond // ocs: each ToR–OCS link
	Ports  int                   // ports: OCS ports, at most Racks (the racks beyond have none); default Racks
	Dark   time.Duration         // dark: mirrors in motion, per moved port
	// wavelengths: circuits that a rack can have at once each way through an OCS, every one at the OCS rate; 0: one
	Waves  int
	Layout            // of a pod, or of rails
	OCSes  int        // ocses: parallel OCSes, each with Ports ports of its own; 0: one
	Slots  int        // slots: tasks a host runs at once
	VCPUs  string     // vcpus: of hosts in turn, such as "8" or "16/4/4"; empty: as many as slots
	Own    []OwnValue // values of single racks and OCSes, by key and number; nil: none

	K        int    // k: ports of a switch of a fat-tree
	Switches int    // switches: of a Jellyfish
	Degree   int    // degree: links of a switch of a Jellyfish to others
	Servers  int    // hosts: of a fat-tree or a Jellyfish, all together
	Seed     uint64 // seed: of a Jellyfish's links
	Paths    int    // paths: between two racks that tags name, of a general fabric

	File    string  // the topology's file
	Text    string  // what the file holds; empty where it has not been read yet
	Divisor float64 // scale: divides the file's rates
	PerNode int     // hosts: to add at each switch of the file that has none
}

// Layout is which racks meet on which OCS, where it is not all of them on each.
type Layout struct {
	Side      int // side: of a pod's cube, in hosts
	FacePorts int // ports: of each OCS of a pod, those that no cube uses too; 0: two a cube
	Rails     int // rails: of a unit of racks, each with an OCS of its own; 0: none
}

// Wavelengths returns how many circuits a rack can have at once each way through one OCS.
func (s Spec) Wavelengths() int { return max(1, s.Waves) }

// ParallelOCSes returns how many OCSes a fabric with circuits has.
func (s Spec) ParallelOCSes() int {
	if s.Pod() {
		return s.faceOCSes()
	}
	return max(1, s.OCSes, s.Rails)
}

// oneOCS reports whether there are no parallel ones. It copies no Spec: the simulator asks at each change of light.
func (s *Spec) oneOCS() bool { return s.Kind != PodKind && s.OCSes <= 1 && s.Rails <= 1 }

// Planes returns how many circuits a rack can have at once each way, over all OCSes.
func (s Spec) Planes() int {
	if s.Pod() {
		return 2 * s.faceOCSes() // a lower and an upper face
	}
	return s.Wavelengths() * s.ParallelOCSes()
}

// General reports whether s is a fat-tree, a Jellyfish or a file: racks may differ, and paths are any
// between two racks.
func (s Spec) General() bool {
	return s.Kind == FatTreeKind || s.Kind == JellyfishKind || s.Kind == FileKind
}

// CircuitsARack returns how many circuits a rack can have at once each way: of a fabric of rails one, by
// the OCS of its own rail.
func (s Spec) CircuitsARack() int {
	if s.Rails > 0 {
		return 1
	}
	return s.Planes()
}

// PathsKept is how many paths between two racks get a tag. In a leaf-spine they are those over one
// spine, as far as tags on the wire go: longer ways lead through other racks' ToRs, which no operator
// of a leaf-spine wants.
func (s Spec) PathsKept() int {
	if s.General() {
		return s.WithDefaults().Paths
	}
	return max(1, min(s.Spines, DefaultPaths))
}
