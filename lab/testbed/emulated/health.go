package emulated

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/emulator/netns"
	"lightloom/lab/report"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// A run on packets measures how far its own times are off. Before the first job and after the last one
// a host flow whose ideal time is known crosses the packet network; meanwhile a timer says how late
// this machine wakes who sleeps.

const (
	probeCoflowPort = 7473
	probeCoflowTime = 150 * time.Millisecond
	timerEvery      = 5 * time.Millisecond
	waitForProbe    = 5 * time.Second
)

// lateness is how late timers were that a goroutine has waited for.
type lateness struct {
	stop chan struct{}
	done chan []time.Duration
}

func watchTimers(ctx context.Context) *lateness {
	l := &lateness{make(chan struct{}), make(chan []time.Duration, 1)}
	go func() {
		var late []time.Duration
		timer := time.NewTimer(timerEvery)
		defer timer.Stop()
		for due := time.Now().Add(timerEvery); ; {
			select {
			case <-l.stop:
				l.done <- late
				return
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			now := time.Now()
			late = append(late, max(now.Sub(due), 0))
			due = now.Add(timerEvery)
			timer.Reset(timerEvery)
		}
	}()
	return l
}

// end returns the mean and the p99 (nearest rank) of all; the context of watchTimers must last.
func (l *lateness) end() (mean, p99 time.Duration) {
	close(l.stop)
	late := <-l.done
	if len(late) == 0 {
		return 0, 0
	}
	slices.Sort(late)
	for _, d := range late {
		mean += d
	}
	return mean / time.Duration(len(late)), late[(len(late)*99+99)/100-1]
}

// probeCoflow sends bytes between two racks, paced at their line rate, and returns how much longer they
// took than that rate says, as a share. It is sent while the fabric has nothing else to carry.
func (s *Testbed) probeCoflow(ctx context.Context) (float64, error) {
	dst := southbound.HostID(s.Topo.Hosts() - 1)
	line := pathmap.BitsPerSecond(1) << 62
	for _, l := range s.Topo.Topology.Links() {
		if r := s.Topo.Topology.Node(l.To).Role; r != pathmap.OCS &&
			s.Topo.Topology.Node(l.From).Role != pathmap.OCS {
			line = min(line, l.Capacity)
		}
	}
	payload := float64(line) / 8 * 1448 / 1514
	size := int64(payload * probeCoflowTime.Seconds())
	took, err := s.probeOnce(ctx, 0, dst, size, payload)
	if err != nil {
		return 0, fmt.Errorf("send the probe coflow: %w", err)
	}
	return took.Seconds()/(float64(size)/payload) - 1, nil
}

func (s *Testbed) probeOnce(ctx context.Context, src, dst southbound.HostID, size int64,
	rate float64) (took time.Duration, err error) {
	at := netip.AddrPortFrom(s.Packets.Net.Addr(dst), probeCoflowPort)
	var ln *net.TCPListener
	if err := s.Packets.Net.InHost(dst, func() (err error) {
		ln, err = net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(at))
		return err
	}); err != nil {
		return 0, err
	}
	defer ln.Close()
	var out *net.TCPConn
	if err := s.Packets.Net.InHost(src, func() (err error) {
		out, err = net.DialTCP("tcp4", nil, net.TCPAddrFromAddrPort(at)) // the listener's backlog answers
		return err
	}); err != nil {
		return 0, err
	}
	defer out.Close()
	in, err := ln.AcceptTCP()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	defer context.AfterFunc(ctx, func() { in.Close() })()
	deadline := time.Now().Add(waitForProbe)
	if err := errors.Join(in.SetDeadline(deadline), out.SetDeadline(deadline), pace(out, rate)); err != nil {
		return 0, err
	}
	began := time.Now()
	sent := make(chan error, 1)
	go func() {
		_, err := out.Write(make([]byte, size))
		sent <- err
	}()
	_, err = io.CopyN(io.Discard, in, size)
	took = time.Since(began)
	return took, errors.Join(err, <-sent)
}

// pace bounds a connection's payload bytes a second.
func pace(c *net.TCPConn, rate float64) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	ctlErr := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, uint64(rate))
	})
	return errors.Join(ctlErr, err)
}

// health is what a run has measured of its own error; nil where the probe could not be sent.
func (s *Testbed) health(ctx context.Context) *report.Health {
	mean, p99 := s.run.timers.end()
	after, err := s.probeCoflow(ctx)
	if err != nil || s.run.probed == nil {
		return nil
	}
	return &report.Health{Probe: max(*s.run.probed, after, 0), TimerMean: mean.Seconds(),
		TimerP99: p99.Seconds(),
		Realtime: netns.Realtime()}
}
