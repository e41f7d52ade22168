package netns_test

import (
	"errors"
	"strings"
	"testing"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/pathmap/topo"
)

// TestDarkQueues: queues that are shut while a circuit is dark are refused before anything is built, with the reason and
// what happens in their place.
func TestDarkQueues(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Lock(t)
	spec, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1,nic=500Mbps,eps=20Mbps,ocs=100Mbps")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	_, err = netns.Build(f, netns.Options{DarkQueues: true})
	var hinted interface{ Hint() string }
	if !errors.Is(err, netns.ErrNoDarkQueues) || !errors.As(err, &hinted) || !strings.Contains(hinted.Hint(), "leave --dark-queues away") {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(err.Error(), "sch_plug") {
		t.Errorf("the reason does not name the queue: %v", err)
	}
}
