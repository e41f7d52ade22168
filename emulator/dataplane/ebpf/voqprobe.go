package ebpf

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lightloom/emulator/dataplane"
	"lightloom/southbound"
)

// VOQSupported returns an error if this process cannot queue packets while a circuit is dark: it queues
// one of a switch of two ports, gives the light back and waits for it at the other port.
func VOQSupported() error {
	if err := Supported(); err != nil {
		return err
	}
	err := dataplane.Probe(func(nl *netlink.Handle, packet, optical dataplane.Switch) error {
		if err := joinVOQ(nl); err != nil {
			return err
		}
		end, err := nl.LinkByName("s1")
		if err != nil {
			return fmt.Errorf("find veth: %w", err)
		}
		packet.Ports = append(packet.Ports, optical.Ports[0])
		packet.Dark = dataplane.Dark{Limit: 1 << 17, Fibre: 1,
			Queue: [2]int{packet.Sink, end.Attrs().Index}, Room: 1 << 16}
		p, err := New(nl, packet)
		if err != nil {
			return err
		}
		return errors.Join(exerciseVOQ(nl, p), p.Close())
	})
	if err != nil {
		return fmt.Errorf("probe virtual output queues: %w", err)
	}
	return nil
}

// joinVOQ sets the far ends of a probe's cables up, and waits until they take packets.
func joinVOQ(nl *netlink.Handle) error {
	for _, name := range []string{"a1", "b1", "s1"} {
		l, err := nl.LinkByName(name)
		if err == nil {
			err = nl.LinkSetUp(l)
		}
		if err != nil {
			return fmt.Errorf("set veth %q up: %w", name, err)
		}
	}
	for _, name := range []string{"a0", "a1", "b0", "s0"} { // those that packets leave by
		if err := dataplane.AwaitUp(nl, linkOf(nl, name)); err != nil {
			return err
		}
	}
	return nil
}

// probeWithin is how long a packet can take through a switch of the probe.
const probeWithin = 2 * time.Second

func exerciseVOQ(nl *netlink.Handle, p *Plane) error {
	in, err := openProbe(nl, "a1")
	if err != nil {
		return err
	}
	defer unix.Close(in)
	out, err := openProbe(nl, "b1")
	if err != nil {
		return err
	}
	defer unix.Close(out)
	r := southbound.Rule{Match: southbound.Match{Dst: 0, Tag: southbound.AnyTag,
		Src: southbound.AnyRack}, Primary: 1,
		Backup: southbound.NoPort}
	if err := errors.Join(p.SetRules([]southbound.Rule{r}, nil, true), p.SetLight(1, false)); err != nil {
		return err
	}
	frame := probeFrame()
	if err := unix.Sendto(in, frame, 0, &unix.SockaddrLinklayer{Ifindex: linkOf(nl, "a1")}); err != nil {
		return fmt.Errorf("send a packet: %w", err)
	}
	deadline := time.Now().Add(probeWithin)
	if !until(deadline, func() bool { return p.Queued()[0].Frames == 1 }) {
		return fmt.Errorf("the packet was not parked: %+v", p.Queued()[0])
	}
	if err := p.SetLight(1, true); err != nil {
		return err
	}
	buf := make([]byte, 2048)
	if !until(deadline, func() bool {
		n, _, err := unix.Recvfrom(out, buf, unix.MSG_DONTWAIT)
		return err == nil && n >= len(frame) && bytes.Equal(buf[:len(frame)], frame)
	}) {
		return errors.New("the packet did not leave when there was light again")
	}
	return nil
}

// probeFrame is a UDP packet to the first host of rack 0.
func probeFrame() []byte {
	f := make([]byte, 60)
	copy(f, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 8, 0, 0x45})
	f[17], f[22], f[23] = 46, 64, unix.IPPROTO_UDP
	copy(f[26:], []byte{10, 0, 1, 1, 10, 0, 0, 1})
	return f
}

func linkOf(nl *netlink.Handle, name string) int {
	l, err := nl.LinkByName(name)
	if err != nil {
		return 0
	}
	return l.Attrs().Index
}

// openProbe opens a packet socket at one end of a probe's cable.
func openProbe(nl *netlink.Handle, name string) (int, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open packet socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: networkOrder16(unix.ETH_P_ALL),
		Ifindex: linkOf(nl, name)}); err != nil {
		_ = unix.Close(fd)
		return 0, fmt.Errorf("bind packet socket to %q: %w", name, err)
	}
	return fd, nil
}

// until polls happened every millisecond until the deadline.
func until(deadline time.Time, happened func() bool) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !happened() {
		if time.Now().After(deadline) {
			return false
		}
		<-tick.C
	}
	return true
}
