package netns

import (
	"fmt"

	"github.com/vishvananda/netlink"

	"lightloom/pathmap"
)

// Cut takes the cable of a link down, or up again: one interface goes down, and the other end has no
// carrier. Nothing passes in either direction, and what was queued is lost. Cut does not report the
// change to switches: the owner of their devices must. A repeated Cut has no effect.
func (f *Fabric) Cut(l pathmap.LinkID, up bool) error {
	if f.hostAt(f.spec.Topology.Link(l).From) >= 0 { // a host whose own interface goes down forgets its routes
		l = pathmap.Reverse(l)
	}
	port := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: f.ports[l]}}
	set := f.wire.LinkSetDown
	if up {
		set = f.wire.LinkSetUp
	}
	if err := set(port); err != nil {
		return fmt.Errorf("take cable %s up=%v: %w", f.name(l), up, err)
	}
	return nil
}
