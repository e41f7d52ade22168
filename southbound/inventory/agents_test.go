package inventory

import (
	"slices"
	"testing"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestSites: hosts of one address are one agent's, which is named for the first of them.
func TestSites(t *testing.T) {
	p := &Inventory{Agents: map[string]string{"h0-0": "a:1", "h1-0": "a:1"}}
	got := p.Sites(twoRacks(t))
	if len(got) != 1 || got[0].Name != "h0-0" || got[0].Addr != "a:1" ||
		!slices.Equal(got[0].Hosts, []southbound.HostID{0, 1}) {
		t.Errorf("%+v", got)
	}
	p.Agents["h1-0"] = "b:1"
	if got := p.Sites(twoRacks(t)); len(got) != 2 || got[1].Name != "h1-0" {
		t.Errorf("%+v", got)
	}
}

func twoRacks(t *testing.T) *topo.Fabric {
	t.Helper()
	spec, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
