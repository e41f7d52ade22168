package topo

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"lightloom/pathmap"
)

// TestOwnOCSes: OCSes have their own delays and ports, the text reads back, and a rack has cables to those alone that
// have a port for it.
func TestOwnOCSes(t *testing.T) {
	const text = "hybrid:racks=5,hosts=2,spines=3,eps=1Gbps,ocs=10Gbps,dark=10ms,ocses=3," +
		"apply@0-1=2ms,dark@1=50ms,lock@2=1ms,ports@1=3"
	f := build(t, text)
	if f.Spec.String() != text {
		t.Errorf("%s is written %s", text, f.Spec)
	}
	if again, err := ParseSpec(f.Spec.String()); err != nil || !reflect.DeepEqual(again, f.Spec) {
		t.Errorf("%s reads as %+v, %v", f.Spec, again, err)
	}
	for p := range int32(f.OCSPorts()) {
		has := p/5 != 1 || p%5 < 3
		if got := f.OCSUplink[p] != pathmap.None; got != has {
			t.Errorf("port %d has a cable: %v", p, got)
		}
	}
	if n := f.Topology.Ports(f.OCSNode + 1); n != 3 {
		t.Errorf("the second OCS has %d ports, want 3", n)
	}
	for _, c := range []struct {
		stage string
		ocs   int
		want  time.Duration
		own   bool
	}{{"dark", 0, 0, false}, {"dark", 1, 50 * time.Millisecond, true}, {"apply", 1, 2 * time.Millisecond, true},
		{"lock", 2, time.Millisecond, true}, {"lock", 1, 0, false}} {
		if d, own := f.Spec.OwnDelay(c.stage, c.ocs); d != c.want || own != c.own {
			t.Errorf("%s of OCS %d: %v, %v", c.stage, c.ocs, d, own)
		}
	}
	if d := f.Spec.LeastDark(); d != 10*time.Millisecond {
		t.Errorf("the fastest has %v", d)
	}
	if s := f.Spec.WithoutOCS(true); s.Check() != nil || len(s.Own) != 0 ||
		s.EPS != pathmap.Gbps+(13*10*pathmap.Gbps)/15 { // 13 cables, 15 uplinks
		t.Errorf("without its OCSes: %v, %v", s, s.Check())
	}
}

// TestOwnOCSErrors: what no OCS can have is refused with the nearest that works.
func TestOwnOCSErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"hybrid:racks=4,ocses=2,dark@2=5ms", "dark@2: there is no OCS 2: OCSes are 0 to 1"},
		{"hybrid:racks=4,ocses=2,dark@1=soon", `dark@1: "soon" is no duration: write it like dark@1=50ms`},
		{"hybrid:racks=4,ocses=2,dark@1=0s", "dark@1: 0s is not within 1ns and 1h0m0s"},
		{"hybrid:racks=4,ocses=2,dark@x=5ms", `"x" is no OCS and no range of OCSes: write dark@3=50ms or dark@0-4=50ms`},
		{"hybrid:racks=4,ocses=2,dark@0-1=5ms,dark@1=6ms", "dark@1: OCS 1 has a value of its own already: dark@0-1=5ms"},
		{"hybrid:racks=4,ocses=2,ports@1=5", "ports@1: 5 OCS ports for 4 racks: write ports@1=4 or fewer, at least 1"},
		{"hybrid:racks=4,ocses=2,ports@1=none", `ports@1: "none" is no number of ports: write it like ports@1=4`},
		{"hybrid:racks=4,ocses=2,ports@0-1=2,ocs@3=1Gbps", "ocs@3: rack 3 has no OCS port: racks 0 to 1 have"},
		{"pod:cubes=8,side=2,ports@3=14", "ports@3: an OCS of 14 ports, and 8 cubes have 16 faces on each: write " +
			"ports@3=16 or more, or cubes=7"},
		{"crossbar:ports=4,rate=1Gbps,dark@0=5ms", "dark@0: this crossbar has no OCS: add dark=10ms"},
		{"leafspine:racks=4,dark@0=5ms", `no rack has a "dark" of its own: write nic@3=1Gbps or eps@3=1Gbps`},
	} {
		if _, err := ParseSpec(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}
