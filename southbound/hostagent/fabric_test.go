package hostagent

import (
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

func TestForFabric(t *testing.T) {
	spec, err := topo.ParseSpec("hybrid:racks=4,hosts=2,spines=2,nic=500Mbps,eps=50Mbps,ocs=200Mbps,ports=3")
	must(t, err)
	f, err := topo.New(spec)
	must(t, err)
	cfg := ForFabric(f)
	if got := cfg.Addr(5).String(); got != "10.0.2.2:7471" || cfg.Hosts != 8 {
		t.Errorf("host 5 of %d is at %s", cfg.Hosts, got)
	}
	for _, tc := range []struct {
		name     string
		src, dst southbound.HostID
		tag      southbound.Tag
		want     pathmap.BitsPerSecond
	}{
		{"same rack", 0, 1, southbound.TagDefault, 500 * pathmap.Mbps},
		{"packets", 0, 2, southbound.TagDefault, 50 * pathmap.Mbps},
		{"a path", 0, 2, southbound.PathTag(1), 50 * pathmap.Mbps},
		{"circuit", 0, 2, southbound.TagCircuit, 200 * pathmap.Mbps},
		{"circuit of a rack without a port", 0, 7, southbound.TagCircuit, 50 * pathmap.Mbps},
		{"a path that the spines leave free", 0, 2, southbound.PathTag(2), 50 * pathmap.Mbps},
		{"circuit within a rack", 2, 3, southbound.TagCircuit, 500 * pathmap.Mbps},
	} {
		if got := cfg.Line(tc.src, tc.dst, tc.tag); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestCircuitsOfPod: of a pod, tags of paths that its spines leave free are circuits', as an agent is told by a leader,
// too. They have the line rate of circuits.
func TestCircuitsOfPod(t *testing.T) {
	spec, err := topo.ParseSpec("pod:cubes=8,side=2,spines=2,nic=1Gbps,eps=20Mbps,ocs=100Mbps,dark=10ms")
	must(t, err)
	f, err := topo.New(spec)
	must(t, err)
	var parts wire.NetworkParts
	reqs := wire.SetNetworks(NetworkOf(f))
	told, err := parts.Add(reqs[0])
	must(t, err)
	cfg := ForFabric(f)
	for _, tc := range []struct {
		tag     southbound.Tag
		circuit bool
		want    pathmap.BitsPerSecond
	}{
		{southbound.TagDefault, false, 20 * pathmap.Mbps},
		{1, false, 20 * pathmap.Mbps},
		{2, false, 20 * pathmap.Mbps},
		{3, true, 100 * pathmap.Mbps},
		{6, true, 100 * pathmap.Mbps},
		{southbound.TagCircuit, true, 100 * pathmap.Mbps},
		{southbound.PathTag(6), false, 20 * pathmap.Mbps},
		{southbound.TagHold, false, 20 * pathmap.Mbps},
	} {
		if got := cfg.Line(0, 8, tc.tag); got != tc.want || told.Line(0, 8, tc.tag) != tc.want {
			t.Errorf("tag %d: %v, and %v as told, want %v", tc.tag, got, told.Line(0, 8, tc.tag), tc.want)
		}
		if cfg.IsCircuit(0, tc.tag) != tc.circuit || told.IsCircuit(0, tc.tag) != tc.circuit {
			t.Errorf("tag %d: want %v", tc.tag, tc.circuit)
		}
	}
}
