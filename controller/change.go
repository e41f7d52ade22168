package controller

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// FabricChange is what has been changed of a fabric since its cluster was founded: all of it, as it stands now.
type FabricChange struct {
	Generation uint64 `json:"generation"`       // of the fabric: 0 as founded, and one more with each change
	Policy     string `json:"policy,omitempty"` // empty: the one that replicas were started with
	// Previous decides if Policy fails; empty: the one that replicas were started with.
	Previous string           `json:"previous,omitempty"`
	Barred   []string         `json:"barred,omitempty"`  // policies that have failed, sorted
	Failure  string           `json:"failure,omitempty"` // what the last of them has done
	Drained  []pathmap.NodeID `json:"drained,omitempty"` // sorted: they get no new tasks, routes or circuits
	Devices  []DeviceRecord   `json:"devices,omitempty"` // by node: of switches that have been replaced
	Removed  []pathmap.NodeID `json:"removed,omitempty"` // sorted, of Drained: nobody calls them; their ids stay theirs
	Hosts    []HostRecord     `json:"hosts,omitempty"`   // by node: of hosts that have been added
	Cabling  pathmap.Cabling  `json:"cabling,omitzero"`
}

// HostRecord is where a host is that has been added, and its agent.
type HostRecord struct {
	Node    pathmap.NodeID `json:"node"`
	Agent   string         `json:"agent,omitempty"`   // empty: it has none
	Address string         `json:"address,omitempty"` // empty: that of the address plan
}

// DeviceRecord is how a switch is reached since it was replaced.
type DeviceRecord struct {
	Node   pathmap.NodeID `json:"node"`
	Record string         `json:"record"` // as inventories have it, in YAML
}

// Bounds of a change: of its policies, of a policy's name, of cables that were plugged in, of nodes that were added,
// and of all records of devices together.
const (
	maxBarred     = 64
	maxCables     = 4096
	maxAdded      = 4096
	maxPolicyName = 256
	maxRecords    = 256 << 10
)

// Check returns what is wrong with the form of a change to a fabric of so many nodes, or nil.
func (c *FabricChange) Check(nodes int) error {
	if len(c.Barred) > maxBarred || !slices.IsSorted(c.Barred) {
		return fmt.Errorf("%d policies are barred, or out of order: at most %d can be", len(c.Barred), maxBarred)
	}
	for _, name := range append([]string{c.Policy, c.Previous, c.Failure}, c.Barred...) {
		if len(name) > maxPolicyName {
			return fmt.Errorf("a policy's name or failure has %d bytes, at most %d are taken", len(name),
				maxPolicyName)
		}
	}
	for i, n := range c.Drained {
		if n < 0 || int(n) >= nodes || i > 0 && c.Drained[i-1] >= n {
			return fmt.Errorf("drained node %d is not in the fabric, or out of order", n)
		}
	}
	for i, n := range c.Removed {
		if !slices.Contains(c.Drained, n) || i > 0 && c.Removed[i-1] >= n {
			return fmt.Errorf("removed node %d is not drained, or out of order: what is removed stays drained until it is "+
				"added again", n)
		}
	}
	if n := len(c.Cabling.Plugged); n > maxCables {
		return fmt.Errorf("%d cables have been plugged in, at most %d are kept", n, maxCables)
	}
	if n := len(c.Cabling.Added); n > maxAdded {
		return fmt.Errorf("%d switches and hosts have been added, at most %d are kept", n, maxAdded)
	}
	bytes := 0
	for i, d := range c.Devices {
		if d.Node < 0 || int(d.Node) >= nodes || i > 0 && c.Devices[i-1].Node >= d.Node {
			return fmt.Errorf("replaced node %d is not in the fabric, or out of order", d.Node)
		}
		bytes += len(d.Record)
	}
	for i, h := range c.Hosts {
		if h.Node < 0 || int(h.Node) >= nodes || i > 0 && c.Hosts[i-1].Node >= h.Node {
			return fmt.Errorf("added host %d is not in the fabric, or out of order", h.Node)
		}
		bytes += len(h.Agent) + len(h.Address)
	}
	if bytes > maxRecords {
		return fmt.Errorf("the records of devices and hosts have %d bytes, at most %d are taken",
			bytes, maxRecords)
	}
	return nil
}

// Replaced returns the nodes whose devices a change replaces, compared with what stood before.
func (c *FabricChange) Replaced(before *FabricChange) (out []pathmap.NodeID) {
	for _, d := range c.Devices {
		if !slices.Contains(before.Devices, d) {
			out = append(out, d.Node)
		}
	}
	for _, d := range before.Devices {
		if !slices.ContainsFunc(c.Devices, func(x DeviceRecord) bool { return x.Node == d.Node }) {
			out = append(out, d.Node)
		}
	}
	slices.Sort(out)
	return out
}

// CheckAfter returns why a change cannot follow the one that stands, which has made f of the fabric and is to make it
// next, or nil: where links are down, and bandwidth is held.
func (c *FabricChange) CheckAfter(now *FabricChange, f, next *topo.Fabric, down []pathmap.LinkID,
	held []BandwidthReservation) error {
	if c.Generation != now.Generation+1 {
		return fmt.Errorf("change generation %d of the fabric: it is at %d: read it again",
			c.Generation-1, now.Generation)
	}
	for _, n := range c.Removed {
		if !slices.Contains(c.Drained, n) && n >= 0 && int(n) < len(next.Topology.Nodes()) {
			name := next.Topology.Node(n).Name
			return fmt.Errorf("%s is removed: leave it in drain until it is added again, without %s in remove", name, name)
		}
	}
	if err := c.Check(len(next.Topology.Nodes())); err != nil {
		return err
	}
	for _, d := range c.Devices {
		if n := next.Topology.Node(d.Node); n.Role == pathmap.Host {
			return fmt.Errorf("replace %s: it is a host: name switches only", n.Name)
		}
	}
	if len(c.Hosts) < len(now.Hosts) || !slices.Equal(c.Hosts[:len(now.Hosts)], now.Hosts) {
		return errors.New("racks: it forgets where hosts are, or moves them: read the fabric again")
	}
	if err := c.checkRemoved(now, next); err != nil {
		return err
	}
	if err := c.checkCabling(now, held); err != nil {
		return err
	}
	fresh := slices.DeleteFunc(slices.Clone(c.Drained), func(n pathmap.NodeID) bool {
		return slices.Contains(now.Drained, n)
	})
	for _, l := range DrainedLinks(next, fresh) {
		for i := range held {
			if r := &held[i]; slices.Contains(r.Links, l) || slices.Contains(r.Links, pathmap.Reverse(l)) {
				return fmt.Errorf("drain %s: bandwidth reservation %d of %q crosses it: release it first",
					next.Topology.Node(next.Topology.Link(l).From).Name, r.ID, r.Owner)
			}
		}
	}
	if hosts := DrainedHosts(next, c.Drained); hosts != nil && !slices.Contains(hosts, false) {
		return errors.New("drain: no host would be left for tasks: leave one out")
	}
	was := Parts(f, slices.Concat(down, DrainedLinks(f, now.Drained)))
	if is := Parts(next, slices.Concat(down, DrainedLinks(next, c.Drained))); is > was {
		return fmt.Errorf("drain or links: it would cut racks off: they would be in %d parts without packet paths between "+
			"them", is)
	}
	return nil
}

// checkCabling returns why cables cannot be moved as a change says, or nil. Paths between racks are other ones
// afterwards, so nobody can hold bandwidth on them.
func (c *FabricChange) checkCabling(now *FabricChange, held []BandwidthReservation) error {
	if !c.Cabling.Follows(now.Cabling) {
		return errors.New("links: it takes cables back, or racks, that have been changed before: read the fabric again")
	}
	for i := range held {
		if r := &held[i]; len(r.Links) > linksInRack && !c.Cabling.Equal(now.Cabling) {
			return fmt.Errorf("links: bandwidth reservation %d of %q has a path between racks, which can become another: "+
				"release it first", r.ID, r.Owner)
		}
	}
	return nil
}

// linksInRack is how many links there are between two hosts of a rack.
const linksInRack = 2

// checkRemoved returns why switches cannot be removed or added as a change says, or nil: both are done to drained ones.
func (c *FabricChange) checkRemoved(now *FabricChange, f *topo.Fabric) error {
	for _, n := range c.Removed {
		at := f.Topology.Node(n)
		switch {
		case slices.Contains(now.Removed, n):
		case at.Role == pathmap.Host || at.Role == pathmap.ToR:
			return fmt.Errorf("remove %s: a rack's own hosts and switch stay: drain it", at.Name)
		case !slices.Contains(now.Drained, n):
			return fmt.Errorf("remove %s: traffic may cross it: drain it first, with drain: [%s]",
				at.Name, at.Name)
		}
	}
	for _, n := range now.Removed {
		if !slices.Contains(c.Removed, n) && !slices.Contains(c.Drained, n) {
			name := f.Topology.Node(n).Name
			return fmt.Errorf("add %s: it gets its tables first: leave it in drain, and take it out afterwards", name)
		}
	}
	return nil
}

// Bar returns the change after which a policy that has failed is called no more, and the first of others that has not
// failed decides; false if all have. failed is the policy's name; a first of others that is empty stands for founded.
func (c *FabricChange) Bar(failed, founded, why string, others ...string) (FabricChange, bool) {
	next := *c
	next.Generation++
	next.Failure = strings.ToValidUTF8(why[:min(len(why), maxPolicyName)], "")
	next.Barred = slices.Clone(c.Barred)
	if i, known := slices.BinarySearch(next.Barred, failed); !known {
		next.Barred = slices.Insert(next.Barred, i, failed)
	}
	for _, name := range others {
		if !slices.Contains(next.Barred, cmp.Or(name, founded)) && len(next.Barred) <= maxBarred {
			next.Policy, next.Previous = name, ""
			return next, true
		}
	}
	return next, false
}

// DrainedHosts returns which hosts get no new tasks where nodes are drained: those among them, and those of their ToRs.
// nil: none. A drained ToR takes no link out of service.
func DrainedHosts(f *topo.Fabric, nodes []pathmap.NodeID) []bool {
	if len(nodes) == 0 {
		return nil
	}
	out := make([]bool, f.Hosts())
	for h, n := range f.HostNode {
		out[h] = slices.Contains(nodes, n) || slices.Contains(nodes, f.ToRNode[f.RackOf(int32(h))])
	}
	return out
}

// DrainedLinks returns the links that leave drained switches other than ToRs: both directions of their cables get no
// new routes or circuits.
func DrainedLinks(f *topo.Fabric, nodes []pathmap.NodeID) (out []pathmap.LinkID) {
	for _, n := range nodes {
		if role := f.Topology.Node(n).Role; role != pathmap.Host && role != pathmap.ToR {
			out = append(out, f.Topology.Out(n)...)
		}
	}
	return out
}

// Parts returns into how many parts the packet network of a fabric falls, by its racks, without cables that are cut, of
// each of which either direction is named.
func Parts(f *topo.Fabric, cut []pathmap.LinkID) (n int) {
	t := f.Topology
	gone, seen := make([]bool, len(t.Links())), make([]bool, len(t.Nodes()))
	for _, l := range cut {
		gone[l], gone[pathmap.Reverse(l)] = true, true
	}
	for _, tor := range f.ToRNode {
		if seen[tor] {
			continue
		}
		n++
		seen[tor] = true
		for next := []pathmap.NodeID{tor}; len(next) > 0; next = next[1:] {
			for _, l := range t.Out(next[0]) {
				if to := t.Link(l).To; !gone[l] && !seen[to] && !f.IsOCS(to) && t.Node(to).Role != pathmap.Host {
					seen[to], next = true, append(next, to)
				}
			}
		}
	}
	return n
}
