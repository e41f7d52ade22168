package dptest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/emulator/dataplane/voq"
	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/southbound"
	"lightloom/southbound/noise"
)

// Probe is a stream of UDP packets through a circuit that goes dark meanwhile.
type Probe struct {
	Every   time.Duration // between two packets
	Bytes   int           // of payload
	Dark    time.Duration
	Darks   int           // how often it goes dark
	Between time.Duration // light between two darks
}

// Probed is the outcome of a probe.
type Probed struct {
	Sent, Arrived, Reordered, Twice int
	Most                            time.Duration // the longest that a packet was on its way
	Queued                          voq.Count
}

// String is one line with the figures.
func (p *Probed) String() string {
	return fmt.Sprintf("%d sent, %d arrived, %d out of order, %d twice; %d were queued, %d dropped, %d bytes waited at "+
		"most; %v on the way at most",
		p.Sent, p.Arrived, p.Reordered, p.Twice, p.Queued.Packets, p.Queued.Dropped, p.Queued.Most,
		p.Most.Round(time.Microsecond))
}

// KernelVOQs sends a probe over a circuit that goes dark for several times, through a dataplane that
// queues packets meanwhile. Within the queues' limit no packet must be lost or reordered; beyond it,
// missing packets must count as dropped.
func KernelVOQs(t *testing.T, needs ...string) {
	netnstest.Need(t, needs...)
	netnstest.Lock(t)
	for _, c := range []struct {
		name  string
		limit int
		probe Probe
		loss  bool
	}{
		{"10 ms", 1 << 20, Probe{Every: 100 * time.Microsecond, Bytes: 1000,
			Dark: 10 * time.Millisecond, Darks: 10,
			Between: 20 * time.Millisecond}, false},
		{"100 ms", 4 << 20, Probe{Every: 100 * time.Microsecond, Bytes: 1000,
			Dark: 100 * time.Millisecond, Darks: 3,
			Between: 50 * time.Millisecond}, false},
		// 1,042 bytes every 0.1 ms for 100 ms are 1 MB, which 128 KiB do not hold.
		{"beyond the limit", netns.MinVOQBytes, Probe{Every: 100 * time.Microsecond, Bytes: 1000,
			Dark: 100 * time.Millisecond, Darks: 2, Between: 50 * time.Millisecond}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			net := Real(t, "hybrid:racks=3,hosts=1,spines=1,nic=1Gbps,eps=100Mbps,ocs=1Gbps",
				netns.Options{Dataplane: netns.EBPF, VOQBytes: c.limit})
			if err := Program(net); err != nil {
				t.Fatal(err)
			}
			noise.Measure(t, 10, func() error {
				got, err := net.probe(c.probe)
				if err != nil {
					t.Fatal(err)
				}
				t.Log(got)
				lost := got.Sent - got.Arrived
				switch {
				case got.Reordered != 0 || got.Twice != 0:
					t.Errorf("%d packets changed places, and %d came twice", got.Reordered, got.Twice)
				case got.Queued.Bytes != 0:
					t.Errorf("%d packets were queued, and %d bytes wait still", got.Queued.Packets, got.Queued.Bytes)
				case lost != int(got.Queued.Dropped):
					t.Errorf("%d packets were lost, and %d counted as dropped", lost, got.Queued.Dropped)
				case got.Queued.Most > int64(c.limit):
					t.Errorf("%d bytes have waited, and the queue holds %d", got.Queued.Most, c.limit)
				case got.Queued.Packets == 0 || c.loss != (lost > 0): // a busy machine can make a dark time longer
					return fmt.Errorf("%d packets were queued and %d lost, want some: %v",
						got.Queued.Packets, lost, c.loss)
				}
				return nil
			})
		})
	}
}

// probe runs a probe from the host of rack 0 to that of rack 1.
func (p *Packets) probe(o Probe) (*Probed, error) {
	const src, dst = southbound.HostID(0), southbound.HostID(1)
	if err := errors.Join(setTag(p.conns[src], southbound.TagCircuit),
		p.conns[dst].SetReadBuffer(8<<20)); err != nil {
		return nil, err
	}
	f := p.Spec()
	tor, ocs, uplink := p.Plane(f.ToRNode[0]), p.Plane(f.OCSNode), southbound.Port(f.OCSUplink[0])
	circuit := []southbound.CrossConnect{{In: 0, Out: 1}}
	before := p.fabric.Queued()[0][1]
	out := &Probed{}
	done := make(chan struct{})
	var g errgroup.Group
	g.Go(func() error {
		defer close(done)
		for range o.Darks {
			p.Pass(o.Between)
			// As a device does it: the sending switch gets the first and the last call.
			if err := errors.Join(tor.SetLight(uplink, false),
				ocs.Move([]southbound.Port{0}, circuit, o.Dark)); err != nil {
				return err
			}
			p.Pass(o.Dark + time.Millisecond)
			if err := tor.SetLight(uplink, true); err != nil {
				return err
			}
		}
		p.Pass(o.Between)
		return nil
	})
	g.Go(func() (err error) {
		out.Sent, err = p.pace(src, dst, o, done)
		return err
	})
	g.Go(func() error { return p.collect(dst, done, out) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out.Queued = p.fabric.Queued()[0][1]
	out.Queued.Packets -= before.Packets
	out.Queued.Dropped -= before.Dropped
	return out, nil
}

// pace sends numbered packets with the time in them until done. It does not shorten the gap after a
// late packet.
func (p *Packets) pace(src, dst southbound.HostID, o Probe, done <-chan struct{}) (sent int, err error) {
	b := make([]byte, max(o.Bytes, 16))
	to := netip.AddrPortFrom(p.fabric.Addr(dst), udpPort)
	for next := time.Now(); ; {
		select {
		case <-done:
			return sent, nil
		default:
		}
		now := time.Now()
		if now.Before(next) {
			continue
		}
		next = now.Add(o.Every)
		binary.BigEndian.PutUint64(b, uint64(sent))
		binary.BigEndian.PutUint64(b[8:], uint64(now.UnixNano()))
		if _, err := p.conns[src].WriteToUDPAddrPort(b, to); err != nil {
			return sent, err
		}
		sent++
	}
}

// collect receives until done and until nothing has come for a while.
func (p *Packets) collect(dst southbound.HostID, done <-chan struct{}, out *Probed) error {
	b := make([]byte, 2048)
	highest, seen := int64(-1), map[int64]bool{}
	for {
		if err := p.conns[dst].SetReadDeadline(time.Now().Add(silence / 4)); err != nil {
			return err
		}
		n, _, err := p.conns[dst].ReadFromUDPAddrPort(b)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			select {
			case <-done:
				return nil
			default:
				continue
			}
		case err != nil:
			return err
		case n < 16:
			continue
		}
		seq := int64(binary.BigEndian.Uint64(b))
		switch {
		case seen[seq]:
			out.Twice++
		case seq < highest:
			out.Reordered++
		}
		seen[seq], highest = true, max(highest, seq)
		out.Arrived = len(seen)
		out.Most = max(out.Most, time.Since(time.Unix(0, int64(binary.BigEndian.Uint64(b[8:])))))
	}
}

// KernelVOQsTCP sends a stream through dark times: large segments, whose checksums are not computed
// yet, are queued whole and arrive byte for byte.
func KernelVOQsTCP(t *testing.T, needs ...string) {
	netnstest.Need(t, needs...)
	netnstest.Lock(t)
	p := Real(t, "hybrid:racks=3,hosts=1,spines=1,nic=1Gbps,eps=100Mbps,ocs=1Gbps",
		netns.Options{Dataplane: netns.EBPF, VOQBytes: 8 << 20})
	if err := Program(p); err != nil {
		t.Fatal(err)
	}
	f := p.Spec()
	tor, uplink := p.Plane(f.ToRNode[0]), southbound.Port(f.OCSUplink[0])
	const bytes = 16 << 20
	var ln net.Listener
	if err := p.fabric.InHost(1, func() (err error) {
		ln, err = net.Listen("tcp4", p.fabric.Addr(1).String()+":4748")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var conn net.Conn
	if err := p.fabric.InHost(0, func() (err error) {
		conn, err = net.Dial("tcp4", ln.Addr().String())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := setTCPTag(conn.(*net.TCPConn), southbound.TagCircuit); err != nil {
		t.Fatal(err)
	}
	var g errgroup.Group
	g.Go(func() error { return pattern(conn, bytes) })
	g.Go(func() error { return checkPattern(ln, bytes) })
	ended := make(chan error, 1)
	go func() { ended <- g.Wait() }()
	for n := 0; ; n++ {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			c := p.fabric.Queued()[0][1]
			t.Logf("%d times dark: %+v", n, c)
			if c.Packets <= c.Frames || c.Dropped > 0 {
				t.Errorf("no large segment was queued, or one dropped: %+v", c)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
		set(t, tor.SetLight(uplink, false))
		p.Pass(10 * time.Millisecond)
		set(t, tor.SetLight(uplink, true))
	}
}

func setTCPTag(c *net.TCPConn, tag southbound.Tag) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	return setTOS(raw, tag)
}

// pattern writes bytes that tell their place.
func pattern(c net.Conn, n int) error {
	b := make([]byte, 1<<16)
	for at := 0; at < n; at += len(b) {
		for i := range b {
			b[i] = byte((at + i) * 31 >> 8)
		}
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func checkPattern(ln net.Listener, n int) error {
	c, err := ln.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return err
	}
	b := make([]byte, 1<<16)
	for at := 0; at < n; {
		k, err := c.Read(b)
		if err != nil {
			return fmt.Errorf("after %d bytes: %w", at, err)
		}
		for i := range k {
			if b[i] != byte((at+i)*31>>8) {
				return fmt.Errorf("byte %d is wrong", at+i)
			}
		}
		at += k
	}
	return nil
}

// KernelVOQsRules queues packets and takes their circuit's rule away: they go where packets of that tag
// go then, in their order, and the racks do not stand in each other's way.
func KernelVOQsRules(t *testing.T, needs ...string) {
	netnstest.Need(t, needs...)
	netnstest.Lock(t)
	p := Real(t, "hybrid:racks=3,hosts=1,spines=1,nic=1Gbps,eps=100Mbps,ocs=1Gbps",
		netns.Options{Dataplane: netns.EBPF, VOQBytes: 1 << 20})
	if err := Program(p); err != nil {
		t.Fatal(err)
	}
	f := p.Spec()
	tor, uplink := p.Plane(f.ToRNode[0]), southbound.Port(f.OCSUplink[0])
	second := southbound.Rule{Match: match(2, southbound.TagCircuit), Primary: uplink,
		Backup: southbound.NoPort}
	set(t, tor.SetRules([]southbound.Rule{second}, nil, false))
	set(t, tor.SetLight(uplink, false))
	if err := setTag(p.conns[0], southbound.TagCircuit); err != nil {
		t.Fatal(err)
	}
	p.nonce++
	for i := range uint64(20) {
		if err := errors.Join(p.write(0, 1, i), p.write(0, 2, i)); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(patience)
	for c := p.fabric.Queued()[0]; c[1].Packets < 20 || c[2].Packets < 20; c = p.fabric.Queued()[0] {
		if time.Now().After(deadline) {
			t.Fatalf("were not parked: %+v", c)
		}
		p.Pass(time.Millisecond)
	}
	if leaked := arrivals(t, p, 1, 20*time.Millisecond); len(leaked) > 0 {
		t.Errorf("packets %v have left in the dark", leaked)
	}
	set(t, tor.SetRules(nil, []southbound.Match{match(1, southbound.TagCircuit)}, false))
	var got []uint64
	for late := time.Now().Add(patience); len(got) < 20 && time.Now().Before(late); {
		got = append(got, arrivals(t, p, 1, 20*time.Millisecond)...)
	}
	if got = append(got, arrivals(t, p, 1, 20*time.Millisecond)...); !slices.IsSorted(got) || len(got) != 20 {
		t.Errorf("%v have come over packets, want 20 in their order", got)
	}
	if c := p.fabric.Queued()[0]; c[1].Bytes != 0 || c[2].Bytes == 0 {
		t.Errorf("of rack 1 %d bytes wait, of rack 2 %d: want none and some", c[1].Bytes, c[2].Bytes)
	}
}

// arrivals returns the numbers of what arrives at a host until nothing has come for so long.
func arrivals(t *testing.T, p *Packets, h southbound.HostID, wait time.Duration) (seqs []uint64) {
	t.Helper()
	for {
		seq, ok, err := p.read(h, wait)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return seqs
		}
		seqs = append(seqs, seq)
	}
}
