package loop

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// BandwidthRequest is an outside scheduler's request for bandwidth between two hosts, or to release
// some. Request is unique for each request for bandwidth.
type BandwidthRequest struct {
	Request  string
	Owner    string
	Src, Dst southbound.HostID
	Rate     pathmap.BitsPerSecond             // layer 2
	Lifetime time.Duration                     // 0: until it is given back
	Release  controller.BandwidthReservationID // above zero: give this one back, and nothing else of the above holds
	// Refused gets the reason why the request is not granted; a grant shows in the state. Step calls it,
	// so it must not block; nil disables it.
	Refused func(error)
}

// ErrNoBandwidthReservation marks requests for a bandwidth reservation that does not exist.
var ErrNoBandwidthReservation = errors.New("no such bandwidth reservation")

// grantBandwidth grants requests or refuses them. What one gets the next of the same pass does not.
func (l *Loop) grantBandwidth(s *state.State, now time.Duration, requests []BandwidthRequest) {
	if len(requests) == 0 {
		return
	}
	taken := map[pathmap.LinkID]pathmap.BitsPerSecond{}
	for i := range requests {
		a := &requests[i]
		err := l.grant(s, now, a, taken)
		switch {
		case err == nil:
			l.pending.changed(now) // others have more, or less
		case a.Refused != nil:
			a.Refused(err)
		}
	}
}

func (l *Loop) grant(s *state.State, now time.Duration, a *BandwidthRequest,
	taken map[pathmap.LinkID]pathmap.BitsPerSecond) error {
	if a.Release > 0 {
		for _, p := range s.BandwidthReservations() {
			if p.ID == a.Release {
				l.pass.add(state.Entry{Kind: state.BandwidthReleased, At: now, BandwidthReservationID: a.Release})
				return nil
			}
		}
		return fmt.Errorf("release bandwidth reservation %d: %w", a.Release, ErrNoBandwidthReservation)
	}
	_, known, _ := s.BandwidthReservation(a.Request)
	known = known || l.pass.has(func(e *state.Entry) bool {
		return e.Kind == state.BandwidthReserved && e.Request == a.Request
	})
	if known && a.Request != "" {
		return nil // answered already
	}
	p := controller.BandwidthReservation{Owner: a.Owner, Src: a.Src, Dst: a.Dst, Rate: a.Rate,
		Until: southbound.Never}
	if a.Lifetime > 0 {
		p.Until = now + min(a.Lifetime, southbound.Never-1-now)
	}
	best, err := Widest(s, l.cfg.Paths, a.Src, a.Dst, taken)
	if err != nil {
		return err
	}
	p.Links, p.Tag = best.Links, best.Tag
	if err := s.CheckBandwidthReservation(&p, taken); err != nil {
		if errors.Is(err, state.ErrNoRoom) {
			return fmt.Errorf("at most %v %w", best.Unreserved, state.ErrNoRoom)
		}
		return err
	}
	for _, link := range p.Links {
		taken[link] += p.Rate
	}
	l.pass.add(state.Entry{Kind: state.BandwidthReserved, At: now, BandwidthReservation: &p,
		Request: a.Request})
	return nil
}

// expire ends bandwidth reservations whose time is over.
func (l *Loop) expire(s *state.State, now time.Duration) {
	for _, p := range s.BandwidthReservations() {
		if p.Until <= now {
			l.pass.add(state.Entry{Kind: state.BandwidthReleased, At: now, BandwidthReservationID: p.ID})
			l.pending.changed(now)
		}
	}
}

// Path is one path between two hosts and what it has to give.
type Path struct {
	Links      []pathmap.LinkID // the hosts' own included
	Tag        southbound.Tag
	Unreserved pathmap.BitsPerSecond // what can still be reserved on it
}

// Widest returns the path of the map between two hosts that has light and most to reserve, among equals
// the shortest. taken, by link, is not available; it can be nil.
func Widest(s *state.State, m *pathmap.Map, src, dst southbound.HostID,
	taken map[pathmap.LinkID]pathmap.BitsPerSecond) (Path, error) {
	f := s.Fabric()
	if src < 0 || int(src) >= f.Hosts() || dst < 0 || int(dst) >= f.Hosts() || src == dst {
		return Path{}, fmt.Errorf("find a path from host %d to %d: take two of the hosts 0 to %d", src,
			dst, f.Hosts()-1)
	}
	var v controller.View
	s.FillDown(&v)
	best := Path{Unreserved: -1}
	eachPath(f, m, src, dst, func(tag southbound.Tag, links []pathmap.LinkID) {
		if u := unreserved(s, links, v.Down, taken); u > best.Unreserved {
			best = Path{Links: slices.Clone(links), Tag: tag, Unreserved: u}
		}
	})
	if best.Unreserved < 0 {
		return Path{}, fmt.Errorf("find a path from host %d to %d: none has light", src, dst)
	}
	return best, nil
}

// eachPath calls do with every path between two hosts that a tag can name, shortest first. Links are
// borrowed.
func eachPath(f *topo.Fabric, m *pathmap.Map, src, dst southbound.HostID,
	do func(tag southbound.Tag, links []pathmap.LinkID)) {
	t := f.Topology
	up, down := t.Out(f.HostNode[src])[0], pathmap.Reverse(t.Out(f.HostNode[dst])[0])
	a, b := int(f.RackOf(int32(src))), int(f.RackOf(int32(dst)))
	if a == b {
		do(southbound.TagDefault, []pathmap.LinkID{up, down})
		return
	}
	var buf []pathmap.LinkID
	for i := range min(m.Paths(a, b), southbound.MaxNamedPaths) {
		buf = append(m.AppendPath(append(buf[:0], up), a, b, i), down)
		do(southbound.PathTag(i), buf)
	}
}

// unreserved is the least that any link has left; below zero where one is dark.
func unreserved(s *state.State, links []pathmap.LinkID, down []bool,
	taken map[pathmap.LinkID]pathmap.BitsPerSecond) pathmap.BitsPerSecond {
	least := pathmap.BitsPerSecond(1) << 62
	for _, l := range links {
		if down != nil && down[l] {
			return -1
		}
		least = min(least, max(0, controller.ReservableBandwidth(s.Fabric().Topology.Link(l).
			Capacity)-s.ReservedBandwidth(l)-taken[l]))
	}
	return least
}
