package state

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/cabling"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// network is the fabric: as the state was made for it, and with all that has been changed of its cables.
type network struct {
	founded, fabric *topo.Fabric
	current         atomic.Pointer[topo.Fabric] // fabric, for those who read it between entries
	slicing         slicing                     // of a pod
}

func (n *network) become(f *topo.Fabric) {
	n.fabric = f
	n.current.Store(f)
}

// drains is what is taken out of service on purpose. It follows from what has been changed of the fabric.
type drains struct {
	hosts []bool    // by host; nil: none is drained
	ports []PortRef // of drained switches
}

// Change returns what has been changed of the fabric.
func (s *State) Change() (c controller.FabricChange) {
	if s.d.Cluster != nil && s.d.Cluster.Fabric != nil {
		c = *s.d.Cluster.Fabric
	}
	return c
}

// DrainedPorts are the ports of switches that are drained, the OCS's included. Borrowed.
func (s *State) DrainedPorts() []PortRef { return s.drains.ports }

func (s *State) drain() {
	nodes := s.Change().Drained
	s.drains = drains{hosts: controller.DrainedHosts(s.fabric, nodes)}
	for _, l := range controller.DrainedLinks(s.fabric, nodes) {
		at := s.fabric.Topology.Link(l)
		s.drains.ports = append(s.drains.ports, PortRef{at.From, southbound.Port(at.FromPort)})
	}
}

// isDrained reports whether a host gets no new tasks.
func (s *State) isDrained(h southbound.HostID) bool {
	return s.drains.hosts != nil && s.drains.hosts[h]
}

// CheckChange returns why the fabric cannot be changed so now, or nil.
func (s *State) CheckChange(c *controller.FabricChange) error {
	_, err := s.after(c)
	return err
}

// after returns the fabric after a change, or why it cannot be changed so.
func (s *State) after(c *controller.FabricChange) (*topo.Fabric, error) {
	if s.d.Cluster == nil {
		return nil, errors.New("the cluster has no epoch yet")
	}
	now, t := s.Change(), s.fabric.Topology
	var down []pathmap.LinkID
	for _, p := range s.d.Down {
		down = append(down, t.OutPort(p.Device, int32(p.Port)))
	}
	next, err := s.fabric, error(nil)
	if !c.Cabling.Equal(now.Cabling) {
		if next, err = cabling.Apply(s.founded, c.Cabling); err != nil {
			return nil, fmt.Errorf("links: %w", err)
		}
	}
	if err := c.CheckAfter(&now, s.fabric, next, down, s.d.BandwidthReservations); err != nil {
		return nil, err
	}
	if err := s.checkUplinks(next); err != nil {
		return nil, err
	}
	if err := s.checkRings(next); err != nil {
		return nil, err
	}
	return next, s.checkOCSes(c, &now)
}

// checkOCSes returns which circuit is in the way of what a change does to an optical switch, or nil.
func (s *State) checkOCSes(c, now *controller.FabricChange) error {
	for i := range s.fabric.OCSes() {
		if err := s.checkOCS(c, now, s.fabric.OCSNode+pathmap.NodeID(i)); err != nil {
			return err
		}
	}
	return nil
}

// checkOCS returns which circuit is in the way of what a change does to one optical switch, or nil: it
// is in use while the switch goes, or lit while another takes its place unannounced. Below level 5 one
// in use refuses the drain.
func (s *State) checkOCS(c, now *controller.FabricChange, n pathmap.NodeID) error {
	does := "drain"
	drained, drains := slices.Contains(now.Drained, n), slices.Contains(c.Drained, n)
	replaced := slices.Contains(c.Replaced(now), n)
	if replaced && !drained && !drains {
		for in, x := range s.d.Circuits {
			name := s.fabric.Topology.Node(n).Name
			if of, at := s.fabric.OCSAt(int32(in)); of == n && x.Out != southbound.NoPort {
				_, to := s.fabric.OCSAt(int32(x.Out))
				return fmt.Errorf("replace %s: circuit %d→%d is lit: drain it first, with drain: [%s], and replace it then",
					name, at, to, name)
			}
		}
		return nil
	}
	switch older := s.Level() < 5; {
	case older && !drained && drains:
	case older, !replaced && (slices.Contains(now.Removed, n) || !slices.Contains(c.Removed, n)):
		return nil
	case replaced:
		does = "replace"
	default:
		does = "remove"
	}
	for in, all := range s.ledger.byIn {
		of, at := s.fabric.OCSAt(int32(in))
		if r := all.Live(); of == n && len(r) > 0 && r[0].Begun {
			_, to := s.fabric.OCSAt(int32(r[0].Out))
			return fmt.Errorf("%s %s: circuit %d→%d is in use until %v of the run at the latest: try again then", does,
				s.fabric.Topology.Node(n).Name, at, to, r[0].NotAfter)
		}
	}
	return nil
}

// checkUplinks returns which circuit is in the way of another fabric, or nil: it is lit, or reserved,
// over a cable that goes.
func (s *State) checkUplinks(next *topo.Fabric) error {
	for p, was := range s.fabric.OCSUplink {
		port := southbound.Port(p)
		if was == next.OCSUplink[p] {
			continue
		}
		cable := fmt.Sprintf("%s:%d", s.fabric.Topology.Node(s.fabric.ToRNode[s.rack(port)]).Name, was)
		if lit := s.d.Circuits[p].Out != southbound.NoPort || s.leads[p] != southbound.NoPort; lit {
			return fmt.Errorf("links: %s carries a circuit that is lit: drain the optical switch first", cable)
		}
		if len(s.ledger.byIn[p].Live())+len(s.ledger.byOut[p].Live()) > 0 {
			return fmt.Errorf("links: %s is reserved for circuits: drain the optical switch first", cable)
		}
	}
	return nil
}

// checkRings returns which ring is in the way of another fabric, or nil: a rack of it loses its port, though none is
// lit or reserved yet.
func (s *State) checkRings(next *topo.Fabric) error {
	for i := range s.d.Slices {
		if x := &s.d.Slices[i]; x.OfRacks() {
			if err := CheckSlice(next, x); err != nil {
				return fmt.Errorf("links: %w: delete the slice first", err)
			}
		}
	}
	return nil
}

// recable takes over a fabric with other cables and further racks: their hosts and ports of the OCS
// have the next numbers. Ports that lead nowhere any more are not dark.
func (s *State) recable(f *topo.Fabric) {
	s.become(f)
	for h := len(s.free); h < f.Hosts(); h++ {
		s.free, s.vcpus, s.lent = append(s.free, 0), append(s.vcpus, 0), append(s.lent, 0)
		s.back(f, southbound.HostID(h))
	}
	s.write()
	s.d.Circuits = append(slices.Clip(s.d.Circuits), noCircuits(f.OCSPorts()-len(s.d.Circuits))...)
	s.derivePorts()
	s.deriveSlicing()
	s.d.Down = slices.DeleteFunc(slices.Clone(s.d.Down), func(p PortRef) bool { return !leads(f, p) })
	s.deriveReservedBandwidth()
}

// changeFabric replaces what has been changed of the fabric.
func (s *State) changeFabric(e *Entry) error {
	if e.Cluster.Fabric.Generation <= s.Change().Generation {
		return ErrStale
	}
	next, err := s.after(e.Cluster.Fabric)
	if err != nil {
		return err
	}
	if next != s.fabric {
		s.recable(next)
	}
	own := *s.d.Cluster // readers have borrowed the old one
	own.Fabric = e.Cluster.Fabric
	s.d.Cluster = &own
	s.drain()
	return nil
}

// offered are the slots and vCPUs that tasks can be given: none on drained hosts. Borrowed.
func (s *State) offered() (free []int32, vcpus []int64) {
	lent := s.jobSliceHosts()
	if s.drains.hosts == nil && len(lent) == 0 {
		return s.free, s.vcpus
	}
	free, vcpus = slices.Clone(s.free), slices.Clone(s.vcpus)
	for _, h := range lent {
		free[h], vcpus[h] = min(free[h], 0), min(vcpus[h], 0)
	}
	for h, out := range s.drains.hosts {
		if out {
			free[h], vcpus[h] = min(free[h], 0), min(vcpus[h], 0)
		}
	}
	return free, vcpus
}
