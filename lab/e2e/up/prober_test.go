package up

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/lab/testbed/emulated"
	"lightloom/southbound"
)

// prober sends a stream of small numbered untagged packets from one host to another, and records when
// each arrived.
type prober struct {
	clock func() time.Duration
	out   *net.UDPConn
	in    *net.UDPConn
	stop  chan struct{}
	done  sync.WaitGroup

	mu   sync.Mutex
	came []arrival
	sent []time.Duration // by number
}

type arrival struct {
	at  time.Duration
	seq uint64
}

// probePort is the port of probes. Nothing else uses it.
const probePort = 7472

// newProbe starts to send.
func newProbe(s *emulated.Testbed, src, dst southbound.HostID) (*prober, error) {
	p := &prober{clock: s.Now, stop: make(chan struct{})}
	at := netip.AddrPortFrom(s.Packets.Net.Addr(dst), probePort)
	err := s.Packets.Net.InHost(dst, func() (err error) {
		p.in, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("probe: listen: %w", err)
	}
	err = s.Packets.Net.InHost(src, func() (err error) {
		p.out, err = net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(at))
		return err
	})
	if err != nil {
		p.in.Close()
		return nil, fmt.Errorf("probe: dial: %w", err)
	}
	if raw, err := p.out.SyscallConn(); err == nil { // before host flows in every queue
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TOS,
				int(southbound.TOS(7, southbound.TagDefault)))
		})
	}
	raw, err := p.in.SyscallConn()
	if err == nil { // the time of arrival in the kernel, not of reading
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET,
				unix.SO_TIMESTAMPNS, 1)
		})
	}
	p.done.Go(p.send)
	p.done.Go(p.receive)
	return p, nil
}

// send sends at a fixed interval from a thread of its own, with the highest priority where that is
// allowed, because the runtime's timers are too coarse. The thread ends with the goroutine.
func (p *prober) send() {
	runtime.LockOSThread()
	// Without this priority, held reports delays.
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO,
		Priority: 2}, 0)
	var b [8]byte
	var next unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &next)
	for seq := uint64(0); ; seq++ {
		select {
		case <-p.stop:
			return
		default:
		}
		binary.BigEndian.PutUint64(b[:], seq)
		p.mu.Lock()
		p.sent = append(p.sent, p.clock())
		p.mu.Unlock()
		_, _ = p.out.Write(b[:]) // one that is lost here is lost as any other
		next = unix.NsecToTimespec(next.Nano() + int64(probeEvery))
		for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &next, nil) == unix.EINTR {
		}
	}
}

func (p *prober) receive() {
	var b, oob [64]byte
	for {
		n, oobn, _, _, err := p.in.ReadMsgUDP(b[:], oob[:])
		if err != nil {
			return // closed
		}
		if n != 8 {
			continue
		}
		now := p.clock()
		if late := time.Since(stamped(oob[:oobn])); late > 0 && late < now {
			now -= late
		}
		p.mu.Lock()
		p.came = append(p.came, arrival{now, binary.BigEndian.Uint64(b[:])})
		p.mu.Unlock()
	}
}

// stamped is the kernel's time of arrival among control messages, or the present.
func stamped(oob []byte) time.Time {
	msgs, _ := unix.ParseSocketControlMessage(oob) // none: the socket was not given the option
	for _, m := range msgs {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS && len(m.Data) >= 16 {
			return time.Unix(int64(binary.NativeEndian.Uint64(m.Data)),
				int64(binary.NativeEndian.Uint64(m.Data[8:])))
		}
	}
	return time.Now()
}

// held is the longest time without a probe being sent between two instants, while the prober was kept
// from its processor.
func (p *prober) held(from, to time.Duration) (most time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := 1; i < len(p.sent); i++ {
		if p.sent[i] > from && p.sent[i-1] < to {
			most = max(most, p.sent[i]-p.sent[i-1])
		}
	}
	return most
}

func (p *prober) close() {
	close(p.stop)
	p.in.Close()
	p.done.Wait()
	p.out.Close()
}

func (p *prober) seen() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.came)
}

// since reports whether n probes in a row have arrived after an instant, with none missing between them.
func (p *prober) since(from time.Duration, n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.came) - 1
	return last >= n && p.came[last-n].at > from && p.came[last].seq-p.came[last-n].seq == uint64(n)
}

// outageProbes is how many probes in a row must be missing to count as a failed link; a full queue drops fewer.
const outageProbes = 5

// gap returns the time from an instant to the first probe after a silence, and how many probes were
// lost in it: the first silence, or the longest if all are short. Without a silence it is the time to
// the next probe.
func (p *prober) gap(from time.Duration) (time.Duration, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := slices.IndexFunc(p.came, func(a arrival) bool { return a.at >= from })
	if first < 0 {
		return 0, 0
	}
	best, lost := first, 0
	for i := max(first, 1); i < len(p.came); i++ {
		if d := int(p.came[i].seq-p.came[i-1].seq) - 1; d > lost && lost < outageProbes {
			best, lost = i, d
		}
	}
	return p.came[best].at - from, lost
}
