package state_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/pathmap/cabling"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// racksState is the state of four racks of two hosts, the last without a port on the optical switch.
func racksState(t *testing.T) *state.State {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 4, Ports: 3})
	if err != nil {
		t.Fatal(err)
	}
	return state.New(f)
}

func ring(name string, st torus.State, racks ...int32) state.Entry {
	return state.Entry{Kind: state.SliceSet, At: time.Second, Planning: state.Planning{Slice: &state.Slice{
		Slice: torus.Slice{Name: name, Shape: torus.Box(len(racks), 1, 1), State: st, Reason: torus.JustAsked, Ring: racks},
		Owner: "ann", Request: "r1", Asked: time.Second, Since: time.Second, Readied: state.Unset,
		Hosts: []int32{0}}}}
}

// TestFrozenRing: what level 9 adds, slices of hosts, is written as it was, and refused by a cluster of a lower level.
func TestFrozenRing(t *testing.T) {
	batch := []state.Entry{ring("a", torus.Activating, 0, 2)}
	b, err := state.Encode(batch)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := state.Decode(b); err != nil || !reflect.DeepEqual(back, batch) {
		t.Errorf("%s is read as %+v, %v", b, back, err)
	}
	golden(t, "level9-rings.jsonl", append(b, '\n'))
	for level, taken := range map[state.Level]bool{8: false, 9: true} {
		s := racksState(t)
		apply(t, s, state.Entry{Kind: state.ClusterFounded, Cluster: &state.Cluster{Epoch: 1, Level: level}})
		if err := s.Apply(&batch[0]); (err == nil) != taken || err != nil && !errors.Is(err, state.ErrLevel) {
			t.Errorf("level %d: %v", level, err)
		}
	}
}

// TestRingsTakePorts: a ring that does not wait has the ports of its racks for itself, and snapshots hold it.
func TestRingsTakePorts(t *testing.T) {
	s := racksState(t)
	apply(t, s, ring("a", torus.Activating, 0, 2), ring("b", torus.Pending, 1, 2), ring("c", torus.Ready, 1))
	if s.SliceCircuit(0) != 2 || s.SliceCircuit(2) != 0 || s.SliceCircuit(1) != southbound.NoPort {
		t.Errorf("ports lead to %d, %d and %d", s.SliceCircuit(0), s.SliceCircuit(2), s.SliceCircuit(1))
	}
	clash := ring("b", torus.Activating, 1, 2)
	if err := s.Apply(&clash); !errors.Is(err, state.ErrConflict) {
		t.Errorf("a port of another: %v", err)
	}
	snap, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := racksState(t)
	if err := again.Restore(snap); err != nil || again.Digest() != s.Digest() || again.SliceCircuit(0) != 2 {
		t.Fatalf("%v, leads to %d", err, again.SliceCircuit(0))
	}
	for what, lie := range map[string]func(all []state.Slice){
		"a port of another": func(all []state.Slice) { all[1].State = torus.Ready },
		"two of one name":   func(all []state.Slice) { all[1].Name = "a" },
		"no such rack":      func(all []state.Slice) { all[1].Ring[0] = 4 },
		"no such host":      func(all []state.Slice) { all[1].Hosts[0] = 8 },
		"no state":          func(all []state.Slice) { all[1].State = "Perfect" },
		"cubes":             func(all []state.Slice) { all[1].Cubes = []int{1} },
	} {
		var d state.Data
		if err := json.Unmarshal(snap, &d); err != nil {
			t.Fatal(err)
		}
		lie(d.Slices)
		bad, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := racksState(t).Restore(bad); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
	apply(t, s, state.Entry{Kind: state.SliceDeleted, Request: "a"}, clash)
	if s.SliceCircuit(0) != southbound.NoPort || s.SliceCircuit(1) != 2 || s.SliceOwner(0, 1) != "b" {
		t.Errorf("ports lead to %d and %d", s.SliceCircuit(0), s.SliceCircuit(1))
	}
}

func TestBadRings(t *testing.T) {
	for _, tt := range []struct {
		entry state.Entry
		want  string
	}{
		{ring("a", torus.Pending, 0, 0), "rack 0 is there twice"},
		{ring("a", torus.Pending, 0, 3), "tor3 has no port on the optical switch"},
		{ring("a", torus.Pending, 0, 9), "there is no rack 9"},
		{ring("A", torus.Pending, 0), "small letters"},
		{ring("a", torus.Pending), "a ring of 0 racks"},
	} {
		if tt.entry.Slice.Ring == nil {
			tt.entry.Slice.Ring = []int32{}
		}
		if err := racksState(t).Apply(&tt.entry); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.entry.Slice.Ring, err, tt.want)
		}
	}
	apply(t, racksState(t), ring("alone", torus.Pending, 3)) // it needs no circuit
	pod := podState(t)
	e := ring("a", torus.Pending, 0, 1)
	if err := pod.Apply(&e); !errors.Is(err, state.ErrNoRings) {
		t.Errorf("a ring of a pod: %v", err)
	}
}

// TestRingOverAddedRack: a rack that was added can be in a ring, and a snapshot from before leads to the same state.
func TestRingOverAddedRack(t *testing.T) {
	s := clustered(t, state.Newest)
	apply(t, s, ring("a", torus.Ready, 0, 1), grown(t, s, "tor4", "h4-0"))
	b, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	restored := state.New(fabric(t))
	if err := restored.Restore(b); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*state.State{s, restored} {
		apply(t, s, ring("b", torus.Activating, 2, 4))
		if s.SliceCircuit(4) != 2 || s.SliceOwner(0, 1) != "a" {
			t.Errorf("port 4 leads to %d, port 0 is of %q", s.SliceCircuit(4), s.SliceOwner(0, 1))
		}
	}
	if s.Digest() != restored.Digest() {
		t.Error("digests differ")
	}
}

// TestRingKeepsCables: the cable of a ring's rack stays, whether the ring waits, is being joined or has failed.
func TestRingKeepsCables(t *testing.T) {
	for _, st := range torus.States() {
		s := clustered(t, state.Newest)
		apply(t, s, ring("a", st, 0, 1), recable(t, s, cabling.Plug{From: "tor2:4"}))
		before := s.Digest()
		e := recable(t, s, cabling.Plug{From: "tor1:4"})
		want := `links: slice "a": tor1 has no port on the optical switch: delete the slice first`
		if err := s.Apply(&e); err == nil || !strings.Contains(err.Error(), want) || s.Digest() != before {
			t.Errorf("%s: %v", st, err)
		}
		apply(t, s, state.Entry{Kind: state.SliceDeleted, Request: "a"}, e)
	}
}

// switchesState is the state of five racks of one host under three optical switches.
func switchesState(t *testing.T) *state.State {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 5, Hosts: 1, OCSes: 3})
	if err != nil {
		t.Fatal(err)
	}
	return state.New(f)
}

func racks(name string, st torus.State, racks []int32, planes ...[]int32) state.Entry {
	return state.Entry{Kind: state.SliceSet, At: time.Second, Planning: state.Planning{Slice: &state.Slice{
		Slice: torus.Slice{Name: name, Shape: torus.RackShape(3, 2), State: st, Reason: torus.SettingCircuits, Ring: racks,
			Planes: planes}, Owner: "ann", Request: "r1", Asked: time.Second, Since: time.Second, Readied: state.Unset}}}
}

// TestFrozenRacks: what level 11 adds, slices of racks over several switches, is written as it was, and refused by a
// cluster of a lower level. They take ports of their planes, and join no racks that others join.
func TestFrozenRacks(t *testing.T) {
	a := racks("a", torus.Activating, []int32{0, 2, 4}, []int32{0, 0, 0}, []int32{1, 1, 2})
	batch := []state.Entry{a, racks("b", torus.Pending, nil)}
	b, err := state.Encode(batch)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := state.Decode(b); err != nil || !reflect.DeepEqual(back, batch) {
		t.Errorf("%s is read as %+v, %v", b, back, err)
	}
	golden(t, "level11-racks.jsonl", append(b, '\n'))
	for level, taken := range map[state.Level]bool{10: false, 11: true} {
		s := switchesState(t)
		apply(t, s, state.Entry{Kind: state.ClusterFounded, Cluster: &state.Cluster{Epoch: 1, Level: level}})
		if err := s.Apply(&batch[0]); (err == nil) != taken || err != nil && !errors.Is(err, state.ErrLevel) {
			t.Errorf("level %d: %v", level, err)
		}
	}
	s := switchesState(t)
	badNamed(t, batch[1])
	apply(t, s, batch...)
	for in, out := range map[southbound.Port]southbound.Port{0: 2, 5: 9, 7: 5, 14: 12, 1: southbound.NoPort} {
		if got := s.SliceCircuit(in); got != out {
			t.Errorf("port %d leads to %d, want %d", in, got, out)
		}
	}
	if !s.SliceJoins(0, 2) || s.SliceJoins(0, 1) || s.SliceOwner(3, 9) != "a" {
		t.Error("pairs and ports are wrong")
	}
	for want, bad := range map[string]state.Entry{
		"joins racks of it":                 racks("c", torus.Ready, []int32{0, 2, 1}, []int32{2, 2, 2}, []int32{0, 0, 0}),
		"holds a port":                      racks("c", torus.Ready, []int32{0, 1, 3}, []int32{0, 0, 0}, []int32{2, 2, 2}),
		"it has racks, or has none":         racks("c", torus.Pending, []int32{0, 1, 3}, []int32{0, 0, 0}, []int32{1, 1, 1}),
		"rack 1 is there twice":             racks("c", torus.Ready, []int32{0, 1, 1}, []int32{0, 0, 0}, []int32{1, 1, 1}),
		"there is no rack 7":                racks("c", torus.Ready, []int32{0, 1, 7}, []int32{0, 0, 0}, []int32{1, 1, 1}),
		"3 racks with 1 circuits each":      racks("c", torus.Ready, []int32{0, 1, 3}, []int32{0, 0, 0}),
		"lane 1 has 2 circuits":             racks("c", torus.Ready, []int32{0, 1, 3}, []int32{0, 0, 0}, []int32{1, 1}),
		"from rack 0 to rack 1 at plane 3":  racks("c", torus.Ready, []int32{0, 1, 3}, []int32{3, 0, 0}, []int32{1, 1, 1}),
		"from rack 0 to rack 3 at plane 0":  racks("c", torus.Ready, []int32{0, 1, 3}, []int32{0, 0, 0}, []int32{0, 1, 1}),
		"from rack 0 to rack 1 at plane -1": racks("c", torus.Ready, []int32{0, 1, 3}, []int32{-1, 0, 0}, []int32{1, 1, 1}),
	} {
		if err := s.Apply(&bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	snap, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := switchesState(t)
	if err := again.Restore(snap); err != nil || again.Digest() != s.Digest() || again.SliceCircuit(5) != 9 {
		t.Errorf("read back: %v", err)
	}
	for from, to := range map[string]string{`"planes":[[0,0,0],[1,1,2]]`: `"planes":[[0,0,0],[0,1,2]]`,
		`"racks=3,circuits=2","state":"Pending"`: `"racks=3,circuits=2","state":"Ready"`} {
		bad := strings.Replace(string(snap), from, to, 1)
		if bad == string(snap) || switchesState(t).Restore([]byte(bad)) == nil {
			t.Errorf("%s is taken", to)
		}
	}
	apply(t, s, state.Entry{Kind: state.SliceDeleted, Request: "a"})
	if s.SliceCircuit(5) != southbound.NoPort || s.SliceJoins(0, 2) {
		t.Error("ports are left")
	}
}

// badNamed: racks that a waiting slice names are racks of the fabric, each once, as many as its shape has. A Failed one
// may name what it was refused for.
func badNamed(t *testing.T, e state.Entry) {
	t.Helper()
	waits := *e.Slice
	for _, tt := range []struct {
		shape torus.Shape
		named []int
		want  string
	}{
		{torus.RackShape(3, 2), []int{0, 1, 99}, "there is no rack 99"},
		{torus.RackShape(3, 2), []int{0, 1, -1}, "there is no rack -1"},
		{torus.RackShape(3, 2), []int{0, 1, 1 << 32}, "there is no rack 4294967296"},
		{torus.RackShape(3, 2), []int{0, 1, 1}, "rack 1 is named twice"},
		{torus.RackShape(3, 2), []int{0, 1}, "it names 2 racks"},
		{torus.RackShape(3, 2), []int{}, "it names 0 racks"},
		{torus.RackShape(3, 0), nil, "no circuits"},
		{torus.RackShape(2, 2), nil, "it has 1 others"},
		{torus.RackShape(1500, 1), nil, "more than 1024 racks"},
	} {
		x := waits
		x.Shape, x.Cubes = tt.shape, tt.named
		e.Slice = &x
		s := switchesState(t)
		if err := s.Apply(&e); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s of %v: %v, want %q", tt.shape, tt.named, err, tt.want)
		}
		if x.State = torus.Failed; len(tt.named) != 0 {
			apply(t, s, e)
		}
	}
	e.Slice.Shape, e.Slice.Cubes, e.Slice.State = torus.RackShape(2, 2), nil, torus.Ready
	e.Slice.Ring, e.Slice.Planes = []int32{0, 1}, [][]int32{{0, 0}, {1, 1}}
	if err := switchesState(t).Apply(&e); err == nil || !strings.Contains(err.Error(), "it has 1 others") {
		t.Errorf("a rack joined to itself: %v", err)
	}
}

// TestRacksNow: each port that is down or drained, and each of a switch that is away, is dark at its rack and plane. A
// slice that waits for one of them is told so.
func TestRacksNow(t *testing.T) {
	for _, spec := range []topo.Spec{
		{Kind: topo.Hybrid, Racks: 5, Hosts: 1, OCSes: 3},
		{Kind: topo.Hybrid, Racks: 5, Hosts: 1, OCSes: 2, Waves: 2},
		{Kind: topo.Hybrid, Racks: 6, Hosts: 1, Layout: topo.Layout{Rails: 2}},
		{Kind: topo.Hybrid, Racks: 5, Hosts: 1, Ports: 3},
	} {
		f, err := topo.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		for p := range int32(f.OCSPorts()) {
			d, port := f.OCSAt(p)
			if port < 0 || f.OCSUplink[p] < 0 {
				continue
			}
			s, want := state.New(f), controller.RacksOf(f)
			none := func(southbound.DeviceID) bool { return false }
			apply(t, s, state.Entry{Kind: state.PortSeen, At: time.Second, Device: d, Port: southbound.Port(port)},
				state.Entry{Kind: state.PortSeen, At: time.Second, Device: f.ToRNode[0], Port: 0})
			want.SetDark(f.OCSRack(p), int(p)/f.Racks)
			if !s.RacksNow(nil, none).SameState(want) {
				t.Errorf("%s: port %d of switch %d, %d of the fabric", spec, port, d, p)
			}
		}
	}
	s := switchesState(t)
	waits := racks("a", torus.Pending, nil)
	waits.Slice.Shape = torus.RackShape(4, 3)
	apply(t, s, waits)
	x, _ := s.Slice("a")
	if why := s.WhySlice(&x, nil); why != "there is room" {
		t.Error(why)
	}
	want := "it does not fit while racks, ports or optical switches are away, whatever ends"
	if why := s.WhySlice(&x, nil, s.Fabric().OCSNode+1); why != want {
		t.Error(why)
	}
}

// BenchmarkRacksNow is what every step of a leader costs that has slices of racks of 256 racks under 16 switches, of
// which 256 ports are down.
func BenchmarkRacksNow(b *testing.B) {
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 256, Hosts: 1, OCSes: 16})
	if err != nil {
		b.Fatal(err)
	}
	s := state.New(f)
	for p := range int32(256) {
		d, port := f.OCSAt(p * 16)
		if err := s.Apply(&state.Entry{Kind: state.PortSeen, Device: d, Port: southbound.Port(port)}); err != nil {
			b.Fatal(err)
		}
	}
	none := func(southbound.DeviceID) bool { return false }
	b.Run("racks", func(b *testing.B) {
		for b.Loop() {
			s.RacksNow(nil, none)
		}
	})
	b.Run("reserver", func(b *testing.B) {
		for b.Loop() {
			for p := range southbound.Port(f.OCSPorts()) {
				s.Reserver(p, p)
			}
		}
	})
}
