package hostagent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// connLister lists the TCP connections of one network namespace by INET_DIAG (linux/inet_diag.h).
type connLister struct {
	socket int
	seq    uint32
}

// tcpConn is one connection.
type tcpConn struct {
	src, dst netip.AddrPort
	cookie   uint64 // the kernel's, which no other socket has had
	acked    uint64 // payload bytes that the other end has acknowledged
}

// listConns opens a lister of the calling thread's namespace.
func listConns() (*connLister, error) {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return nil, fmt.Errorf("open netlink: %w", err)
	}
	l := &connLister{socket: s}
	if err := unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 60}); err != nil {
		return nil, errors.Join(fmt.Errorf("bound netlink: %w", err), l.close())
	}
	return l, nil
}

func (l *connLister) close() error { return unix.Close(l.socket) }

const (
	// tcpConns asks for connections over IPv4 and IPv6 at once, as SOCK_DIAG_BY_FAMILY does not.
	tcpConns = 18 // TCPDIAG_GETSOCK
	// connStates are the states of connections. For listening sockets the kernel would go through those of all
	// namespaces, whose table has an entry for each 2 MB of the machine's memory.
	connStates = 0xfff &^ (1<<unix.BPF_TCP_LISTEN | 1<<unix.BPF_TCP_TIME_WAIT | 1<<unix.BPF_TCP_CLOSE)
)

// Sizes and fields of a request (struct inet_diag_req) and of an answer (inet_diag_msg), whose attribute infoAttr is
// struct tcp_info.
const (
	requestSize, answerSize       = 60, 72
	atExtensions, atStates        = 3, 52
	atPorts, atSource, atDest     = 4, 8, 24
	atCookie                      = 44
	infoAttr                      = 2
	ackedAt                       = int(unsafe.Offsetof(unix.TCPInfo{}.Bytes_acked))
	atType, atFlags, atSeq, atEnd = 4, 6, 8, unix.SizeofNlMsghdr
)

// each calls do for each connection that has been made. Those that come or go meanwhile can be left out. The buffer
// takes answers, of 32 kB at most.
func (l *connLister) each(buf []byte, do func(tcpConn)) error {
	l.seq++
	var req [atEnd + requestSize]byte
	binary.NativeEndian.PutUint32(req[:], uint32(len(req)))
	binary.NativeEndian.PutUint16(req[atType:], tcpConns)
	binary.NativeEndian.PutUint16(req[atFlags:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	binary.NativeEndian.PutUint32(req[atSeq:], l.seq)
	req[atEnd], req[atEnd+atExtensions] = unix.AF_INET, 1<<(infoAttr-1)
	binary.NativeEndian.PutUint32(req[atEnd+atStates:], connStates)
	err := unix.Sendto(l.socket, req[:], 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
	for done := false; err == nil && !done; {
		var n int
		if n, _, err = unix.Recvfrom(l.socket, buf, 0); err == nil {
			done, err = readConns(buf[:n], l.seq, do)
		}
	}
	if err != nil {
		return fmt.Errorf("list connections: %w", err)
	}
	return nil
}

var errAnswer = errors.New("the kernel's answer is malformed")

// readConns reads answers to the request of that number, and reports whether the last one was among them.
func readConns(b []byte, seq uint32, do func(tcpConn)) (done bool, err error) {
	for len(b) > 0 {
		if len(b) < atEnd {
			return false, errAnswer
		}
		n := int(binary.NativeEndian.Uint32(b))
		if n < atEnd || n > len(b) {
			return false, errAnswer
		}
		msg, kind := b[atEnd:n], binary.NativeEndian.Uint16(b[atType:])
		mine := binary.NativeEndian.Uint32(b[atSeq:]) == seq
		b = b[min(len(b), (n+unix.NLMSG_ALIGNTO-1)&^(unix.NLMSG_ALIGNTO-1)):]
		switch {
		case !mine: // an answer to a request that was given up
		case kind == unix.NLMSG_DONE, kind == unix.NLMSG_ERROR:
			if len(msg) >= 4 && binary.NativeEndian.Uint32(msg) != 0 {
				return true, unix.Errno(-int32(binary.NativeEndian.Uint32(msg)))
			}
			return true, nil
		default:
			if c, ok := readConn(msg); ok {
				do(c)
			}
		}
	}
	return false, nil
}

// readConn reads one answer; false if it has no counts.
func readConn(msg []byte) (c tcpConn, ok bool) {
	if len(msg) < answerSize {
		return c, false
	}
	end := func(addr, port int) netip.AddrPort {
		size := 4
		if msg[0] == unix.AF_INET6 {
			size = 16
		}
		a, _ := netip.AddrFromSlice(msg[addr : addr+size])
		return netip.AddrPortFrom(a.Unmap(), binary.BigEndian.Uint16(msg[port:]))
	}
	c = tcpConn{src: end(atSource, atPorts), dst: end(atDest, atPorts+2),
		cookie: binary.NativeEndian.Uint64(msg[atCookie:])}
	for attrs := msg[answerSize:]; len(attrs) >= unix.SizeofRtAttr; {
		n := int(binary.NativeEndian.Uint16(attrs))
		if n < unix.SizeofRtAttr || n > len(attrs) {
			return c, false
		}
		if binary.NativeEndian.Uint16(attrs[2:]) == infoAttr && n >= unix.SizeofRtAttr+ackedAt+8 {
			c.acked = binary.NativeEndian.Uint64(attrs[unix.SizeofRtAttr+ackedAt:])
			return c, true
		}
		attrs = attrs[min(len(attrs), (n+unix.NLMSG_ALIGNTO-1)&^(unix.NLMSG_ALIGNTO-1)):]
	}
	return c, false
}
