package capture

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/mdlayher/packet"
	"golang.org/x/sys/unix"
)

// Frame is one packet as seen. Data is borrowed until the next Read.
type Frame struct {
	At   time.Time // by the kernel, when it took the packet
	Data []byte    // at most a snap length of it
	Size int       // of the whole packet, in bytes
	Out  bool      // it left through the interface
}

// Source is an interface to capture from. One goroutine reads; Stop can be called by others.
type Source struct {
	conn  *packet.Conn
	name  string
	frame []byte
	oob   []byte
}

// DefaultBuffer is how many bytes of packets the kernel keeps for a capture that lags.
const DefaultBuffer = 16 << 20

// Open listens at the interface with that index in the namespace of the calling thread. buffer is in
// bytes; 0: DefaultBuffer. It needs CAP_NET_RAW there.
func Open(index int, name string, snapLen, buffer int) (*Source, error) {
	if buffer <= 0 {
		buffer = DefaultBuffer
	}
	conn, err := packet.Listen(&net.Interface{Index: index, Name: name}, packet.Raw, unix.ETH_P_ALL, nil)
	if err != nil {
		return nil, fmt.Errorf("capture at %q: %w", name, err)
	}
	s := &Source{conn: conn, name: name, frame: make([]byte, snapLen), oob: make([]byte, 256)}
	if err := s.prepare(buffer); err != nil {
		return nil, errors.Join(fmt.Errorf("capture at %q: %w", name, err), conn.Close())
	}
	return s, nil
}

func (s *Source) prepare(buffer int) error {
	if err := s.conn.SetPromiscuous(true); err != nil {
		return fmt.Errorf("listen to all: %w", err)
	}
	raw, err := s.conn.SyscallConn()
	if err != nil {
		return err
	}
	var opt error
	err = raw.Control(func(fd uintptr) {
		if opt = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer); opt != nil {
			opt = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, buffer) // without root: up to net.core.rmem_max
		}
		opt = errors.Join(opt, unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1))
	})
	return errors.Join(err, opt)
}

// errStopped: the source was stopped.
var errStopped = errors.New("the capture was stopped")

// Read waits for the next packet. It returns errStopped once Stop has been called and what had come
// before is read.
func (s *Source) Read() (f Frame, err error) {
	raw, err := s.conn.SyscallConn()
	if err != nil {
		return f, fmt.Errorf("capture at %q: %w", s.name, err)
	}
	var got error
	err = raw.Read(func(fd uintptr) bool {
		f, got = s.receive(int(fd))
		return !errors.Is(got, unix.EAGAIN)
	})
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return s.rest(raw.Control)
	case err == nil:
		err = got
	}
	if err != nil {
		return f, fmt.Errorf("capture at %q: %w", s.name, err)
	}
	return f, nil
}

// rest reads what the kernel still keeps, without waiting.
func (s *Source) rest(control func(func(fd uintptr)) error) (f Frame, err error) {
	var got error
	if err := control(func(fd uintptr) { f, got = s.receive(int(fd)) }); err != nil || got != nil {
		return f, errStopped
	}
	return f, nil
}

func (s *Source) receive(fd int) (Frame, error) {
	for {
		n, on, _, from, err := unix.Recvmsg(fd, s.frame, s.oob, unix.MSG_DONTWAIT|unix.MSG_TRUNC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return Frame{}, err
		}
		f := Frame{At: stamp(s.oob[:on]), Data: s.frame[:min(n, len(s.frame))], Size: n}
		if ll, ok := from.(*unix.SockaddrLinklayer); ok {
			f.Out = ll.Pkttype == unix.PACKET_OUTGOING
		}
		return f, nil
	}
}

// stamp finds the kernel's time among control messages, or takes the present one.
func stamp(oob []byte) time.Time {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return time.Now()
	}
	for _, m := range msgs {
		if t, ok := timeOf(m); ok {
			return t
		}
	}
	return time.Now()
}

// Stop ends a Read that waits. Packets that the kernel has taken already are still read.
func (s *Source) Stop() error { return s.conn.SetReadDeadline(time.Unix(1, 0)) }

// Dropped returns how many packets the kernel has not kept because the capture lagged, since the last call.
func (s *Source) Dropped() (uint64, error) {
	st, err := s.conn.Stats()
	if err != nil {
		return 0, fmt.Errorf("count drops at %q: %w", s.name, err)
	}
	return uint64(st.Drops), nil
}

// Close gives the interface back.
func (s *Source) Close() error { return s.conn.Close() }
