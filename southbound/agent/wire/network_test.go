package wire

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
)

func hosts(n int) (out Network) {
	for i := range n {
		out = append(out, Host{Name: fmt.Sprint("h", i), Rack: int32(i / 2), Link: 4, Packets: 3, Circuits: 2,
			CircuitTags: TagSet(i),
			Addr:        netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 7471)})
	}
	return out
}

// TestNetwork: a network comes out as it went in, whatever its size, and a request that does not follow
// is refused.
func TestNetwork(t *testing.T) {
	for _, n := range []int{1, HostsAtOnce, HostsAtOnce + 1, 3*HostsAtOnce - 1} {
		var p NetworkParts
		want := hosts(n)
		reqs := SetNetworks(want)
		for i, req := range reqs {
			if size := proto.Size(req); size > MaxMessage/2 {
				t.Errorf("%d hosts: a request of %d bytes", n, size)
			}
			if i > 0 {
				q := p
				if _, err := q.Add(reqs[len(reqs)-1]); len(reqs) > 2 && i == 1 &&
					!errors.Is(err, southbound.ErrRefused) {
					t.Errorf("%d hosts: the last request is taken in the place of the second: %v", n, err)
				}
			}
			got, err := p.Add(req)
			if last := i == len(reqs)-1; err != nil || (got != nil) != last || last &&
				!reflect.DeepEqual(got, want) {
				t.Errorf("%d hosts, request %d: %d hosts, %v", n, i, len(got), err)
			}
		}
	}
	if n := SetNetworks(nil); n != nil {
		t.Errorf("no network makes %d requests", len(n))
	}
}

// FuzzNetwork: whatever comes is refused, or a network whose lines can be looked up.
func FuzzNetwork(f *testing.F) {
	for _, m := range append(SetNetworks(hosts(3)), &agentpb.SetNetworkRequest{},
		&agentpb.SetNetworkRequest{Hosts: 1 << 30, Host: []*agentpb.Host{{Address: "10.0.0.1:1", Rack: -1}}},
		&agentpb.SetNetworkRequest{Hosts: 1, Host: []*agentpb.Host{{Address: "10.0.0.1:1", CircuitTags: 1 << 8}}}) {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, b)
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var p NetworkParts
		for _, text := range [][]byte{a, b} {
			var m agentpb.SetNetworkRequest
			if proto.Unmarshal(text, &m) != nil {
				return
			}
			n, err := p.Add(&m)
			if err != nil && n != nil || len(n) > MaxHosts {
				t.Fatalf("%d hosts, %v", len(n), err)
			}
			for h := range n {
				if n.Line(0, southbound.HostID(h), southbound.TagCircuit) < 0 {
					t.Errorf("a rate below zero to host %d", h)
				}
			}
		}
	})
}
