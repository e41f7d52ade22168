package topo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/pathmap"
)

// TestCases reads small files as other tools write them: roles of nodes and capacities as those tools mean them, and
// in how many parts the topology is.
func TestCases(t *testing.T) {
	for name, want := range map[string]string{
		"single.clab.yml":   "s1 tor, s2 switch, h1 host; s1-s2 1Gbps, s1-h1 1Gbps; 1",
		"defgroup.clab.yml": "s1 switch, s2 switch; s1-s2 1Gbps; 1",
		"labels.clab.yml":   "s1 tor, s2 switch, h1 host; s1-s2 1Gbps, s1-h1 1Gbps, s1-h1 1Gbps; 1",
		"groups.clab.yml": "spine1 switch, leaf1 tor, leaf2 tor, c1 host, c2 host; " +
			"leaf1-spine1 1Gbps, leaf2-spine1 1Gbps, leaf1-c1 1Gbps, leaf2-c2 1Gbps; 1",
		"two.clab.yml":       "l1 host, l2 host; l1-l2 1Gbps; 1",
		"two.dot":            "a host, b host; a-b 1Gbps; 1",
		"three.dot":          "a host, b host, c host, s switch; a-b 1Gbps, b-c 1Gbps, c-s 1Gbps; 2",
		"inf.json":           "a switch, b switch; a-b 100000Gbps; 1",
		"d3v3.json":          "A switch, B switch; A-B 1Gbps; 1",
		"float.json":         "1 switch, 2 switch; 1-2 1Gbps; 1",
		"fnss-unit.json":     "a switch, b switch; a-b 10Mbps; 1",
		"topology-data.json": "a switch, b switch; a-b 1Gbps; 1",
		"bw.json": `link a–b: bandwidth: "10" has no unit, and is hardly bits a second: ` +
			`write 10Mbps, 10Gbps or 10bps`,
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", "cases", name))
			if err != nil {
				t.Fatal(err)
			}
			format := map[string]string{".yml": "clab", ".dot": "dot", ".json": "json"}[filepath.Ext(name)]
			if got := means(format, string(text)); !strings.HasSuffix(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// means writes nodes with their roles, cables with their capacities, and the number of parts.
func means(format, text string) string {
	f, err := readTopology(format, text)
	if err != nil {
		return err.Error()
	}
	var nodes, cables []string
	for _, n := range f.Nodes() {
		nodes = append(nodes, n.Name+" "+n.Role.String())
	}
	for c := range cablesOf(f) {
		cables = append(cables, fmt.Sprintf("%s-%s %v", c.from, c.to, c.there))
	}
	return fmt.Sprintf("%s; %s; %d", strings.Join(nodes, ", "), strings.Join(cables, ", "), NewSurvey(f).Parts)
}

// TestRatesOfOneText: links whose rates are written alike have their own key's and unit's meaning.
func TestRatesOfOneText(t *testing.T) {
	s := newSketch("f")
	for _, tt := range []struct {
		key  string
		unit pathmap.BitsPerSecond
		want pathmap.BitsPerSecond
		bare bool
	}{
		{attrCapacity, 0, 5e9, true}, {attrCapacity, 0, 5e9, true},
		{attrCapacity, 1, 5e9, false}, {attrCapacity, 1, 5e9, false},
		{attrRaw, 0, 5e9, false}, {attrCapacity, 0, 5e9, true},
	} {
		s.unit = tt.unit
		var got pathmap.BitsPerSecond
		var bare bool
		err := s.capacity(&got, &bare, bareRate{key: tt.key, text: "5000000000"})
		if err != nil || got != tt.want || bare != tt.bare {
			t.Errorf("%s in units of %v: %v, bare %v, %v", tt.key, tt.unit, got, bare, err)
		}
	}
	var r pathmap.BitsPerSecond
	for range 2 {
		if err := s.capacity(&r, new(bool), bareRate{key: attrRaw, text: "0"}); err == nil {
			t.Error("a rate of nothing is taken")
		}
	}
}
