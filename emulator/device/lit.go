package device

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/southbound"
)

// LitInterval is a stretch [From, To) in which light passed from an input to an output. To is
// southbound.Never while it still does.
type LitInterval struct {
	In, Out  southbound.Port
	From, To time.Duration
	Took     Took
}

// Took is how long the stages of a circuit took until it was lit and reported: the change was applied,
// mirrors moved, the receiver locked. It is not Known for light reported by another process.
type Took struct {
	Known             bool
	Apply, Dark, Lock time.Duration
}

// litLog keeps the last ended intervals.
type litLog struct {
	size    int
	ended   []LitInterval // a ring once it is full
	oldest  int
	dropped uint64
}

// add returns where the next interval is to be written.
func (l *litLog) add() *LitInterval {
	if len(l.ended) < l.size {
		l.ended = append(l.ended, LitInterval{})
		return &l.ended[len(l.ended)-1]
	}
	i := &l.ended[l.oldest]
	l.oldest = (l.oldest + 1) % l.size
	l.dropped++
	return i
}

// Log returns the intervals of light so far, sorted by (From, In): the last Config.LogSize that ended,
// and those that go on. It is what the device did, whatever it reported.
func (d *Device) Log() []LitInterval {
	out := slices.Clone(d.xbar.log.ended)
	for _, c := range d.xbar.all() {
		if c.made && c.litFrom <= d.now {
			out = append(out, LitInterval{c.in, c.out, c.litFrom, southbound.Never, c.took})
		}
	}
	slices.SortFunc(out, func(a, b LitInterval) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.In, b.In), cmp.Compare(a.To, b.To))
	})
	return out
}

// LogDropped returns how many of the oldest intervals Log no longer holds.
func (d *Device) LogDropped() uint64 { return d.xbar.log.dropped }

// CheckLit reports whether any input or output was lit twice at one time.
func CheckLit(log []LitInterval) error {
	if err := checkLit(log, "input", func(i LitInterval) southbound.Port { return i.In }); err != nil {
		return err
	}
	return checkLit(log, "output", func(i LitInterval) southbound.Port { return i.Out })
}

func checkLit(log []LitInterval, what string, port func(LitInterval) southbound.Port) error {
	byPort := slices.Clone(log)
	slices.SortFunc(byPort, func(a, b LitInterval) int {
		return cmp.Or(cmp.Compare(port(a), port(b)), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	for i := 1; i < len(byPort); i++ {
		if a, b := byPort[i-1], byPort[i]; port(a) == port(b) && b.From < a.To {
			return fmt.Errorf("check light: %s %d was lit twice: by %d→%d from %v to %v and by %d→%d from %v",
				what, port(a), a.In, a.Out, a.From, a.To, b.In, b.Out, b.From)
		}
	}
	return nil
}
