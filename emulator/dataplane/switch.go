package dataplane

import (
	"fmt"
	"net/netip"

	"lightloom/southbound"
)

// Switch is what a kernel dataplane needs to know of one switch, all of whose ports are interfaces of
// one network namespace.
type Switch struct {
	ID      southbound.DeviceID
	Name    string
	Optical bool    // an OCS: Move and no rules; else rules and no Move
	Ports   []int   // interface index by port; 0 where no cable is plugged in
	Racks   int     // racks of the fabric: rules are for racks 0 to Racks-1
	Sources bool    // rules can name the rack that packets come from, which takes room
	Locals  []Local // hosts on ports of this switch, sorted by address
	Block   uint32  // shared ingress block that is this switch's alone, above zero
	Sink    int     // interface index of where dropped packets go, for planes that cannot drop otherwise
	Dark    Dark    // queues for the time that a circuit is dark
}

// Dark configures a queue for each destination rack at a ToR: packets that rules send to the fibre wait
// there while the fibre is dark, and then leave before later ones.
type Dark struct {
	Limit int             // bytes of each queue; 0: there is none, and packets take their rule's backup
	Fibre southbound.Port // the port to the optical switch
	Queue [2]int          // interface indices of a pair that is this switch's alone: packets go out of the first
	Room  int             // bytes that the queue of the fibre's port takes without dropping
}

// ErrNoDark is what a dataplane says that has no such queues.
var ErrNoDark = fmt.Errorf("queues for the time that a circuit is dark need the ebpf dataplane, which counts what "+
	"waits in memory that the kernel shares: %w", southbound.ErrUnsupported)

// Local is a host behind a port: packets for its address leave there, whatever the rules say.
type Local struct {
	Addr netip.Addr
	Port southbound.Port
}

// Rack returns the rack that the address plan puts l in.
func (l Local) Rack() southbound.RackID {
	b := l.Addr.As4()
	return southbound.RackID(b[1])<<8 | southbound.RackID(b[2])
}

// Link returns the interface index of a port, or an error that names port and switch.
func (s *Switch) Link(p southbound.Port) (int, error) {
	if p < 0 || int(p) >= len(s.Ports) || s.Ports[p] == 0 {
		return 0, fmt.Errorf("port %d of %s: no such port: %w", p, s.Name, southbound.ErrRefused)
	}
	return s.Ports[p], nil
}

// Homed returns the racks that have hosts on ports of s, ascending.
func (s *Switch) Homed() []southbound.RackID {
	var racks []southbound.RackID
	for _, l := range s.Locals {
		if r := l.Rack(); len(racks) == 0 || racks[len(racks)-1] != r {
			racks = append(racks, r)
		}
	}
	return racks
}

// CheckRule returns an error if a rule at s is invalid.
func (s *Switch) CheckRule(r southbound.Rule) error {
	if err := s.CheckMatch(r.Match); err != nil {
		return err
	}
	if _, err := s.Link(r.Primary); err != nil {
		return fmt.Errorf("primary: %w", err)
	}
	if r.Backup != southbound.NoPort {
		if _, err := s.Link(r.Backup); err != nil {
			return fmt.Errorf("backup: %w", err)
		}
	}
	return nil
}

// CheckMatch returns an error if a match at s is invalid.
func (s *Switch) CheckMatch(m southbound.Match) error {
	switch {
	case m.Src != southbound.AnyRack && !s.Sources:
		return fmt.Errorf("match on source rack %d: this switch matches destination and tag only: %w", m.Src,
			southbound.ErrUnsupported)
	case m.Src != southbound.AnyRack && (m.Src < 0 || int(m.Src) >= s.Racks):
		return fmt.Errorf("match on source rack %d: racks are 0 to %d: %w", m.Src, s.Racks-1,
			southbound.ErrRefused)
	case m.Dst < 0 || int(m.Dst) >= s.Racks:
		return fmt.Errorf("match on rack %d: racks are 0 to %d: %w", m.Dst, s.Racks-1, southbound.ErrRefused)
	case m.Tag >= southbound.Tags && m.Tag != southbound.AnyTag:
		return fmt.Errorf("match on tag %d: tags are 0 to %d, or %d for any: %w", m.Tag,
			southbound.Tags-1, southbound.AnyTag,
			southbound.ErrRefused)
	}
	return nil
}
