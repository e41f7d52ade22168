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

// ErrNoRoom marks a pledge of more than is left on one of its links.
var ErrNoRoom = errors.New("the path has not that much left")

// Pledges returns the pledges that stand, by id. Borrowed.
func (s *State) Pledges() []controller.Pledge { return s.d.Pledges }

// Pledge returns the pledge that a request got, if it has one; stands is false once it is over.
func (s *State) Pledge(request string) (p controller.Pledge, known, stands bool) {
	id, known := s.d.PledgeRequests[request]
	if i, ok := s.pledgeAt(id); known && ok {
		return s.d.Pledges[i], true, true
	}
	return controller.Pledge{ID: id}, known, false
}

func (s *State) pledgeAt(id controller.PledgeID) (int, bool) {
	return slices.BinarySearchFunc(s.d.Pledges, id, func(p controller.Pledge, id controller.PledgeID) int { return cmp.Compare(p.ID, id) })
}

// Pledged returns what is pledged on a link.
func (s *State) Pledged(l pathmap.LinkID) pathmap.BitsPerSecond {
	if s.pledged == nil {
		return 0
	}
	return s.pledged[l]
}

// NextPledge returns when the first pledge is over.
func (s *State) NextPledge() time.Duration {
	at := southbound.Never
	for i := range s.d.Pledges {
		at = min(at, s.d.Pledges[i].Until)
	}
	return at
}

// CheckPledge says why a pledge cannot stand, or nil. already is what others of the same batch take, by link; it may be
// nil.
func (s *State) CheckPledge(p *controller.Pledge, already map[pathmap.LinkID]pathmap.BitsPerSecond) error {
	if err := checkPledge(s.fabric, p); err != nil {
		return err
	}
	if len(s.d.Pledges) >= controller.MaxPledges {
		return fmt.Errorf("pledge bandwidth: %d pledges stand: give some back", len(s.d.Pledges))
	}
	for _, l := range p.Links {
		if left := controller.Pledgeable(s.fabric.Topology.Link(l).Capacity) - s.Pledged(l) - already[l]; p.Rate > left {
			return fmt.Errorf("pledge %v: %v is left: %w", p.Rate, max(left, 0), ErrNoRoom)
		}
	}
	return nil
}

// checkPledge looks at form alone: ends, rate, and links that lead from one host to the other.
func checkPledge(f *topo.Fabric, p *controller.Pledge) error {
	switch {
	case p.Src < 0 || int(p.Src) >= f.Hosts() || p.Dst < 0 || int(p.Dst) >= f.Hosts() || p.Src == p.Dst:
		return fmt.Errorf("pledge bandwidth from host %d to %d: take two of the hosts 0 to %d", p.Src, p.Dst, f.Hosts()-1)
	case p.Rate <= 0:
		return fmt.Errorf("pledge %d bit/s: take a rate above zero", p.Rate)
	case len(p.Links) == 0 || len(p.Links) > len(f.Topology.Nodes()):
		return fmt.Errorf("pledge bandwidth on %d links", len(p.Links))
	}
	at := f.HostNode[p.Src]
	for _, l := range p.Links {
		if l < 0 || int(l) >= len(f.Topology.Links()) || f.Topology.Link(l).From != at {
			return fmt.Errorf("pledge bandwidth on link %d, which does not go on from node %d", l, at)
		}
		at = f.Topology.Link(l).To
	}
	if at != f.HostNode[p.Dst] {
		return fmt.Errorf("pledge bandwidth on links that do not lead to host %d", p.Dst)
	}
	return nil
}

func (s *State) pledge(e *Entry) error {
	if _, dup := s.d.PledgeRequests[e.Request]; dup && e.Request != "" {
		return ErrStale
	}
	p := *e.Pledge
	if err := s.CheckPledge(&p, nil); err != nil {
		return err
	}
	s.d.LastPledge++
	p.ID, p.From, p.Links = s.d.LastPledge, e.At, slices.Clone(p.Links)
	s.d.Pledges = append(s.d.Pledges, p)
	if e.Request != "" {
		if s.d.PledgeRequests == nil {
			s.d.PledgeRequests = map[string]controller.PledgeID{}
		}
		s.d.PledgeRequests[e.Request] = p.ID
	}
	s.derivePledged()
	return nil
}

func (s *State) unpledge(e *Entry) error {
	i, ok := s.pledgeAt(e.PledgeID)
	if !ok {
		return ErrStale
	}
	s.d.Pledges = slices.Delete(s.d.Pledges, i, i+1)
	s.derivePledged()
	return nil
}

// derivePledged sums up by link; nil where nothing is pledged.
func (s *State) derivePledged() {
	s.pledged = nil // a view may hold the sums of before
	for i := range s.d.Pledges {
		if s.pledged == nil {
			s.pledged = make([]pathmap.BitsPerSecond, len(s.fabric.Topology.Links()))
		}
		for _, l := range s.d.Pledges[i].Links {
			s.pledged[l] += s.d.Pledges[i].Rate
		}
	}
}

// checkPledges refuses a snapshot whose pledges lead nowhere.
func (d *Data) checkPledges(f *topo.Fabric) error {
	last := controller.PledgeID(0)
	for i := range d.Pledges {
		p := &d.Pledges[i]
		if err := checkPledge(f, p); err != nil {
			return err
		}
		if p.ID <= last || p.ID > d.LastPledge {
			return fmt.Errorf("pledge %d is out of order", p.ID)
		}
		last = p.ID
	}
	return nil
}
