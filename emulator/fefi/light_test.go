package fefi

import (
	"context"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"lightloom/emulator/netns/netnstest"
)

func TestMain(m *testing.M) { netnstest.Main(m, false) }

// TestLight signals light over a pair of interfaces: changes at once, darkness when the cable is
// pulled, light again when it is back, darkness when the teller has gone.
func TestLight(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	v := &netlink.Veth{LinkAttrs: netlink.NewLinkAttrs(), PeerName: "fe1", PeerTxQLen: -1}
	v.Name = "fe0"
	if err := netlink.LinkAdd(v); err != nil {
		t.Fatal(err)
	}
	defer netlink.LinkDel(v)
	open := func(name string) (*Port, netlink.Link) {
		l, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.LinkSetUp(l)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := Open(l.Attrs().Index, name)
		if err != nil {
			t.Fatal(err)
		}
		return p, l
	}
	ocs, cable := open("fe0")
	tor, _ := open("fe1")
	defer ocs.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changes, ended := make(chan bool, 16), make(chan error, 2)
	teller := NewTeller(ocs)
	telling, hush := context.WithCancel(ctx)
	go func() { ended <- Listen(ctx, tor, func(lit bool) { changes <- lit }) }()
	go func() { ended <- teller.Run(telling) }()
	expect := func(when string, want bool) {
		t.Helper()
		for late := time.After(time.Minute); ; {
			select {
			case got := <-changes:
				if got == want {
					return
				} // else the teller was kept from its processor for as long as silence
			case err := <-ended:
				t.Fatalf("%s: ended: %v", when, err)
			case <-late:
				t.Fatalf("%s: light does not become %v", when, want)
			}
		}
	}
	set := func(lit bool) {
		t.Helper()
		if err := teller.Set(lit); err != nil {
			t.Fatal(err)
		}
	}
	expect("at first", false)
	set(true)
	expect("lit", true)
	set(false)
	expect("dark", false)
	set(true)
	expect("lit again", true)
	if err := netlink.LinkSetDown(cable); err != nil {
		t.Fatal(err)
	}
	expect("cable pulled", false)
	if err := netlink.LinkSetUp(cable); err != nil {
		t.Fatal(err)
	}
	expect("cable back", true)
	hush()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	expect("teller gone", false)
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
