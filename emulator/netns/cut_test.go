package netns_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestCut: nothing arrives over a cable that is cut, neither at a switch nor at a host, and everything
// again once it is whole: rules, queues and the host's routes are as they were.
func TestCut(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	f := build(t, "leafspine:racks=2,hosts=1,spines=1,eps=200Mbps,nic=200Mbps",
		netns.Options{Dataplane: netns.Mirred})
	lead(t, f)
	top := f.Spec().Topology
	spine, _ := top.Named("spine0")
	transfer(t, f, 0, 1, 200_000, pathmap.Gbps)
	for _, l := range []pathmap.LinkID{top.Out(spine)[1], top.Out(f.Spec().HostNode[1])[0]} {
		for range 2 { // again is nothing
			if err := f.Cut(l, false); err != nil {
				t.Fatal(err)
			}
		}
		if connects(t, f, 0, 1, 300*time.Millisecond) {
			t.Errorf("link %d is cut, and a connection comes about", l)
		}
		if err := f.Cut(l, true); err != nil {
			t.Fatal(err)
		}
		transfer(t, f, 0, 1, 200_000, pathmap.Gbps)
	}
}

// connects reports whether a TCP handshake between two hosts ends in time.
func connects(t *testing.T, f *netns.Fabric, src, dst southbound.HostID, within time.Duration) bool {
	t.Helper()
	at := netip.AddrPortFrom(f.Addr(dst), 5001)
	var l net.Listener
	if err := f.InHost(dst, func() (err error) {
		l,
			err = net.Listen("tcp4", at.String())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var c net.Conn
	err := f.InHost(src, func() (err error) {
		c,
			err = net.DialTimeout("tcp4", at.String(), within)
		return err
	})
	if err == nil {
		c.Close()
	}
	return err == nil
}
