package state

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

func crossbar(t *testing.T) *topo.Fabric {
	t.Helper()
	spec, err := topo.FromArgument("crossbar:ports=4,rate=1Gbps,dark=10ms")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRestoreRefusesOverlap: reservations that could not have been made are no state.
func TestRestoreRefusesOverlap(t *testing.T) {
	f := crossbar(t)
	at := func(in, out southbound.Port, from, to time.Duration) CircuitReservation {
		return CircuitReservation{CircuitReservation: controller.CircuitReservation{In: in, Out: out,
			NotBefore: from,
			NotAfter:  to,
			Coflow:    controller.AnyCoflow}}
	}
	for _, x := range []struct {
		name   string
		ledger []CircuitReservation
		want   string
	}{
		{"none", []CircuitReservation{at(0, 1, 0, 5), at(0, 2, 5, 9), at(3, 1, 5, 9)}, ""},
		{"input", []CircuitReservation{at(0, 1, 0, 5), at(0, 2, 4, 9)}, "0→1 and 0→2 overlap"},
		{"output", []CircuitReservation{at(0, 1, 0, 5), at(3, 1, 4, 9)}, "0→1 and 3→1 overlap"},
	} {
		s := New(f)
		s.d.Ledger = x.ledger
		snap, err := json.Marshal(&s.d)
		if err != nil {
			t.Fatal(err)
		}
		err = New(f).Restore(snap)
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: error %v, want %q", x.name, err, x.want)
		}
	}
}

// TestRestoreRefusesParts: a snapshot of circuits, hosts, ports or reserved bandwidth that the fabric
// does not have is refused.
func TestRestoreRefusesParts(t *testing.T) {
	f := hybrid(t)
	ports, hosts, nodes := southbound.Port(f.OCSPorts()), southbound.HostID(f.Hosts()), f.Topology.Nodes()
	path, err := f.PathMap(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	reserved := func(change func(*controller.BandwidthReservation)) func(*Data) {
		up, down := f.Topology.OutPort(f.HostNode[0], 0), f.Topology.OutPort(f.ToRNode[1], 0)
		r := controller.BandwidthReservation{ID: 1, Src: 0, Dst: 1, Rate: 5,
			Links: append(path.AppendPath([]pathmap.LinkID{up}, 0, 1, 0), down)}
		return func(d *Data) {
			change(&r)
			d.LastBandwidthReservation, d.BandwidthReservations = 1, []controller.BandwidthReservation{r}
		}
	}
	held := func(in, out southbound.Port, of southbound.CoflowID) func(*Data) {
		return func(d *Data) {
			d.Ledger = []CircuitReservation{{CircuitReservation: controller.CircuitReservation{In: in,
				Out: out, NotAfter: 5,
				Coflow: of}}}
		}
	}
	for _, x := range []struct {
		name  string
		spoil func(*Data)
		ok    bool
	}{
		{"nothing", func(*Data) {}, true},
		{"a circuit of no move", func(d *Data) { d.Circuits[0].Out, d.Circuits[0].Move = 1, 0 }, false},
		{"a circuit of no move, from below", func(d *Data) {
			d.Circuits[0].Out,
				d.Circuits[0].Move = 1, -1
		}, false},
		{"no circuit of a move that there is not", func(d *Data) { d.Circuits[0].Move = 0 }, false},
		{"a circuit to no port", func(d *Data) {
			d.Moves = append(d.Moves, Move{})
			d.Circuits[0].Out, d.Circuits[0].Move = ports, 0
		}, false},
		{"fewer circuits", func(d *Data) { d.Circuits = d.Circuits[1:] }, false},
		{"a reservation", held(2, 1, controller.AnyCoflow), true},
		{"from no port", held(ports, 1, controller.AnyCoflow), false},
		{"to no port", held(0, ports, controller.AnyCoflow), false},
		{"to a port below", held(0, -2, controller.AnyCoflow), false},
		{"for no coflow", held(0, 1, 0), false},
		{"lost hosts", func(d *Data) { d.Lost = []southbound.HostID{0, hosts - 1} }, true},
		{"no host", func(d *Data) { d.Lost = []southbound.HostID{hosts} }, false},
		{"a host below", func(d *Data) { d.Lost = []southbound.HostID{-1} }, false},
		{"a host twice", func(d *Data) { d.Lost = []southbound.HostID{1, 1} }, false},
		{"a port that is down", func(d *Data) { d.Down = []PortRef{{f.ToRNode[0], 1}} }, true},
		{"no device", func(d *Data) { d.Down = []PortRef{{southbound.DeviceID(len(nodes)), 0}} }, false},
		{"a device below", func(d *Data) { d.Down = []PortRef{{-1, 0}} }, false},
		{"no port", func(d *Data) { d.Down = []PortRef{{f.ToRNode[0], 9}} }, false},
		{"bandwidth", reserved(func(*controller.BandwidthReservation) {}), true},
		{"no bandwidth", reserved(func(r *controller.BandwidthReservation) { r.Rate = 0 }), false},
		{"to itself", reserved(func(r *controller.BandwidthReservation) { r.Dst = 0 }), false},
		{"to another", reserved(func(r *controller.BandwidthReservation) { r.Dst = 2 }), false},
		{"from a host below", reserved(func(r *controller.BandwidthReservation) { r.Src = -1 }), false},
		{"to no host", reserved(func(r *controller.BandwidthReservation) { r.Dst = hosts }), false},
		{"over no links", reserved(func(r *controller.BandwidthReservation) { r.Links = nil }), false},
		{"over a gap", reserved(func(r *controller.BandwidthReservation) { r.Links = r.Links[1:] }), false},
		{"over a link below", reserved(func(r *controller.BandwidthReservation) { r.Links[0] = -1 }), false},
		{"of number 0", reserved(func(r *controller.BandwidthReservation) { r.ID = 0 }), false},
		{"of a later number", reserved(func(r *controller.BandwidthReservation) { r.ID = 2 }), false},
	} {
		s := New(f)
		x.spoil(&s.d)
		snap, err := json.Marshal(&s.d)
		if err != nil {
			t.Fatal(err)
		}
		if err = New(f).Restore(snap); err == nil != x.ok {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

// TestCheckCoflow: a coflow's host flows begin and end at hosts of the fabric, and each has its columns.
func TestCheckCoflow(t *testing.T) {
	f := hybrid(t)
	d := Data{Jobs: []*Job{{Job: controller.Job{Edges: []controller.Edge{{Kind: controller.Fixed}}}}}}
	end := southbound.HostID(f.Hosts())
	for _, x := range []struct {
		src, dst southbound.HostID
		ok       bool
	}{{0, end - 1, true}, {end - 1, 0, true}, {-1, 0, false}, {0, -1, false}, {end, 0, false}, {0,
		end, false}} {
		c := &Coflow{Columns: controller.Columns{Src: []southbound.HostID{x.src},
			Dst:   []southbound.HostID{x.dst},
			Flows: []int32{1},
			Size:  []pathmap.Bytes{1}}, Tag: make([]southbound.Tag, 1), Done: make([]bool, 1)}
		if err := d.checkCoflow(f, c); (err == nil) != x.ok {
			t.Errorf("%d→%d on %d hosts: %v", x.src, x.dst, end, err)
		}
		if c.Columns.Flows = nil; d.checkCoflow(f, c) == nil {
			t.Error("a coflow without counts of flows")
		}
	}
}

// TestFirstAndSecond: an input's reservations in their order; none where there are not so many.
func TestFirstAndSecond(t *testing.T) {
	f := crossbar(t)
	s := New(f)
	for n, from := range []time.Duration{20, 40} {
		e := Entry{Kind: CircuitReserved, CircuitReservation: &controller.CircuitReservation{In: 0,
			Out: 1, NotBefore: from,
			NotAfter: from + 10, Coflow: controller.AnyCoflow}}
		if err := s.Apply(&e); err != nil {
			t.Fatal(err)
		}
		if r := s.First(0); r == nil || r.NotBefore != 20 {
			t.Errorf("with %d reservations the first is %+v", n+1, r)
		}
		if r := s.Second(0); (r != nil) != (n == 1) || r != nil && r.NotBefore != 40 {
			t.Errorf("with %d reservations the second is %+v", n+1, r)
		}
		if s.First(1) != nil || s.Second(1) != nil {
			t.Error("another input has reservations")
		}
	}
}

// TestObserved: an observer sees each entry of a batch that changed the state, and no stale one.
func TestObserved(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 2, Hosts: 1, Spines: 1}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	s := New(f)
	var seen []Kind
	s.Observe(func(e *Entry) { seen = append(seen, e.Kind) })
	err = s.ApplyAll([]Entry{{Kind: HostSeen, Host: 1}, {Kind: Withdrawn, Coflow: 7},
		{Kind: HostSeen, Host: 1, OK: true}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen, []Kind{HostSeen, HostSeen}) {
		t.Errorf("seen %v", seen)
	}
}
