package netns

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"lightloom/pathmap"
)

// AfterRefused sends a batch of which the kernel refuses every request, and then asks it for something else over the
// same socket. It returns why the batch was refused, and what became of the other request.
func (f *Fabric) AfterRefused() (refused, after error) {
	links := f.spec.Topology.Links()
	at := slices.IndexFunc(links, func(l pathmap.Link) bool { return f.hostAt(l.From) < 0 })
	b := batch{wire: f.wire}
	for !b.full() {
		b.add(at, f.ports[at], f.shape(links[at]).requests())
	}
	_, refused = b.send()
	s := f.wire.raw[unix.NETLINK_ROUTE].Socket
	if err := s.SetReceiveTimeout(&unix.Timeval{Sec: 10}); err != nil {
		return refused, fmt.Errorf("limit waiting: %w", err)
	}
	defer func() { _ = s.SetReceiveTimeout(&unix.Timeval{}) }()
	one := batch{wire: f.wire}
	one.add(at, f.ports[at], []request{setUp()})
	_, after = one.send()
	return refused, after
}
