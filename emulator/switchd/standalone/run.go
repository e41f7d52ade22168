package standalone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"lightloom/emulator/dataplane"
	"lightloom/emulator/dataplane/ebpf"
	"lightloom/emulator/device"
	"lightloom/emulator/fefi"
	"lightloom/emulator/netns"
	"lightloom/emulator/switchd"
	"lightloom/emulator/target"
	"lightloom/emulator/target/rib"
	"lightloom/southbound"
	"lightloom/southbound/lldp"
	"lightloom/southbound/lldpd"
	"lightloom/southbound/pki"
	"lightloom/southbound/socket"
)

// Run runs the switch until ctx ends (nil) or something breaks, and gives its interfaces back.
func Run(ctx context.Context, cfg Config) (err error) {
	if err := cfg.Check(); err != nil {
		return fmt.Errorf("run switch: %w", err)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &switchProcess{cfg: cfg}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.open(ctx); err != nil {
		return fmt.Errorf("run switch %q: %w", cfg.Name, err)
	}
	if err := s.serve(ctx); err != nil {
		return fmt.Errorf("run switch %q: %w", cfg.Name, err)
	}
	return nil
}

// switchProcess is the switch with what it stands on.
type switchProcess struct {
	cfg     Config
	nl      *netlink.Handle
	ports   *ports
	plane   netns.Plane
	sw      *switchd.Switch
	fibre   *fefi.Port     // of a ToR
	tellers []*fefi.Teller // of an OCS, by port
	fibres  []*fefi.Port
	lldp    *lldpd.Daemon // nil: no LLDP
	looks   queueSamples  // at what waits at the ports
	guard   *guard        // nil: the ports are not given back if the switch is killed

	mu    sync.Mutex
	cable bool // the ToR's port to the OCS is plugged in
	light bool // and its light arrives
}

// open makes everything and starts nothing.
func (s *switchProcess) open(ctx context.Context) (err error) {
	if s.nl, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	if s.ports, err = takePorts(s.nl, s.cfg.Ports); err != nil {
		return err
	}
	if len(s.cfg.Guard) > 0 {
		e := estate{Ports: s.cfg.Ports, Sinks: s.ports.sinks, Parks: s.ports.parks, IPv6: s.ports.ipv6}
		if path, ok := socket.Path(s.cfg.Listen); ok {
			e.Socket = path
		}
		if s.guard, err = openGuard(s.cfg.Guard, e); err != nil {
			return err
		}
	}
	if err := s.openPlane(); err != nil {
		return err
	}
	if err := s.openFibres(); err != nil {
		return err
	}
	start := time.Now()
	c := device.Config{Name: s.cfg.Name, ID: s.id(), Kind: s.cfg.kind(), Ports: int32(len(s.cfg.Ports)),
		Racks: int32(s.cfg.Racks), Plane: s.plane, AllStop: s.cfg.AllStop, Recovery: s.cfg.Recovery,
		Clock: func() time.Duration { return time.Since(start) }}
	if s.cfg.Role == OCS {
		c.Delays.Dark, c.OnLight = device.Fixed(s.cfg.Dark), s.setLight
	}
	s.sw = switchd.New(switchd.Config{Device: c, Log: s.cfg.Log})
	if err := s.openLLDP(); err != nil {
		return err
	}
	ln, err := socket.Listen(ctx, s.cfg.Listen)
	if err != nil {
		return err
	}
	tc := target.Config{Start: start, Counts: s.counts, Profile: s.cfg.Profile, RESTCONF: s.cfg.RESTCONF,
		Login: s.cfg.Login, Like: s.cfg.Like, Validate: s.cfg.Validate}
	if s.cfg.GRIBI {
		tc.RIB = rib.New(switchd.GRIBINames(s.cfg.Profile, c.Ports, c.Racks))
	}
	if s.lldp != nil {
		tc.Neighbors = func() []lldp.Heard { return s.lldp.Heard(0) }
	}
	if s.cfg.Keys != nil {
		tc.TLS, tc.Keys = s.cfg.Keys.Server(pki.Controller), s.cfg.Keys
	}
	return s.sw.Open(ln, s.cfg.Identity, tc)
}

// openLLDP opens what announces a packet switch. An optical one looks at no packet, and says nothing.
func (s *switchProcess) openLLDP() (err error) {
	if s.cfg.LLDP == 0 || s.cfg.Role == OCS {
		return nil
	}
	st := switchd.Station(s.cfg.Name, s.ports.index)
	s.lldp, err = lldpd.Open(lldpd.Config{Stations: []lldpd.Station{st}, Interval: s.cfg.LLDP,
		Changed: func(int) { s.sw.Refresh() },
		Warn:    func(msg string, err error) { s.cfg.Log.Warn(msg, "error", err) }})
	return err
}

// id distinguishes the switches of one network namespace by their first interface.
func (s *switchProcess) id() southbound.DeviceID { return southbound.DeviceID(s.ports.index[0]) }

// maxSources is the number of racks up to which a standalone switch matches sources: rules then take
// 0.8 MB in the eBPF dataplane.
const maxSources = 64

func (s *switchProcess) openPlane() error {
	sink, err := s.ports.sink()
	if err != nil {
		return err
	}
	sw := dataplane.Switch{ID: s.id(), Name: s.cfg.Name, Optical: s.cfg.Role == OCS, Ports: s.ports.index,
		Racks: s.cfg.Racks, Sources: s.cfg.Racks <= maxSources,
		Block: uint32(s.id()) + 1, Sink: sink}
	for i := range s.cfg.Hosts {
		sw.Locals = append(sw.Locals, dataplane.Local{Addr: southbound.Addr(southbound.RackID(s.cfg.Rack), i),
			Port: southbound.Port(i)})
	}
	name, err := netns.ChooseDataplane(s.cfg.Dataplane)
	if err == nil && s.cfg.VOQBytes > 0 {
		sw.Dark, err = s.darkQueues(name)
	}
	if err != nil {
		return err
	}
	s.cfg.Log.Info("dataplane", "switch", s.cfg.Name, "is", name)
	s.plane, err = netns.NewPlane(s.nl, sw, name)
	return err
}

// unknownRoom is the assumed room in the queue of a fibre's port, in bytes: half of our shortest queue.
const unknownRoom = 32_000

// darkQueues makes what packets wait in while the fibre is dark.
func (s *switchProcess) darkQueues(plane string) (d dataplane.Dark, err error) {
	if plane != netns.EBPF {
		return d, netns.ErrNoVOQs
	}
	d = dataplane.Dark{Limit: s.cfg.VOQBytes, Fibre: southbound.Port(slices.Index(s.cfg.Ports, s.cfg.Fibre)),
		Room: unknownRoom}
	d.Queue, err = s.ports.addPark()
	return d, err
}

// counts adds to what the ports count what waits for the fibre's light, and what found no room there.
func (s *switchProcess) counts() ([]target.PortCount, error) {
	out, err := s.ports.counts()
	if err == nil {
		s.looks.put(out)
	}
	if p, ok := s.plane.(*ebpf.Plane); ok && err == nil && s.cfg.VOQBytes > 0 {
		fibre := &out[slices.Index(s.cfg.Ports, s.cfg.Fibre)]
		for _, c := range p.Queued() {
			fibre.Queue += uint64(c.Bytes)
			fibre.OutDiscards += c.Dropped
		}
	}
	return out, err
}

// openFibres opens the signals of light: at every port of an OCS, or the one fibre of a ToR.
func (s *switchProcess) openFibres() error {
	for i, name := range s.cfg.Ports {
		if s.cfg.Role != OCS && name != s.cfg.Fibre {
			continue
		}
		p, err := fefi.Open(s.ports.index[i], name)
		if err != nil {
			return err
		}
		if s.cfg.Role == OCS {
			s.fibres, s.tellers = append(s.fibres, p), append(s.tellers, fefi.NewTeller(p))
		} else {
			s.fibre = p
		}
	}
	return nil
}

// setLight is device.Config's OnLight.
func (s *switchProcess) setLight(_ time.Duration, input southbound.Port, lit bool) {
	if err := s.tellers[input].Set(lit); err != nil {
		s.cfg.Log.Warn("tell light", "port", input, "error", err) // it is sent again soon
	}
}

// close takes everything away, in reverse.
func (s *switchProcess) close() error {
	var errs []error
	if s.sw != nil {
		s.sw.Close()
		s.sw.Door.Do(func(_ time.Duration, d *device.Device) { errs = append(errs, d.Err()) })
	}
	if s.lldp != nil {
		_ = s.lldp.Close() // closed already where it has been running
	}
	for _, p := range append(s.fibres, s.fibre) {
		if p != nil {
			_ = p.Close() // closed already where it has been listened at
		}
	}
	if s.plane != nil {
		errs = append(errs, s.plane.Close())
	}
	if s.ports != nil {
		errs = append(errs, s.ports.give())
	}
	if s.nl != nil {
		s.nl.Close()
	}
	if s.guard != nil {
		errs = append(errs, s.guard.close())
	}
	return errors.Join(errs...)
}

// serve runs the switch.
func (s *switchProcess) serve(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.sw.Run(ctx) })
	if s.cfg.Keys != nil {
		g.Go(func() error {
			s.cfg.Keys.Watch(ctx, pki.DefaultEvery, cmp.Or(s.cfg.Log, slog.New(slog.DiscardHandler)))
			return nil
		})
	}
	g.Go(func() error { return s.ports.cables(ctx, s.carrier) })
	if s.lldp != nil {
		g.Go(func() error { return s.lldp.Run(ctx) })
	}
	if s.cfg.Role != OCS { // which has no queues
		g.Go(func() error { return s.sampleQueues(ctx) })
	}
	for _, t := range s.tellers {
		g.Go(func() error { return t.Run(ctx) })
	}
	if s.fibre != nil {
		s.cable = true
		g.Go(func() error { return fefi.Listen(ctx, s.fibre, s.shine) })
	}
	if s.cfg.Listening != nil {
		s.cfg.Listening(s.sw.Addr().String())
	}
	return g.Wait()
}

// carrier reports to the device what is plugged in. The fibre has light only with both its cable and
// its circuit.
func (s *switchProcess) carrier(port southbound.Port, up bool) {
	if s.cfg.Ports[port] != s.cfg.Fibre {
		s.sw.Door.Light(port, up)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cable = up
	s.sw.Door.Light(port, s.cable && s.light)
}

// shine reports its fibre's light to the device.
func (s *switchProcess) shine(lit bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.light = lit
	for i, name := range s.cfg.Ports {
		if name == s.cfg.Fibre {
			s.sw.Door.Light(southbound.Port(i), s.cable && s.light)
		}
	}
}
