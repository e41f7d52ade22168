package emulated

import (
	"errors"
	"slices"
	"testing"
	"time"

	"lightloom/emulator/netns"
	"lightloom/emulator/target"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestTally: one reading serves every switch until it is too old, each port shows its own link's bytes
// and those that the other end sends, and a failed reading is the caller's error.
func TestTally(t *testing.T) {
	spec, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	now, reads := time.Duration(0), 0
	var fails error
	read := func() (netns.Counters, error) {
		c := netns.Counters{Links: make([]netns.LinkCount, len(f.Topology.Links()))}
		for l := range c.Links {
			c.Links[l] = netns.LinkCount{Bytes: pathmap.Bytes(l * (reads + 1) * 1000),
				QueueDrops: uint64(reads), Backlog: -1}
		}
		reads++
		now += time.Millisecond // each takes so long: the next is due 50 ms after its end
		return c, fails
	}
	y := newPortCounters(f.Topology, read, func() time.Duration { return now })
	for id, node := range f.Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		got, err := y.ports(southbound.DeviceID(id))
		if err != nil {
			t.Fatal(err)
		}
		for p, c := range got {
			var want target.PortCount
			if l := f.Topology.OutPort(pathmap.NodeID(id), int32(p)); l != pathmap.None {
				want.OutOctets, want.InOctets = uint64(l)*1000, uint64(pathmap.Reverse(l))*1000
			}
			if c != want {
				t.Errorf("%s port %d: %+v, want %+v", node.Name, p, c, want)
			}
		}
	}
	if reads != 1 {
		t.Errorf("%d readings, want one for all", reads)
	}
	links, err := y.Links()
	if err != nil || slices.ContainsFunc(links,
		func(l LinkStatus) bool { return l.Rate != 0 || l.Span != 0 }) {
		t.Errorf("after one reading: %+v, %v", links, err)
	}
	now = time.Second
	links, err = y.Links()
	if want := (LinkStatus{Link: 3, From: links[3].From, To: links[3].To,
		Capacity: links[3].Capacity, Rate: 24_000,
		Drops: 1, Span: 1, Age: 0.001}); err != nil || links[3] != want {
		t.Errorf("link 3 after a second: %+v, %v; want %+v", links[3], err, want)
	}
	now += 100 * time.Millisecond // a rate over so short a span would be of one burst
	if again, err := y.Links(); err != nil || again[3].Rate != links[3].Rate || again[3].Span != 1 ||
		again[3].Age < 0.1 {
		t.Errorf("link 3 a tenth of a second later: %+v, %v; want the rate as before, and older", again[3], err)
	}
	fails, now = errors.New("netlink is busy"), 2*time.Second
	if _, err := y.ports(f.ToRNode[0]); !errors.Is(err, fails) {
		t.Errorf("a reading that fails: %v", err)
	}
}
