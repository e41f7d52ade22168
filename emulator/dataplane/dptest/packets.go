package dptest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/emulator/device"
	"lightloom/emulator/netns"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Packets is a Network of real packets: UDP between the hosts of a fabric of this machine.
type Packets struct {
	fabric *netns.Fabric
	conns  []*net.UDPConn // by host
	nonce  uint64
	buf    [64]byte
}

var _ Network = (*Packets)(nil)

const (
	udpPort  = 4747
	patience = 30 * time.Second // for a packet that neither arrives nor is counted
)

// NewPackets opens a socket in every host. Close closes them and leaves the fabric.
func NewPackets(f *netns.Fabric) (*Packets, error) {
	p := &Packets{fabric: f}
	for h := range southbound.HostID(f.Spec().Hosts()) {
		err := f.InHost(h, func() error {
			c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(f.Addr(h), udpPort)))
			if err == nil {
				p.conns = append(p.conns, c)
				err = c.SetReadBuffer(1 << 20)
			}
			return err
		})
		if err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// Close closes the sockets.
func (p *Packets) Close() {
	for _, c := range p.conns {
		_ = c.Close()
	}
}

// Spec is Network's.
func (p *Packets) Spec() *topo.Fabric { return p.fabric.Spec() }

// Plane is Network's.
func (p *Packets) Plane(d southbound.DeviceID) device.Plane { return p.fabric.Plane(d) }

// Pass is Network's.
func (p *Packets) Pass(d time.Duration) { <-time.After(d) }

// Carried is Network's.
func (p *Packets) Carried() ([]uint64, error) {
	c, err := p.fabric.Counters()
	n := make([]uint64, len(c.Links))
	for l := range n {
		n[l] = c.Links[l].Packets
	}
	return n, err
}

// Send is Network's.
func (p *Packets) Send(src, dst southbound.HostID, tag southbound.Tag, n int) (int, error) {
	before, err := p.dropped()
	if err != nil {
		return 0, err
	}
	if err := setTag(p.conns[src], tag); err != nil {
		return 0, err
	}
	p.nonce++
	for i := range n {
		if err := p.write(src, dst, uint64(i)); err != nil {
			return 0, err
		}
	}
	arrived := 0
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if _, ok, err := p.read(dst, 2*time.Millisecond); err != nil {
			return arrived, err
		} else if ok {
			if arrived++; arrived == n {
				return arrived, nil
			}
			continue
		}
		now, err := p.dropped()
		if err != nil || arrived+int(now-before) >= n {
			return arrived, err
		}
	}
	now, err := p.dropped()
	return arrived, errors.Join(err, fmt.Errorf("send %d packets from host %d to %d with tag %d: %d arrived and %d were "+
		"counted as dropped", n, src, dst, tag, arrived, now-before))
}

// window bounds the packets under way, so that no queue ever fills; after silence those that have not
// come are lost.
const (
	window  = 32
	silence = time.Second
)

// Load is Network's. Packets clock themselves: one leaves when one arrives.
func (p *Packets) Load(src, dst southbound.HostID, tag southbound.Tag, change func() error) (Flow, error) {
	if err := setTag(p.conns[src], tag); err != nil {
		return Flow{}, err
	}
	p.nonce++
	stop := make(chan struct{})
	done := repeat(change, stop)
	flow, err := p.stream(src, dst)
	close(stop)
	return flow, errors.Join(err, <-done)
}

// stream sends enough packets, at most window at a time, and ends when all have come or none has for a
// while.
func (p *Packets) stream(src, dst southbound.HostID) (flow Flow, err error) {
	highest := int64(-1)
	for flow.Arrived < enough {
		for flow.Sent < enough && flow.Sent-flow.Arrived < window {
			if err := p.write(src, dst, uint64(flow.Sent)); err != nil {
				return flow, err
			}
			flow.Sent++
		}
		seq, ok, err := p.read(dst, silence)
		if err != nil || !ok {
			return flow, err
		}
		if flow.Arrived++; int64(seq) < highest {
			flow.Reordered++
		}
		highest = max(highest, int64(seq))
	}
	return flow, nil
}

func (p *Packets) write(src, dst southbound.HostID, seq uint64) error {
	binary.BigEndian.PutUint64(p.buf[:], p.nonce)
	binary.BigEndian.PutUint64(p.buf[8:], seq)
	_, err := p.conns[src].WriteToUDPAddrPort(p.buf[:16], netip.AddrPortFrom(p.fabric.Addr(dst), udpPort))
	return err
}

// read returns the next packet of this nonce, or false once that long has passed without one.
func (p *Packets) read(dst southbound.HostID, wait time.Duration) (seq uint64, ok bool, err error) {
	if err := p.conns[dst].SetReadDeadline(time.Now().Add(wait)); err != nil {
		return 0, false, err
	}
	for {
		n, _, err := p.conns[dst].ReadFromUDPAddrPort(p.buf[:])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, false, nil
		}
		if err != nil {
			return 0, false, err
		}
		if n == 16 && binary.BigEndian.Uint64(p.buf[:]) == p.nonce {
			return binary.BigEndian.Uint64(p.buf[8:]), true, nil
		}
	}
}

// dropped sums the drops of all switches.
func (p *Packets) dropped() (uint64, error) {
	sum := uint64(0)
	for n, node := range p.Spec().Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		d, err := p.Plane(pathmap.NodeID(n)).Dropped()
		if err != nil {
			return 0, err
		}
		sum += d
	}
	return sum, nil
}

func setTag(c *net.UDPConn, tag southbound.Tag) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	return setTOS(raw, tag)
}

func setTOS(raw syscall.RawConn, tag southbound.Tag) error {
	var set error
	err := raw.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TOS, int(southbound.TOS(0, tag)))
	})
	return errors.Join(err, set)
}
