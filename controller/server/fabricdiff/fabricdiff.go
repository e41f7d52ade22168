// Package fabricdiff tells what a description of a running fabric changes of it: from what a cluster was
// founded with and what has been changed since, the next change, its words, and the records of switches
// and agents afterwards.
//
// It calls no device, and does not judge whether a change is safe: that is the state's.
package fabricdiff

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/pathmap"
	"lightloom/pathmap/cabling"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/inventory"
)

// Founded is what a cluster was started with.
type Founded struct {
	Fabric  *topo.Fabric
	Policy  string
	Devices inventory.Devices
	Agents  []inventory.AgentSite // none: hosts have no agents of their own
	Fixed   bool                  // nobody can move its cables
	Alone   bool                  // one agent serves all hosts, from the controller's machine
}

// With returns the records of all switches after a change; with an error those that the cluster was
// founded with.
func (o *Founded) With(c *controller.FabricChange) (inventory.Devices, error) {
	var records []inventory.Device
	for _, r := range c.Devices {
		d, err := inventory.ParseRecord(r.Record)
		if err != nil {
			return o.Devices, err
		}
		records = append(records, d)
	}
	f, err := cabling.Apply(o.Fabric, c.Cabling)
	if err != nil {
		return o.Devices, err
	}
	all, err := o.Devices.Replace(f, records...)
	if err != nil {
		return o.Devices, err
	}
	return all, nil
}

// Sites returns the agents after a change.
func (o *Founded) Sites(c *controller.FabricChange) []inventory.AgentSite {
	f, err := cabling.Apply(o.Fabric, c.Cabling)
	if err != nil || len(o.Agents) == 0 {
		return o.Agents
	}
	all := slices.Clone(o.Agents)
	for h := o.Fabric.Hosts(); h < f.Hosts(); h++ {
		r := hostRecord(c, f.HostNode[h])
		i := slices.IndexFunc(all, func(s inventory.AgentSite) bool { return s.Addr == r.Agent })
		if i < 0 {
			i, all = len(all), append(all, inventory.AgentSite{Name: f.Topology.Node(f.HostNode[h]).Name,
				Addr: r.Agent})
		}
		s := &all[i]
		s.Addresses = append(slices.Grow(slices.Clone(s.Addresses), 1),
			make([]string, len(s.Hosts)-len(s.Addresses))...)
		s.Hosts, s.Addresses = append(slices.Clone(s.Hosts),
			southbound.HostID(h)), append(s.Addresses, r.Address)
	}
	return all
}

func hostRecord(c *controller.FabricChange, n pathmap.NodeID) controller.HostRecord {
	i := slices.IndexFunc(c.Hosts, func(r controller.HostRecord) bool { return r.Node == n })
	if i < 0 {
		return controller.HostRecord{Node: n}
	}
	return c.Hosts[i]
}

// Described returns what has been changed of a fabric once it is as described.
func (o *Founded) Described(now controller.FabricChange,
	to *apiv1.FabricDescription) (controller.FabricChange, error) {
	next := now
	next.Generation++
	if to.GetSpec() != "" && to.GetSpec() != o.Fabric.Spec.String() {
		return next, fmt.Errorf("the cluster was founded for %s, not %s: racks are added under racks, links are moved under "+
			"links, and other switches are not added while it runs", o.Fabric.Spec, to.GetSpec())
	}
	if name := to.GetPolicy(); name != "" && name != cmp.Or(now.Policy, o.Policy) {
		next.Previous, next.Policy = now.Policy, name
	}
	if err := o.grow(&next, to.GetRacks()); err != nil {
		return next, err
	}
	if err := o.recable(&next, to.GetLinks()); err != nil {
		return next, err
	}
	f, err := cabling.Apply(o.Fabric, next.Cabling)
	if err != nil {
		return next, err
	}
	for _, list := range []struct {
		what  string
		names *apiv1.NodeNames
		to    *[]pathmap.NodeID
	}{{"drain", to.GetDrained(), &next.Drained}, {"remove", to.GetRemoved(), &next.Removed}} {
		if list.names == nil {
			continue
		}
		*list.to = nil
		for _, name := range list.names.Names {
			n, known := f.Topology.Named(name)
			if !known {
				return next, fmt.Errorf("%s %q: no node is called so: lightloom status lists them", list.what, name)
			}
			*list.to = append(*list.to, n)
		}
		slices.Sort(*list.to)
		*list.to = slices.Compact(*list.to)
	}
	return next, o.replace(&next, f, to.GetDevices())
}

// grow adds racks that are not there, and notes where the agents of their hosts are.
func (o *Founded) grow(next *controller.FabricChange, racks []*apiv1.Rack) (err error) {
	switch {
	case len(racks) == 0:
		return nil
	case o.Fixed:
		return errors.New("racks: an emulated fabric has those that it was started with: start it with another --fabric")
	case o.Alone:
		return errors.New("racks: hosts are namespaces of the controller's machine: run an agent on each host, and name " +
			"these under agents")
	}
	var all []cabling.Rack
	for _, r := range racks {
		x := cabling.Rack{ToR: r.GetTor()}
		for _, h := range r.GetHosts() {
			x.Hosts = append(x.Hosts, h.GetName())
		}
		all = append(all, x)
	}
	if next.Cabling, err = cabling.Grow(o.Fabric, next.Cabling, all); err != nil {
		return fmt.Errorf("racks: %w", err)
	}
	next.Hosts = slices.Clone(next.Hosts)
	for _, r := range racks {
		for _, h := range r.GetHosts() {
			if err := o.settle(next, h); err != nil {
				return fmt.Errorf("racks: host %q: %w", h.GetName(), err)
			}
		}
	}
	return nil
}

// settle notes where a host and its agent are, unless that is known.
func (o *Founded) settle(next *controller.FabricChange, h *apiv1.RackHost) error {
	founded := pathmap.NodeID(len(o.Fabric.Topology.Nodes()))
	i := slices.IndexFunc(next.Cabling.Added, func(n pathmap.Node) bool { return n.Name == h.GetName() })
	if i < 0 {
		return nil // of the fabric as founded, as Grow has checked
	}
	r := controller.HostRecord{Node: founded + pathmap.NodeID(i), Agent: h.GetAgent(), Address: h.GetAddress()}
	if known := hostRecord(next, r.Node); slices.Contains(next.Hosts, known) {
		if known != r && r.Agent+r.Address != "" {
			return fmt.Errorf("it is at %q with its agent at %q, which does not change",
				known.Address, known.Agent)
		}
		return nil
	}
	switch ip, err := netip.ParseAddr(r.Address); {
	case len(o.Agents) > 0 && r.Agent == "":
		return errors.New("it has no agent: name its address under agents")
	case len(o.Agents) == 0 && r.Agent != "":
		return errors.New("the controller was started without agents: leave it out")
	case r.Agent != "" && !inventory.IsAddress(r.Agent):
		return fmt.Errorf("its agent's address %q is no host:port, such as 192.0.2.7:7470, and no unix:PATH", r.Agent)
	case r.Address != "" && (err != nil || !ip.Is4()):
		return fmt.Errorf("its address %q is no IPv4 address such as 192.0.2.7", r.Address)
	}
	next.Hosts = append(next.Hosts, r)
	return nil
}

// recable puts cables in the place of those at the same ports, where they differ.
func (o *Founded) recable(next *controller.FabricChange, links []*apiv1.Cable) (err error) {
	if len(links) > 0 && o.Fixed {
		return errors.New("links: the cables of an emulated fabric cannot be moved: start it with another --fabric")
	}
	var all []cabling.Plug
	for _, l := range links {
		all = append(all, cabling.Plug{From: l.GetFrom(), To: l.GetTo(),
			Rate: pathmap.BitsPerSecond(l.GetBitsPerSecond())})
	}
	if next.Cabling, err = cabling.Next(o.Fabric, next.Cabling, all); err != nil {
		return fmt.Errorf("links: %w", err)
	}
	return nil
}

// replace puts records in the place of those of the same switches, where they differ. f is the fabric
// afterwards: each switch that has been added has one.
func (o *Founded) replace(next *controller.FabricChange, f *topo.Fabric, records []string) error {
	was, err := o.With(next)
	if err != nil {
		return err
	}
	before := next.Devices
	next.Devices = slices.Clone(before)
	named := map[string]int{}
	for i, text := range records {
		d, err := inventory.ParseRecord(text)
		if err != nil {
			return err
		}
		n, known := f.Topology.Named(d.Name)
		if !known {
			return fmt.Errorf("replace %q: no switch is called so: lightloom status lists them", d.Name)
		}
		if first, twice := named[d.Name]; twice {
			return fmt.Errorf("replace %q: records %d and %d are both called so: give each switch one record, by its own name",
				d.Name, first+1, i+1)
		}
		named[d.Name] = i
		next.Devices = slices.DeleteFunc(next.Devices,
			func(r controller.DeviceRecord) bool { return r.Node == n })
		next.Devices = append(next.Devices, controller.DeviceRecord{Node: n, Record: text})
	}
	is, err := o.With(next)
	if err != nil {
		return fmt.Errorf("replace devices: %w", err)
	}
	same := func(r controller.DeviceRecord) bool {
		name := f.Topology.Node(r.Node).Name
		return !slices.Contains(before, r) && len(one(is, name).Differences(one(was, name))) == 0
	}
	for i, r := range next.Devices {
		j := slices.IndexFunc(before, func(x controller.DeviceRecord) bool { return x.Node == r.Node })
		if j >= 0 && same(r) {
			next.Devices[i] = before[j]
		}
	}
	next.Devices = slices.DeleteFunc(next.Devices, same)
	slices.SortFunc(next.Devices, func(a, b controller.DeviceRecord) int { return cmp.Compare(a.Node, b.Node) })
	for _, n := range next.Cabling.Added {
		if _, err := is.Find(n.Name); n.Role == pathmap.ToR && err != nil {
			return fmt.Errorf("racks: %s has no record: say under devices where it is", n.Name)
		}
	}
	return nil
}

// one returns the record of a switch; an empty one where there is none.
func one(all inventory.Devices, name string) *inventory.Device {
	d, err := all.Find(name)
	if err != nil {
		return &inventory.Device{Name: name}
	}
	return d
}

// Differences tells in words what a change changes.
func (o *Founded) Differences(now, next *controller.FabricChange) (out []string, err error) {
	f, err := cabling.Apply(o.Fabric, next.Cabling)
	if err != nil {
		return nil, err
	}
	if a, b := cmp.Or(now.Policy, o.Policy), cmp.Or(next.Policy, o.Policy); a != b {
		out = append(out, fmt.Sprintf("policy: %s → %s", a, b))
	}
	for _, list := range []struct {
		what    string
		is, was []pathmap.NodeID
	}{{"drain ", next.Drained, now.Drained}, {"back in service: ", now.Drained, next.Drained},
		{"remove ", next.Removed, now.Removed}, {"add ", now.Removed, next.Removed}} {
		for _, n := range list.is {
			if !slices.Contains(list.was, n) {
				out = append(out, list.what+f.Topology.Node(n).Name)
			}
		}
	}
	cables, err := cabling.Differences(o.Fabric, now.Cabling, next.Cabling)
	if err != nil {
		return nil, err
	}
	out = append(out, cables...)
	is, err := o.With(next)
	if err != nil {
		return nil, err
	}
	was, _ := o.With(now) // what does not fit any more is replaced, or an error of next, too
	for _, n := range next.Replaced(now) {
		name := f.Topology.Node(n).Name
		if d := one(is, name); one(was, name).Address == "" {
			out = append(out, fmt.Sprintf("%s is at %s, profile %s", name, d.Address, d.Profile))
		} else {
			out = append(out, fmt.Sprintf("replace %s: %s", name,
				strings.Join(d.Differences(one(was, name)), ", ")))
		}
	}
	return out, nil
}
