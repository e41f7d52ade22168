package cabling_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lightloom/pathmap"
	"lightloom/pathmap/cabling"
	"lightloom/pathmap/cabling/cablingtest"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
)

func fabric(t testing.TB, spec string) *topo.Fabric {
	t.Helper()
	s, err := topo.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestGrows moves, adds and takes out cables at random. Whatever has been done, nodes, hosts, racks and
// links keep their numbers, and racks that nobody touched their paths.
func TestGrows(t *testing.T) {
	for _, spec := range []string{"hybrid:racks=6,hosts=2,spines=3", "leafspine:racks=5,hosts=1,spines=2",
		"fattree:k=4", "jellyfish:switches=8,degree=3,hosts=8,seed=3"} {
		t.Run(spec, func(t *testing.T) {
			for seed := range tries.Of[uint64](15, 200) {
				grow(t, fabric(t, spec), seed)
			}
		})
	}
}

func grow(t *testing.T, f *topo.Fabric, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	now, is := pathmap.Cabling{}, f
	for step := range 6 {
		next, err := cabling.Next(f, now, []cabling.Plug{cablingtest.Plug(r, is)})
		if err != nil {
			continue
		}
		grown, err := cabling.Apply(f, next)
		if err != nil || !next.Follows(now) {
			t.Fatalf("seed %d, step %d: %v after %v: %v", seed, step, next, now, err)
		}
		touched := compare(t, is, grown, now, next)
		if t.Failed() {
			t.Fatalf("seed %d, step %d: %v after %v", seed, step, next, now)
		}
		samePaths(t, is, grown, touched, seed)
		now, is = next, grown
	}
}

// compare returns the nodes at which a cable has been changed.
func compare(t *testing.T, was, is *topo.Fabric, now, next pathmap.Cabling) (touched []pathmap.NodeID) {
	t.Helper()
	n := len(was.Topology.Links())
	if !slices.Equal(was.Topology.Nodes(), is.Topology.Nodes()) || !slices.Equal(was.HostNode, is.HostNode) ||
		!slices.Equal(was.ToRNode, is.ToRNode) || !slices.Equal(was.Topology.Links(), is.Topology.Links()[:n]) {
		t.Error("a number has become another's")
	}
	for l := range pathmap.LinkID(n) {
		gone := slices.Contains(next.Unplugged, l&^1)
		if is.Topology.Unplugged(l) != gone || was.Topology.Unplugged(l) && !gone {
			t.Errorf("link %d is unplugged: %v, want %v", l, is.Topology.Unplugged(l), gone)
		}
		if gone && !was.Topology.Unplugged(l) {
			touched = append(touched, is.Topology.Link(l).From)
		}
	}
	for _, x := range next.Plugged[len(now.Plugged):] {
		touched = append(touched, x.From, x.To)
	}
	for p, port := range is.OCSUplink {
		l := pathmap.LinkID(pathmap.None)
		if port != pathmap.None {
			l = is.Topology.OutPort(is.ToRNode[is.OCSRack(int32(p))], port)
		}
		if port != pathmap.None && (l == pathmap.None || is.Topology.Link(l).To != is.OCSNode ||
			is.Topology.Link(l).ToPort != int32(p)) {
			t.Errorf("port %d of the OCS is at port %d of its ToR", p, port)
		}
	}
	return touched
}

// samePaths checks that the paths of racks of a leaf-spine at which nothing has changed are those that
// they were.
func samePaths(t *testing.T, was, is *topo.Fabric, touched []pathmap.NodeID, seed uint64) {
	t.Helper()
	if was.Transit || is.Transit {
		return
	}
	k := is.Spec.PathsKept()
	before, err := was.PathMap(k, 7)
	if err != nil {
		t.Fatal(err)
	}
	after, err := is.PathMap(k, 7)
	if err != nil {
		t.Fatal(err)
	}
	for a := range is.Racks {
		for b := range is.Racks {
			if a == b || slices.Contains(touched, is.ToRNode[a]) || slices.Contains(touched, is.ToRNode[b]) {
				continue
			}
			for i := range k {
				old, path := before.AppendPath(nil, a, b, i), after.AppendPath(nil, a, b, i)
				if !slices.Equal(old, path) {
					t.Fatalf("seed %d: path %d of %d→%d is %v, and was %v", seed, i, a, b, path, old)
				}
			}
		}
	}
}

// TestNext: what a user describes is done once, and what cannot be is refused with the reason.
func TestNext(t *testing.T) {
	f := fabric(t, "hybrid:racks=3,hosts=1,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms")
	moved := []cabling.Plug{{From: "tor0:1", To: "spine1:5"}}
	for _, tt := range []struct {
		name, err string
		all       []cabling.Plug
		want      []string
	}{
		{"moved", "", moved, []string{"unplug tor0:1–spine0:0", "plug in tor0:1–spine1:5 at 1Gbps"}},
		{"so already", "", []cabling.Plug{{From: "spine0:1", To: "tor1:1"}}, nil},
		{"faster", "", []cabling.Plug{{From: "tor1:1", To: "spine0:1", Rate: 2 * pathmap.Gbps}},
			[]string{"unplug tor1:1–spine0:1", "plug in tor1:1–spine0:1 at 2Gbps"}},
		{"added", "", []cabling.Plug{{From: "tor0:9", To: "spine1:9", Rate: pathmap.Gbps}},
			[]string{"plug in tor0:9–spine1:9 at 1Gbps"}},
		{"taken out", "", []cabling.Plug{{From: "tor0:1"}}, []string{"unplug tor0:1–spine0:0"}},
		{"taken out already", "", []cabling.Plug{{From: "tor0:9"}}, nil},
		{"taken out at both ends", "", []cabling.Plug{{From: "tor0:1"}, {From: "spine0:0"}},
			[]string{"unplug tor0:1–spine0:0"}},
		{"exchanged", "", []cabling.Plug{{From: "tor0:1", To: "spine0:1"}, {From: "tor1:1", To: "spine0:0"}},
			[]string{"unplug tor0:1–spine0:0", "unplug tor1:1–spine0:1", "plug in tor0:1–spine0:1 at 1Gbps",
				"plug in tor1:1–spine0:0 at 1Gbps"}},
		{"without the OCS", "", []cabling.Plug{{From: "tor0:3"}}, []string{"unplug tor0:3–ocs:0"}},
		{"in use", "spine1:1 is in use: the cable to tor1:2 is there",
			[]cabling.Plug{{From: "tor0:1", To: "spine1:1"}}, nil},
		{"named twice", "port spine1:5 is named twice",
			append(moved, cabling.Plug{From: "tor1:1", To: "spine1:5"}), nil},
		{"to itself", "port tor0:1 is named twice", []cabling.Plug{{From: "tor0:1", To: "tor0:1"}}, nil},
		{"within one switch", "joins a node to itself", []cabling.Plug{{From: "tor0:1", To: "tor0:8"}}, nil},
		{"no switch", `no switch is called "tor9"`, []cabling.Plug{{From: "tor9:1", To: "spine1:5"}}, nil},
		{"no port", "write the switch and the number of its port",
			[]cabling.Plug{{From: "tor0", To: "spine1:5"}}, nil},
		{"a negative port", "write the switch and the number", []cabling.Plug{{From: "tor0:-1"}}, nil},
		{"no rate", "say its rate", []cabling.Plug{{From: "tor0:9", To: "spine1:9"}}, nil},
		{"too fast", "a cable carries at most", []cabling.Plug{{From: "tor0:1", To: "spine1:5",
			Rate: 2 * topo.MaxRate}}, nil},
		{"a host", "host h0-0 keeps its cable", []cabling.Plug{{From: "h0-0:0", To: "spine1:5"}}, nil},
		{"another port of a host", "host h0-0 keeps its cable",
			[]cabling.Plug{{From: "tor0:1", To: "h0-0:1"}}, nil},
		{"the OCS port of another rack", "ocs:1 is for tor1", []cabling.Plug{{From: "tor1:3"},
			{From: "tor0:3", To: "ocs:1"}}, nil},
		{"more racks than OCS ports", "ports 0 to 2 of the OCS",
			[]cabling.Plug{{From: "tor0:3", To: "ocs:3"}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			next, err := cabling.Next(f, pathmap.Cabling{}, tt.all)
			if tt.err == "" && err != nil || tt.err != "" &&
				(err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("%v, want %q", err, tt.err)
			}
			if err != nil {
				return
			}
			if got, err := cabling.Differences(f, pathmap.Cabling{}, next); err != nil ||
				!cmp.Equal(got, tt.want) {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
			if again, err := cabling.Next(f, next, tt.all); err != nil || !again.Equal(next) {
				t.Errorf("again: %v, %v after %v", again, err, next)
			}
		})
	}
	one := []cabling.Plug{{From: "tor0:1"}}
	if _, err := cabling.Next(fabric(t, "crossbar:ports=4"), pathmap.Cabling{}, one); err == nil {
		t.Error("a crossbar is re-cabled")
	}
}

// TestTransit: paths lead through the ToRs of others only where some rack has fewer uplinks than paths
// are kept.
func TestTransit(t *testing.T) {
	f := fabric(t, "leafspine:racks=3,hosts=1,spines=2")
	for _, tt := range []struct {
		all  []cabling.Plug
		want bool
	}{
		{[]cabling.Plug{{From: "tor0:1", To: "spine1:5"}}, false},
		{[]cabling.Plug{{From: "tor0:1"}}, true},
		{[]cabling.Plug{{From: "tor0:1", To: "tor1:7"}}, true},
	} {
		c, err := cabling.Next(f, pathmap.Cabling{}, tt.all)
		if err != nil {
			t.Fatal(err)
		}
		if is, err := cabling.Apply(f, c); err != nil || is.Transit != tt.want {
			t.Errorf("%v: %v, %v", tt.all, is.Transit, err)
		}
	}
}

// FuzzApply: whatever a damaged log or snapshot holds is refused, or makes a fabric that can be walked.
func FuzzApply(f *testing.F) {
	of := fabric(f, "hybrid:racks=3,hosts=1,spines=2")
	f.Add(int32(6), int32(0), int32(1), int32(4), int32(5), int64(1e9))
	f.Add(int32(6), int32(0), int32(1<<30), int32(4), int32(5), int64(1e9))
	f.Fuzz(func(t *testing.T, gone, from, fromPort, to, toPort int32, rate int64) {
		is, err := cabling.Apply(of, pathmap.Cabling{Unplugged: []pathmap.LinkID{pathmap.LinkID(gone)},
			Plugged: []pathmap.Cable{{From: pathmap.NodeID(from), FromPort: fromPort,
				To: pathmap.NodeID(to), ToPort: toPort,
				Rate: pathmap.BitsPerSecond(rate)}}})
		if err != nil {
			return
		}
		if _, err := is.PathMap(2, 1); err != nil || is.Topology.Ports(0) > 1<<15 {
			t.Error(err, is.Topology.Ports(0))
		}
	})
}
