package netns

import (
	"errors"
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Inside reports whether this process was started by Enter and is in a network namespace of its own.
func Inside() bool {
	outer := os.Getenv(outerEnv)
	here, err := currentNetns()
	return outer != "" && err == nil && here != outer
}

// Room is what Prepare could make of the namespaces.
type Room struct {
	Notes []string // what is not as it should be, and what follows
}

// Prepare finishes the namespaces from within, first thing in the child: mounts that outside does not
// see, /run empty, /proc and /sys those of the new namespaces where they can be mounted (most
// containers forbid it, and all works without), loopback up, IPv6 off.
func Prepare() (Room, error) {
	var room Room
	if !Inside() {
		return room, fmt.Errorf("prepare namespaces: not in namespaces of Enter")
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return room, fmt.Errorf("prepare namespaces: make mounts private: %w", err)
	}
	for _, m := range []struct{ kind, on string }{{"tmpfs", "/run"}, {"proc", "/proc"}, {"sysfs", "/sys"}} {
		if err := unix.Mount(m.kind, m.on, m.kind, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
			room.Notes = append(room.Notes, fmt.Sprintf("%s is the outer one: mount %s: %v", m.on, m.kind, err))
		}
	}
	nl, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return room, fmt.Errorf("prepare namespaces: open netlink: %w", err)
	}
	defer nl.Close()
	// First: it sleeps while the kernel takes other namespaces apart, where a write of disableIPv6 would spin.
	if err := loopbackUp(nl); err != nil {
		return room, err
	}
	k, err := openKnobs()
	if err == nil {
		err = errors.Join(k.disableIPv6(), k.Close())
	}
	if err != nil {
		room.Notes = append(room.Notes, err.Error())
	}
	return room, nil
}

func loopbackUp(nl *netlink.Handle) error {
	lo, err := nl.LinkByName("lo")
	if err == nil {
		err = nl.LinkSetUp(lo)
	}
	if err != nil {
		return fmt.Errorf("set loopback up: %w", err)
	}
	return nil
}
