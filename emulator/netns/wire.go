package netns

import (
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// wire is netlink to one network namespace: the library's handle, and a socket for the requests it has
// no word for.
//
// Both are opened by a thread that is in the namespace. netlink.NewHandleAt would find its way back by
// process id under /proc, which is another process's when /proc is the outer one.
type wire struct {
	*netlink.Handle
	raw map[int]*nl.SocketHandle
}

// openWire opens netlink to the calling thread's namespace.
func openWire() (*wire, error) {
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("open netlink: %w", err)
	}
	s, err := nl.GetNetlinkSocketAt(netns.None(), netns.None(), unix.NETLINK_ROUTE)
	if err != nil {
		h.Close()
		return nil, fmt.Errorf("open netlink: %w", err)
	}
	return &wire{h, map[int]*nl.SocketHandle{unix.NETLINK_ROUTE: {Socket: s}}}, nil
}

func (w *wire) request(kind, flags int) *nl.NetlinkRequest {
	req := nl.NewNetlinkRequest(kind, flags)
	req.Sockets = w.raw
	return req
}

func (w *wire) close() {
	if w == nil {
		return
	}
	w.Handle.Close()
	w.raw[unix.NETLINK_ROUTE].Close()
}
