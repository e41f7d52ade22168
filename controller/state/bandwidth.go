package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// ErrNoRoom marks a bandwidth reservation of more than is left on one of its links.
var ErrNoRoom = errors.New("is left on a path")

// BandwidthReservations returns the active bandwidth reservations, by id. Borrowed.
func (s *State) BandwidthReservations() []controller.BandwidthReservation {
	return s.d.BandwidthReservations
}

// BandwidthReservation returns the bandwidth reservation that a request got, if it has one; stands is
// false once it is over.
func (s *State) BandwidthReservation(request string) (p controller.BandwidthReservation, known,
	stands bool) {
	id, known := s.bandwidthRequests.got[request]
	if i, ok := s.bandwidthReservationAt(id); known && ok {
		return s.d.BandwidthReservations[i], true, true
	}
	return controller.BandwidthReservation{ID: id}, known, false
}

func (s *State) bandwidthReservationAt(id controller.BandwidthReservationID) (int, bool) {
	return slices.BinarySearchFunc(s.d.BandwidthReservations, id,
		func(p controller.BandwidthReservation, id controller.BandwidthReservationID) int {
			return cmp.Compare(p.ID, id)
		})
}

// ReservedBandwidth returns what is reserved on a link.
func (s *State) ReservedBandwidth(l pathmap.LinkID) pathmap.BitsPerSecond {
	if s.reservedBandwidth == nil {
		return 0
	}
	return s.reservedBandwidth[l]
}

// NextBandwidthExpiry returns when the first bandwidth reservation ends.
func (s *State) NextBandwidthExpiry() time.Duration {
	at := southbound.Never
	for i := range s.d.BandwidthReservations {
		at = min(at, s.d.BandwidthReservations[i].Until)
	}
	return at
}

// CheckBandwidthReservation returns why a bandwidth reservation is invalid, or nil. already is what
// others of the same batch take, by link; it can be nil.
func (s *State) CheckBandwidthReservation(p *controller.BandwidthReservation,
	already map[pathmap.LinkID]pathmap.BitsPerSecond) error {
	if err := checkBandwidthReservation(s.fabric, p); err != nil {
		return err
	}
	if len(s.d.BandwidthReservations) >= controller.MaxBandwidthReservations {
		return fmt.Errorf("reserve bandwidth: %d reservations are active: release some",
			len(s.d.BandwidthReservations))
	}
	for _, l := range p.Links {
		if left := controller.ReservableBandwidth(s.fabric.Topology.Link(l).
			Capacity) - s.ReservedBandwidth(l) - already[l]; p.Rate > left {
			return fmt.Errorf("reserve %v: %v %w", p.Rate, max(left, 0), ErrNoRoom)
		}
	}
	return nil
}

// checkBandwidthReservation looks at form alone: ends, rate, and links that lead from one host to the other.
func checkBandwidthReservation(f *topo.Fabric, p *controller.BandwidthReservation) error {
	switch {
	case p.Src < 0 || int(p.Src) >= f.Hosts() || p.Dst < 0 || int(p.Dst) >= f.Hosts() || p.Src == p.Dst:
		return fmt.Errorf("reserve bandwidth from host %d to %d: take two of the hosts 0 to %d", p.Src,
			p.Dst, f.Hosts()-1)
	case p.Rate <= 0:
		return fmt.Errorf("reserve %d bit/s: take a rate above zero", p.Rate)
	case len(p.Links) == 0 || len(p.Links) > len(f.Topology.Nodes()):
		return fmt.Errorf("reserve bandwidth on %d links", len(p.Links))
	}
	at := f.HostNode[p.Src]
	for _, l := range p.Links {
		if l < 0 || int(l) >= len(f.Topology.Links()) || f.Topology.Link(l).From != at {
			return fmt.Errorf("reserve bandwidth on link %d, which does not go on from node %d", l, at)
		}
		at = f.Topology.Link(l).To
	}
	if at != f.HostNode[p.Dst] {
		return fmt.Errorf("reserve bandwidth on links that do not lead to host %d", p.Dst)
	}
	return nil
}

func (s *State) reserveBandwidth(e *Entry) error {
	if _, dup := s.bandwidthRequests.got[e.Request]; dup {
		return ErrStale
	}
	p := *e.BandwidthReservation
	if err := s.CheckBandwidthReservation(&p, nil); err != nil {
		return err
	}
	s.d.LastBandwidthReservation++
	p.ID, p.From, p.Links = s.d.LastBandwidthReservation, e.At, slices.Clone(p.Links)
	s.d.BandwidthReservations = append(s.d.BandwidthReservations, p)
	s.d.BandwidthRequests = s.bandwidthRequests.grant(s.d.BandwidthRequests, e, p.ID)
	s.deriveReservedBandwidth()
	return nil
}

func (s *State) releaseBandwidth(e *Entry) error {
	i, ok := s.bandwidthReservationAt(e.BandwidthReservationID)
	if !ok {
		return ErrStale
	}
	s.d.BandwidthReservations = slices.Delete(s.d.BandwidthReservations, i, i+1)
	s.deriveReservedBandwidth()
	return nil
}

// deriveReservedBandwidth sums up by link; nil where nothing is reserved.
func (s *State) deriveReservedBandwidth() {
	s.reservedBandwidth = nil // a view possibly holds the old sums
	for i := range s.d.BandwidthReservations {
		if s.reservedBandwidth == nil {
			s.reservedBandwidth = make([]pathmap.BitsPerSecond, len(s.fabric.Topology.Links()))
		}
		for _, l := range s.d.BandwidthReservations[i].Links {
			s.reservedBandwidth[l] += s.d.BandwidthReservations[i].Rate
		}
	}
}

// checkBandwidthReservations refuses a snapshot whose bandwidth reservations lead nowhere.
func (d *Data) checkBandwidthReservations(f *topo.Fabric) error {
	last := controller.BandwidthReservationID(0)
	for i := range d.BandwidthReservations {
		p := &d.BandwidthReservations[i]
		if err := checkBandwidthReservation(f, p); err != nil {
			return err
		}
		if p.ID <= last || p.ID > d.LastBandwidthReservation {
			return fmt.Errorf("bandwidth reservation %d is out of order", p.ID)
		}
		last = p.ID
	}
	return nil
}
