package pathmap

import (
	"fmt"
	"slices"
)

// Cabling is how the cables of a topology have been changed since it was made, and which nodes have been added. It only
// grows, so that ids stay: a cable that is pulled out leaves its links' ids behind, one that is plugged in gets the
// next, and so does a node.
type Cabling struct {
	Added     []Node   `json:"added,omitempty"`     // in order
	Unplugged []LinkID `json:"unplugged,omitempty"` // the even link of each cable, ascending
	Plugged   []Cable  `json:"plugged,omitempty"`   // in order, those pulled out again included
}

// Cable joins two ports; both directions have the same rate.
type Cable struct {
	From     NodeID        `json:"from"`
	FromPort int32         `json:"from_port"`
	To       NodeID        `json:"to"`
	ToPort   int32         `json:"to_port"`
	Rate     BitsPerSecond `json:"bits_per_second"`
}

// Equal reports whether two cablings of one topology are the same.
func (c Cabling) Equal(o Cabling) bool {
	return slices.Equal(c.Added, o.Added) && slices.Equal(c.Unplugged, o.Unplugged) &&
		slices.Equal(c.Plugged, o.Plugged)
}

// Follows reports whether c is o and what has been changed since.
func (c Cabling) Follows(o Cabling) bool {
	return begins(c.Added, o.Added) && begins(c.Plugged, o.Plugged) &&
		!slices.ContainsFunc(o.Unplugged, func(l LinkID) bool { return !slices.Contains(c.Unplugged, l) })
}

// begins reports whether all begins with first.
func begins[T comparable](all, first []T) bool {
	return len(all) >= len(first) && slices.Equal(all[:len(first)], first)
}

// Recable returns t, which must be as a Builder made it, with its cables changed and nodes added: all nodes and links
// keep their ids, also those that a cabling which this one follows has added. Links that are pulled out stay in Links,
// and leave no node.
func (t *Topology) Recable(c Cabling) (*Topology, error) {
	b := NewBuilder()
	for _, n := range slices.Concat(t.nodes, c.Added) {
		b.Add(n)
	}
	all := slices.Clone(t.links)
	for _, x := range c.Plugged {
		all = append(all, Link{x.From, x.To, x.FromPort, x.ToPort, x.Rate},
			Link{x.To, x.From, x.ToPort, x.FromPort, x.Rate})
	}
	for i, l := range c.Unplugged {
		if l < 0 || int(l) >= len(all) || l%2 != 0 || i > 0 && l <= c.Unplugged[i-1] {
			return nil, fmt.Errorf("pull cable of link %d out: there is none, or it is out of order", l)
		}
	}
	for l := 0; l < len(all); l += 2 {
		at, back := all[l], all[l+1]
		if _, gone := slices.BinarySearch(c.Unplugged, LinkID(l)); !gone {
			b.Cable(at.From, at.FromPort, at.To, at.ToPort, at.Capacity, back.Capacity)
		} else if n := NodeID(len(b.t.nodes)); at.From < 0 || at.To < 0 || at.From >= n || at.To >= n {
			b.fail("cable %d–%d: no such node", at.From, at.To)
		} else {
			b.t.links = append(b.t.links, at, back)
		}
	}
	return b.Build()
}

// Unplugged reports whether the cable of a link has been pulled out.
func (t *Topology) Unplugged(l LinkID) bool {
	return t.OutPort(t.links[l].From, t.links[l].FromPort) != l
}
