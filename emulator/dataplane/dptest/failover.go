package dptest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lightloom/emulator/netns"
	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/frameprobe"
)

// Failover is what packets say of a number of cables that were cut where the switch had a backup for
// its port.
type Failover struct {
	Since     []time.Duration // by cut, ascending: from the cut to the first packet by the backup
	Gap       []time.Duration // by cut, ascending: from the last packet by the port to the first by the backup
	Lost      int             // probes that came by neither, in all
	Probe     time.Duration   // median time between two probes
	Disturbed int             // cuts that were repeated, because the prober itself was kept from its processor
}

// Share returns the one of ascending durations that a share of them does not exceed.
func Share(d []time.Duration, share float64) time.Duration {
	return d[min(max(int(share*float64(len(d))+0.999999)-1, 0), len(d)-1)]
}

// String is one line with the figures.
func (f *Failover) String() string {
	p := func(d []time.Duration) string {
		return fmt.Sprintf("p50 %v, p90 %v, p99 %v, max %v", Share(d, .5), Share(d, .9),
			Share(d, .99), Share(d, 1))
	}
	return fmt.Sprintf("from the cut to the first packet by the backup %s; without packets %s; %.1f of the probes lost "+
		"a cut, one every %v; %d cuts, %d repeated",
		p(f.Since), p(f.Gap), float64(f.Lost)/float64(len(f.Since)), f.Probe, len(f.Since), f.Disturbed)
}

// noticeWithin bounds how long after a cut packets may be missing.
const noticeWithin = 2 * time.Second

// CutCables cuts and mends the cable from ToR 0 to the first spine of a leaf-spine that Program has
// programmed, cuts times, while probes go from host 0 to the next rack. CutCables reports each cut to
// the switch as its own port would; with notice, the kernel does, which notices that the other end of
// the cable has gone down.
func CutCables(f *netns.Fabric, cuts int, notice bool) (*Failover, error) {
	c, err := newCutter(f, notice)
	if err != nil {
		return nil, fmt.Errorf("measure failover: %w", err)
	}
	defer c.close()
	out := &Failover{}
	var gaps []time.Duration
	for len(out.Since) < cuts {
		m, err := c.cut()
		if err != nil {
			return nil, fmt.Errorf("measure failover: %w", err)
		}
		gaps = append(gaps, m.probe)
		if m.disturbed {
			if out.Disturbed++; out.Disturbed > patienceFactor*cuts {
				return nil, fmt.Errorf("measure failover: %d of %d cuts are unreadable: %w", out.Disturbed,
					out.Disturbed+
						len(out.Since), ErrBusy)
			}
			continue
		}
		out.Since, out.Gap, out.Lost = append(out.Since, m.since), append(out.Gap, m.gap), out.Lost+m.lost
	}
	slices.Sort(out.Since)
	slices.Sort(out.Gap)
	slices.Sort(gaps)
	out.Probe = gaps[len(gaps)/2]
	return out, nil
}

// cutter cuts one cable.
type cutter struct {
	f      *netns.Fabric
	notice bool
	cable  pathmap.LinkID     // from the spine to the ToR
	ends   [2]end             // the ToR's, and the spine's
	in     *frameprobe.Tap    // at host 0
	outs   [2]*frameprobe.Tap // where the far ToR receives from the two spines
	sent   []time.Time

	proberCPU, cutterCPU int
}

// end is one end of the cable.
type end struct {
	device southbound.DeviceID
	port   southbound.Port
}

func newCutter(f *netns.Fabric, notice bool) (c *cutter, err error) {
	s := f.Spec()
	t := s.Topology
	c = &cutter{f: f, notice: notice}
	if c.proberCPU, c.cutterCPU, err = frameprobe.Processors(); err != nil {
		return nil, err
	}
	up := t.OutPort(s.ToRNode[0], int32(s.HostsPerRack))
	link := t.Link(up)
	c.cable = pathmap.Reverse(up)
	c.ends = [2]end{{link.From, southbound.Port(link.FromPort)}, {link.To, southbound.Port(link.ToPort)}}
	src, dst := southbound.HostID(0), southbound.HostID(s.HostsPerRack)
	err = f.InHost(src, func() (err error) {
		nic, err := netlink.LinkByName("eth0")
		if err != nil {
			return err
		}
		c.in, err = frameprobe.OpenRouted(nic.Attrs().Index, f.Addr(src), f.Addr(dst), southbound.TagDefault)
		return err
	})
	for i, spine := range []int{0, s.Spec.Spines - 1} {
		if err != nil {
			break
		}
		var at int
		if at, err = f.Interface(s.ToRNode[1], southbound.Port(s.HostsPerRack+spine)); err == nil {
			c.outs[i], err = frameprobe.OpenRouted(at, f.Addr(src), f.Addr(dst), southbound.TagDefault)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *cutter) close() error {
	var errs []error
	for _, t := range []*frameprobe.Tap{c.in, c.outs[0], c.outs[1]} {
		if t != nil {
			errs = append(errs, t.Close())
		}
	}
	return errors.Join(errs...)
}

// failed is what one cut looked like.
type failed struct {
	since, gap, probe time.Duration
	lost              int
	disturbed         bool
}

// cut probes while another goroutine cuts the cable, and mends it.
func (c *cutter) cut() (failed, error) {
	if err := c.returned(); err != nil {
		return failed{}, err
	}
	var called time.Time
	var until atomic.Int64
	ended := frameprobe.Pinned(c.cutterCPU, func() error {
		<-time.After(lead)
		called = time.Now()
		err := c.sever()
		until.Store(time.Now().Add(tail).UnixNano())
		return err
	})
	probed := frameprobe.Pinned(c.proberCPU, func() (err error) {
		c.sent, err = frameprobe.Send(c.in, c.sent, frameprobe.Every, &until)
		return err
	})
	if err := errors.Join(<-probed, <-ended); err != nil {
		return failed{}, err
	}
	old, err := c.outs[0].Drain()
	if err != nil {
		return failed{}, err
	}
	fresh, err := c.outs[1].Drain()
	if err != nil {
		return failed{}, err
	}
	out := failed{probe: frameprobe.Gap(c.sent), disturbed: true}
	if len(old) > 0 && len(fresh) > 0 {
		last, first := old[len(old)-1], fresh[0]
		out.since, out.gap, out.lost = first.At.Sub(called), first.At.Sub(last.At), int(first.Seq)-int(last.Seq)-1
		out.disturbed = frameprobe.Held(c.sent, last.Seq+1) || frameprobe.Held(c.sent, first.Seq)
	}
	return out, c.mend()
}

// sever cuts the cable and returns once both ends know.
func (c *cutter) sever() error {
	if !c.notice {
		return errors.Join(c.light(0, false), c.light(1, false), c.f.Cut(c.cable, false))
	}
	index, err := c.f.Interface(c.ends[0].device, c.ends[0].port)
	if err != nil {
		return err
	}
	updates, done := make(chan netlink.LinkUpdate, 64), make(chan struct{})
	defer close(done)
	if err := netlink.LinkSubscribe(updates, done); err != nil {
		return err
	}
	severed := make(chan error, 1)
	go func() { severed <- c.f.Cut(c.cable, false) }()
	timeout := time.NewTimer(noticeWithin)
	defer timeout.Stop()
	for {
		select {
		case u := <-updates:
			if int(u.Index) == index && u.Flags&unix.IFF_RUNNING == 0 {
				return errors.Join(c.light(0, false), c.light(1, false), <-severed)
			}
		case <-timeout.C:
			return errors.Join(fmt.Errorf("the kernel has not noticed the cut in %v", noticeWithin), <-severed)
		}
	}
}

func (c *cutter) light(i int, lit bool) error {
	return c.f.Plane(c.ends[i].device).SetLight(c.ends[i].port, lit)
}

func (c *cutter) mend() error {
	return errors.Join(c.f.Cut(c.cable, true), c.light(0, true), c.light(1, true))
}

// returned waits until probes come by the port again.
func (c *cutter) returned() error {
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if err := c.in.Send(0); err != nil {
			return err
		}
		old, err := c.outs[0].Drain()
		if err != nil {
			return err
		}
		if len(old) > 0 {
			_, err := c.outs[1].Drain()
			return err
		}
	}
	return errors.New("no probe comes by a cable that is whole")
}
