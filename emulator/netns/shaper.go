package netns

import (
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"lightloom/pathmap"
)

// shape is one direction of a cable as HTB models it: a rate with its burst, and a queue for each priority.
type shape struct {
	rate  pathmap.BitsPerSecond
	burst pathmap.Bytes
	queue int
	mark  int // bytes before a packet from which on it is marked; 0: none is

	levels []uint16 // priorities that have a queue, ascending from 0
}

// Measured against a fluid model: with a burst of 64 kB and a queue of 256 kB at 20 Mb/s completion
// times are 10–35 % off (median); with these 0.4–1.7 %.
const (
	minBurst   = 3_200
	fastBurst  = 64_000 // at fast and above a 64 kB segment must fit
	fast       = pathmap.Gbps
	slow       = 100 * pathmap.Mbps
	shortQueue = 64_000
	nicQueue   = 1_000_000
)

// linkShape returns how a switch's port is shaped; queue 0 means by the rate.
func linkShape(rate pathmap.BitsPerSecond, mtu, queue int) shape {
	burst := max(minBurst, 2*pathmap.Bytes(mtu), rate.In(1e6))
	if rate >= fast {
		burst = max(burst, fastBurst)
	}
	if queue == 0 {
		queue = shortQueue
		if rate > slow {
			queue = max(queue, int(min(rate.In(5e6), maxQueue)))
		}
		queue = max(queue, 2*mtu)
	}
	return shape{rate: rate, burst: burst, queue: queue}
}

// nicShape returns how a host's interface is shaped: its queue stands for the socket buffers' backlog.
func nicShape(rate pathmap.BitsPerSecond, mtu int) shape {
	return linkShape(rate, mtu, nicQueue)
}

// HTB's classes: 1:1 is the link, 1:10 to 1:17 are its priorities 0 to 7.
const (
	priorities = 8
	htbMajor   = 1
	linkClass  = 1
	lowClass   = 0x10
)

// floor is what each priority gets whatever the higher ones send, so that none starves.
func floor(rate pathmap.BitsPerSecond) pathmap.BitsPerSecond {
	return min(pathmap.Mbps, max(rate/16, 8))
}

// manyLinks is how many links, counted by direction, have queues for all priorities without being asked. Each class
// has a block of filters, and for each new block the kernel goes through all that are there
// (flow_indr_dev_setup_offload), in all namespaces: 1,024 hosts and 145 switches would have 64,000.
const manyLinks = 1000

// levels returns the priorities that have queues at ports of a fabric of so many links.
func (opt *Options) levels(links int) []uint16 {
	if opt.Priorities || links <= manyLinks {
		return []uint16{0, 1, 2, 3, 4, 5, 6, 7}
	}
	return []uint16{0, priorities - 1}
}

// FewQueues reports whether ports have queues for the lowest and the highest priority only.
func (f *Fabric) FewQueues() bool { return len(f.levels) < priorities }

// apply shapes what leaves an interface. Priority is the upper three bits of TOS; strict, but for floor. Priorities
// that have no queue take that of the lowest.
func (s shape) apply(h *wire, link int) error {
	root := netlink.NewHtb(netlink.QdiscAttrs{LinkIndex: link, Handle: netlink.MakeHandle(htbMajor, 0),
		Parent: netlink.HANDLE_ROOT})
	root.Defcls = lowClass
	if err := h.QdiscAdd(root); err != nil {
		return fmt.Errorf("add htb: %w", err)
	}
	top := netlink.MakeHandle(htbMajor, linkClass)
	if err := s.class(h, link, top, netlink.MakeHandle(htbMajor, 0), s.rate, 0); err != nil {
		return err
	}
	for _, p := range s.levels {
		leaf := netlink.MakeHandle(htbMajor, lowClass+p)
		if err := s.class(h, link, leaf, top, floor(s.rate), uint32(priorities-1-p)); err != nil {
			return err
		}
		if err := s.leaf(h, link, leaf, 0x100+p); err != nil {
			return err
		}
	}
	return s.classify(h, link)
}

// leaf adds the queue of one priority.
func (s shape) leaf(h *wire, link int, parent uint32, major uint16) error {
	if s.mark > 0 {
		return addRed(h, link, parent, major, s.queue, s.mark)
	}
	return addBfifo(h, link, parent, major, s.queue)
}

func (s shape) class(h *wire, link int, handle, parent uint32, rate pathmap.BitsPerSecond,
	prio uint32) error {
	burst := uint32(minBurst)
	if rate == s.rate {
		burst = uint32(s.burst)
	}
	c := netlink.NewHtbClass(netlink.ClassAttrs{LinkIndex: link, Handle: handle, Parent: parent},
		netlink.HtbClassAttrs{Rate: uint64(rate), Ceil: uint64(s.rate), Buffer: burst, Cbuffer: uint32(s.burst),
			Quantum: 1600, Prio: prio})
	if err := h.ClassAdd(c); err != nil {
		return fmt.Errorf("add htb class of %v: %w", rate, err)
	}
	return nil
}

// classify hashes packets by their priority to their class. Priority 0, and what is not IPv4, takes the
// default.
func (s shape) classify(h *wire, link int) error {
	const table, prioMask, prioShift = 1 << 20, 0x00e00000, 21
	at := netlink.FilterAttrs{LinkIndex: link, Parent: netlink.MakeHandle(htbMajor, 0), Priority: 1,
		Protocol: unix.ETH_P_IP}
	add := func(f *netlink.U32) error {
		if err := h.FilterAdd(f); err != nil {
			return fmt.Errorf("add priority filter: %w", err)
		}
		return nil
	}
	all := func() []netlink.TcU32Key { return []netlink.TcU32Key{{}} }
	at.Handle = table
	if err := add(&netlink.U32{FilterAttrs: at, Divisor: priorities}); err != nil {
		return err
	}
	for _, level := range s.levels[1:] {
		p := uint32(level)
		at.Handle = table | p<<12 | 1
		key := []netlink.TcU32Key{{Mask: prioMask, Val: p << prioShift}}
		if err := add(&netlink.U32{FilterAttrs: at, Hash: table | p<<12,
			ClassId: netlink.MakeHandle(htbMajor, lowClass+level),
			Sel:     &netlink.TcU32Sel{Flags: netlink.TC_U32_TERMINAL, Nkeys: 1, Keys: key}}); err != nil {
			return err
		}
	}
	at.Handle = 0
	return add(&netlink.U32{FilterAttrs: at, Link: table,
		Sel: &netlink.TcU32Sel{Nkeys: 1, Hmask: prioMask, Keys: all()}})
}

// addBfifo adds a queue of that many bytes; netlink v1.3.1 has no word for its limit.
func addBfifo(h *wire, link int, parent uint32, major uint16, limit int) error {
	q := &netlink.GenericQdisc{QdiscType: "bfifo",
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link, Handle: netlink.MakeHandle(major, 0), Parent: parent}}
	msg := &nl.TcMsg{Family: nl.FAMILY_ALL, Ifindex: int32(link), Handle: q.Handle, Parent: parent}
	req := h.request(unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK)
	req.AddData(msg)
	req.AddData(nl.NewRtAttr(nl.TCA_KIND, nl.ZeroTerminated("bfifo")))
	req.AddData(nl.NewRtAttr(nl.TCA_OPTIONS, nl.Uint32Attr(uint32(limit))))
	_, err := req.Execute(unix.NETLINK_ROUTE, 0)
	if err != nil {
		return fmt.Errorf("add bfifo of %d bytes: %w", limit, err)
	}
	return nil
}
