package netns

import (
	"encoding/binary"
	"fmt"
	"math"

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

// apply shapes what leaves an interface.
func (s shape) apply(h *wire, link int) error {
	b := batch{wire: h}
	b.add(0, link, s.requests())
	_, err := b.send()
	return err
}

// requests shape what leaves an interface. Priority is the upper three bits of TOS; strict, but for floor. Priorities
// that have no queue take that of the lowest.
func (s shape) requests() []request {
	root := netlink.MakeHandle(htbMajor, 0)
	init := nl.NewRtAttr(nl.TCA_OPTIONS, nil)
	init.AddRtAttr(nl.TCA_HTB_INIT, (&nl.TcHtbGlob{Version: 3, Rate2Quantum: 10, Defcls: lowClass}).Serialize())
	out := []request{addQdisc("htb", root, netlink.HANDLE_ROOT, init)}
	top := netlink.MakeHandle(htbMajor, linkClass)
	out = append(out, s.class(top, root, s.rate, 0))
	for _, p := range s.levels {
		leaf := netlink.MakeHandle(htbMajor, lowClass+p)
		out = append(out, s.class(leaf, top, floor(s.rate), uint32(priorities-1-p)), s.leaf(leaf, 0x100+p))
	}
	return append(out, s.classify(root)...)
}

func addQdisc(kind string, handle, parent uint32, options *nl.RtAttr) request {
	return newRequest("add "+kind, unix.RTM_NEWQDISC, &nl.TcMsg{Family: nl.FAMILY_ALL, Handle: handle, Parent: parent},
		nl.NewRtAttr(nl.TCA_KIND, nl.ZeroTerminated(kind)), options)
}

// leaf makes the queue of one priority.
func (s shape) leaf(parent uint32, major uint16) request {
	if s.mark > 0 {
		return addRed(parent, major, s.queue, s.mark)
	}
	r := addQdisc("bfifo", netlink.MakeHandle(major, 0), parent,
		nl.NewRtAttr(nl.TCA_OPTIONS, nl.Uint32Attr(uint32(s.queue))))
	r.what = fmt.Sprintf("add bfifo of %d bytes", s.queue)
	return r
}

// class makes a class. Its tables of rates, which the kernel takes from tools that name no link layer only, are left
// out: they are most of a request.
func (s shape) class(handle, parent uint32, rate pathmap.BitsPerSecond, prio uint32) request {
	burst := uint32(minBurst)
	if rate == s.rate {
		burst = uint32(s.burst)
	}
	c := netlink.NewHtbClass(netlink.ClassAttrs{}, netlink.HtbClassAttrs{Rate: uint64(rate), Ceil: uint64(s.rate),
		Buffer: burst, Cbuffer: uint32(s.burst), Quantum: 1600, Prio: prio})
	opt := nl.TcHtbCopt{Rate: rateSpec(c.Rate), Ceil: rateSpec(c.Ceil), Buffer: c.Buffer, Cbuffer: c.Cbuffer,
		Quantum: c.Quantum, Prio: c.Prio}
	options := nl.NewRtAttr(nl.TCA_OPTIONS, nil)
	options.AddRtAttr(nl.TCA_HTB_PARMS, opt.Serialize())
	for kind, r := range map[int]uint64{nl.TCA_HTB_RATE64: c.Rate, nl.TCA_HTB_CEIL64: c.Ceil} {
		if r > math.MaxUint32 {
			options.AddRtAttr(kind, nl.Uint64Attr(r))
		}
	}
	return newRequest(fmt.Sprintf("add htb class of %v", rate), unix.RTM_NEWTCLASS,
		&nl.TcMsg{Family: nl.FAMILY_ALL, Handle: handle, Parent: parent},
		nl.NewRtAttr(nl.TCA_KIND, nl.ZeroTerminated("htb")), options)
}

// rateSpec is a rate in bytes a second, on Ethernet.
func rateSpec(rate uint64) nl.TcRateSpec {
	r := nl.TcRateSpec{Rate: uint32(rate)}
	netlink.CalcRtable(&r, make([]uint32, 256), -1, 1600, nl.LINKLAYER_ETHERNET)
	return r
}

// classify hashes packets by their priority to their class. Priority 0, and what is not IPv4, takes the
// default.
func (s shape) classify(root uint32) []request {
	const table, prioMask, prioShift = 1 << 20, 0x00e00000, 21
	add := func(handle uint32, attrs ...*nl.RtAttr) request {
		options := nl.NewRtAttr(nl.TCA_OPTIONS, nil)
		for _, a := range attrs {
			options.AddChild(a)
		}
		return newRequest("add priority filter", unix.RTM_NEWTFILTER, &nl.TcMsg{Family: nl.FAMILY_ALL, Handle: handle,
			Parent: root, Info: netlink.MakeHandle(1, nl.Swap16(unix.ETH_P_IP))},
			nl.NewRtAttr(nl.TCA_KIND, nl.ZeroTerminated("u32")), options)
	}
	number := func(kind int, x uint32) *nl.RtAttr { return nl.NewRtAttr(kind, nl.Uint32Attr(x)) }
	sel := func(flags uint8, hash uint32, key nl.TcU32Key) *nl.RtAttr {
		s := nl.TcU32Sel{Flags: flags, Nkeys: 1, Hmask: wireOrder(hash), Keys: []nl.TcU32Key{key}}
		return nl.NewRtAttr(nl.TCA_U32_SEL, s.Serialize())
	}
	out := []request{add(table, sel(nl.TC_U32_TERMINAL, 0, nl.TcU32Key{}), number(nl.TCA_U32_DIVISOR, priorities))}
	for _, level := range s.levels[1:] {
		p := uint32(level)
		out = append(out, add(table|p<<12|1,
			sel(nl.TC_U32_TERMINAL, 0, nl.TcU32Key{Mask: wireOrder(prioMask), Val: wireOrder(p << prioShift)}),
			number(nl.TCA_U32_CLASSID, netlink.MakeHandle(htbMajor, lowClass+level)),
			number(nl.TCA_U32_HASH, table|p<<12)))
	}
	return append(out, add(0, sel(0, prioMask, nl.TcU32Key{}), number(nl.TCA_U32_LINK, table)))
}

// wireOrder returns the number that has x's bytes in network order.
func wireOrder(x uint32) uint32 {
	return binary.NativeEndian.Uint32(binary.BigEndian.AppendUint32(nil, x))
}
