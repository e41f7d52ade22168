package mirred

import (
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Handles of u32 are table (12 bits), bucket (8) and node (12). The kernel gives 0x800 to the root of a
// block's first filter chain; the rest are ours.
const (
	rootTable  = 0x800
	bankTable  = 0x001 // and 0x002
	lightTable = 0x010 // + port
	localTable = 0x400 // + index of the rack among those with hosts here
	fromTable  = 0x801 // + 2 × rack + bank: rules for that rack that name a source

	maxPorts = localTable - lightTable
	maxHomed = rootTable - localTable
	maxFrom  = (0x1000 - fromTable) / 2
)

// Offsets into the IPv4 header, and where in those 32-bit words the keys are.
const (
	offTOS  = 0
	offSrc  = 12
	offDst  = 16
	tagMask = 0x001c0000 // low three bits of DSCP, in the second byte of the header
	netMask = 0xffffff00 // a rack's /24
)

func table(id uint32) uint32 { return id << 20 }

func knode(tableID, bucket, node uint32) uint32 { return tableID<<20 | bucket<<12 | node }

// block is where the filters of one switch, or of one port, hang.
type block struct {
	nl       *netlink.Handle
	link     int    // interface index, -1 for a shared block
	parent   uint32 // the block's number, or a qdisc's handle
	protocol uint16
}

func (b *block) attrs(handle uint32) netlink.FilterAttrs {
	return netlink.FilterAttrs{LinkIndex: b.link, Parent: b.parent, Handle: handle, Priority: 1,
		Protocol: b.protocol}
}

// addTable makes an empty hash table; buckets is a power of two.
func (b *block) addTable(id, buckets uint32) error {
	f := &netlink.U32{FilterAttrs: b.attrs(table(id)), Divisor: buckets}
	if err := b.nl.FilterAdd(f); err != nil {
		return fmt.Errorf("add table %#x: %w", id, err)
	}
	return nil
}

// del removes a table with all that is in it, or a node.
func (b *block) del(handle uint32) error {
	if err := b.nl.FilterDel(&netlink.U32{FilterAttrs: b.attrs(handle)}); err != nil {
		return fmt.Errorf("delete filter %#x: %w", handle, err)
	}
	return nil
}

// node is one u32 filter. Its handle is a function of what it matches: the kernel keeps the old
// selector when a filter is replaced.
type node struct {
	handle uint32
	keys   []netlink.TcU32Key
	link   uint32 // id of the table to go on with; 0: none
	hash   uint32 // bits of the word at hashAt that choose the bucket there; 0: no hashing
	hashAt int16
	action netlink.Action
}

// put makes n or replaces it, selector apart, in one step that no packet sees half of.
func (b *block) put(n node) error {
	keys := n.keys
	if len(keys) == 0 {
		keys = []netlink.TcU32Key{{}}
	}
	// netlink v1.3.1 sends cap(Keys) keys.
	sel := &netlink.TcU32Sel{Keys: keys[:len(keys):len(keys)], Nkeys: uint8(len(keys))}
	if n.hash != 0 {
		sel.Hmask, sel.Hoff = n.hash, n.hashAt
	}
	f := &netlink.U32{FilterAttrs: b.attrs(n.handle), Sel: sel}
	if t := n.handle >> 20; t != rootTable {
		f.Hash = n.handle &^ 0xfff
	}
	if n.link != 0 {
		f.Link = table(n.link)
	}
	if n.action != nil {
		sel.Flags = netlink.TC_U32_TERMINAL
		f.Actions = []netlink.Action{n.action}
	}
	if err := b.nl.FilterReplace(f); err != nil {
		return fmt.Errorf("put filter %#x: %w", n.handle, err)
	}
	return nil
}

func toRack(rack int32) netlink.TcU32Key {
	return netlink.TcU32Key{Off: offDst, Mask: netMask, Val: 10<<24 | uint32(rack)<<8}
}

func fromRack(rack int32) netlink.TcU32Key {
	return netlink.TcU32Key{Off: offSrc, Mask: netMask, Val: 10<<24 | uint32(rack)<<8}
}

func withTag(tag uint8) netlink.TcU32Key {
	return netlink.TcU32Key{Off: offTOS, Mask: tagMask, Val: uint32(tag) << 18}
}

func toHost(addr [4]byte) netlink.TcU32Key {
	return netlink.TcU32Key{Off: offDst, Mask: 0xffffffff,
		Val: uint32(addr[0])<<24 | uint32(addr[1])<<16 | uint32(addr[2])<<8 | uint32(addr[3])}
}

func out(link int) netlink.Action { return netlink.NewMirredAction(link) }

const (
	ipv4   = unix.ETH_P_IP
	anyEth = unix.ETH_P_ALL
)
