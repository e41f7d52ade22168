package ebpf

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/emulator/dataplane"
	"lightloom/southbound"
)

// circuit is the memory of one OCS. Its caller holds the plane's lock.
type circuit struct {
	p      *Plane
	at     opticalLayout
	bar    dataplane.Crossbar
	offset int64 // what this process's monotonic clock is ahead of the kernel's
}

func newCircuit(p *Plane, l opticalLayout) (*circuit, error) {
	c := &circuit{p: p, at: l, bar: dataplane.NewCrossbar(l.ports), offset: clockOffset()}
	for in, link := range p.Switch.Ports {
		if link != 0 {
			p.mem.u32(l.inputs + 4*link).Store(code(southbound.Port(in)))
		}
	}
	_, err := c.now()
	return c, err
}

// Move takes the output away from every moved input, then reads the clock, then writes when each is lit
// and, last, where it leads. A packet of the old circuit is before the clock's reading and one of the
// new circuit dark after it, so no dark time is ever short, whenever this thread is interrupted.
func (c *circuit) Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error {
	next, gone, made, err := c.bar.Move(off, on)
	if err != nil {
		return err
	}
	c.bar = next
	for _, in := range gone {
		c.p.mem.u64(c.at.output(in)).Store(0)
	}
	now, err := c.now()
	if err != nil {
		return err
	}
	lit := uint64(now) + uint64(max(dark, 0))
	for _, x := range made {
		c.p.mem.u64(c.at.litAfter(x.In)).Store(lit)
		c.p.mem.u64(c.at.output(x.In)).Store(uint64(c.p.Switch.Ports[x.Out]))
	}
	return nil
}

// now reads the clock that bpf_ktime_get_ns reads.
func (c *circuit) now() (int64, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, fmt.Errorf("read monotonic clock: %w", err)
	}
	return ts.Nano() - c.offset, nil
}

// clockOffset is what a time namespace adds to this process's monotonic clock; the kernel's own has no
// such thing.
func clockOffset() int64 {
	b, err := os.ReadFile("/proc/self/timens_offsets")
	if err != nil {
		return 0 // no time namespaces in this kernel
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "monotonic" {
			continue
		}
		s, err1 := strconv.ParseInt(f[1], 10, 64)
		ns, err2 := strconv.ParseInt(f[2], 10, 64)
		if err1 == nil && err2 == nil {
			return s*1e9 + ns
		}
	}
	return 0
}
