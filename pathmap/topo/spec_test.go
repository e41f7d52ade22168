package topo

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"lightloom/pathmap"
)

func TestParseSpec(t *testing.T) {
	hybrid := Spec{Kind: Hybrid, Racks: 8, Hosts: 2, Spines: 2, NIC: 5 * pathmap.Gbps, EPS: pathmap.Gbps,
		OCS: 10 * pathmap.Gbps, Ports: 8, Dark: 10 * time.Millisecond, Slots: 2}
	for _, c := range []struct {
		text string
		want func(*Spec)
		back string // what String writes; the text itself if empty
	}{
		{"hybrid", func(*Spec) {}, "hybrid:racks=8,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms"},
		{"hybrid:racks=16,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms",
			func(s *Spec) { s.Racks, s.Ports = 16, 16 }, ""},
		// the demo: 500 Mb/s a host from 1 Gb/s a rack
		{"hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms",
			func(s *Spec) { s.NIC, s.EPS, s.OCS = 500*pathmap.Mbps, 50*pathmap.Mbps, pathmap.Gbps }, ""},
		{"hybrid:racks=8,hosts=20,spines=2,eps=10Gbps,ocs=100Gbps,dark=1µs,ports=4,nic=7Gbps,slots=20",
			func(s *Spec) {
				s.Hosts, s.EPS, s.OCS, s.Dark, s.Ports, s.NIC, s.Slots = 20, 10*pathmap.Gbps, 100*pathmap.Gbps, time.Microsecond, 4,
					7*pathmap.Gbps, 20
			}, ""},
		{"leafspine:racks=4,hosts=1,spines=3,eps=2500Mbps", func(s *Spec) {
			*s = Spec{Kind: LeafSpine, Racks: 4, Hosts: 1, Spines: 3, NIC: 2500 * pathmap.Mbps,
				EPS:   2500 * pathmap.Mbps,
				Slots: 2}
		}, ""},
		{"crossbar", func(s *Spec) {
			*s = Spec{Kind: Crossbar, Racks: 150, Hosts: 1, Spines: 1, NIC: pathmap.Gbps,
				EPS: pathmap.Gbps, Slots: 2}
		}, "crossbar:ports=150,rate=1Gbps"},
		{"crossbar:ports=60,rate=100Gbps,dark=10ms", func(s *Spec) {
			*s = Spec{Kind: Crossbar, Racks: 60, Hosts: 1, Spines: 1, NIC: 100 * pathmap.Gbps,
				EPS: 100 * pathmap.Gbps,
				OCS: 100 * pathmap.Gbps, Ports: 60, Dark: 10 * time.Millisecond, Slots: 2}
		}, ""},
	} {
		want := hybrid
		c.want(&want)
		got, err := ParseSpec(c.text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", c.text, got, err, want)
			continue
		}
		back := c.back
		if back == "" {
			back = c.text
		}
		if s := got.String(); s != back {
			t.Errorf("%s: written %s, want %s", c.text, s, back)
		}
	}
}

func TestParseSpecErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `column 1: kind: "" is unknown: write one of hybrid, leafspine, crossbar, pod, fattree, jellyfish, file`},
		{"hybird:racks=2", `column 1: kind: "hybird" is unknown: write "hybrid"? It is one of hybrid, leafspine, ` +
			`crossbar, pod, fattree, jellyfish, file`},
		{"hybrid:", `column 8: "" is no key with a value: write it like racks=16`},
		{"hybrid:racks", `column 8: "racks" is no key with a value: write it like racks=16`},
		{"hybrid:racks=2,rakcs=3", `column 16: rakcs: unknown key of a hybrid: write "racks"? It is one of racks, hosts, ` +
			`spines, nic, eps, oversub, ocs, ports, wavelengths, ocses, rails, dark, slots, vcpus`},
		{"leafspine:wavelengths=2",
			`column 11: wavelengths: unknown key of a leafspine: write one of racks, hosts, spines, nic, eps, ` +
				`oversub, slots, vcpus`},
		{"hybrid:wavelengths=0", `column 8: wavelengths: 0 is out of range: write 1 or more, or leave wavelengths out`},
		{"hybrid:racks=4,wavelengths=17", `column 16: wavelengths: 17 is out of range: write 1 to 16`},
		{"hybrid:racks=4,ocses=17", `column 16: ocses: 17 is out of range: write 1 to 16`},
		{"hybrid:ocses=0", `column 8: ocses: 0 is out of range: write 1 or more, or leave ocses out`},
		{"hybrid:ocses=4,ocses=4", `column 16: ocses: given twice: leave one out`},
		{"hybrid:wavelengths=8,ocses=4", `column 22: ocses: 4 OCSes of 8 wavelengths give a rack 32 circuits at once, ` +
			`more than 16: write ocses=2 or fewer`},
		{"hybrid:racks=4,ports=5,ocses=4", `column 16: ports: 5 OCS ports for 4 racks: write ports=4 or fewer, at least 1`},
		{"crossbar:ports=8,ocses=4", `column 18: ocses: a crossbar without dark has no OCS: add dark=10ms, or leave ` +
			`ocses out`},
		{"leafspine:ocses=4", `column 11: ocses: unknown key of a leafspine: write one of racks, hosts, ` +
			`spines, nic, eps, oversub, slots, vcpus`},
		{"leafspine:ocs=1Gbps", `column 11: ocs: unknown key of a leafspine: write "eps"? It is one of racks, hosts, ` +
			`spines, nic, eps, oversub, slots, vcpus`},
		{"crossbar:ports=2,racks=2",
			`column 18: racks: unknown key of a crossbar: write one of ports, rate, ocses, dark, slots, vcpus`},
		{"hybrid:racks=2,racks=3", `column 16: racks: given twice: leave one out`},
		{"hybrid:racks=0", `column 8: racks: 0 is out of range: write 1 or more, or leave racks out`},
		{"hybrid:racks=99999", `column 8: racks: 99999 is out of range: write 1 to 16384`},
		{"hybrid:racks=99999999999999999999",
			`column 8: racks: "99999999999999999999" is no whole number: write it like racks=16`},
		{"hybrid:hosts=254", `column 8: hosts: 254 is out of range: write 1 to 253`},
		{"hybrid:spines=2000", `column 8: spines: 2000 is out of range: write 1 to 1024`},
		{"hybrid:racks=16000,hosts=200", `column 8: racks: 16000 racks of 200 hosts and 2 uplinks make 3232000 cables, ` +
			`more than 2097152: write racks=10381 or fewer`},
		{"hybrid:eps=0Gbps", `column 8: eps: a rate of 0bps carries nothing: write a rate above zero, such as eps=1Gbps`},
		{"hybrid:eps=-1Gbps", `column 8: eps: "-1Gbps" is no rate: write a number and a unit, such as 10Gbps`},
		{"hybrid:ocs=10", `column 8: ocs: "10" has no unit of rate: write bps, Kbps, Mbps, Gbps or Tbps, as in 10Gbps`},
		{"hybrid:nic=1000Tbps", `column 8: nic: 1000000Gbps is more than any link carries: write 100000Gbps or less`},
		{"hybrid:racks=16,ports=20", `column 17: ports: 20 OCS ports for 16 racks: write ports=16 or fewer, at least 1`},
		{"hybrid:dark=10", `column 8: dark: "10" is no duration: write it like dark=10ms`},
		{"hybrid:dark=0s", `column 8: dark: 0s is not above zero: write dark=1ns for an ideal switch`},
		{"hybrid:dark=2h", `column 8: dark: 2h0m0s is longer than any mirror moves: write 1h0m0s or less`},
		{"crossbar:rate=0bps", `column 10: rate: a rate of 0bps carries nothing: write a rate above zero, such as ` +
			`rate=1Gbps`},
		{"crossbar:ports=20000", `column 10: ports: 20000 is out of range: write 1 to 16384`},
	} {
		want := "parse fabric spec " + `"` + c.text + `": ` + c.want
		if _, err := ParseSpec(c.text); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, want)
		}
	}
	if _, err := ParseSpec(strings.Repeat("a", 5000)); err == nil || len(err.Error()) > 200 {
		t.Errorf("long text: %v", err)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Spec
		want string
	}{
		{"no kind", Spec{}, `kind: "" is unknown: write one of hybrid, leafspine, crossbar, pod, fattree, jellyfish, file`},
		{"negative racks", Spec{Kind: Hybrid, Racks: -1}, "racks: -1 is out of range: write 1 to 16384"},
		{"negative rate", Spec{Kind: LeafSpine, EPS: -1},
			"nic: a rate of -1bps carries nothing: write a rate above zero, " +
				"such as nic=1Gbps"},
		{"negative OCS", Spec{Kind: Hybrid, OCS: -1},
			"ocs: a rate of -1bps carries nothing: write a rate above zero, such " +
				"as ocs=1Gbps"},
		{"negative dark", Spec{Kind: Hybrid, Dark: -1},
			"dark: -1ns is below zero: write a duration such as dark=10ms"},
		{"OCS of a leaf-spine", Spec{Kind: LeafSpine, OCS: 1},
			"kind: a leafspine has no OCS: write hybrid, or leave ocs, " +
				"ports and dark out"},
		{"wavelengths of a leaf-spine", Spec{Kind: LeafSpine, Waves: 2},
			"kind: a leafspine has no OCS: write hybrid, or " +
				"leave ocs, ports and dark out"},
		{"wavelengths of a fat-tree", Spec{Kind: FatTreeKind, Waves: 2},
			"kind: a fattree has one wavelength a rack: write " +
				"hybrid for more"},
		{"OCSes of a leaf-spine", Spec{Kind: LeafSpine, OCSes: 2},
			"kind: a leafspine has no OCS: write hybrid, or leave ocs, ports and dark out"},
		{"OCSes of a fat-tree", Spec{Kind: FatTreeKind, OCSes: 2},
			"kind: a fattree has no parallel OCSes: write hybrid or crossbar for more than one"},
		{"two hosts a crossbar port", Spec{Kind: Crossbar, Hosts: 2},
			"kind: a crossbar has one host a port and one rate: " +
				"write hybrid for anything else"},
	} {
		if err := c.s.Check(); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
		if _, err := New(c.s); err == nil {
			t.Errorf("%s: New builds it", c.name)
		}
	}
}

func TestWithoutOCS(t *testing.T) {
	for _, c := range []struct {
		text  string
		extra bool
		want  string
	}{
		{"hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps", false,
			"leafspine:racks=8,hosts=2,spines=2,eps=50Mbps,nic=500Mbps"},
		// 50 + 1000/2
		{"hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps", true,
			"leafspine:racks=8,hosts=2,spines=2,eps=550Mbps,nic=500Mbps"},
		// 50 + 1000/2 · 4/8
		{"hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,ports=4", true,
			"leafspine:racks=8,hosts=2,spines=2,eps=300Mbps,nic=500Mbps"},
		// 50 + 2·1000/2
		{"hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,wavelengths=2", true,
			"leafspine:racks=8,hosts=2,spines=2,eps=1050Mbps,nic=1Gbps"},
		// 50 + 4·2·1000/2 · 4/8
		{"hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,ports=4,wavelengths=2,ocses=4", true,
			"leafspine:racks=8,hosts=2,spines=2,eps=2050Mbps,nic=4Gbps"},
		{"crossbar:ports=8,rate=1Gbps,dark=1ms", true, "leafspine:racks=8,hosts=1,spines=1,eps=2Gbps,nic=1Gbps"},
		{"leafspine:racks=8,hosts=2,spines=2,eps=1Gbps", true, "leafspine:racks=8,hosts=2,spines=2,eps=1Gbps"},
	} {
		s, err := ParseSpec(c.text)
		if err != nil {
			t.Fatal(err)
		}
		got := s.WithoutOCS(c.extra)
		if err := got.Check(); err != nil || got.String() != c.want {
			t.Errorf("%s, extra %v: got %v, %v; want %s", c.text, c.extra, got, err, c.want)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, s := range []string{"hybrid", "hybrid:racks=16,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms",
		"crossbar:ports=150,rate=1Gbps,dark=1ns",
		"fattree:k=6,hosts=10,rate=100Mbps,paths=10", "jellyfish:switches=7,degree=3,hosts=2,seed=9",
		"file:lab.yaml,dark=1ms,scale=2.5", "file:path=path=x",
		"leafspine:nic=2.5Gbps,slots=3", "hybrid:racks=0", "hybrid:racks=4,ports=5",
		"hybrid:racks=4,wavelengths=3,ocs@2=5Gbps", "hybrid:racks=4,ocses=4,wavelengths=2",
		"crossbar:ports=8,ocses=2,dark=1ms", ":,=,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpec(text)
		if err != nil {
			return
		}
		again, err := ParseSpec(s.String())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%q: %+v, written %s, read as %+v, %v", text, s, s, again, err)
		}
		if strings.Trim(s.File, "abcdefghijklmnopqrstuvwxyz./") != "" {
			return // YAML would have it in quotes
		}
		if yaml, err := ParseYAML("spec.yaml", []byte(asYAML(s))); err != nil || !reflect.DeepEqual(yaml, s) {
			t.Errorf("%q: as YAML %+v, %v; want %+v", text, yaml, err, s)
		}
	})
}

// asYAML writes the YAML form of a spec.
func asYAML(s Spec) string {
	kind, keys, _ := strings.Cut(s.String(), ":")
	if kind == FileKind && !strings.HasPrefix(keys, "path=") {
		keys = "path=" + keys
	}
	return "kind: " + kind + "\n" + strings.NewReplacer(",", "\n", "=", ": ").Replace(keys) + "\n"
}
