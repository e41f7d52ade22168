package rollout_test

import (
	"testing"

	"lightloom/controller/rollout"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestDefaultPorts: at a ToR a packet without a known tag leaves by the port of path 0, which need not
// be the lowest that leads down; elsewhere by the lowest.
func TestDefaultPorts(t *testing.T) {
	t.Run("four paths", func(t *testing.T) { testDefaultPorts(t, 4) })
	t.Run("one", func(t *testing.T) { testDefaultPorts(t, 1) })
}

func testDefaultPorts(t *testing.T, paths int) {
	f, b := fabric(t, "hybrid:racks=6,hosts=1,spines=4", paths)
	m, err := f.PathMap(paths, 1)
	if err != nil {
		t.Fatal(err)
	}
	deflt := func(d southbound.DeviceID, dst int) southbound.Port {
		for _, r := range b.Rules(d, dark(f.Racks)) {
			if r.Dst == southbound.RackID(dst) && r.Tag == southbound.AnyTag && r.Src == southbound.AnyRack {
				return r.Primary
			}
		}
		return southbound.NoPort
	}
	higher := 0
	for s := range f.Racks {
		for d := range f.Racks {
			if s == d {
				continue
			}
			var first []southbound.Port
			for i := range m.Paths(s, d) {
				first = append(first, southbound.Port(f.Topology.Link(m.AppendPath(nil, s, d, i)[0]).FromPort))
			}
			if got := deflt(f.ToRNode[s], d); got != first[0] {
				t.Errorf("rack %d to %d: the default is port %d, paths leave by %v", s, d, got, first)
			}
			if first[0] > 1 { // port 0 is the host's
				higher++
			}
		}
	}
	if higher == 0 {
		t.Error("every path 0 leaves by the lowest port: the fabric tells nothing")
	}
	for n, node := range f.Topology.Nodes() {
		for d := range f.Racks {
			if node.Role != pathmap.Switch {
				continue
			}
			want := southbound.NoPort
			for _, l := range f.Topology.Out(pathmap.NodeID(n)) {
				if p := southbound.Port(f.Topology.Link(l).FromPort); f.Topology.Link(l).To == f.ToRNode[d] &&
					(want == southbound.NoPort || p < want) {
					want = p
				}
			}
			if got := deflt(southbound.DeviceID(n), d); got != want {
				t.Errorf("%s to rack %d: the default is port %d, want %d", node.Name, d, got, want)
			}
		}
	}
}

// TestBackupsOfUplinks: where there are other spines a dark uplink of a ToR loses no packet of whatever
// tag, before any table is changed.
func TestBackupsOfUplinks(t *testing.T) {
	for _, spec := range []string{"leafspine:racks=4,hosts=1,spines=3", "hybrid:racks=5,hosts=2,spines=4"} {
		f, b := fabric(t, spec, 3)
		x := tables(f, b, dark(f.Racks))
		tried := 0
		for s := range f.Racks {
			for _, l := range f.Topology.Out(f.ToRNode[s]) {
				if f.Topology.Node(f.Topology.Link(l).To).Role != pathmap.Switch {
					continue
				}
				x.Dark = make([]bool, len(f.Topology.Links()))
				x.Dark[l] = true
				for d := range f.Racks {
					for tag := southbound.TagDefault; tag < southbound.Tags && s != d; tag++ {
						if way, err := x.Walk(southbound.RackID(s), southbound.RackID(d), tag); err != nil ||
							len(way) != 2 {
							t.Errorf("%s: without link %d: %v, %v", spec, l, way, err)
						}
						tried++
					}
				}
			}
		}
		if tried == 0 {
			t.Errorf("%s: no uplink", spec)
		}
	}
}

// TestCheckWalksEveryPath: where more paths are kept than packets have tags for, Check walks the last
// of them, too.
func TestCheckWalksEveryPath(t *testing.T) {
	const spec = "fattree:k=4,paths=9"
	f, b := fabric(t, spec, 9)
	if f.Spec.PathsKept() != 9 {
		t.Fatalf("%d paths are kept", f.Spec.PathsKept())
	}
	if err := rollout.Check(tables(f, b, dark(f.Racks))); err != nil {
		t.Fatal(err)
	}
	for i := 6; i < 9; i++ {
		x := tables(f, b, dark(f.Racks))
		tor := f.ToRNode[0]
		host := southbound.Port(f.Topology.Link(pathmap.Reverse(f.Topology.Out(f.HostNode[0])[0])).FromPort)
		wrong := southbound.Rule{Match: southbound.Match{Dst: 1, Tag: southbound.PathTag(i), Src: 0},
			Primary: host,
			Backup:  southbound.NoPort}
		x.Rules[tor] = apply(x.Rules[tor], &southbound.Change{Rules: []southbound.Rule{wrong}})
		if err := rollout.Check(x); err == nil {
			t.Errorf("path %d leads into a host, and nothing is found", i)
		}
	}
}
