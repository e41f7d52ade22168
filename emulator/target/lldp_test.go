package target_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/lldp"
)

// TestNeighbors: LLDP neighbours are read over gNMI as they were heard, and subscribers get an update
// when they change.
func TestNeighbors(t *testing.T) {
	start := time.Now()
	clock := func() time.Duration { return time.Since(start) }
	door := device.NewDoor(device.New(device.Config{Name: "tor0", Kind: device.Packet, Ports: 4, Racks: 4,
		Plane: mem.New(4, clock), Clock: clock}), clock, nil)
	var mu sync.Mutex
	said := lldp.Announcement{Chassis: "00:1b:21:0a:0b:0c", ChassisKind: "MAC_ADDRESS", Port: "Ethernet3",
		PortKind: lldp.InterfaceName, System: "tor1", Description: "up", TTL: 4 * time.Second}
	heard := []lldp.Heard{
		{Port: 0, ID: 2, Said: lldp.Announcement{Chassis: "h0-0", ChassisKind: lldp.Local, Port: "eth0",
			PortKind: lldp.InterfaceName, TTL: 120 * time.Second}, Age: 90 * time.Second, Silent: 7 * time.Second},
		{Port: 3, ID: 1, Said: said},
	}
	tg, err := target.New(target.Config{Door: door, Start: start, Plaintext: true,
		Neighbors: func() []lldp.Heard {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(heard)
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- tg.Serve(ctx, ln) }()
	conn, err := gnmi.Connect(gnmi.Config{Name: "tor0", Addr: ln.Addr().String(), Plaintext: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = conn.Close()
	}()
	c := gpb.NewGNMIClient(conn)
	got, err := probe.Neighbors(t.Context(), c)
	want := slices.Clone(heard)
	want[0].ID = 1 // IDs count anew in each port
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	sub, err := c.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list := &gpb.SubscriptionList{Encoding: gpb.Encoding_PROTO, Subscription: []*gpb.Subscription{
		{Path: &gpb.Path{Elem: []*gpb.PathElem{{Name: "lldp"}}}, Mode: gpb.SubscriptionMode_ON_CHANGE}}}
	req := &gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: list}}
	if err := sub.Send(req); err != nil {
		t.Fatal(err)
	}
	until := func(want func(*gpb.SubscribeResponse) bool) {
		t.Helper()
		for {
			r, err := sub.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if want(r) {
				return
			}
		}
	}
	until(func(r *gpb.SubscribeResponse) bool { return r.GetSyncResponse() })
	mu.Lock()
	heard[1].Silent, heard[0].Age = time.Second, 91*time.Second
	heard = heard[:1]
	mu.Unlock()
	tg.Refresh()
	until(func(r *gpb.SubscribeResponse) bool {
		for _, u := range r.GetUpdate().GetUpdate() {
			t.Errorf("%v is sent, which is in no subscription", u)
		}
		return len(r.GetUpdate().GetDelete()) > 0
	})
	if got, err := probe.Neighbors(t.Context(), c); err != nil || len(got) != 1 ||
		got[0].Said.Chassis != "h0-0" {
		t.Errorf("%+v, %v", got, err)
	}
}
