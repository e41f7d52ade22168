package page

import (
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Fabric is what does not change while a controller runs.
type Fabric struct {
	Spec      string   `json:"spec"`
	Policy    string   `json:"policy"`
	Testbed   string   `json:"testbed"` // what carries the bytes, as "real packets, ebpf"
	Racks     int      `json:"racks"`
	Names     []string `json:"names"` // of nodes
	Roles     []string `json:"roles"`
	ToRs      []int32  `json:"tors"`       // node by rack
	Hosts     []int32  `json:"hosts"`      // node by host
	HostRacks []int32  `json:"host_racks"` // by host
	OCS       int32    `json:"ocs"`        // node; -1: none
	OCSPorts  int      `json:"ocs_ports"`
	Cables    Cables   `json:"cables"`
}

// Cables are by number: cable c is the links 2c, as listed, and 2c+1, back. Columns keep a large fabric small.
type Cables struct {
	From     []int32 `json:"from"` // node
	To       []int32 `json:"to"`
	FromPort []int32 `json:"from_port"`
	ToPort   []int32 `json:"to_port"`
	Rate     []int64 `json:"rate_kbps"`
}

// FabricOf describes a fabric under a policy.
func FabricOf(f *topo.Fabric, policy, testbed string) Fabric {
	t := f.Topology
	out := Fabric{Spec: f.Spec.String(), Policy: policy, Testbed: testbed, Racks: f.Racks,
		HostRacks: f.HostRack,
		OCS:       -1, OCSPorts: f.OCSPorts()}
	for _, n := range t.Nodes() {
		out.Names, out.Roles = append(out.Names, n.Name), append(out.Roles, n.Role.String())
	}
	for _, n := range f.ToRNode {
		out.ToRs = append(out.ToRs, int32(n))
	}
	for _, n := range f.HostNode {
		out.Hosts = append(out.Hosts, int32(n))
	}
	if f.HasOCS() {
		out.OCS = int32(f.OCSNode)
	}
	c := &out.Cables
	for l := 0; l < len(t.Links()); l += 2 {
		x := t.Link(pathmap.LinkID(l))
		c.From, c.To = append(c.From, int32(x.From)), append(c.To, int32(x.To))
		c.FromPort, c.ToPort = append(c.FromPort, x.FromPort), append(c.ToPort, x.ToPort)
		c.Rate = append(c.Rate, int64(x.Capacity)/1000)
	}
	return out
}
