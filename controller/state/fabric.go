package state

import (
	"errors"
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

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
	if s.d.Cluster == nil {
		return errors.New("the cluster has no epoch yet")
	}
	now, t := s.Change(), s.fabric.Topology
	var down []pathmap.LinkID
	for _, p := range s.d.Down {
		down = append(down, t.OutPort(p.Device, int32(p.Port)))
	}
	if err := c.CheckAfter(&now, s.fabric, down, s.d.BandwidthReservations); err != nil {
		return err
	}
	if n := s.fabric.OCSNode; slices.Contains(c.Drained, n) && !slices.Contains(now.Drained, n) {
		for in, all := range s.ledger.byIn {
			if r := all.Live(); len(r) > 0 && r[0].Begun {
				return fmt.Errorf("drain %s: circuit %d→%d is in use until %v of the run at the latest: try again then",
					t.Node(n).Name, in, r[0].Out, r[0].NotAfter)
			}
		}
	}
	if n := s.fabric.OCSNode; slices.Contains(c.Replaced(&now), n) && !slices.Contains(slices.Concat(now.Drained,
		c.Drained), n) {
		for in, x := range s.d.Circuits {
			if name := t.Node(n).Name; x.Out != southbound.NoPort {
				return fmt.Errorf("replace %s: circuit %d→%d is lit: drain it first, with drain: [%s], and replace it then",
					name, in, x.Out, name)
			}
		}
	}
	return nil
}

// changeFabric replaces what has been changed of the fabric.
func (s *State) changeFabric(e *Entry) error {
	if e.Cluster.Fabric.Generation <= s.Change().Generation {
		return ErrStale
	}
	if err := s.CheckChange(e.Cluster.Fabric); err != nil {
		return err
	}
	own := *s.d.Cluster // readers have borrowed the old one
	own.Fabric = e.Cluster.Fabric
	s.d.Cluster = &own
	s.drain()
	return nil
}

// offered are the slots and vCPUs that tasks can be given: none on drained hosts. Borrowed.
func (s *State) offered() (free []int32, vcpus []int64) {
	if s.drains.hosts == nil {
		return s.free, s.vcpus
	}
	free, vcpus = slices.Clone(s.free), slices.Clone(s.vcpus)
	for h, out := range s.drains.hosts {
		if out {
			free[h], vcpus[h] = min(free[h], 0), min(vcpus[h], 0)
		}
	}
	return free, vcpus
}
