package flowsim

import (
	"context"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

const (
	ms = time.Millisecond
	mb = pathmap.Bytes(1e6)
)

func fabric(t testing.TB, s topo.Spec) *topo.Fabric {
	t.Helper()
	f, err := topo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func simulate(t testing.TB, f *topo.Fabric, opt Options) *Sim {
	t.Helper()
	s, err := New(f, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// spinePort returns the port of every ToR to a spine.
func spinePort(f *topo.Fabric, spine int) southbound.Port {
	return southbound.Port(f.HostsPerRack + spine)
}

// wire programs a hybrid fabric the plain way: tag 1+i goes over spine i, the circuit tag over the OCS
// with spine 0 as backup, and any other over spine (src + dst) mod spines.
func wire(t testing.TB, s *Sim) {
	t.Helper()
	f := s.fabric
	for r := range f.Racks {
		c := &southbound.Change{Replace: true}
		for dst := range f.Racks {
			if dst == r {
				continue
			}
			add := func(tag southbound.Tag, primary, backup southbound.Port) {
				m := southbound.Match{Dst: southbound.RackID(dst), Tag: tag, Src: southbound.AnyRack}
				c.Rules = append(c.Rules, southbound.Rule{Match: m, Primary: primary, Backup: backup})
			}
			add(southbound.AnyTag, spinePort(f, (r+dst)%f.Spec.Spines), southbound.NoPort)
			for i := range f.Spec.Spines {
				add(southbound.PathTag(i), spinePort(f, i), southbound.NoPort)
			}
			if f.HasOCS() && f.OCSUplink[r] != pathmap.None {
				add(southbound.TagCircuit, southbound.Port(f.OCSUplink[r]), spinePort(f, 0))
			}
		}
		set(t, s, f.ToRNode[r], c)
	}
	for _, id := range s.Devices() {
		if f.Topology.Node(id).Role != pathmap.Switch {
			continue
		}
		c := &southbound.Change{Replace: true}
		for dst := range f.Racks {
			m := southbound.Match{Dst: southbound.RackID(dst), Tag: southbound.AnyTag, Src: southbound.AnyRack}
			c.Rules = append(c.Rules, southbound.Rule{Match: m, Primary: southbound.Port(dst),
				Backup: southbound.NoPort})
		}
		set(t, s, id, c)
	}
}

func set(t testing.TB, s *Sim, id southbound.DeviceID, c *southbound.Change) {
	t.Helper()
	if err := s.Device(id).Set(context.Background(), c); err != nil {
		t.Fatal(err)
	}
}

func connect(t testing.TB, s *Sim, x ...southbound.CrossConnect) {
	t.Helper()
	set(t, s, s.fabric.OCSNode, &southbound.Change{Connect: x})
}

func start(t testing.TB, s *Sim, c southbound.CoflowID, rows ...row) {
	t.Helper()
	st := southbound.Start{Coflow: c}
	for _, r := range rows {
		st.Src, st.Dst = append(st.Src, r.src), append(st.Dst, r.dst)
		st.Size, st.Tag = append(st.Size, r.size), append(st.Tag, r.tag)
	}
	if err := s.Host().Start([]southbound.Start{st}); err != nil {
		t.Fatal(err)
	}
}

type row struct {
	src, dst southbound.HostID
	size     pathmap.Bytes
	tag      southbound.Tag
}

func rates(t testing.TB, s *Sim, r southbound.Rates) {
	t.Helper()
	if err := s.Host().SetRates(&r); err != nil {
		t.Fatal(err)
	}
}

// advance runs to an instant and returns what hosts reported.
func advance(t testing.TB, s *Sim, to time.Duration) []southbound.Event {
	t.Helper()
	ev, _, err := s.Advance(to, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}
