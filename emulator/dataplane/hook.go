package dataplane

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Hook gives an interface its ingress hook; with a block, one that it shares. It is cheap while the interface is
// down: at one that is up the kernel waits for all processors.
//
// The hook is an ingress qdisc, since a clsact has a block for what leaves, too: for each new block the kernel goes
// through the list of all blocks of the machine that belong to virtual interfaces.
func Hook(nl *netlink.Handle, link int, shared *uint32) error {
	if err := nl.QdiscAdd(hook(link, shared)); err != nil {
		return fmt.Errorf("add ingress hook to interface %d: %w", link, err)
	}
	return nil
}

// Unhook takes the hooks of interfaces away, where they have any; 0 stands for none.
func Unhook(nl *netlink.Handle, links []int) error {
	var errs []error
	for _, link := range links {
		if link == 0 {
			continue
		}
		err := nl.QdiscDel(hook(link, nil))
		if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENODEV) && !errors.Is(err, unix.EINVAL) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func hook(link int, shared *uint32) *netlink.Ingress {
	return &netlink.Ingress{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link,
		Handle: netlink.MakeHandle(0xffff, 0),
		Parent: netlink.HANDLE_INGRESS, IngressBlock: shared}}
}
