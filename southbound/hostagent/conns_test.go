package hostagent

import (
	"io"
	"net"
	"net/netip"
	"testing"
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
