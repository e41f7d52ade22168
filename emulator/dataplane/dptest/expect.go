package dptest

import (
	"testing"

	"lightloom/southbound"
)

// packets is how many a check sends.
const packets = 5

// expect sends and wants that many to arrive: of one packet where all is well, else of packets.
func expect(t *testing.T, n Network, src, dst southbound.HostID, tag southbound.Tag, want int) {
	t.Helper()
	send := packets
	if want == 1 {
		send = 1
	}
	got, err := n.Send(src, dst, tag, send)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("of %d packets from host %d to %d with tag %d, %d arrived, want %d", send, src, dst,
			tag, got, want)
	}
}

// leavesBy sends from a host and wants all packets to arrive, by way of that port of its ToR.
func leavesBy(t *testing.T, n Network, src, dst southbound.HostID, tag southbound.Tag,
	port southbound.Port) {
	t.Helper()
	f := n.Spec()
	tor := f.ToRNode[f.RackOf(int32(src))]
	before, err := n.Carried()
	if err != nil {
		t.Fatal(err)
	}
	expect(t, n, src, dst, tag, packets)
	after, err := n.Carried()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range f.Topology.Out(tor) {
		want := uint64(0)
		if p := f.Topology.Link(l).FromPort; southbound.Port(p) == port {
			want = packets
		}
		if got := after[l] - before[l]; got != want {
			t.Errorf("host %d to %d with tag %d: %d packets left the ToR by port %d, want %d", src, dst, tag, got,
				f.Topology.Link(l).FromPort, want)
		}
	}
}

func dropped(t *testing.T, n Network, d southbound.DeviceID) uint64 {
	t.Helper()
	got, err := n.Plane(d).Dropped()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func set(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func whole(t *testing.T, f Flow, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d packets under load", f.Sent)
	if f.Arrived != f.Sent || f.Sent == 0 {
		t.Errorf("of %d packets %d arrived", f.Sent, f.Arrived)
	}
}
