package loop_test

import (
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// watching is a policy that keeps the links of its views.
type watching struct {
	changed [][]bool
	touched [][]pathmap.Pair
}

func (*watching) Wants() controller.KindSet             { return controller.Kinds(controller.FabricChanged) }
func (*watching) Capabilities() controller.Capabilities { return controller.Capabilities{} }
func (w *watching) Decide(v *controller.View, _ []controller.Event) *controller.Plan {
	w.changed, w.touched = append(w.changed, slices.Clone(v.Changed)), append(w.touched,
		slices.Clone(v.Touched))
	return &controller.Plan{Wake: southbound.Never}
}

// TestTouchedPairs: a port of a ToR goes dark and comes back. Both times the next decision sees the
// pairs of racks that have a path over its cable, and no later one does.
func TestTouchedPairs(t *testing.T) {
	spec, err := topo.ParseSpec("leafspine:racks=4,hosts=1,spines=2")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	index, err := f.Follow(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, w := state.New(f), &watching{}
	l := loop.New(f, loop.Config{Policy: w, Paths: index.Map(), Index: index})
	step := func(in loop.Inputs) {
		t.Helper()
		for {
			entries, _, wake := l.Step(s, 0, in)
			if err := s.ApplyAll(entries); err != nil {
				t.Fatal(err)
			}
			if in = (loop.Inputs{}); wake > 0 {
				return
			}
		}
	}
	step(loop.Inputs{})
	w.touched = nil
	tor := f.ToRNode[1]
	port := southbound.Port(f.Topology.Link(index.Map().AppendPath(nil, 1, 0, 0)[0]).FromPort)
	want := []pathmap.Pair{{A: 0, B: 1}, {A: 1, B: 2}, {A: 1, B: 3}}
	for _, kind := range []southbound.DeviceEventKind{southbound.PortDown, southbound.PortUp} {
		step(loop.Inputs{Devices: []southbound.DeviceEvent{{Device: tor, Kind: kind, In: port}}})
		if len(w.touched) != 1 || !slices.Equal(w.touched[0], want) {
			t.Errorf("after event %v decisions see %v, want %v once", kind, w.touched, want)
		}
		w.touched, w.changed = nil, nil
		for _, of := range []southbound.EventKind{southbound.HostLost, southbound.HostFound} { // another change
			step(loop.Inputs{Events: []southbound.Event{{Kind: of, Host: 3}}})
		}
		if len(w.touched) != 2 || w.touched[0] != nil || w.touched[1] != nil || w.changed[0] != nil ||
			w.changed[1] != nil {
			t.Errorf("decisions after event %v has been seen see %v and %v", kind, w.touched, w.changed)
		}
		w.touched = nil
	}
}
