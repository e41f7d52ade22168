package voq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Config configures the queues.
type Config struct {
	Link  int // interface that queued packets come in at
	Racks int
	Limit int // bytes of each rack's queue
	Room  int // bytes that can wait in the queue of the link that packets leave by
	Gate  Gate
}

// Queues queues packets until it is closed.
type Queues struct {
	voqs     *voqs
	fd       int // reads what is queued, and writes what goes
	bell     int // eventfd: look again
	closed   atomic.Bool
	ended    chan struct{}
	buf      []byte
	refused  time.Time // since when the link refuses the frame that is next
	refusing bool
}

// Most that one read can give: a large segment, with room for the kernels that make larger ones for
// IPv4 (BIG TCP).
const maxFrame = vnetLen + 256<<10

// received is the socket's buffer: what comes in while this process is kept from its processor.
const received = 16 << 20

// Open begins to park. The calling thread is in the interface's namespace.
func Open(c Config) (*Queues, error) {
	l := &Queues{voqs: newVOQs(c.Gate, c.Racks, c.Limit), fd: -1, bell: -1, ended: make(chan struct{}),
		buf: make([]byte, maxFrame)}
	if err := l.open(c); err != nil {
		return nil, errors.Join(fmt.Errorf("open virtual output queues at interface %d: %w", c.Link,
			err), l.shut())
	}
	go l.run()
	return l, nil
}

func (l *Queues) open(c Config) (err error) {
	if l.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("make eventfd: %w", err)
	}
	all := network16(unix.ETH_P_ALL)
	// No protocol yet: nothing of other interfaces comes in before the socket is bound to its own.
	if l.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK,
		0); err != nil {
		return fmt.Errorf("open packet socket: %w", err)
	}
	err = errors.Join(
		unix.SetsockoptInt(l.fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1),
		unix.SetsockoptInt(l.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.SetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, max(c.Room/2, 4<<10))) // the kernel doubles it
	if unix.SetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, received) != nil {
		err = errors.Join(err, unix.SetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, received))
	}
	if err == nil {
		err = unix.Bind(l.fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: c.Link})
	}
	if err != nil {
		return fmt.Errorf("set up packet socket: %w", err)
	}
	return nil
}

func network16(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}

// Wake has the queues ask its gate again: light or rules have changed.
func (l *Queues) Wake() {
	one := [8]byte{}
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(l.bell, one[:]) // full means that it rings already
}

// Counts returns what became of packets, by destination rack.
func (l *Queues) Counts() []Count { return l.voqs.read() }

// Dropped returns how many packets were dropped in all.
func (l *Queues) Dropped() (sum uint64) {
	for i := range l.voqs.counts {
		sum += l.voqs.counts[i].dropped.Load()
	}
	return sum
}

// Close ends it; what is queued is lost. Call it once, and Wake no more.
func (l *Queues) Close() error {
	l.closed.Store(true)
	l.Wake()
	<-l.ended
	return l.shut()
}

func (l *Queues) shut() error {
	var errs []error
	for _, fd := range []int{l.fd, l.bell} {
		if fd >= 0 {
			errs = append(errs, unix.Close(fd))
		}
	}
	return errors.Join(errs...)
}

func (l *Queues) run() {
	defer close(l.ended)
	for !l.closed.Load() {
		got := l.drain()
		sent, full := l.voqs.flush(l.send)
		if !got && !sent {
			l.wait(full)
		}
	}
}

// batch is how many frames are taken in before queues are looked at again.
const batch = 64

// drain parks what has come, and reports whether anything had.
func (l *Queues) drain() (got bool) {
	for range batch {
		n, _, flags, _, err := unix.Recvmsg(l.fd, l.buf, nil, 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil: // EAGAIN; or the interface went down, which poll reports again
			return got
		case flags&unix.MSG_TRUNC != 0:
			continue // it is missed, and written off
		}
		got = true
		l.voqs.take(append(Frame(nil), l.buf[:n]...))
	}
	return got
}

// stubborn is how long a link can refuse a frame, such as one longer than its queue, before the frame
// is dropped.
const stubborn = time.Second

// send hands a frame to a link's queue. The socket lets no more than Room wait there, so that the queue
// does not drop.
func (l *Queues) send(f Frame, link int) Verdict {
	for {
		err := unix.Sendto(l.fd, f, unix.MSG_DONTWAIT, &unix.SockaddrLinklayer{Ifindex: link})
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return Full
		case errors.Is(err, unix.ENOBUFS):
			return l.refuse()
		}
		l.refusing = false
		if err != nil {
			return Lost
		}
		return Sent
	}
}

// refuse is the answer to a link whose queue others have filled.
func (l *Queues) refuse() Verdict {
	if !l.refusing {
		l.refusing, l.refused = true, time.Now()
	}
	if time.Since(l.refused) > stubborn {
		l.refusing = false
		return Lost
	}
	return Full
}

// How long the queues wait if no event comes.
const (
	retry  = 1  // ms: for a link whose queue others fill, for which there is no event
	astray = 50 // ms: for packets that the switch has queued but that have not arrived
)

// wait waits until there is something to do.
func (l *Queues) wait(full bool) {
	fds := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}, {Fd: int32(l.bell), Events: unix.POLLIN}}
	patience, missing := -1, l.voqs.missing()
	switch {
	case l.refusing:
		patience = retry
	case full:
		fds[0].Events |= unix.POLLOUT
	}
	if missing && patience < 0 {
		patience = astray
	}
	n, err := unix.Poll(fds, patience)
	if err == nil && n == 0 && missing && patience == astray {
		l.voqs.writeOff()
	}
	if fds[1].Revents != 0 {
		var b [8]byte
		_, _ = unix.Read(l.bell, b[:])
	}
	// the interface went down: the error is read off, and nothing comes
	if fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
		_, _ = unix.GetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	}
}
