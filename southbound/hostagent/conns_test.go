package hostagent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"lightloom/southbound"
)

// TestConns lists connections of this process that are made over IPv4: to a socket for IPv4, and to one for both.
func TestConns(t *testing.T) {
	for _, network := range []string{"tcp4", "tcp"} {
		t.Run(network, func(t *testing.T) {
			ln, err := net.Listen(network, ":0")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			port := ln.Addr().(*net.TCPAddr).AddrPort().Port()
			to := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
			c, err := net.Dial("tcp4", to.String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			peer, err := ln.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Close()
			const sent = 12_345
			if _, err := c.Write(make([]byte, sent)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(peer, make([]byte, sent)); err != nil {
				t.Fatal(err)
			}
			if _, err := peer.Write([]byte{1}); err != nil { // with what it acknowledges
				t.Fatal(err)
			}
			if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			checkConns(t, c.LocalAddr().(*net.TCPAddr).AddrPort(), to, sent)
		})
	}
}

func checkConns(t *testing.T, from, to netip.AddrPort, sent uint64) {
	l, err := listConns()
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	for range 2 {
		ends := map[netip.AddrPort]tcpConn{}
		if err := l.each(make([]byte, 32<<10), func(c tcpConn) {
			if c.src.Port() == to.Port() || c.dst.Port() == to.Port() {
				if _, twice := ends[c.src]; twice {
					t.Errorf("%v is listed twice", c.src)
				}
				ends[c.src] = c
			}
		}); err != nil {
			t.Fatal(err)
		}
		if len(ends) != 2 || ends[from].dst != to || ends[to].dst != from || ends[from].acked != sent+1 { // SYN counts, too
			t.Fatalf("the connection from %v to %v, which has moved %d bytes, is listed as %+v", from, to, sent, ends)
		}
	}
}

// TestConnsGivenUp: a listing that was given up midway fails, and the next reading counts as ever.
func TestConnsGivenUp(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for range 300 { // some answers of 32 kB
		for _, open := range []func() (net.Conn, error){
			func() (net.Conn, error) { return net.Dial("tcp4", ln.Addr().String()) }, ln.Accept,
		} {
			c, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
	}
	a := &Agent{cfg: Config{Net: here{}}}
	o := newOdometer(&network{})
	defer o.close()
	if err := o.read(a, 0); err != nil {
		t.Fatal(err)
	}
	if err := o.list(0, make([]byte, 600)); !errors.Is(err, errAnswer) {
		t.Errorf("a buffer that is too small: %v", err)
	}
	for range 2 {
		if err := o.read(a, 0); err != nil {
			t.Errorf("the next reading: %v", err)
		}
	}
}

// TestConnsUnknown: where the kernel lists no connections, none are counted, and that is no error.
func TestConnsUnknown(t *testing.T) {
	o := newOdometer(&network{})
	for _, err := range []error{unix.ENOENT, unix.EINVAL} {
		o.doors[0] = unlisted{err}
		if got := o.list(0, nil); errors.Is(got, err) != (err != unix.ENOENT) {
			t.Errorf("%v is %v", err, got)
		}
	}
}

// unlisted is a kernel that refuses to list connections.
type unlisted struct{ err error }

func (r unlisted) each([]byte, func(tcpConn)) error { return fmt.Errorf("list connections: %w", r.err) }
func (unlisted) close() error                       { return nil }

// TestReadConns reads two answers of known bytes among others.
func TestReadConns(t *testing.T) {
	message := func(kind uint16, seq uint32, body []byte) []byte {
		b := binary.NativeEndian.AppendUint32(nil, uint32(16+len(body)))
		b = binary.NativeEndian.AppendUint16(b, kind)
		b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_MULTI)
		b = binary.NativeEndian.AppendUint32(b, seq)
		return append(append(b, 0, 0, 0, 0), body...)
	}
	answer := func(family byte, src, dst string, cookie, acked uint64) []byte {
		b := []byte{family, 1, 0, 0} // established
		b = append(b, 0x12, 0x34, 0xab, 0xcd)
		for _, a := range []string{src, dst} {
			b = append(b, make([]byte, 16)...)
			copy(b[len(b)-16:], netip.MustParseAddr(a).AsSlice())
		}
		b = append(b, 9, 0, 0, 0) // the interface
		b = append(binary.NativeEndian.AppendUint64(b, cookie), make([]byte, 20)...)
		b = append(b, 5, 0, 8, 0, 1, 0, 0, 0)            // another attribute, of five bytes and three more
		b = binary.NativeEndian.AppendUint16(b, 4+120+8) // tcp_info as long as it must be:
		b = binary.NativeEndian.AppendUint16(b, 2)       // INET_DIAG_INFO
		b = append(b, make([]byte, 120)...)              // tcpi_bytes_acked begins behind 120 bytes
		return binary.NativeEndian.AppendUint64(b, acked)
	}
	b := slices.Concat(message(20, 6, answer(unix.AF_INET, "10.0.0.9", "10.0.0.8", 1, 1)), // of another request
		message(20, 7, answer(unix.AF_INET, "10.0.0.1", "10.0.2.3", 0x1122334455667788, 1<<40+5)),
		message(20, 7, answer(unix.AF_INET6, "fd00::1", "::ffff:10.1.2.3", 8, 7)),
		message(20, 7, answer(unix.AF_INET, "10.0.0.1", "10.0.0.2", 3, 4)[:72]), // without counts
		message(unix.NLMSG_DONE, 7, make([]byte, 4)))
	var got []tcpConn
	done, err := readConns(b, 7, func(c tcpConn) { got = append(got, c) })
	want := []tcpConn{
		{netip.MustParseAddrPort("10.0.0.1:4660"), netip.MustParseAddrPort("10.0.2.3:43981"), 0x1122334455667788, 1<<40 + 5},
		{netip.MustParseAddrPort("[fd00::1]:4660"), netip.MustParseAddrPort("10.1.2.3:43981"), 8, 7},
	}
	if !done || err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v, %v\nwant %+v", got, done, err, want)
	}
}

// here is the network of hosts that are all in the namespace of the test.
type here struct{ Network }

func (here) InHost(_ southbound.HostID, do func() error) error { return do() }

func FuzzReadConns(f *testing.F) {
	f.Add([]byte{}, uint32(0))
	f.Add([]byte{20, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff}, uint32(1))
	answer := make([]byte, 16+72+4+240)
	answer[0], answer[1], answer[4], answer[8], answer[16] = 0x4c, 1, 18, 1, 2
	answer[16+72], answer[16+72+2] = 244, infoAttr
	f.Add(answer, uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, seq uint32) {
		n := 0
		_, err := readConns(b, seq, func(tcpConn) { n++ })
		if n*(16+answerSize+4+ackedAt+8) > len(b) {
			t.Fatalf("%d connections in %d bytes (%v)", n, len(b), err)
		}
	})
}
