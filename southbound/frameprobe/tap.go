package frameprobe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"lightloom/southbound"
)

// probeType is the second EtherType for local experiments (IEEE 802): an OCS carries it, and nothing else
// answers to it. The first is that of the signals of package emulator/fefi.
const probeType = 0x88b6

// Tap is a packet socket on one interface for probes: sends them past the queues, or takes those that
// come in, each with the kernel's time of arrival.
type Tap struct {
	fd    int
	seqAt int // where a probe's number is in its frame
	head  int // bytes of the frame that tell a probe, from headAt to seqAt
	frame [60]byte
}

// Open opens a tap for probes that an OCS carries.
func Open(link int) (*Tap, error) {
	t := &Tap{seqAt: 14, head: 2}
	binary.BigEndian.PutUint16(t.frame[12:], probeType)
	return t, t.open(link, probeType)
}

// OpenRouted opens a tap for probes that packet switches carry: UDP from one host to another.
func OpenRouted(link int, src, dst netip.Addr, tag southbound.Tag) (*Tap, error) {
	t := &Tap{seqAt: 42, head: 6}
	f := t.frame[:]
	copy(f, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, southbound.TOS(0, tag)})
	binary.BigEndian.PutUint16(f[16:], uint16(len(f)-14))
	f[22], f[23] = 64, unix.IPPROTO_UDP
	s, d := src.As4(), dst.As4()
	copy(f[26:], s[:])
	copy(f[30:], d[:])
	binary.BigEndian.PutUint16(f[24:], checksum(f[14:34]))
	binary.BigEndian.PutUint16(f[34:], probePort)
	binary.BigEndian.PutUint16(f[36:], probePort)
	binary.BigEndian.PutUint16(f[38:], uint16(len(f)-34))
	return t, t.open(link, unix.ETH_P_ALL) // only a tap for all protocols sees packets that the switch takes
}

// probePort is UDP's discard service, which sends no answers.
const probePort = 9

// checksum is the Internet's (RFC 1071).
func checksum(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(b[i])<<8 | uint32(b[i+1])
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// open opens the socket; on an error there is none.
func (t *Tap) open(link int, protocol uint16) error {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK,
		int(swap16(protocol)))
	if err != nil {
		return fmt.Errorf("open packet socket: %w", err)
	}
	t.fd = fd
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1),
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: swap16(protocol), Ifindex: link}))
	// Room for all probes of a move where root allows it. What overflows is late: not the first of a new
	// circuit.
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 16<<20) != nil {
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 16<<20))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("set up packet socket on interface %d: %w", link, err), t.Close())
	}
	return nil
}

func swap16(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}

// Close closes the socket.
func (t *Tap) Close() error { return unix.Close(t.fd) }

// Send sends probe seq. The call never blocks, so it bypasses the Go scheduler and keeps its processor.
func (t *Tap) Send(seq uint32) error {
	binary.BigEndian.PutUint32(t.frame[t.seqAt:], seq)
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(t.fd), uintptr(unsafe.Pointer(&t.frame)),
			uintptr(len(t.frame)), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0, unix.ENOBUFS, unix.EAGAIN, unix.ENETDOWN: // a probe that could not be sent is a probe that did not come
			return nil
		case unix.EINTR:
		default:
			return fmt.Errorf("send probe: %w", errno)
		}
	}
}

// Arrival is a probe that came in.
type Arrival struct {
	Seq uint32
	At  time.Time
}

// Drain returns all that has come in, in order.
func (t *Tap) Drain() ([]Arrival, error) {
	var all []Arrival
	var buf [128]byte
	var oob [128]byte
	for {
		n, oobn, _, _, err := unix.Recvmsg(t.fd, buf[:], oob[:], 0)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return all, nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ENETDOWN): // told once; nothing more arrives
			continue
		case err != nil:
			return all, fmt.Errorf("receive probe: %w", err)
		case n < t.seqAt+4 || !bytes.Equal(buf[t.seqAt-t.head:t.seqAt-t.head+2], t.frame[t.seqAt-t.head:t.seqAt-t.head+2]):
			continue
		}
		at, err := stamp(oob[:oobn])
		if err != nil {
			return all, err
		}
		all = append(all, Arrival{binary.BigEndian.Uint32(buf[t.seqAt:]), at})
	}
}

// stamp finds the kernel's time of arrival among control messages.
func stamp(oob []byte) (time.Time, error) {
	msgs, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return time.Time{}, fmt.Errorf("read time of arrival: %w", err)
	}
	for _, m := range msgs {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS &&
			len(m.Data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			ts := *(*unix.Timespec)(unsafe.Pointer(&m.Data[0]))
			return time.Unix(ts.Unix()), nil
		}
	}
	return time.Time{}, errors.New("read time of arrival: the packet has none")
}
