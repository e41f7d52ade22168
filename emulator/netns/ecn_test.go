package netns_test

import (
	"errors"
	"strings"
	"testing"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/pathmap/topo"
)

// TestECN: where the kernel has no queue that marks, a threshold is refused with the reason and what to
// do; where it has one, a fabric stands with it. Thresholds that no queue could have are refused
// everywhere.
func TestECN(t *testing.T) {
	netnstest.Need(t, netnstest.Netns)
	netnstest.Share(t)
	spec, err := topo.ParseSpec("leafspine:racks=2,hosts=1,spines=1,nic=500Mbps,eps=20Mbps")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []netns.Options{{ECNBytes: 10}, {ECNBytes: 30_000, QueueBytes: 30_000}} {
		if _, err := netns.Build(f, bad); err == nil || !strings.Contains(err.Error(), "ECN threshold") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := netns.ECNSupported(); err != nil {
		if !errors.Is(err, netns.ErrNoECN) {
			t.Fatal(err)
		}
		_, err := netns.Build(f, netns.Options{ECNBytes: 15_000})
		var hinted interface{ Hint() string }
		if !errors.Is(err, netns.ErrNoECN) || !errors.As(err, &hinted) ||
			!strings.Contains(hinted.Hint(), "modprobe sch_red") {
			t.Errorf("without sch_red: %v", err)
		}
		t.Skipf("marking itself is not tried: %v", err)
	}
	n := build(t, "leafspine:racks=2,hosts=1,spines=1,nic=500Mbps,eps=20Mbps", netns.Options{ECNBytes: 15_000})
	if n.Settings().ECNBytes != 15_000 {
		t.Errorf("settings are %+v", n.Settings())
	}
	lead(t, n)
	transfer(t, n, 0, 1, 3_000_000, 500_000_000)
}
