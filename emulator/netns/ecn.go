package netns

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"lightloom/emulator/dataplane"
)

// ErrNoECN means that the kernel cannot mark packets at a queue's threshold.
var ErrNoECN = &Hinted{errors.New("this kernel has no queue that marks packets (sch_red)"),
	"sudo modprobe sch_red, or leave --ecn-bytes away"}

// ECNSupported reports whether the kernel has the queue that marks at a threshold, and why not.
func ECNSupported() error {
	err := dataplane.Probe(func(nl *netlink.Handle, packet, _ dataplane.Switch) error {
		q := &netlink.GenericQdisc{QdiscType: "red", QdiscAttrs: netlink.QdiscAttrs{LinkIndex: packet.Ports[0],
			Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}}
		if err := nl.QdiscAdd(q); !errors.Is(err, unix.EINVAL) {
			return err
		}
		return nil // it is there, and wants its parameters
	})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) {
		return ErrNoECN
	}
	return err
}

// Words of linux/pkt_sched.h.
const (
	redParms = 1
	redStab  = 2
	redMaxP  = 3
	redECN   = 1 // flag: mark instead of dropping, where the packet allows it
)

// addRed adds a queue of limit bytes that marks every packet which finds more than mark bytes before
// it, as DCTCP wants: RED with both thresholds at mark and no averaging (Wlog 0).
func addRed(parent uint32, major uint16, limit, mark int) request {
	opt := make([]byte, 0, 16)
	for _, v := range []int{limit, mark, mark} {
		opt = binary.NativeEndian.AppendUint32(opt, uint32(v))
	}
	opt = append(opt, 0, 0, 0, redECN) // Wlog, Plog, Scell_log, flags
	opts := nl.NewRtAttr(nl.TCA_OPTIONS, nil)
	opts.AddRtAttr(redParms, opt)
	opts.AddRtAttr(redStab, make([]byte, 256)) // an idle queue's average does not decay: there is none
	opts.AddRtAttr(redMaxP, binary.NativeEndian.AppendUint32(nil, 1<<31))
	r := addQdisc("red", netlink.MakeHandle(major, 0), parent, opts)
	r.what = fmt.Sprintf("add red of %d bytes that marks at %d", limit, mark)
	return r
}
