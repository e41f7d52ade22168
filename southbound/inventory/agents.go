package inventory

import (
	"net/netip"
	"slices"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
	"lightloom/southbound/hostagent"
)

// Readdress puts the addresses that a file names in the place of the address plan's.
func (p *Inventory) Readdress(f *topo.Fabric, conf *hostagent.Config) {
	plan := conf.Addr
	conf.Addr = func(h southbound.HostID) netip.AddrPort {
		if at, ok := p.Addresses[f.Topology.Node(f.HostNode[h]).Name]; ok {
			if ip, err := netip.ParseAddr(at); err == nil { // it was checked
				return netip.AddrPortFrom(ip, hostagent.DataPort)
			}
		}
		return plan(h)
	}
}

// Sites joins hosts that one agent serves: those of the same address.
func (p *Inventory) Sites(f *topo.Fabric) (all []AgentSite) {
	for h, n := range f.HostNode {
		name := f.Topology.Node(n).Name
		addr := p.Agents[name]
		i := slices.IndexFunc(all, func(s AgentSite) bool { return s.Addr == addr })
		if i < 0 {
			i, all = len(all), append(all, AgentSite{Name: name, Addr: addr})
		}
		all[i].Hosts = append(all[i].Hosts, southbound.HostID(h))
		if len(p.Addresses) > 0 {
			all[i].Addresses = append(all[i].Addresses, p.Addresses[name])
		}
	}
	return all
}

// NetworkOf returns the hosts of a fabric at the addresses that sites say.
func NetworkOf(f *topo.Fabric, sites []AgentSite) wire.Network {
	n := hostagent.NetworkOf(f)
	for _, s := range sites {
		for i, h := range s.Hosts {
			if i < len(s.Addresses) && s.Addresses[i] != "" {
				if ip, err := netip.ParseAddr(s.Addresses[i]); err == nil { // it was checked
					n[h].Addr = netip.AddrPortFrom(ip, hostagent.DataPort)
				}
			}
		}
	}
	return n
}

// AgentSite is an agent as a replica is configured with it.
type AgentSite struct {
	Name  string              `json:"name"` // in its certificate: that of its first host
	Addr  string              `json:"addr"`
	Hosts []southbound.HostID `json:"hosts"`
	// of hosts that do not follow the address plan, by their place in Hosts; "": it does
	Addresses []string `json:"addresses,omitempty"`
}
