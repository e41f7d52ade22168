package netns

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// host is a host's namespace: it lives as long as the descriptor, or a socket or a process in it.
type host struct {
	ns   int // descriptor
	wire *wire
}

func (h *host) close() {
	h.wire.close()
	if h.ns > 0 {
		_ = unix.Close(h.ns)
	}
}

// nicName is what a host calls its interface.
const nicName = "eth0"

// All hosts share one hardware address and one gateway that does not exist: N permanent neighbours
// instead of N². Packets find their host by the IP address alone. No host has 10.255.255.254: host
// addresses end at .253.
var (
	hostMAC    = net.HardwareAddr{2, 0, 0, 0, 0, 1}
	gateway    = netip.AddrFrom4([4]byte{10, 255, 255, 254})
	everywhere = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, 0}), 8)
)

// newHosts makes n namespaces with the sysctls of hosts, on threads that end with it: the kernel makes several at a
// time. Notes are of the first: the others are made by the same kernel. With an error it returns those that it made.
func newHosts(n int, congestion string, ecn bool) (hosts []*host, notes []string, byPacing bool, err error) {
	threads := runtime.GOMAXPROCS(0)
	hosts, errs := make([]*host, n), make([]error, threads)
	var wg sync.WaitGroup
	for k := range threads {
		wg.Go(func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			err := ownTables(hostTable(n))
			for i := k * n / threads; i < (k+1)*n/threads && err == nil; i++ {
				var said []string
				var paced bool
				if hosts[i], said, paced, err = newHost(hostTable(n), congestion, ecn); err != nil {
					err = fmt.Errorf("make namespace of host %d: %w", i, err)
				}
				if i == 0 {
					notes, byPacing = said, paced
				}
			}
			errs[k] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return slices.DeleteFunc(hosts, func(h *host) bool { return h == nil }), nil, false, err
	}
	return hosts, notes, byPacing, nil
}

// hostTable returns how many buckets of TCP connections each of so many hosts has. Agents list a host's connections
// several times a second, and for that the kernel goes through its whole table. By default all namespaces share
// one, whose size grows with the machine's memory: with 2^18 buckets the listing of 128 idle hosts took
// most of a core, and with 4,096 that of 1,024 a tenth.
func hostTable(hosts int) string {
	if hosts > manyHosts {
		return "1024"
	}
	return "4096"
}

// manyHosts is how many hosts have large tables.
const manyHosts = 256

// ownTables moves the calling thread to a namespace for which nobody else has a use, and has those that
// are made from it get tables of their own, where the kernel can (Linux 6.1).
func ownTables(table string) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	k, err := openKnobs()
	if err != nil {
		return err
	}
	_ = k.childTables(table) // hosts note the same of their own, and work with the shared table
	return k.Close()
}

// childTables gives namespaces that are made from this one tables of their own.
func (k knobs) childTables(table string) error {
	err := k.set("ipv4/tcp_child_ehash_entries", table)
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// newHost moves the calling thread to a new namespace and returns it, with an error too if there is
// something to close.
func newHost(table, congestion string, ecn bool) (*host, []string, bool, error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return nil, nil, false, fmt.Errorf("unshare: %w", err)
	}
	ns, err := openNetns()
	if err != nil {
		return nil, nil, false, err
	}
	h := &host{ns: ns}
	if h.wire, err = openWire(); err == nil {
		err = loopbackUp(h.wire.Handle)
	}
	if err != nil {
		return h, nil, false, err
	}
	k, err := openKnobs()
	if err != nil {
		return h, nil, false, err
	}
	defer k.Close()
	notes, byPacing := k.ofHost(table)
	if ecn { // connections ask for it, and not only answer
		if err := k.set("ipv4/tcp_ecn", "1"); err != nil {
			return h, nil, false, err
		}
	}
	note, err := k.setCongestion(congestion)
	if note != "" {
		notes = append(notes, note)
	}
	return h, notes, byPacing, err
}

// openNetns opens the calling thread's network namespace.
func openNetns() (int, error) {
	fd, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open network namespace: %w", err)
	}
	return fd, nil
}

// configure gives the host its address, its route and its neighbour, and shapes what it sends. gso
// bounds a segment where pacing alone does not; 0 leaves it. It returns the interface.
func (h *host) configure(addr netip.Addr, s shape, gso int) (link int, err error) {
	nic, err := h.wire.LinkByName(nicName)
	if err != nil {
		return 0, fmt.Errorf("find %s: %w", nicName, err)
	}
	if gso > 0 {
		if err := h.wire.LinkSetGSOMaxSize(nic, gso); err != nil {
			return 0, fmt.Errorf("bound segments to %d bytes: %w", gso, err)
		}
	}
	if err := s.apply(h.wire, nic.Attrs().Index); err != nil {
		return 0, err
	}
	if err := h.wire.LinkSetUp(nic); err != nil {
		return 0, fmt.Errorf("set %s up: %w", nicName, err)
	}
	if err := h.wire.AddrAdd(nic, &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(addr, 32))}); err != nil {
		return 0, fmt.Errorf("add address %v: %w", addr, err)
	}
	route := &netlink.Route{LinkIndex: nic.Attrs().Index, Dst: ipNet(everywhere), Gw: gateway.AsSlice(),
		Flags: int(netlink.FLAG_ONLINK)}
	if err := h.wire.RouteAdd(route); err != nil {
		return 0, fmt.Errorf("add route: %w", err)
	}
	neigh := &netlink.Neigh{LinkIndex: nic.Attrs().Index, Family: unix.AF_INET, State: netlink.NUD_PERMANENT,
		IP: gateway.AsSlice(), HardwareAddr: hostMAC}
	if err := h.wire.NeighSet(neigh); err != nil {
		return 0, fmt.Errorf("add neighbour: %w", err)
	}
	return nic.Attrs().Index, nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), 32)}
}
