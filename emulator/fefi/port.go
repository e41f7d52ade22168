package fefi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Port is one interface to send and receive signals at. Send and Receive can be called by several
// goroutines.
type Port struct {
	f    *os.File
	name string
}

// Open opens the interface with that index in the process's network namespace. It needs CAP_NET_RAW there.
func Open(link int, name string) (*Port, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK,
		int(networkOrder(etherType)))
	if err != nil {
		return nil, fmt.Errorf("open packet socket: %w", err)
	}
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1), // light waits in no queue
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: networkOrder(etherType), Ifindex: link}))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open packet socket on %q: %w", name, err), unix.Close(fd))
	}
	return &Port{os.NewFile(uintptr(fd), name), name}, nil
}

// networkOrder returns v in the byte order of the wire, as this machine loads it.
func networkOrder(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}

// Send sends one signal. An unplugged cable is no error, since there is no receiver.
func (p *Port) Send(s Signal) error {
	_, err := p.f.Write(s.Marshal())
	if unplugged(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("send signal on %q: %w", p.name, err)
	}
	return nil
}

// Receive waits until an instant for the next signal; frames of others are passed over. ok is false
// where none came, because time has passed or the cable is unplugged.
func (p *Port) Receive(until time.Time) (s Signal, ok bool, err error) {
	if err := p.f.SetReadDeadline(until); err != nil {
		return s, false, fmt.Errorf("receive signal on %q: %w", p.name, err)
	}
	var b [frameSize]byte
	for {
		n, err := p.f.Read(b[:])
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), unplugged(err):
			return s, false, nil
		case err != nil:
			return s, false, fmt.Errorf("receive signal on %q: %w", p.name, err)
		}
		if s, err = Unmarshal(b[:n]); err == nil {
			return s, true, nil
		}
	}
}

// Close ends a Receive that waits.
func (p *Port) Close() error { return p.f.Close() }

func unplugged(err error) bool {
	return errors.Is(err, unix.ENETDOWN) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) ||
		errors.Is(err, unix.ENOBUFS)
}
