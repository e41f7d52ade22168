package cabling

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Plug is what is to be plugged into a port.
type Plug struct {
	From, To string                // ports, as "tor0:3"; To is empty where nothing is to be plugged in
	Rate     pathmap.BitsPerSecond // 0: as the cable that From has
}

// Next returns the cabling of f, which must be as topo.New made it, that follows now: unless it is as
// it should be, the cable in each From is pulled out, and one to To plugged in.
func Next(f *topo.Fabric, now pathmap.Cabling, all []Plug) (pathmap.Cabling, error) {
	t, err := f.Topology.Recable(now)
	if err != nil {
		return now, err
	}
	p := plan{t: t, named: map[port]bool{},
		next: pathmap.Cabling{Added: now.Added, Unplugged: slices.Clone(now.Unplugged),
			Plugged: slices.Clone(now.Plugged)}}
	for _, x := range all {
		if err := p.plug(x); err != nil {
			return now, err
		}
	}
	slices.Sort(p.next.Unplugged)
	if err := p.check(len(now.Plugged)); err != nil {
		return now, err
	}
	_, err = Apply(f, p.next)
	return p.next, err
}

// plan is a cabling in the making.
type plan struct {
	t     *pathmap.Topology // as it is
	next  pathmap.Cabling
	named map[port]bool
}

func (p *plan) plug(x Plug) error {
	from, err := p.name(x.From)
	if err != nil {
		return err
	}
	to := port{node: pathmap.None}
	if x.To != "" {
		if to, err = p.name(x.To); err != nil {
			return err
		}
	}
	if l := p.t.OutPort(from.node, from.number); l != pathmap.None {
		at := p.t.Link(l)
		if to == (port{at.To, at.ToPort}) && (x.Rate == 0 || x.Rate == at.Capacity) {
			return nil // it is so already
		}
		if x.Rate == 0 {
			x.Rate = at.Capacity
		}
		if other := l &^ 1; !slices.Contains(p.next.Unplugged, other) { // two ends of one cable can both be named
			p.next.Unplugged = append(p.next.Unplugged, other)
		}
	}
	switch {
	case x.To == "":
	case x.Rate == 0:
		return fmt.Errorf("%s–%s: nothing is plugged in at %s, so it is not known how fast the cable is: say its rate",
			x.From, x.To, x.From)
	default:
		p.next.Plugged = append(p.next.Plugged, pathmap.Cable{From: from.node,
			FromPort: from.number, To: to.node,
			ToPort: to.number, Rate: x.Rate})
	}
	return nil
}

// check returns which port of a cable that is new is still in use, or nil.
func (p *plan) check(known int) error {
	for _, x := range p.next.Plugged[known:] {
		l := p.t.OutPort(x.To, x.ToPort)
		if l != pathmap.None && !slices.Contains(p.next.Unplugged, l&^1) {
			return fmt.Errorf("%s is in use: the cable to %s is there: say where that goes, or to: none",
				portOf(p.t, l),
				portOf(p.t, pathmap.Reverse(l)))
		}
	}
	return nil
}

// port is a port of a switch.
type port struct {
	node   pathmap.NodeID
	number int32
}

// name finds the port of a name, which is named once.
func (p *plan) name(text string) (port, error) {
	node, number, _ := strings.Cut(text, ":")
	n, known := p.t.Named(node)
	if !known {
		return port{}, fmt.Errorf("port %q: no switch is called %q: lightloom status lists them", text, node)
	}
	i, err := strconv.ParseUint(number, 10, portBits)
	if err != nil {
		return port{}, fmt.Errorf("port %q: write the switch and the number of its port, as tor0:3", text)
	}
	at := port{n, int32(i)}
	if p.named[at] {
		return port{}, fmt.Errorf("port %s is named twice", text)
	}
	p.named[at] = true
	return at, nil
}
