package frameprobe

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/southbound"
)

// Bench is interfaces of this machine at ports of an optical switch: a frame that is sent at one enters the switch at
// its port. It is used by one goroutine at a time.
type Bench struct {
	taps    map[southbound.Port]*Tap
	own     int // processors: of the prober, and of what it watches
	another int
}

// OpenBench opens interfaces, by port. It needs CAP_NET_RAW.
func OpenBench(links map[southbound.Port]int) (b *Bench, err error) {
	b = &Bench{taps: map[southbound.Port]*Tap{}}
	if b.own, b.another, err = Processors(); err != nil {
		return nil, err
	}
	for _, p := range slices.Sorted(maps.Keys(links)) {
		t, err := Open(links[p])
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open port %d: %w", p, err), b.Close())
		}
		b.taps[p] = t
	}
	return b, nil
}

// Close closes the interfaces.
func (b *Bench) Close() error {
	var errs []error
	for _, t := range b.taps {
		errs = append(errs, t.Close())
	}
	return errors.Join(errs...)
}

// Ports returns the ports with an interface, sorted.
func (b *Bench) Ports() []southbound.Port { return slices.Sorted(maps.Keys(b.taps)) }

// Watched is what frames say of a while.
type Watched struct {
	Sent    []time.Time // by the frame's number
	Arrived map[southbound.Port][]Arrival
	// Overrun means that frames arrived and found no room in this machine: a frame that is missing was perhaps not lost.
	Overrun bool
}

// Watch sends frames into a port while during runs and tail longer, and returns what has arrived at each port. It takes
// both of the processors that it uses: what waits for something should do so without turning.
func (b *Bench) Watch(in southbound.Port, every, tail time.Duration, during func() error) (*Watched, error) {
	for _, t := range b.taps {
		if _, err := t.Drain(); err != nil {
			return nil, err
		}
		if _, err := t.overrun(); err != nil {
			return nil, err
		}
	}
	var until atomic.Int64
	ended := Pinned(b.another, func() error {
		err := during()
		until.Store(time.Now().Add(tail).UnixNano())
		return err
	})
	w := &Watched{Arrived: map[southbound.Port][]Arrival{}}
	probed := Pinned(b.own, func() (err error) {
		w.Sent, err = Send(b.taps[in], nil, every, &until)
		return err
	})
	if err := errors.Join(<-probed, <-ended); err != nil {
		return nil, err
	}
	for p, t := range b.taps {
		all, err := t.Drain()
		if err != nil {
			return nil, err
		}
		if len(all) > 0 {
			w.Arrived[p] = all
		}
		lost, err := t.overrun()
		if err != nil {
			return nil, err
		}
		w.Overrun = w.Overrun || lost
	}
	return w, nil
}

// overrun reports whether frames have found no room since it was asked last.
func (t *Tap) overrun() (bool, error) {
	s, err := unix.GetsockoptTpacketStats(t.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return false, fmt.Errorf("read statistics of packet socket: %w", err)
	}
	return s.Drops > 0, nil
}

// Switched is how a circuit went from one output to another, as frames saw it.
type Switched struct {
	Dark time.Duration // from the last frame of the old output to the first of the new one
	Lost time.Time     // when the frame before that one was sent: until then there was no light
	Gap  time.Duration // between two frames
}

// Switched returns it; false where the machine kept the prober from its processor beside an edge, or delivered what
// arrived there late, so that it says nothing.
func (w *Watched) Switched(from, to southbound.Port) (s Switched, seen bool) {
	old, lit := w.Arrived[from], w.Arrived[to]
	if len(old) == 0 || len(lit) == 0 {
		return Switched{Gap: Gap(w.Sent)}, false
	}
	last, first := old[len(old)-1], lit[0]
	if last.Seq >= first.Seq || int(first.Seq) >= len(w.Sent) {
		return Switched{Gap: Gap(w.Sent)}, false
	}
	late := func(a Arrival) bool { return a.At.Sub(w.Sent[a.Seq]) > held }
	return Switched{first.At.Sub(last.At), w.Sent[first.Seq-1], Gap(w.Sent)},
		!Held(w.Sent, last.Seq+1) && !Held(w.Sent, first.Seq) && !late(last) && !late(first)
}

// Lost returns how many frames were sent and have not arrived at a port.
func (w *Watched) Lost(at southbound.Port) int {
	came := make([]bool, len(w.Sent))
	n := len(w.Sent)
	for _, a := range w.Arrived[at] {
		if int(a.Seq) < len(came) && !came[a.Seq] {
			came[a.Seq] = true
			n--
		}
	}
	return n
}
