package netns

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Close takes the fabric away: dataplanes, interfaces, namespaces. A host's namespace stays while a
// process or a socket is in it. A second call is nothing.
func (f *Fabric) Close() error {
	var errs []error
	if f.settings.Dataplane != EBPF || f.settings.VOQBytes > 0 { // their goroutines use interfaces until they end
		errs = append(errs, f.closePlanes())
	}
	if f.wire != nil {
		errs = append(errs, f.deleteInterfaces(), f.closePlanes())
		f.wire.close()
		f.wire = nil
	}
	for _, h := range f.hosts {
		h.close()
	}
	f.hosts = nil
	if f.home > 0 {
		errs = append(errs, unix.Close(f.home))
		f.home = 0
	}
	return errors.Join(errs...)
}

// closePlanes closes the dataplanes that are left.
func (f *Fabric) closePlanes() error {
	var errs []error
	for n, p := range f.planes {
		if p != nil {
			errs = append(errs, p.Close())
			f.planes[n] = nil
		}
	}
	return errors.Join(errs...)
}

// deleteInterfaces removes the switches' interfaces, and so the hosts', the last made first: for each block of filters
// that goes the kernel looks through a list in which the last made come first (see manyLinks).
func (f *Fabric) deleteInterfaces() error {
	var errs []error
	for group := firstGroup + f.pairs/groupSize; group >= firstGroup; group-- {
		errs = append(errs, f.wire.deleteGroup(group))
	}
	return errors.Join(errs...)
}

// deleteGroup removes all interfaces of a group in one step: one by one each would wait for all processors.
func (w *wire) deleteGroup(group uint32) error {
	req := w.request(unix.RTM_DELLINK, unix.NLM_F_ACK)
	req.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
	req.AddData(nl.NewRtAttr(unix.IFLA_GROUP, nl.Uint32Attr(group)))
	if _, err := req.Execute(unix.NETLINK_ROUTE, 0); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("delete interfaces: %w", err)
	}
	return nil
}
