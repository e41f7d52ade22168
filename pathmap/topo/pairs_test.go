package topo

import (
	"slices"
	"strings"
	"testing"

	"lightloom/pathmap"
)

func odd(t *testing.T) *pathmap.Topology {
	t.Helper()
	got, err := readTopology("yaml", `
kind: topology
nodes: [{name: a, role: tor}, {name: "New York"}, {name: "#1"}, {name: ocs, role: ocs}, {name: h, role: host},
  {name: h2, role: host}, {name: far}]
links: [{ends: [a, New York], capacity: 5Gbps}, {ends: [New York, a]}, {ends: [a, ocs]},
  {ends: [ocs, far], capacity: 9Gbps}, {ends: [h, a]}, {ends: [h, "#1"]}]
`)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestReadPairs(t *testing.T) {
	topology := odd(t)
	got, err := ReadPairs("p", strings.NewReader("# two\n a\t\"New York\" # there\r\n\n\"#1\" a\nh h"), topology)
	if want := []Pair{{0, 1}, {2, 0}, {4, 4}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	for _, c := range []struct{ text, want string }{
		{"a", "p:1:1: 1 where two node names are due: write one pair a line, names with blanks in quotes"},
		{"a New York", "p:1:7: 3 where two node names are due: write one pair a line, names with blanks in quotes"},
		{"\n a b", `p:2:4: there is no node "b": lightloom topology show lists what there is`},
		{"a \"New Yrok\"", `p:1:3: there is no node "New Yrok": did you mean "New York"?`},
		{"a \"New", `p:1:3: a name in quotes without end: close it with "`},
		{"a ocs", `p:1:3: "ocs" is an optical circuit switch, and no packet path begins, ends or passes there: name a ` +
			`tor, switch or host`},
		{"# none\n", "p: no pairs: write two node names a line"},
		{strings.Repeat("a", 5000), "p: a line is longer than 4096 bytes: write two node names a line"},
	} {
		if _, err := ReadPairs("p", strings.NewReader(c.text), topology); err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func FuzzReadPairs(f *testing.F) {
	f.Add("a b\n\"a\\\"\" b # c\n")
	f.Fuzz(func(t *testing.T, text string) {
		topology := odd(t)
		pairs, err := ReadPairs("p", strings.NewReader(text), topology)
		for _, p := range pairs {
			if int(max(p.Source, p.Target)) >= len(topology.Nodes()) || min(p.Source, p.Target) < 0 {
				t.Errorf("%q: %v, %v", text, pairs, err)
			}
		}
	})
}

func TestSurvey(t *testing.T) {
	s := NewSurvey(odd(t))
	// a–New York–h is the largest part; #1 hangs on h alone, which forwards nothing; far on the OCS; h2 on
	// nothing
	want := Survey{Nodes: 7, Hosts: 2, ToRs: 1, Switches: 3, OCS: 1, Cables: 6, Parallel: 1,
		LeastDegree: 1, MostDegree: 4,
		Slowest: pathmap.Gbps, Fastest: 9 * pathmap.Gbps, Parts: 4}
	apart, alone := s.Apart, s.Alone
	s.Apart, s.Alone = nil, nil
	if !equalSurveys(s, want) || !slices.Equal(apart, []pathmap.NodeID{2, 6, 5}) ||
		!slices.Equal(alone, []pathmap.NodeID{5}) {
		t.Errorf("got %+v, apart %v, alone %v; want %+v", s, apart, alone, want)
	}
	if s := NewSurvey(build(t, "hybrid").Topology); s.Parts != 1 || len(s.Apart) != 0 {
		t.Errorf("a hybrid has %d parts", s.Parts)
	}
}

func equalSurveys(a, b Survey) bool {
	return a.Nodes == b.Nodes && a.Hosts == b.Hosts && a.ToRs == b.ToRs && a.Switches == b.Switches &&
		a.OCS == b.OCS &&
		a.Cables == b.Cables &&
		a.Parallel == b.Parallel && a.LeastDegree == b.LeastDegree && a.MostDegree == b.MostDegree &&
		a.Slowest == b.Slowest && a.Fastest == b.Fastest && a.Parts == b.Parts
}
