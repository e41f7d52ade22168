package onwire

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"lightloom/emulator/netns/netnstest"
	"lightloom/southbound/lldpd"
)

// TestDaemon: two stations on one cable hear each other and not themselves. A station that ends is
// forgotten at once, and one whose cable is gone after its time to live.
func TestDaemon(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	v := &netlink.Veth{LinkAttrs: netlink.NewLinkAttrs(), PeerName: "lldpb"}
	v.Name = "lldpa"
	if err := netlink.LinkAdd(v); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.LinkDel(v) })
	var index [2]int
	for i, name := range []string{"lldpa", "lldpb"} {
		l, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.LinkSetUp(l)
		}
		if err != nil {
			t.Fatal(err)
		}
		index[i] = l.Attrs().Index
	}
	changed := make(chan int, 64)
	begin := func(name string, port int, tell bool) (*lldpd.Daemon, func()) {
		cfg := lldpd.Config{Interval: 20 * time.Millisecond,
			Stations: []lldpd.Station{{Name: name,
				Ports: []lldpd.Port{{Name: "unplugged"}, {Interface: port, Name: "Ethernet1"}}}}}
		if tell {
			cfg.Changed = func(s int) { changed <- s }
		}
		d, err := lldpd.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- d.Run(ctx) }()
		return d, func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	a, endA := begin("left", index[0], true)
	defer endA()
	heard := func(want ...string) {
		t.Helper()
		late := time.After(time.Minute)
		for {
			var got []string
			for _, h := range a.Heard(0) {
				got = append(got, h.Said.Chassis+" "+h.Said.Port)
				if h.Port != 1 {
					t.Fatalf("heard at port %d", h.Port)
				}
			}
			if slices.Equal(got, want) {
				return
			}
			select {
			case <-changed:
			case <-late:
				t.Fatalf("hears %q, want %q", got, want)
			}
		}
	}
	_, endB := begin("right", index[1], false)
	heard("right Ethernet1")
	endB()
	heard()
	_, endB = begin("third", index[1], false)
	heard("third Ethernet1")
	if err := netlink.LinkSetDown(v); err != nil {
		t.Fatal(err)
	}
	heard() // after its time to live
	endB()
}
