// Package switchd puts one emulated switch together: the device model over a dataplane, the door to it,
// a patch panel where fibres can be plugged in elsewhere, and a gNMI target, which goes away with the
// switch's power and comes back with it at the same address.
//
// It makes no dataplane, interface or key: its users do, which are targetd, standalone and the emulated
// testbed.
package switchd

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/emulator/cabling"
	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/emulator/target/remote"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gribi"
	"lightloom/southbound/lldpd"
)

// Config configures a switch.
type Config struct {
	Device device.Config // the model, with its plane and a clock in real time

	// Fibres puts a patch panel between the plane of an optical switch and its fibres: cabling.New says
	// when it is called. nil: fibres are where they belong, and Device.OnLight reports what arrives.
	Fibres func(fibre southbound.Port, lit bool)

	// Backend is an optical switch that stands elsewhere, instead of a model. It has neither Door, Panel
	// nor Power. Of Device the name, the ports and the clock count.
	Backend southbound.Device
	Settle  time.Duration // of a Backend: from a circuit's acceptance to its failure; 0 means 5 s

	Log *slog.Logger // nil: none
}

// Switch is one switch. Open puts a target in front of it, and Run drives both.
type Switch struct {
	Door  *device.Door
	Panel *cabling.Panel // nil without Fibres; it is used under the door's lock

	cfg     Config
	backend target.Backend              // nil: the door's device
	drive   func(context.Context) error // of the model, or of the backend

	target  target.Config
	addr    net.Addr
	mu      sync.Mutex             // of Power
	current atomic.Pointer[server] // nil while the power is off
	waiting chan *server           // opened and not yet served
}

// New makes a switch that can be reached only through its door yet.
func New(c Config) *Switch {
	s := &Switch{cfg: c, waiting: make(chan *server, 1)}
	if c.Backend != nil {
		r := remote.New(remote.Config{Name: c.Device.Name, Ports: c.Device.Ports, Device: c.Backend,
			Clock: c.Device.Clock, Settle: c.Settle, Log: c.Log})
		s.backend, s.drive = r, r.Run
		return s
	}
	d := c.Device
	if c.Fibres != nil {
		s.Panel = cabling.New(d.Plane, d.Ports, c.Fibres)
		d.Plane = s.Panel
		d.OnLight = func(_ time.Duration, input southbound.Port, lit bool) { s.Panel.Light(input, lit) }
	}
	s.Door = device.NewDoor(device.New(d), d.Clock, nil)
	s.drive = s.Door.Run
	return s
}

// Name is what the fabric calls the switch.
func (s *Switch) Name() string { return s.cfg.Device.Name }

// Addr is where its target listens while it has power.
func (s *Switch) Addr() net.Addr { return s.addr }

// Run drives the switch and serves its target, as often as it is powered on, until ctx ends (nil).
func (s *Switch) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.drive(ctx) })
	g.Go(func() error { return s.serve(ctx) })
	return g.Wait()
}

// Station is a packet switch as LLDP announces it: its ports, by the interfaces that they are, 0 where
// there is none.
func Station(name string, interfaces []int) lldpd.Station {
	st := lldpd.Station{Name: name}
	for i, index := range interfaces {
		st.Ports = append(st.Ports, lldpd.Port{Interface: index, Name: gnmi.InterfaceName(southbound.Port(i))})
	}
	return st
}

// GRIBINames are what a switch of a profile calls what gRIBI programs.
func GRIBINames(profile string, ports, racks int32) gribi.Names {
	if s := (gnmi.SONiC{Ports: ports, Racks: racks}); profile == s.Name() {
		return gribi.SONiC(ports, racks, func(p southbound.Port) string { return gnmi.NameOf(s, p) })
	}
	return gribi.OpenConfig(ports, racks)
}
