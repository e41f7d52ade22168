package target_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	spb "github.com/openconfig/gribi/v1/proto/service"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/emulator/target/rib"
	"lightloom/southbound"
	"lightloom/southbound/devicetest"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/conformance"
	"lightloom/southbound/gribi"
	"lightloom/southbound/gribi/ribcheck"
)

// withRIB has a packet switch serve gRIBI.
func withRIB(n gribi.Names) func(*device.Config, *target.Config) {
	return func(_ *device.Config, c *target.Config) { c.RIB = rib.New(n) }
}

// gribiDevice opens a rig by gRIBI, its ports by gNMI; nil: without an election id.
func (r *rig) gribiDevice(t testing.TB, n gribi.Names, election func() gnmi.Election) *gribi.Device {
	t.Helper()
	cfg := r.config(t)
	cfg.Election = election
	ports, err := gnmi.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := gribi.Dial(t.Context(), gribi.Config{Config: cfg, Names: n})
	if err != nil {
		t.Fatal(err)
	}
	d := gribi.Join(rules, ports)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestGRIBIConformance: the driver of gRIBI keeps the laws of all drivers, also with a switch that
// knows no backups.
func TestGRIBIConformance(t *testing.T) {
	t.Parallel()
	t.Run("openconfig", func(t *testing.T) { testDriver(t, gribi.OpenConfig(8, 8)) })
	sonic := gribi.SONiC(8, 8, gnmi.InterfaceName)
	sonic.ControllerBackup = true
	t.Run("sonic", func(t *testing.T) { testDriver(t, sonic) })
}

func testDriver(t *testing.T, names gribi.Names) {
	devicetest.Run(t, func(t *testing.T) *devicetest.Bench {
		r := newRig(t, device.Packet, withRIB(names))
		open := func(id gnmi.Election) *gribi.Device {
			return r.gribiDevice(t, names, func() gnmi.Election { return id })
		}
		return &devicetest.Bench{
			Device: open(gnmi.Election{High: 5, Low: 5}), Ports: 8, Racks: 8, NoSources: true,
			Light: func(p southbound.Port, lit bool) { r.door.Light(p, lit) },
			Rival: func(_ *testing.T, larger bool) southbound.Device {
				id := gnmi.Election{High: 5, Low: 4}
				if larger {
					id = gnmi.Election{High: 6}
				}
				return open(id)
			},
		}
	})
}

// TestGRIBIRules: the target's gRIBI server keeps the rules of the conformance kit, as OpenConfig's and
// as SONiC's.
func TestGRIBIRules(t *testing.T) {
	for name, n := range map[string]gribi.Names{"openconfig": gribi.OpenConfig(8, 8),
		"sonic": gribi.SONiC(8, 8, gnmi.InterfaceName)} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, device.Packet, withRIB(n))
			conn, err := gnmi.Connect(r.config(t))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for range 2 { // and a second time, after the first
				for _, f := range ribcheck.Run(t.Context(), conn, n, conformance.Options{Write: true}) {
					if f.Result != conformance.Held {
						t.Errorf("%s: %s: %s", f.Rule, f.Result, f.Why)
					}
				}
			}
			free := rules(rule(2, southbound.AnyTag, 0, southbound.NoPort))
			if err := r.gribiDevice(t, n, nil).Set(t.Context(), free); err != nil {
				t.Errorf("a command after a check: %v", err)
			}
			d := r.gribiDevice(t, n, withID(5))
			if err := d.Claim(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, f := range ribcheck.Run(t.Context(), conn, n, conformance.Options{Write: true}) {
				if f.Result == conformance.Broken || f.Rule == "gribi-route" && f.Result != conformance.Skipped {
					t.Errorf("a controller has it: %s: %s: %s", f.Rule, f.Result, f.Why)
				}
			}
			if err := d.Set(t.Context(), rules(rule(1, southbound.AnyTag, 0, southbound.NoPort))); err != nil {
				t.Errorf("the controller after a check: %v", err)
			}
		})
	}
}

func withID(high uint64) func() gnmi.Election {
	return func() gnmi.Election { return gnmi.Election{High: high} }
}

func rule(dst southbound.RackID, tag southbound.Tag, primary, backup southbound.Port) southbound.Rule {
	return southbound.Rule{Match: southbound.Match{Dst: dst, Tag: tag, Src: southbound.AnyRack},
		Primary: primary,
		Backup:  backup}
}

func rules(all ...southbound.Rule) *southbound.Change { return &southbound.Change{Rules: all} }

// has waits until a device reports exactly these rules.
func has(t *testing.T, what string, d southbound.Device, want ...southbound.Rule) {
	t.Helper()
	tick, late := time.NewTicker(ms), time.After(10*time.Second)
	defer tick.Stop()
	for {
		seen, err := d.Read(t.Context())
		if err == nil && slices.Equal(seen.Rules, want) {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: %+v, %v; want %+v", what, seen.Rules, err, want)
		}
	}
}

// TestGRIBIBesideGNMI: what gNMI has configured and what gRIBI has programmed do not touch each other,
// whether one replaces all of its own, flushes, or wants the other's place.
func TestGRIBIBesideGNMI(t *testing.T) {
	n := gribi.OpenConfig(8, 8)
	r := newRig(t, device.Packet, withRIB(n))
	config, rib := r.dial(t, r.config(t)), r.gribiDevice(t, n, withID(5))
	a, b := rule(1, 3, 2, 4), rule(2, southbound.AnyTag, 1, southbound.NoPort)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(config.Set(t.Context(), rules(a)))
	must(rib.Set(t.Context(), rules(b)))
	has(t, "gNMI", config, a)
	has(t, "gRIBI", rib, b)
	for name, err := range map[string]error{"gRIBI in gNMI's place": rib.Set(t.Context(),
		rules(a, rule(3, 0, 1, 2))),
		"gNMI in gRIBI's place": config.Set(t.Context(), rules(b))} {
		if !errors.Is(err, southbound.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	has(t, "gRIBI after a refusal", rib, b)
	must(config.Set(t.Context(), &southbound.Change{Replace: true}))
	has(t, "gRIBI after gNMI has replaced", rib, b)
	must(config.Set(t.Context(), rules(a)))
	must(rib.Set(t.Context(), &southbound.Change{Replace: true, Rules: []southbound.Rule{b}}))
	has(t, "gNMI after gRIBI has replaced", config, a)

	conn, err := gnmi.Connect(r.config(t))
	must(err)
	defer conn.Close()
	_, err = spb.NewGRIBIClient(conn).Flush(t.Context(), &spb.FlushRequest{
		NetworkInstance: &spb.FlushRequest_All{All: &spb.Empty{}}, Election: &spb.FlushRequest_Id{Id: &spb.Uint128{High: 5}}})
	must(err)
	has(t, "gRIBI after a flush", rib)
	has(t, "gNMI after a flush", config, a)
	r.door.Do(func(now time.Duration, d *device.Device) {
		if all := d.Seen(now).Rules; len(all) != 1 || all[0] != a {
			t.Errorf("the switch has %+v", all)
		}
	})
}

// TestGRIBIForeign: the driver refuses to write where another client's route stands, and replacing
// everything leaves that route and its group alone.
func TestGRIBIForeign(t *testing.T) {
	n := gribi.OpenConfig(8, 8)
	r := newRig(t, device.Packet, withRIB(n))
	conn, err := gnmi.Connect(r.config(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := ribcheck.Leave(t.Context(), conn, n); err != nil {
		t.Fatal(err)
	}
	rib := r.gribiDevice(t, n, withID(5))
	if err := rib.Set(t.Context(), rules(rule(7, southbound.AnyTag, 1, 2))); !errors.Is(err,
		southbound.ErrRefused) {
		t.Errorf("a foreign route was overwritten: %v", err)
	}
	own := &southbound.Change{Replace: true, Rules: []southbound.Rule{rule(1, 0, 1, 2)}}
	if err := rib.Set(t.Context(), own); err != nil {
		t.Error(err)
	}
	all, err := gribi.Get(t.Context(), spb.NewGRIBIClient(conn))
	if err != nil || !slices.ContainsFunc(all, func(e *spb.AFTEntry) bool {
		return e.GetIpv4().GetPrefix() == southbound.RackPrefix(7).String()
	}) {
		t.Errorf("the foreign route is gone: %v, %v", all, err)
	}
}

// TestGRIBIFaults: a switch that lies or denies is told of, and what it has taken of the change is
// undone; one that restarts has forgotten its entries, or keeps them, as its recovery says.
func TestGRIBIFaults(t *testing.T) {
	for _, recovery := range []device.Recovery{device.Remove, device.Maintain, device.Restore} {
		n := gribi.OpenConfig(8, 8)
		r := newRig(t, device.Packet, func(dc *device.Config, c *target.Config) {
			dc.Recovery, c.RIB, c.Settle = recovery, rib.New(n), 100*ms
		})
		rib := r.gribiDevice(t, n, withID(5))
		a, b := rule(1, 3, 2, 4), rule(2, southbound.AnyTag, 1, southbound.NoPort)
		if err := rib.Set(t.Context(), rules(a)); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []device.FaultKind{device.Lie, device.Deny} {
			r.door.Do(func(_ time.Duration, d *device.Device) { d.Fault(device.Fault{Kind: kind, Times: 1}) })
			if err := rib.Set(t.Context(), rules(b)); !errors.Is(err, southbound.ErrRefused) {
				t.Errorf("fault %d: %v", kind, err)
			}
			has(t, "after a fault", rib, a)
		}
		if err := rib.Set(t.Context(), rules(b)); err != nil {
			t.Errorf("after faults: %v", err)
		}
		has(t, "after faults", rib, a, b)
		r.door.Do(func(now time.Duration, d *device.Device) { d.Restart(now, 10*ms) })
		if recovery == device.Remove {
			has(t, "after a restart", rib)
		} else {
			has(t, "after a restart", rib, a, b)
		}
		has(t, "gNMI after a restart", r.dial(t, r.config(t)))
		if err := rib.Set(t.Context(), &southbound.Change{Replace: true,
			Rules: []southbound.Rule{b}}); err != nil {
			t.Errorf("recovery %d: %v", recovery, err)
		}
		has(t, "replaced", rib, b)
	}
}

// TestGRIBIElectionsPersist: a target that comes back refuses the clients that it has refused before.
func TestGRIBIElectionsPersist(t *testing.T) {
	n, file := gribi.OpenConfig(8, 8), filepath.Join(t.TempDir(), "elections")
	r := newRig(t, device.Packet, func(_ *device.Config, c *target.Config) {
		c.RIB, c.ElectionFile = rib.New(n), file
	})
	if err := r.gribiDevice(t, n, withID(5)).Claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := newRig(t, device.Packet, func(_ *device.Config, c *target.Config) {
		c.RIB, c.ElectionFile = rib.New(n), file
	})
	for high, want := range map[uint64]error{4: southbound.ErrNotLeader, 5: nil} {
		if err := next.gribiDevice(t, n, withID(high)).Claim(t.Context()); !errors.Is(err, want) {
			t.Errorf("id %d: %v", high, err)
		}
	}
	err := next.gribiDevice(t, n, nil).Set(t.Context(), rules(rule(1, 0, 1, 2)))
	if !errors.Is(err, southbound.ErrNotLeader) {
		t.Errorf("a client without an election: %v", err)
	}
}

// TestGRIBIStreams: a stream that says nothing ends with the switch, and one that asks for other modes
// is refused.
func TestGRIBIStreams(t *testing.T) {
	r := newRig(t, device.Packet, withRIB(gribi.OpenConfig(8, 8)))
	conn, err := gnmi.Connect(r.config(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	open := func(ctx context.Context, first *spb.ModifyRequest) (spb.GRIBI_ModifyClient, error) {
		s, err := spb.NewGRIBIClient(conn).Modify(ctx)
		if err == nil {
			err = s.Send(first)
		}
		if err != nil {
			return nil, err
		}
		_, err = s.Recv()
		return s, err
	}
	for _, p := range []*spb.ModifyRequest{{Params: &spb.SessionParameters{}},
		{ElectionId: &spb.Uint128{Low: 1}},
		{Operation: []*spb.AFTOperation{{Id: 1}}}} {
		if _, err := open(t.Context(), p); err == nil {
			t.Errorf("%v was taken", p)
		}
	}
	s, err := open(t.Context(), &spb.ModifyRequest{Params: &spb.SessionParameters{
		Redundancy: spb.SessionParameters_SINGLE_PRIMARY, Persistence: spb.SessionParameters_PRESERVE}})
	if err != nil {
		t.Fatal(err)
	}
	r.door.Do(func(now time.Duration, d *device.Device) { d.Restart(now, 10*ms) })
	if _, err := s.Recv(); err == nil {
		t.Error("the stream outlives its switch")
	}
}
