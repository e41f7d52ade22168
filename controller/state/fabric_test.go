package state_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/cabling"
	"lightloom/southbound"
)

// node returns the node of that name.
func node(t *testing.T, s *state.State, name string) pathmap.NodeID {
	t.Helper()
	for i, n := range s.Fabric().Topology.Nodes() {
		if n.Name == name {
			return pathmap.NodeID(i)
		}
	}
	t.Fatalf("no node %s", name)
	return 0
}

// change is the entry of the next generation, in which those nodes are drained.
func change(t *testing.T, s *state.State, policy string, drained ...string) state.Entry {
	c := controller.FabricChange{Generation: s.Change().Generation + 1, Policy: policy}
	for _, name := range drained {
		c.Drained = append(c.Drained, node(t, s, name))
	}
	slices.Sort(c.Drained)
	return state.Entry{Kind: state.FabricChanged, At: time.Second, Cluster: &state.Cluster{Fabric: &c}}
}

func clustered(t *testing.T, level state.Level) *state.State {
	s := state.New(fabric(t))
	apply(t, s, state.Entry{Kind: state.ClusterFounded, Cluster: &state.Cluster{Epoch: 1, Level: level}})
	return s
}

// TestFabricChanges: what is drained gets no new tasks, routes or circuits, what is there goes on, and all of it
// outlives a snapshot. Undrained, everything is as it was.
func TestFabricChanges(t *testing.T) {
	s := clustered(t, 4)
	plain := controller.View{}
	s.FillView(&plain, nil)
	free := append([]int32{}, plain.Free...)
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: shuffle(), Request: "a"},
		state.Entry{Kind: state.Placed, At: 1,
			Placement: &controller.Placement{Hosts: []southbound.HostID{0, 2, 4}}})
	apply(t, s, change(t, s, "random+ecmp", "h0-1", "tor1", "spine1"))
	b, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := state.New(fabric(t))
	if err := again.Restore(b); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*state.State{s, again} {
		v := controller.View{}
		s.FillView(&v, nil)
		if want := []int32{1, 0, 0, 0, 1, 2, 2, 2}; !cmp.Equal(v.Free, want) {
			t.Errorf("free slots %v, want %v", v.Free, want)
		}
		for l := range v.Down {
			at := s.Fabric().Topology.Link(pathmap.LinkID(l))
			spine := node(t, s, "spine1")
			if v.Down[l] != (at.From == spine || at.To == spine) {
				t.Errorf("link %d→%d is down: %v", at.From, at.To, v.Down[l])
			}
		}
		if c := s.Change(); c.Generation != 1 || c.Policy != "random+ecmp" || len(c.Drained) != 3 {
			t.Errorf("%+v", c)
		}
		apply(t, s, state.Entry{Kind: state.JobAccepted, Job: shuffle(), Request: "b"})
		if err := s.Apply(&state.Entry{Kind: state.Placed, At: 2, Placement: &controller.Placement{Job: 1,
			Hosts: []southbound.HostID{5, 5, 1}}}); err == nil ||
			!strings.Contains(err.Error(), "host 1 is drained") {
			t.Errorf("placed on a drained host: %v", err)
		}
		apply(t, s, state.Entry{Kind: state.StageStarted, At: 3, JobID: 0, Stage: 0})
		apply(t, s, change(t, s, ""))
		apply(t, s, state.Entry{Kind: state.JobCancelled, At: 4, JobID: 0})
		if s.FillView(&v, nil); !cmp.Equal(v.Free, free) || v.Down != nil || s.Change().Policy != "" {
			t.Errorf("undrained: %v, %v", v.Free, v.Down)
		}
	}
}

// replaced is the entry of the next generation, in which another device is in the place of each of those.
func replaced(t *testing.T, s *state.State, names ...string) state.Entry {
	c := s.Change()
	c.Generation++
	for _, name := range names {
		c.Devices = append(c.Devices, controller.DeviceRecord{Node: node(t, s, name), Record: "name: " + name})
	}
	return state.Entry{Kind: state.FabricChanged, At: time.Second, Cluster: &state.Cluster{Fabric: &c}}
}

// TestDevicesReplaced: packet switches are replaced as they are, an optical switch only without circuits or drained.
func TestDevicesReplaced(t *testing.T) {
	lit := func(s *state.State) {
		apply(t, s, state.Entry{Kind: state.CircuitReserved,
			CircuitReservation: &controller.CircuitReservation{Out: 2,
				NotAfter: time.Second, Coflow: controller.AnyCoflow}}, state.Entry{Kind: state.CircuitReservationBegun},
			state.Entry{Kind: state.CircuitIntended, Out: 2})
	}
	for _, tt := range []struct {
		name   string
		before func(*state.State)
		nodes  []string
		want   string
	}{
		{"packet switches", lit, []string{"tor0", "spine1"}, ""},
		{"an optical switch without circuits", nil, []string{"ocs"}, ""},
		{"one with circuits", lit, []string{"ocs"}, "circuit 0→2 is lit: drain it first, with drain: [ocs]"},
		{"one with circuits, drained", func(s *state.State) {
			lit(s)
			apply(t, s, state.Entry{Kind: state.CircuitReservationEnded, At: time.Second}, change(t, s, "", "ocs"))
		}, []string{"ocs"}, ""},
		{"a host", nil, []string{"h0-0"}, "replace h0-0: it is a host"},
		{"out of order", nil, []string{"spine1", "tor0"}, "out of order"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := clustered(t, 4)
			if tt.before != nil {
				tt.before(s)
			}
			e := replaced(t, s, tt.nodes...)
			slices.SortFunc(e.Cluster.Fabric.Devices, func(a, b controller.DeviceRecord) int {
				if tt.name == "out of order" {
					a, b = b, a
				}
				return int(a.Node) - int(b.Node)
			})
			was := s.Change()
			err := s.Apply(&e)
			if tt.want == "" && err != nil || tt.want != "" &&
				(err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if got := s.Change(); err == nil && len(got.Replaced(&was)) != len(tt.nodes) || err != nil &&
				!cmp.Equal(got, was) {
				t.Errorf("%+v after %+v", got, was)
			}
		})
	}
}

// TestOpticalSwitchInUse: one that is drained while a circuit is in use is neither removed nor replaced before the
// circuit is done with, and may be as soon as it is, in one step with the drain or after it.
func TestOpticalSwitchInUse(t *testing.T) {
	s := clustered(t, 5)
	ocs := []pathmap.NodeID{node(t, s, "ocs")}
	apply(t, s, state.Entry{Kind: state.CircuitReserved,
		CircuitReservation: &controller.CircuitReservation{Out: 2,
			NotAfter: time.Second, Coflow: controller.AnyCoflow}}, state.Entry{Kind: state.CircuitReservationBegun})
	other := []controller.DeviceRecord{{Node: ocs[0], Record: "name: ocs"}}
	try := func(c controller.FabricChange, want string) {
		t.Helper()
		c.Generation = s.Change().Generation + 1
		err := s.Apply(&state.Entry{Kind: state.FabricChanged, At: time.Second,
			Cluster: &state.Cluster{Fabric: &c}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	try(controller.FabricChange{Drained: ocs, Devices: other}, "replace ocs: circuit 0→2 is in use until 1s")
	try(controller.FabricChange{Drained: ocs}, "")
	try(controller.FabricChange{Drained: ocs, Removed: ocs}, "remove ocs: circuit 0→2 is in use until 1s")
	try(controller.FabricChange{Drained: ocs, Devices: other}, "replace ocs: circuit 0→2 is in use until 1s")
	if r, ok := s.Holding(0); !ok || r.Out != 2 {
		t.Errorf("the circuit in use has been cut: %+v", r)
	}
	apply(t, s, state.Entry{Kind: state.CircuitReservationEnded, At: time.Second})
	try(controller.FabricChange{Drained: ocs, Devices: other}, "")
	try(controller.FabricChange{Drained: ocs, Devices: other, Removed: ocs}, "")
}

// TestDevicesRemoved: what is drained is removed and added again under the id that it had, and goes back into service
// afterwards; in any other order it is refused with what to do first.
func TestDevicesRemoved(t *testing.T) {
	s := clustered(t, 4)
	step := func(want string, drained, removed []string) {
		t.Helper()
		e := change(t, s, "", drained...)
		for _, name := range removed {
			e.Cluster.Fabric.Removed = append(e.Cluster.Fabric.Removed, node(t, s, name))
		}
		slices.Sort(e.Cluster.Fabric.Removed)
		err := s.Apply(&e)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("drained %v, removed %v: %v, want %q", drained, removed, err, want)
		}
	}
	one, none := []string{"spine1"}, []string{}
	step("spine1 is removed: leave it in drain", none, one)
	step("remove spine1: traffic may cross it: drain it first, with drain: [spine1]", one, one)
	step("", one, none)
	step("", []string{"spine1", "tor0"}, one)
	step("remove tor0: a rack's own hosts and switch stay", []string{"spine1", "tor0"},
		[]string{"spine1", "tor0"})
	b, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := state.New(fabric(t))
	if err := again.Restore(b); err != nil || !cmp.Equal(again.Change(), s.Change()) {
		t.Errorf("%+v, %v", again.Change(), err)
	}
	step("spine1 is removed: leave it in drain", none, one)
	step("add spine1: it gets its tables first: leave it in drain", none, none)
	step("", one, none)
	step("", none, none)
	if c := s.Change(); c.Generation != 4 || c.Removed != nil || c.Drained != nil {
		t.Errorf("%+v", c)
	}
}

// TestFabricRefusals: what would cut something is refused, says what, and changes nothing.
func TestFabricRefusals(t *testing.T) {
	busy := func(s *state.State) {
		apply(t, s, state.Entry{Kind: state.CircuitReserved,
			CircuitReservation: &controller.CircuitReservation{Out: 2,
				NotAfter: time.Second, Coflow: controller.AnyCoflow}}, state.Entry{Kind: state.CircuitReservationBegun})
	}
	held := func(s *state.State) {
		links, way := []pathmap.LinkID{}, []string{"h0-0", "tor0", "spine1", "tor1", "h1-0"}
		for i, name := range way[1:] {
			for _, l := range s.Fabric().Topology.Out(node(t, s, way[i])) {
				if s.Fabric().Topology.Link(l).To == node(t, s, name) {
					links = append(links, l)
				}
			}
		}
		apply(t, s, state.Entry{Kind: state.BandwidthReserved, Request: "r", BandwidthReservation: &controller.
			BandwidthReservation{Owner: "ann", Src: 0, Dst: 2, Rate: 1, Tag: 1, Links: links,
			Until: southbound.Never}})
	}
	dark := func(s *state.State) {
		at := s.Fabric().Topology.Link(s.Fabric().Topology.Out(node(t, s, "spine0"))[0])
		apply(t, s, state.Entry{Kind: state.PortSeen, Device: at.From, Port: southbound.Port(at.FromPort)})
	}
	for _, tt := range []struct {
		name    string
		level   state.Level
		before  func(*state.State)
		drained []string
		want    string
	}{
		{"a circuit in use", 4, busy, []string{"ocs"}, "circuit 0→2 is in use"},
		{"a circuit in use, which goes on", 5, busy, []string{"ocs"}, ""},
		{"reserved bandwidth", 4, held, []string{"spine1"}, `reservation 1 of "ann" crosses it`},
		{"the last spine", 4, nil, []string{"spine0", "spine1"}, "4 parts"},
		{"the last way of a rack", 4, dark, []string{"spine1"}, "2 parts"},
		{"every host", 4, nil, []string{"tor0", "tor1", "tor2", "tor3"}, "no host would be left"},
		{"an older cluster", 3, nil, []string{"h0-0"}, state.ErrLevel.Error()},
		{"an idle optical switch", 4, nil, []string{"ocs"}, ""},
		{"a spine with circuits and bandwidth elsewhere", 4, func(s *state.State) { busy(s); held(s) },
			[]string{"spine0", "tor0"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := clustered(t, tt.level)
			if tt.before != nil {
				tt.before(s)
			}
			before := s.Digest()
			e := change(t, s, "", tt.drained...)
			err := s.Apply(&e)
			if tt.want == "" && err != nil || tt.want != "" &&
				(err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if (s.Digest() == before) != (tt.want != "") {
				t.Error("what was refused has changed something, or what was not has not")
			}
			if err == nil {
				if err := s.Apply(&e); !errors.Is(err, state.ErrStale) {
					t.Errorf("again: %v", err)
				}
			}
		})
	}
	s := clustered(t, 4)
	for what, c := range map[string]controller.FabricChange{
		"a generation left out": {Generation: 2}, "a node that is none": {Generation: 1,
			Drained: []pathmap.NodeID{99}},
		"nodes out of order":    {Generation: 1, Drained: []pathmap.NodeID{3, 2}},
		"a name without bound":  {Generation: 1, Policy: strings.Repeat("x", 300)},
		"a device that is none": {Generation: 1, Devices: []controller.DeviceRecord{{Node: 99}}},
		"records without bound": {Generation: 1,
			Devices: []controller.DeviceRecord{{Record: strings.Repeat("x", 1<<20)}}},
	} {
		if err := s.Apply(&state.Entry{Kind: state.FabricChanged,
			Cluster: &state.Cluster{Fabric: &c}}); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}

// recable is the entry of the next generation, in which ports have other cables.
func recable(t *testing.T, s *state.State, all ...cabling.Plug) state.Entry {
	t.Helper()
	c := s.Change()
	c.Generation++
	var err error
	if c.Cabling, err = cabling.Next(s.Founded(), c.Cabling, all); err != nil {
		t.Fatal(err)
	}
	return state.Entry{Kind: state.FabricChanged, At: time.Second, Cluster: &state.Cluster{Fabric: &c}}
}

// TestCablesMoved: the fabric is the one with other cables at once, for all that read the state, after a snapshot, and
// for one that was restored without the entries; ports that lead nowhere any more are not dark.
func TestCablesMoved(t *testing.T) {
	s := clustered(t, 4)
	held := s.Fabric()
	apply(t, s, state.Entry{Kind: state.PortSeen, Device: node(t, s, "tor0"), Port: 2},
		state.Entry{Kind: state.PortSeen, Device: node(t, s, "spine0"), Port: 0},
		state.Entry{Kind: state.BandwidthReserved, Request: "r",
			BandwidthReservation: &controller.BandwidthReservation{
				Owner: "ann", Src: 0, Dst: 1, Rate: 7, Links: []pathmap.LinkID{0, 3}, Until: southbound.Never}},
		state.Entry{Kind: state.JobAccepted, Job: shuffle(), Request: "a"},
		recable(t, s, cabling.Plug{From: "tor0:2", To: "spine1:4"}, cabling.Plug{From: "tor1:4"}))
	b, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := state.New(fabric(t))
	if err := again.Restore(b); err != nil || again.Digest() != s.Digest() {
		t.Fatal(err, "or another digest")
	}
	for what, s := range map[string]*state.State{"applied": s, "restored": again} {
		f := s.Fabric()
		v := controller.View{}
		s.FillView(&v, nil)
		n := len(held.Topology.Links())
		if v.Fabric != f || len(f.Topology.Links()) != n+2 || len(v.Down) != n+2 ||
			len(v.ReservedBandwidth) != n+2 {
			t.Errorf("%s: %d links, %d can be down, bandwidth of %d", what, len(f.Topology.Links()), len(v.Down),
				len(v.ReservedBandwidth))
		}
		if l := f.Topology.OutPort(node(t, s, "tor0"), 2); int(l) != n ||
			f.Topology.Link(l).To != node(t, s, "spine1") {
			t.Errorf("%s: link %d is at tor0:2", what, l)
		}
		if down := s.Data().Down; len(down) != 1 || down[0].Device != node(t, s, "tor0") {
			t.Errorf("%s: dark are %v", what, down)
		}
		if f.OCSUplink[1] != pathmap.None || f.OCSUplink[0] == pathmap.None {
			t.Errorf("%s: uplinks %v", what, f.OCSUplink)
		}
		if err := s.CheckCircuitReservation(&controller.CircuitReservation{In: 1, Out: 2, NotAfter: 1,
			Coflow: controller.AnyCoflow}); err == nil {
			t.Errorf("%s: a circuit is reserved over a cable that is not there", what)
		}
		apply(t, s, recable(t, s, cabling.Plug{From: "tor1:4", To: "ocs:1", Rate: pathmap.Gbps}))
		if s.Fabric().OCSUplink[1] != 4 {
			t.Errorf("%s: uplinks %v", what, s.Fabric().OCSUplink)
		}
	}
	if s.Digest() != again.Digest() || len(held.Topology.Links()) == len(s.Fabric().Topology.Links()) {
		t.Error("replicas differ, or the founded fabric has changed")
	}
	if b, err = s.Snapshot(); err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(string(b), `"unplugged":[`, `"unplugged":[1,`, 1)
	if err := again.Restore([]byte(bad)); bad == string(b) || err == nil || again.Digest() != s.Digest() {
		t.Errorf("a snapshot with cables that are none is taken: %v", err)
	}
}

// TestCableRefusals: cables that carry what would be lost are not moved.
func TestCableRefusals(t *testing.T) {
	lit := func(s *state.State) {
		apply(t, s, state.Entry{Kind: state.CircuitReserved,
			CircuitReservation: &controller.CircuitReservation{Out: 2,
				NotAfter: time.Second, Coflow: controller.AnyCoflow}}, state.Entry{Kind: state.CircuitReservationBegun},
			state.Entry{Kind: state.CircuitIntended, Out: 2})
	}
	booked := func(s *state.State) {
		apply(t, s, state.Entry{Kind: state.CircuitReserved,
			CircuitReservation: &controller.CircuitReservation{Out: 2,
				NotBefore: time.Hour, NotAfter: 2 * time.Hour, Coflow: controller.AnyCoflow}})
	}
	held := func(s *state.State) {
		t := s.Fabric().Topology
		up := func(n pathmap.NodeID, port int32) pathmap.LinkID { return t.OutPort(n, port) }
		if err := s.Apply(&state.Entry{Kind: state.BandwidthReserved, Request: "r",
			BandwidthReservation: &controller.BandwidthReservation{Owner: "ann", Src: 0, Dst: 2, Rate: 1, Tag: 1,
				Links: []pathmap.LinkID{t.Out(s.Fabric().HostNode[0])[0], up(0, 3), pathmap.Reverse(up(1, 3)),
					pathmap.Reverse(t.Out(s.Fabric().HostNode[2])[0])}, Until: southbound.Never}}); err != nil {
			panic(err)
		}
	}
	moved := func(s *state.State) { apply(t, s, recable(t, s, cabling.Plug{From: "tor0:2", To: "spine1:4"})) }
	for _, tt := range []struct {
		name   string
		before func(*state.State)
		plug   []cabling.Plug
		want   string
	}{
		{"a circuit goes out there", lit, []cabling.Plug{{From: "tor0:4"}},
			"links: tor0:4 carries a circuit that is lit"},
		{"a circuit comes in there", lit, []cabling.Plug{{From: "tor2:4"}},
			"links: tor2:4 carries a circuit that is lit"},
		{"a circuit elsewhere", lit, []cabling.Plug{{From: "tor1:4"}}, ""},
		{"one to come", booked, []cabling.Plug{{From: "tor2:4"}}, "links: tor2:4 is reserved for circuits"},
		{"reserved bandwidth", held, []cabling.Plug{{From: "tor3:2", To: "spine1:9"}}, `reservation 1 of "ann"`},
		{"the last way of a rack", nil, []cabling.Plug{{From: "tor0:2"}, {From: "tor0:3"}}, "2 parts"},
		{"the last that is not drained", func(s *state.State) { apply(t, s, change(t, s, "", "spine1")) },
			[]cabling.Plug{{From: "tor0:2"}}, "2 parts"},
		{"after others", moved, []cabling.Plug{{From: "tor0:2", To: "spine0:0"}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := clustered(t, 4)
			if tt.before != nil {
				tt.before(s)
			}
			before, f := s.Digest(), s.Fabric()
			e := recable(t, s, tt.plug...)
			if err := s.Apply(&e); tt.want == "" && err != nil || tt.want != "" && (err == nil ||
				!strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if refused := tt.want != ""; (s.Digest() == before) != refused || (s.Fabric() == f) != refused {
				t.Error("what was refused has changed something, or what was not has not")
			}
		})
	}
	s := clustered(t, 4)
	moved(s)
	c := s.Change()
	c.Generation, c.Cabling = c.Generation+1, pathmap.Cabling{}
	if err := s.Apply(&state.Entry{Kind: state.FabricChanged,
		Cluster: &state.Cluster{Fabric: &c}}); err == nil ||
		!strings.Contains(err.Error(), "takes cables back") {
		t.Errorf("links are forgotten: %v", err)
	}
}

// TestBandwidthReservationForm: a reservation leads from one host of the fabric to another, by links that follow each
// other, and takes something.
func TestBandwidthReservationForm(t *testing.T) {
	s := state.New(fabric(t))
	way := func(names ...string) (links []pathmap.LinkID) {
		for i, name := range names[1:] {
			for _, l := range s.Fabric().Topology.Out(node(t, s, names[i])) {
				if s.Fabric().Topology.Link(l).To == node(t, s, name) {
					links = append(links, l)
				}
			}
		}
		return links
	}
	over := way("h0-0", "tor0", "h0-1")
	for _, tc := range []struct {
		name string
		p    controller.BandwidthReservation
		want string // in the error; empty: none
	}{
		{"as it should be", controller.BandwidthReservation{Src: 0, Dst: 1, Rate: 1, Links: over}, ""},
		{"from below the first host", controller.BandwidthReservation{Src: -1, Dst: 1, Rate: 1,
			Links: over}, "hosts 0 to 7"},
		{"from beyond the last host", controller.BandwidthReservation{Src: 8, Dst: 1, Rate: 1,
			Links: over}, "hosts 0 to 7"},
		{"to below the first host", controller.BandwidthReservation{Src: 0, Dst: -1, Rate: 1,
			Links: over}, "hosts 0 to 7"},
		{"to beyond the last host", controller.BandwidthReservation{Src: 0, Dst: 8, Rate: 1,
			Links: over}, "hosts 0 to 7"},
		{"to itself", controller.BandwidthReservation{Src: 1, Dst: 1, Rate: 1, Links: over}, "hosts 0 to 7"},
		{"of nothing", controller.BandwidthReservation{Src: 0, Dst: 1, Links: over}, "above zero"},
		{"over no link", controller.BandwidthReservation{Src: 0, Dst: 1, Rate: 1}, "on 0 links"},
		{"over no such link", controller.BandwidthReservation{Src: 0, Dst: 1, Rate: 1,
			Links: []pathmap.LinkID{1 << 20}},
			"link 1048576"},
		{"from elsewhere", controller.BandwidthReservation{Src: 2, Dst: 1, Rate: 1, Links: over},
			"does not go on"},
		{"to elsewhere", controller.BandwidthReservation{Src: 0, Dst: 2, Rate: 1, Links: over},
			"do not lead to host 2"},
		{"more than there is", controller.BandwidthReservation{Src: 0, Dst: 1, Rate: 1 << 50,
			Links: over}, "is left"},
	} {
		err := s.CheckBandwidthReservation(&tc.p, nil)
		if tc.want == "" && err != nil || tc.want != "" &&
			(err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}
