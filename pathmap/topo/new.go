package topo

import (
	"fmt"
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/live"
)

// New builds the fabric of a spec. Nodes are ToRs ("tor0", of a pod "cube0", by rack, so that a ToR's NodeID is its
// rack), spines ("spine0"), the OCS ("ocs", or "ocs0" and on where there are several), then hosts
// ("h<rack>-<i>"), whose only port is 0. Port r of a spine goes to rack r.
func New(s Spec) (*Fabric, error) {
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("build fabric: %w", err)
	}
	f, err := assemble(s)
	if err != nil {
		return nil, err
	}
	if f.vcpus, err = parseVCPUs(s.VCPUs); err != nil {
		return nil, fmt.Errorf("build fabric: %w", err)
	}
	return f, nil
}

// assemble is New without vCPUs; s is checked.
func assemble(s Spec) (*Fabric, error) {
	s = s.WithDefaults()
	if s.General() {
		f, err := newGeneral(s)
		if err != nil {
			return nil, fmt.Errorf("build fabric: %w", err)
		}
		return f, nil
	}
	f := &Fabric{Spec: s, Racks: s.Racks, HostsPerRack: s.Hosts, OCSNode: pathmap.None}
	f.number(slices.Repeat([]int32{int32(s.Hosts)}, s.Racks))
	b := pathmap.NewBuilder()
	f.addNodes(b)
	f.cable(b)
	var err error
	if f.Topology, err = b.Build(); err != nil {
		return nil, fmt.Errorf("build fabric: %w", err)
	}
	return f, nil
}

func (f *Fabric) addNodes(b *pathmap.Builder) {
	f.ToRNode = make([]pathmap.NodeID, f.Racks)
	for r := range f.ToRNode {
		f.ToRNode[r] = b.Add(pathmap.Node{Name: fmt.Sprintf("%s%d", f.Spec.torName(), r), Role: pathmap.ToR, Rack: int32(r)})
	}
	for i := range f.Spec.Spines {
		b.Add(pathmap.Node{Name: fmt.Sprintf("spine%d", i), Role: pathmap.Switch, Rack: pathmap.None})
	}
	if f.Spec.HasOCS() {
		f.addOCSes(b)
	}
	for h := range f.HostNode {
		r, i := f.Place(int32(h))
		f.HostNode[h], f.HostPort[h] = b.Add(pathmap.Node{Name: fmt.Sprintf("h%d-%d", r, i),
			Role: pathmap.Host, Rack: r}),
			int32(i)
	}
}

func (f *Fabric) addOCSes(b *pathmap.Builder) {
	if f.Spec.ParallelOCSes() == 1 {
		f.OCSNode = b.Add(pathmap.Node{Name: "ocs", Role: pathmap.OCS, Rack: pathmap.None})
		return
	}
	for i := range f.Spec.ParallelOCSes() {
		n := b.Add(pathmap.Node{Name: fmt.Sprintf("ocs%d", i), Role: pathmap.OCS, Rack: pathmap.None})
		if i == 0 {
			f.OCSNode = n
		}
	}
}

// number numbers the hosts, given the number of hosts of each rack.
func (f *Fabric) number(hosts []int32) {
	f.FirstHost = make([]int32, len(hosts)+1)
	for r, n := range hosts {
		f.FirstHost[r+1] = f.FirstHost[r] + n
		for range n {
			f.HostRack = append(f.HostRack, int32(r))
		}
	}
	f.HostNode, f.HostPort = make([]pathmap.NodeID, len(f.HostRack)), make([]int32, len(f.HostRack))
}

func (f *Fabric) cable(b *pathmap.Builder) {
	s := f.Spec
	nic, eps, ocs := s.rackRates()
	for h, n := range f.HostNode {
		r := h / s.Hosts
		b.Cable(n, 0, f.ToRNode[r], int32(h%s.Hosts), nic[r], nic[r])
	}
	for r, tor := range f.ToRNode {
		for i := range s.Spines {
			b.Cable(tor, int32(s.Hosts+i), pathmap.NodeID(s.Racks+i), int32(r), eps[r], eps[r])
		}
	}
	if !s.HasOCS() {
		return
	}
	f.OCSUplink = slices.Repeat([]int32{pathmap.None}, f.Racks*s.Planes())
	for p := range f.OCSUplink {
		n, port := f.OCSAt(int32(p))
		if r, plane := p%f.Racks, p/f.Racks; r < s.PortsOf(int(n-f.OCSNode)) && port != pathmap.None {
			if s.Rails > 0 {
				plane = 0 // the rack's only one
			}
			f.OCSUplink[p] = int32(s.Hosts + s.Spines + plane)
			b.Cable(f.ToRNode[r], f.OCSUplink[p], n, port, ocs[r], ocs[r])
		}
	}
}

// PathMap returns the k shortest paths between racks over the packet network: indexes are racks, and no
// path enters the OCS or a host.
func (f *Fabric) PathMap(k int, seed uint64) (*pathmap.Map, error) {
	return pathmap.Build(f.Topology, f.ToRNode, f.pathOptions(k, seed))
}

// Follow returns the map that PathMap returns, packed, with the index from links to pairs of racks, to
// be kept in line with links and nodes that fail and come back.
func (f *Fabric) Follow(k int, seed uint64) (*live.Paths, error) {
	opt := f.pathOptions(k, seed)
	opt.Packed = true
	return live.Follow(f.Topology, f.ToRNode, opt)
}

func (f *Fabric) pathOptions(k int, seed uint64) pathmap.Options {
	// Of irregular graphs, packed maps answer faster.
	return pathmap.Options{K: k, Seed: seed, Packed: f.Spec.General(),
		Avoid: func(n pathmap.NodeID) bool { return f.Topology.Node(n).Role == pathmap.OCS }}
}
