package hostagent

import (
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
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
		{"circuit within a rack", 2, 3, southbound.TagCircuit, 500 * pathmap.Mbps},
	} {
		if got := cfg.Line(tc.src, tc.dst, tc.tag); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
