package state_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

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
