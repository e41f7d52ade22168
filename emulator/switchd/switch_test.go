package switchd_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"go.uber.org/goleak"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/emulator/switchd"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/lldp"
	"lightloom/southbound/pki"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opened makes a switch of four ports with a target in front, in plaintext.
func opened(t *testing.T, c switchd.Config, tc target.Config) *switchd.Switch {
	t.Helper()
	tc.Start = time.Now()
	clock := func() time.Duration { return time.Since(tc.Start) }
	c.Device.Name, c.Device.Ports, c.Device.Racks, c.Device.Clock = "sw", 4, 4, clock
	c.Device.Plane = mem.New(4, clock)
	s := switchd.New(c)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(l, pki.Identity{}, tc); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs a switch until the test ends.
func run(t *testing.T, s *switchd.Switch) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		s.Close()
	})
}

func dial(t *testing.T, s *switchd.Switch, p gnmi.Profile) *gnmi.Session {
	t.Helper()
	d, err := gnmi.Dial(t.Context(), gnmi.Config{Name: s.Name(), Addr: s.Addr().String(),
		Plaintext: true, Profile: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick, late := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !ok() {
		select {
		case <-late:
			t.Fatalf("never: %s", what)
		case <-tick.C:
		}
	}
}

// TestPower: without power nothing answers at the switch's address; with power the switch answers
// again, as after a boot.
func TestPower(t *testing.T) {
	s := opened(t, switchd.Config{Device: device.Config{Kind: device.Packet}}, target.Config{})
	run(t, s)
	d := dial(t, s, gnmi.OpenConfig{Ports: 4, Racks: 4})
	rule := southbound.Rule{Match: southbound.Match{Dst: 1, Tag: southbound.AnyTag,
		Src: southbound.AnyRack}, Primary: 2,
		Backup: southbound.NoPort}
	if err := d.Set(t.Context(), &southbound.Change{Rules: []southbound.Rule{rule}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Power(t.Context(), false, 0); err != nil {
			t.Fatal(err)
		}
		if c, err := net.Dial("tcp", s.Addr().String()); err == nil {
			c.Close()
			t.Error("a switch without power takes connections")
		}
		s.Refresh()
		if n, lag := s.Lag(); n+lag != 0 {
			t.Errorf("a switch without power serves %d streams, %d leaves behind", n, lag)
		}
		if err := s.Power(t.Context(), true, time.Millisecond); err != nil {
			t.Fatal(err)
		}
		within(t, "the switch answers again", func() bool {
			seen, err := d.Read(t.Context())
			return err == nil && len(seen.Rules) == 0
		})
	}
}

// TestPowerBeforeRun: power that goes before the switch runs leaves nothing to serve, and none is left
// unclosed.
func TestPowerBeforeRun(t *testing.T) {
	s := opened(t, switchd.Config{Device: device.Config{Kind: device.Packet}}, target.Config{})
	if err := errors.Join(s.Power(t.Context(), false, 0), s.Power(t.Context(), false, 0)); err != nil {
		t.Fatal(err)
	}
	if err := s.Power(t.Context(), true, 0); err != nil {
		t.Fatal(err)
	}
	s.Close()
	l, err := net.Listen("tcp", s.Addr().String())
	if err != nil {
		t.Fatal("a closed switch keeps its address:", err)
	}
	l.Close()
}

// TestFibres: with fibres there is a panel, which says whose light arrives.
func TestFibres(t *testing.T) {
	type told struct {
		fibre southbound.Port
		lit   bool
	}
	var all []told
	s := opened(t, switchd.Config{Device: device.Config{Kind: device.Optical},
		Fibres: func(fibre southbound.Port, lit bool) { all = append(all, told{fibre, lit}) }}, target.Config{})
	run(t, s)
	d := dial(t, s, gnmi.OCP{Ports: 4})
	if err := d.Set(t.Context(), &southbound.Change{Connect: []southbound.CrossConnect{{In: 0,
		Out: 1}}}); err != nil {
		t.Fatal(err)
	}
	within(t, "the circuit stands", func() bool {
		seen, err := d.Read(t.Context())
		return err == nil && len(seen.Connections) == 1 && seen.Connections[0].Status == southbound.Connected
	})
	var err error
	s.Door.Do(func(time.Duration, *device.Device) {
		err = s.Panel.Plug([]southbound.Port{2, 1, 0, 3}, []southbound.Port{0, 1, 2, 3})
		if want := []told{{0, true}, {0, false}, {2, true}}; !slices.Equal(all, want) {
			t.Errorf("told %v, want %v", all, want)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNeighbors: the target that comes back with the power reports the LLDP neighbours again.
func TestNeighbors(t *testing.T) {
	said := lldp.Announcement{Chassis: "tor9", ChassisKind: lldp.Local, Port: "Ethernet3",
		PortKind: lldp.InterfaceName,
		System:   "tor9", TTL: time.Second}
	s := opened(t, switchd.Config{Device: device.Config{Kind: device.Packet}}, target.Config{
		Neighbors: func() []lldp.Heard { return []lldp.Heard{{Port: 2, ID: 1, Said: said}} },
	})
	run(t, s)
	heard := func() bool {
		conn, err := gnmi.Connect(gnmi.Config{Name: "sw", Addr: s.Addr().String(), Plaintext: true})
		if err != nil {
			return false
		}
		defer conn.Close()
		s.Refresh()
		all, err := probe.Neighbors(t.Context(), gpb.NewGNMIClient(conn))
		return err == nil && len(all) == 1 && all[0].Port == 2 && all[0].Said == said
	}
	within(t, "the neighbour shows", heard)
	if err := errors.Join(s.Power(t.Context(), false, 0), s.Power(t.Context(), true, 0)); err != nil {
		t.Fatal(err)
	}
	within(t, "the neighbour shows again", heard)
}
