package netns

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lightloom/emulator/dataplane"
)

// ErrNoDarkQueues: packets cannot be held back in a queue for each rack while its circuit is dark.
var ErrNoDarkQueues = &Hinted{errors.New("no queue of a switch here can be shut and opened without loss and delay (docs/decisions/dark-queues-need-plug.md)"),
	"leave --dark-queues away: while a circuit is dark its bundles go on over packets, or wait in their hosts"}

// DarkQueuesSupported says why queues for each destination rack, shut while its circuit is dark, are refused. It asks the
// kernel for the one queue that can be shut (sch_plug); where it is, the reason is that no switch of ours drives it.
func DarkQueuesSupported() error {
	err := dataplane.Probe(func(nl *netlink.Handle, packet, _ dataplane.Switch) error {
		return nl.QdiscAdd(&netlink.GenericQdisc{QdiscType: "plug",
			QdiscAttrs: netlink.QdiscAttrs{LinkIndex: packet.Ports[0], Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}})
	})
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("this kernel lacks sch_plug: %w", ErrNoDarkQueues)
	case err == nil || errors.Is(err, unix.EINVAL):
		return fmt.Errorf("the kernel has sch_plug, which no switch of ours drives: %w", ErrNoDarkQueues)
	}
	return fmt.Errorf("ask the kernel for sch_plug: %w", err)
}
