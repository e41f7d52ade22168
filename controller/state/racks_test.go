package state_test

import (
	"bytes"
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

// grown is the entry of the next generation, in which a rack of hosts is added with uplinks to both
// spines and the OCS.
func grown(t *testing.T, s *state.State, tor string, hosts ...string) state.Entry {
	t.Helper()
	c := s.Change()
	c.Generation++
	next, err := cabling.Grow(s.Founded(), c.Cabling, []cabling.Rack{{ToR: tor, Hosts: hosts}})
	if err != nil {
		t.Fatal(err)
	}
	var plugs []cabling.Plug
	for i, to := range []string{"spine0:", "spine1:", "ocs:"} {
		port := strings.TrimPrefix(tor, "tor")
		plugs = append(plugs, cabling.Plug{From: tor + ":" + string(rune('0'+len(hosts)+i)), To: to + port,
			Rate: pathmap.Gbps})
	}
	if c.Cabling, err = cabling.Next(s.Founded(), next, plugs); err != nil {
		t.Fatal(err)
	}
	return state.Entry{Kind: state.FabricChanged, At: 2 * time.Second, Cluster: &state.Cluster{Fabric: &c}}
}

// TestRacksAdded: racks come while a job sends over a circuit, which goes on. A job that is submitted
// afterwards runs on them, over circuits of theirs, and a replica that was restored from a snapshot at
// any point is the same as one that applied every entry, as is what others had frozen before.
func TestRacksAdded(t *testing.T) {
	var log []state.Entry
	for _, batch := range lifeOfAJob() {
		log = append(log, batch...)
	}
	log = log[:len(log)-2] // the second job waits
	log[0].Cluster.Level = state.Newest
	s, at := state.New(fabric(t)), 0
	play := func(entries ...state.Entry) {
		t.Helper()
		apply(t, s, entries...)
		log = append(log, entries...)
	}
	apply(t, s, log...)
	at = len(log)
	before := s.Freeze()
	image, err := before.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	play(grown(t, s, "tor4", "h4-0", "h4-1"))
	play(grown(t, s, "tor5", "h5-0"))
	v := controller.View{}
	if s.FillView(&v, nil); !cmp.Equal(v.Free[len(v.Free)-4:], []int32{0, 2, 2, 2}) || v.Fabric.Racks != 6 ||
		len(v.Circuits) != 6 || v.Circuits[0].Out != 2 {
		t.Errorf("free slots %v, circuits %v", v.Free, v.Circuits)
	}
	now := 3 * time.Second
	play(state.Entry{Kind: state.Placed, At: now, Placement: &controller.Placement{Job: 1,
		Hosts: []southbound.HostID{8, 10, 9}}},
		state.Entry{Kind: state.CircuitReserved, At: now,
			CircuitReservation: &controller.CircuitReservation{In: 5, Out: 4,
				NotBefore: now, NotAfter: 2 * now, Coflow: 1}},
		state.Entry{Kind: state.CircuitReservationBegun, At: now, Port: 5},
		state.Entry{Kind: state.CircuitIntended, At: now, Port: 5, Out: 4},
		state.Entry{Kind: state.HostSeen, At: now, Host: 10}, state.Entry{Kind: state.PortSeen, At: now,
			Device: node(t, s,
				"tor4"), Port: 3})
	if c := s.Circuit(5); c.Out != 4 || s.RackOf(9) != 4 || !s.Lost(10) {
		t.Errorf("%+v", c)
	}
	want := s.Digest()
	for cut := at; cut <= len(log); cut++ {
		other := state.New(fabric(t))
		apply(t, other, log[:cut]...)
		b, err := other.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		restored := state.New(fabric(t))
		if err := restored.Restore(b); err != nil {
			t.Fatal(err)
		}
		apply(t, other, log[cut:]...)
		apply(t, restored, log[cut:]...)
		if other.Digest() != want || restored.Digest() != want {
			t.Errorf("cut at %d: digests differ", cut)
		}
		a, b2 := controller.View{}, controller.View{}
		other.FillView(&a, nil)
		restored.FillView(&b2, nil)
		if !slices.Equal(a.Free, b2.Free) || !slices.Equal(a.VCPUs, b2.VCPUs) || !cmp.Equal(a.Down, b2.Down) ||
			!cmp.Equal(a.Circuits, b2.Circuits) {
			t.Errorf("cut at %d: views differ: %+v, %+v", cut, a, b2)
		}
	}
	if again, err := before.Snapshot(); err != nil || !bytes.Equal(again, image) {
		t.Error("what was frozen before has changed")
	}
}

// TestRackRefusals: what cannot be added, or goes again, is refused with the reason and changes nothing.
func TestRackRefusals(t *testing.T) {
	s := clustered(t, state.Newest)
	apply(t, s, grown(t, s, "tor4", "h4-0"))
	for _, tt := range []struct {
		name, want string
		edit       func(*controller.FabricChange)
	}{
		{"taken back", "takes cables back, or racks", func(c *controller.FabricChange) {
			c.Cabling.Added, c.Cabling.Plugged = nil, nil
		}},
		{"another name", "takes cables back, or racks", func(c *controller.FabricChange) {
			c.Cabling.Added = slices.Clone(c.Cabling.Added)
			c.Cabling.Added[1].Name = "x"
		}},
		{"a role that changes", "cannot follow", func(c *controller.FabricChange) {
			c.Cabling.Added = slices.Clone(c.Cabling.Added)
			c.Cabling.Added[1].Role = pathmap.OCS
		}},
		{"removed", "remove tor4: a rack's own hosts and switch stay: drain it",
			func(c *controller.FabricChange) {
				c.Drained = []pathmap.NodeID{node(t, s, "tor4")}
				c.Removed = c.Drained
			}},
		{"without uplinks", "they would be in 2 parts", func(c *controller.FabricChange) {
			next, err := cabling.Grow(s.Founded(), c.Cabling, []cabling.Rack{{ToR: "tor5", Hosts: []string{"h"}}})
			if err != nil {
				t.Fatal(err)
			}
			c.Cabling = next
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, c := s.Digest(), s.Change()
			c.Generation++
			tt.edit(&c)
			err := s.Apply(&state.Entry{Kind: state.FabricChanged, Cluster: &state.Cluster{Fabric: &c}})
			if err == nil || !strings.Contains(err.Error(), tt.want) || s.Digest() != before {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	c := s.Change()
	c.Generation++
	c.Drained = []pathmap.NodeID{node(t, s, "tor4"), node(t, s, "h4-0")}
	apply(t, s, state.Entry{Kind: state.FabricChanged, Cluster: &state.Cluster{Fabric: &c}})
	v := controller.View{}
	if s.FillView(&v, nil); v.Free[8] != 0 {
		t.Errorf("a drained host of a new rack has %d free slots", v.Free[8])
	}
}
