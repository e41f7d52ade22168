package netns_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// BenchmarkHops sends bytes over one TCP connection between two hosts: over a veth pair, over three Linux bridges and
// over three emulated switches, whose links are faster than this machine. Turns go round, so that what others take of
// the machine meets all three. It reports Gb/s, and processor seconds a gigabyte, and checks the switches' counters.
func BenchmarkHops(b *testing.B) {
	netnstest.Need(b, netnstest.Netns)
	netnstest.Lock(b)
	f := build(b, "leafspine:racks=2,hosts=1,spines=1,nic=400Gbps,eps=400Gbps", netns.Options{})
	lead(b, f)
	ways := []struct {
		name string
		to   netip.Addr
	}{{"veth", direct(b, f)}, {"bridges", bridged(b, f)}, {"switches", f.Addr(1)}}
	const bytes = 1 << 30
	var took, used [3]time.Duration
	for b.Loop() {
		for i, w := range ways {
			before, err := f.Counters()
			if err != nil {
				b.Fatal(err)
			}
			cpu, began := spent(b), time.Now()
			flood(b, f, w.to, bytes)
			took[i] += time.Since(began)
			used[i] += spent(b) - cpu
			if w.name == "switches" {
				counted(b, f, before, bytes)
			}
		}
	}
	for i, w := range ways {
		b.ReportMetric(float64(bytes)*8*float64(b.N)/took[i].Seconds()/1e9, w.name+"-Gb/s")
		b.ReportMetric(used[i].Seconds()/(float64(bytes)*float64(b.N)/1e9), w.name+"-CPUs/GB")
	}
}

// counted checks that each switch has counted the bytes that were sent, headers included.
func counted(b *testing.B, f *netns.Fabric, before netns.Counters, payload int64) {
	b.Helper()
	after, err := f.Counters()
	if err != nil {
		b.Fatal(err)
	}
	s := f.Spec()
	spine, _ := s.Topology.Named("spine0")
	for _, l := range []pathmap.LinkID{s.Topology.OutPort(s.HostNode[0], 0),
		s.Topology.OutPort(s.ToRNode[0], int32(s.HostsPerRack)), s.Topology.OutPort(spine, 1),
		s.Topology.OutPort(s.ToRNode[1], 0)} {
		got := float64(after.Links[l].Bytes-before.Links[l].Bytes) / (float64(payload) * 1514 / 1448)
		if got < 1 || got > 1.01 {
			b.Errorf("link %d counted × %.4f of the frames", l, got)
		}
	}
}

func spent(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// flood sends n bytes from host 0 to an address of host 1 and waits for them.
func flood(b *testing.B, f *netns.Fabric, to netip.Addr, n int64) {
	b.Helper()
	at := net.TCPAddrFromAddrPort(netip.AddrPortFrom(to, 5001))
	var ln *net.TCPListener
	var out *net.TCPConn
	err := f.InHost(1, func() (err error) { ln, err = net.ListenTCP("tcp4", at); return err })
	if err == nil {
		defer ln.Close()
		err = f.InHost(0, func() (err error) { out, err = net.DialTCP("tcp4", nil, at); return err })
	}
	if err != nil {
		b.Fatal(err)
	}
	sent := make(chan error, 1)
	want := n
	go func() {
		var err error
		for piece := make([]byte, 1<<20); n > 0 && err == nil; n -= int64(len(piece)) {
			_, err = out.Write(piece)
		}
		sent <- errors.Join(err, out.Close())
	}()
	in, err := ln.AcceptTCP()
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	got, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{in}, make([]byte, 1<<20))
	if serr := <-sent; err != nil || serr != nil || got != want {
		b.Fatalf("received %d of %d bytes: %v, %v", got, want, err, serr)
	}
}

// direct joins both hosts by a veth pair and returns host 1's address there.
func direct(b *testing.B, f *netns.Fabric) netip.Addr {
	b.Helper()
	var there *os.File
	err := f.InHost(1, func() (err error) { there, err = os.Open("/proc/thread-self/ns/net"); return err })
	if err != nil {
		b.Fatal(err)
	}
	defer there.Close()
	err = f.InHost(0, func() error {
		return netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "pair", MTU: 1500}, PeerName: "pair",
			PeerNamespace: netlink.NsFd(there.Fd()), PeerTxQLen: -1})
	})
	if err != nil {
		b.Fatal(err)
	}
	return addressed(b, f, "pair", 1)
}

// bridged joins both hosts over three Linux bridges and returns host 1's address there.
func bridged(b *testing.B, f *netns.Fabric) netip.Addr {
	b.Helper()
	for i := range 3 {
		br := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: fmt.Sprintf("bridge%d", i), MTU: 1500}}
		if err := netlink.LinkAdd(br); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = netlink.LinkDel(br) })
		up(b, br.Name)
	}
	for i := range 2 { // between bridges
		v := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: fmt.Sprintf("left%d", i), MTU: 1500},
			PeerName: fmt.Sprintf("right%d", i), PeerTxQLen: -1}
		if err := netlink.LinkAdd(v); err != nil {
			b.Fatal(err)
		}
		enslave(b, v.Name, fmt.Sprintf("bridge%d", i))
		enslave(b, v.PeerName, fmt.Sprintf("bridge%d", i+1))
	}
	for h := range southbound.HostID(2) {
		var there *os.File
		err := f.InHost(h, func() (err error) { there, err = os.Open("/proc/thread-self/ns/net"); return err })
		if err != nil {
			b.Fatal(err)
		}
		v := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: fmt.Sprintf("end%d", h), MTU: 1500}, PeerName: "bridged",
			PeerNamespace: netlink.NsFd(there.Fd()), PeerTxQLen: -1}
		err = netlink.LinkAdd(v)
		there.Close()
		if err != nil {
			b.Fatal(err)
		}
		enslave(b, v.Name, fmt.Sprintf("bridge%d", 2*h))
	}
	return addressed(b, f, "bridged", 2)
}

func enslave(b *testing.B, port, bridge string) {
	b.Helper()
	l, err := netlink.LinkByName(port)
	m, merr := netlink.LinkByName(bridge)
	if err != nil || merr != nil {
		b.Fatal(err, merr)
	}
	if err := netlink.LinkSetMaster(l, m); err != nil {
		b.Fatal(err)
	}
	up(b, port)
}

func up(b *testing.B, name string) {
	b.Helper()
	l, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkSetUp(l)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// addressed gives the interface of that name in both hosts an address of a network and returns host 1's.
func addressed(b *testing.B, f *netns.Fabric, name string, network byte) netip.Addr {
	b.Helper()
	for h := range southbound.HostID(2) {
		err := f.InHost(h, func() error {
			l, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			a := &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(192, 168, network, byte(1+h)), Mask: net.CIDRMask(24, 32)}}
			if err := netlink.AddrAdd(l, a); err != nil {
				return err
			}
			return netlink.LinkSetUp(l)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return netip.AddrFrom4([4]byte{192, 168, network, 2})
}
