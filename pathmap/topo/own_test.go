package topo

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lightloom/pathmap"
)

// TestOwnRates: racks have their own rates on the links that are theirs, and the text reads back.
func TestOwnRates(t *testing.T) {
	for _, c := range []struct{ text, back string }{
		{"hybrid:racks=4,hosts=1,spines=1,eps=1Gbps,ocs=10Gbps,dark=10ms,nic=10Gbps,ocs@0-1=5Gbps,eps@3=200Mbps,nic@2=3Gbps",
			"hybrid:racks=4,hosts=1,spines=1,eps=1Gbps,ocs=10Gbps,dark=10ms,eps@3=200Mbps,nic@2=3Gbps,ocs@0-1=5Gbps"},
		{"leafspine:racks=3,hosts=2,spines=1,eps=1Gbps,eps@1-2=2Gbps", ""},
		{"crossbar:ports=3,rate=1Gbps,rate@2=10Gbps", ""},
	} {
		s, err := ParseSpec(c.text)
		if err != nil {
			t.Fatal(err)
		}
		back := c.back
		if back == "" {
			back = c.text
		}
		if s.String() != back {
			t.Errorf("%s: written %s, want %s", c.text, s, back)
		}
		if again, err := ParseSpec(s.String()); err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%s reads as %+v, %v", s, again, err)
		}
	}
	s, err := ParseSpec("hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,nic=1Gbps,ocs=10Gbps,ocs@0-1=5Gbps,eps@3=200Mbps," +
		"nic@2=3Gbps")
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(s.Divide(2))
	if err != nil {
		t.Fatal(err)
	}
	for l, link := range f.Topology.Links() {
		from, to := f.Topology.Node(link.From), f.Topology.Node(link.To)
		rack := max(from.Rack, to.Rack)
		want := 500 * pathmap.Mbps
		switch {
		case from.Role == pathmap.OCS || to.Role == pathmap.OCS:
			if want = 5 * pathmap.Gbps; rack <= 1 {
				want = 2500 * pathmap.Mbps
			}
		case from.Role == pathmap.Host || to.Role == pathmap.Host:
			if rack == 2 {
				want = 1500 * pathmap.Mbps
			}
		case rack == 3:
			want = 100 * pathmap.Mbps
		}
		if link.Capacity != want {
			t.Errorf("link %d, %s to %s: %v, want %v", l, from.Name, to.Name, link.Capacity, want)
		}
	}
	if w := s.WithoutOCS(false); fmt.Sprint(w.Own) != "[eps@3=200Mbps nic@2=3Gbps]" || w.Check() != nil {
		t.Errorf("without its OCS: %v, %v", w, w.Check())
	}
}

func TestOwnRateErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"hybrid:racks=4,rate@1=1Gbps",
			`column 16: rate@1: no rack has a "rate" of its own: write nic@3=1Gbps or eps@3=1Gbps or ocs@3=1Gbps`},
		{"hybrid:racks=4,eps@x=1Gbps",
			`column 16: eps@x: "x" is no rack and no range of racks: write eps@3=1Gbps or eps@0-4=1Gbps`},
		{"hybrid:racks=4,eps@2-1=1Gbps", `"2-1" is no rack and no range`},
		{"hybrid:racks=4,eps@1=fast", "column 16: eps@1: "},
		{"hybrid:racks=4,eps@1=0bps", "eps@1: a rate of 0bps carries nothing"},
		{"hybrid:racks=4,eps@0-2=1Gbps,eps@2=1Gbps",
			"column 30: eps@2: rack 2 has a rate of its own already: eps@0-2=1Gbps"},
		{"hybrid:racks=4,eps@4=1Gbps", "there is no rack 4: racks are 0 to 3"},
		{"hybrid:racks=4,ports=2,ocs@2=1Gbps", "rack 2 has no OCS port: racks 0 to 1 have"},
		{"leafspine:racks=4,ocs@1=1Gbps", `no rack has a "ocs" of its own`},
		{"fattree:k=4,eps@1=1Gbps", "racks of a fattree have no rates of their own"},
		{"hybrid:racks=4,oversub=x", `oversub: "x" is no ratio: write oversub=4:1`},
		{"hybrid:racks=4,oversub=0:1", `"0:1" is no ratio`},
		{"hybrid:racks=4,oversub=4:1,eps=1Gbps", "oversub: eps is given too: leave one out"},
	} {
		if _, err := ParseSpec(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestOversub: the rate of a rack's hosts over that of its uplinks is the given ratio.
func TestOversub(t *testing.T) {
	for _, c := range []struct {
		text     string
		nic, eps pathmap.BitsPerSecond
	}{
		{"leafspine:racks=4,hosts=4,spines=2,nic=10Gbps,oversub=4:1", 10 * pathmap.Gbps, 5 * pathmap.Gbps},
		{"leafspine:racks=4,hosts=4,spines=2,oversub=2", pathmap.Gbps, pathmap.Gbps},
		{"hybrid:racks=4,hosts=2,spines=1,ocs=10Gbps,oversub=5:2", 5 * pathmap.Gbps, 4 * pathmap.Gbps},
	} {
		s, err := ParseSpec(c.text)
		if err != nil || s.NIC != c.nic || s.EPS != c.eps {
			t.Errorf("%s: NIC %v, EPS %v, %v; want %v and %v", c.text, s.NIC, s.EPS, err, c.nic, c.eps)
			continue
		}
		if again, err := ParseSpec(s.String()); err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%s reads as %+v, %v", s, again, err)
		}
	}
	// In YAML the same keys are read.
	file := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(file, []byte("kind: leafspine\nracks: 4\nhosts: 4\nspines: 2\nnic: 10Gbps\noversub: "+
		"4:1\neps@1-2: 2Gbps\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := FromArgument(file)
	if err != nil || s.String() != "leafspine:racks=4,hosts=4,spines=2,eps=5Gbps,nic=10Gbps,eps@1-2=2Gbps" {
		t.Errorf("%v, %v", s, err)
	}
}
