package emulated

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// readyWithin is how long the controller may take to elect a leader and program the switches without
// any progress; a large fabric gets readyPerSwitch more for each switch. Beside others that take the
// processors it gets busyTimes as long.
const (
	readyWithin    = 20 * time.Second
	readyPerSwitch = 200 * time.Millisecond
	busyTimes      = 4
	mostTimes      = 15 // times readyWithin: then it ends, whatever comes
)

// patience decides how long to wait for switches that are programmed one after the other.
type patience struct {
	within   time.Duration
	left     int // switches without rules when there was progress last
	progress time.Duration
}

func newPatience(switches int) *patience {
	return &patience{within: readyWithin + time.Duration(switches)*readyPerSwitch, left: switches}
}

// over reports whether the wait is over at an instant after its begin, with so many switches left.
func (p *patience) over(now time.Duration, left int, busy bool) bool {
	if left < p.left {
		p.left, p.progress = left, now
	}
	within := p.within
	if busy {
		within *= busyTimes
	}
	return now-p.progress >= within || now >= mostTimes*p.within
}

// load is what a machine has done so far, in seconds of one processor, and what wants to run now.
type load struct {
	used, stolen float64 // by any process; by the machine's host
	running      int     // processes that run or wait for a processor
}

// readLoad reads /proc/stat (proc(5)); all is zero where the kernel does not say.
func readLoad() load {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return load{}
	}
	return parseLoad(string(b))
}

func parseLoad(stat string) (l load) {
	const perSecond = 100 // USER_HZ of every Linux that Go runs on
	for line := range strings.Lines(stat) {
		f := strings.Fields(line)
		switch {
		case len(f) >= 9 && f[0] == "cpu":
			for _, i := range []int{1, 2, 3, 6, 7, 8} { // user, nice, system, irq, softirq, steal
				v, _ := strconv.ParseFloat(f[i], 64)
				if l.used += v / perSecond; i == 8 {
					l.stolen = v / perSecond
				}
			}
		case len(f) == 2 && f[0] == "procs_running":
			l.running, _ = strconv.Atoi(f[1])
		}
	}
	return l
}

// crowding is how busy a machine was over a span, beside or by ourselves.
type crowding struct {
	cores        int
	used, stolen float64 // processors in the mean
	running      int     // the most that wanted to run at once
}

func (l load) since(before load, span time.Duration, running int) crowding {
	s := max(span.Seconds(), 1e-3)
	return crowding{cores: runtime.NumCPU(), used: (l.used - before.used) / s,
		stolen:  (l.stolen - before.stolen) / s,
		running: running}
}

// busy reports whether processes had to wait for a processor: hardly one was idle, or the host kept them.
func (c crowding) busy() bool {
	return c.used > 0.85*float64(c.cores) || c.stolen > 0.15*float64(c.cores)
}

func (c crowding) String() string {
	return fmt.Sprintf("%.1f of %d cores were busy, %.1f of them taken by the hypervisor, and up to %d processes "+
		"wanted to run at once", c.used, c.cores, c.stolen, c.running)
}
