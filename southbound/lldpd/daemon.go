package lldpd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/southbound/lldp"
)

// Station is a switch or a host that speaks.
type Station struct {
	Name  string
	Ports []Port // by number
}

// Port is one interface of a station.
type Port struct {
	Interface int    // index; 0: no cable is plugged in
	Name      string // as announced to neighbours
}

// Config configures the stations that announce themselves, and how often.
type Config struct {
	Stations []Station
	Interval time.Duration               // 0: Interval
	Now      func() time.Duration        // nil: time since Open
	Changed  func(station int)           // called when a neighbour appears or goes at a port of it; nil: no call
	Warn     func(msg string, err error) // called with errors that do not end the daemon; nil: no call
}

// Interval is the default time between announcements. Real switches use 30 s.
const Interval = time.Second

// leastTTL is how long an announcement holds at least: a machine that is busy must not lose its neighbours.
const leastTTL = 2 * time.Second

// Daemon speaks for its stations. Make one with Open, run it with Run.
type Daemon struct {
	cfg    Config
	sock   *os.File
	ttl    time.Duration
	places map[int]place // by interface

	mu     sync.Mutex
	tables []*lldp.Table
}

type place struct{ station, port int }

// Open opens the socket in the network namespace of the calling thread, which must have all interfaces.
// It needs CAP_NET_RAW there.
func Open(cfg Config) (*Daemon, error) {
	if cfg.Interval <= 0 {
		cfg.Interval = Interval
	}
	if cfg.Now == nil {
		began := time.Now()
		cfg.Now = func() time.Duration { return time.Since(began) }
	}
	d := &Daemon{cfg: cfg, places: map[int]place{}, ttl: max(leastTTL, 4*cfg.Interval).Round(time.Second)}
	for s, st := range cfg.Stations {
		d.tables = append(d.tables, lldp.NewTable(len(st.Ports)))
		for p, port := range st.Ports {
			if port.Interface > 0 {
				d.places[port.Interface] = place{s, p}
			}
		}
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK,
		int(networkOrder(lldp.EtherType)))
	if err != nil {
		return nil, fmt.Errorf("open LLDP socket: %w", err)
	}
	// Frames take the interface's queue, like all others: captures do not see frames that bypass it.
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1); err != nil {
		return nil, errors.Join(fmt.Errorf("open LLDP socket: %w", err), unix.Close(fd))
	}
	d.sock = os.NewFile(uintptr(fd), "lldp")
	return d, nil
}

// networkOrder returns v in the byte order of the wire, as this machine loads it.
func networkOrder(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}

// Close gives up the socket of a daemon that is not run. Run does so itself.
func (d *Daemon) Close() error { return d.sock.Close() }

// Run announces and listens until ctx ends (nil); then it revokes its announcements, and closes the socket.
func (d *Daemon) Run(ctx context.Context) error {
	defer d.sock.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wg.Go(func() { d.speak(ctx) })
	defer context.AfterFunc(ctx, func() { _ = d.sock.SetReadDeadline(time.Unix(1, 0)) })()
	raw, err := d.sock.SyscallConn()
	if err != nil {
		return fmt.Errorf("hear LLDP: %w", err)
	}
	for {
		var got error
		err := raw.Read(func(fd uintptr) bool {
			got = d.receive(int(fd))
			return !errors.Is(got, unix.EAGAIN)
		})
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("hear LLDP: %w", err)
		case got != nil && !errors.Is(got, unix.ENETDOWN):
			return fmt.Errorf("hear LLDP: %w", got)
		}
	}
}

// maxFrame bounds what is read of a frame: LLDP is never longer than a packet.
const maxFrame = 1600

func (d *Daemon) receive(fd int) error {
	var b [maxFrame]byte
	n, from, err := unix.Recvfrom(fd, b[:], unix.MSG_DONTWAIT)
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	if err != nil {
		return err
	}
	ll, ok := from.(*unix.SockaddrLinklayer)
	if !ok {
		return nil
	}
	at, ok := d.places[ll.Ifindex]
	if !ok {
		return nil // the interface belongs to no station
	}
	a, err := lldp.Unmarshal(b[:n])
	if err != nil {
		d.warn(fmt.Sprintf("frame at port %d of %s", at.port, d.cfg.Stations[at.station].Name), err)
		return nil
	}
	d.mu.Lock()
	changed := d.tables[at.station].Hear(d.cfg.Now(), at.port, a)
	d.mu.Unlock()
	if changed && d.cfg.Changed != nil {
		d.cfg.Changed(at.station)
	}
	return nil
}

func (d *Daemon) warn(msg string, err error) {
	if d.cfg.Warn != nil {
		d.cfg.Warn(msg, err)
	}
}

// speak announces all stations once an interval, and forgets neighbours that have gone silent. Long intervals begin
// short and double, since a neighbour can miss the first announcements.
func (d *Daemon) speak(ctx context.Context) {
	next := min(d.cfg.Interval, Interval)
	tick := time.NewTicker(next)
	defer tick.Stop()
	for {
		d.announce(d.ttl)
		select {
		case <-ctx.Done():
			d.announce(0)
			return
		case <-tick.C:
			d.expire()
		}
		if next < d.cfg.Interval {
			next = min(2*next, d.cfg.Interval)
			tick.Reset(next)
		}
	}
}

func (d *Daemon) expire() {
	for s, t := range d.tables {
		d.mu.Lock()
		changed := t.Expire(d.cfg.Now())
		d.mu.Unlock()
		if changed && d.cfg.Changed != nil {
			d.cfg.Changed(s)
		}
	}
}

// source is a locally administered address: the frame itself names the sender.
func source() net.HardwareAddr { return net.HardwareAddr{0x02, 0x4c, 0x4c, 0x4c, 0x44, 0x01} }

func (d *Daemon) announce(ttl time.Duration) {
	raw, err := d.sock.SyscallConn()
	if err != nil {
		return // closed
	}
	for _, s := range d.cfg.Stations {
		for _, p := range s.Ports {
			if p.Interface <= 0 {
				continue
			}
			frame, err := lldp.Announcement{Chassis: s.Name, Port: p.Name, System: s.Name,
				TTL: ttl}.Marshal(source())
			if err != nil {
				d.warn("announce "+s.Name, err)
				continue
			}
			var sent error
			if err := raw.Control(func(fd uintptr) {
				sent = unix.Sendto(int(fd), frame, unix.MSG_DONTWAIT,
					&unix.SockaddrLinklayer{Protocol: networkOrder(lldp.EtherType), Ifindex: p.Interface, Halen: 6})
			}); err != nil {
				return // closed
			}
			if sent != nil && !unplugged(sent) {
				d.warn("announce "+s.Name+" at "+p.Name, sent)
			}
		}
	}
}

// unplugged reports whether err means that no neighbour can receive the frame.
func unplugged(err error) bool {
	return slices.ContainsFunc([]error{unix.ENETDOWN, unix.ENXIO, unix.ENODEV, unix.ENOBUFS, unix.EAGAIN},
		func(e error) bool {
			return errors.Is(err, e)
		})
}

// Heard returns the current neighbours at the ports of a station.
func (d *Daemon) Heard(station int) []lldp.Heard {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tables[station].All(d.cfg.Now())
}
