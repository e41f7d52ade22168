package dataplane

import (
	"fmt"
	"time"

	"github.com/vishvananda/netlink"
)

// upWithin is how long the kernel can take to give an interface that was set up its queue.
const upWithin = 5 * time.Second

// AwaitUp returns once an interface whose cable has both ends up takes packets. The kernel sees to that
// a moment after both were set up; until then it drops them.
func AwaitUp(nl *netlink.Handle, link int) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(upWithin); ; <-tick.C {
		l, err := nl.LinkByIndex(link)
		if err != nil {
			return fmt.Errorf("await interface %d: %w", link, err)
		}
		if l.Attrs().OperState == netlink.OperUp {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("await %q: it is %v after %v", l.Attrs().Name, l.Attrs().OperState, upWithin)
		}
	}
}
