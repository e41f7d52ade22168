package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// coldBoot is how long a switch takes to come back once it has power again, on every fabric of ours.
const coldBoot = 500 * time.Millisecond

// readFaults reads the file of faults, whose instants are divided as arrivals are.
func (s *setup) readFaults() error {
	if s.opt.Faults == "" {
		return nil
	}
	f, err := os.Open(s.opt.Faults)
	if err != nil {
		return fmt.Errorf("read faults: %w", err)
	}
	defer f.Close()
	s.faults, err = fault.Read(s.opt.Faults, f, fault.NewNames(s.fabric, s.opt.Replicas))
	if err != nil {
		return &insideError{err.Error(), nearest(err)}
	}
	for i := range s.faults {
		s.faults[i].At = time.Duration(float64(s.faults[i].At) / s.opt.Speedup)
	}
	return nil
}

// nearest is the hint of an error that has one.
func nearest(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return "lightloom replay -h says what a file of faults is"
}

// breakdown keeps what has failed of a running fabric, and when. It touches nothing.
type breakdown struct {
	names  *fault.Names
	damage *fault.Damage
	spans  []faultSpan
	tables []time.Duration // when rules for packets became effective; ascending
	levels []level         // what had been received
}

// faultSpan is a fault from its beginning to its end.
type faultSpan struct {
	fault.Fault
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"` // state.Unset while it lasts
	// Settled is when the last table of a packet switch that was changed for it became effective; state.Unset where none
	// was. Healed is the same for its end.
	Settled time.Duration `json:"settled_ns"`
	Healed  time.Duration `json:"healed_ns"`
}

// level is how many bytes of payload had been received at an instant.
type level struct {
	At    time.Duration `json:"at_ns"`
	Bytes pathmap.Bytes `json:"bytes"`
}

func newBreakdown(n *fault.Names) *breakdown { return &breakdown{names: n, damage: fault.NewDamage(n)} }

// strike applies an event to the books and returns what is to be done.
func (b *breakdown) strike(e fault.Event, now time.Duration) ([]fault.Change, bool, error) {
	changes, changed, err := b.damage.Strike(e)
	if !changed || err != nil {
		return nil, false, err
	}
	if !e.Heal {
		b.spans = append(b.spans, faultSpan{Fault: e.Fault, From: now, To: state.Unset, Settled: state.Unset, Healed: state.Unset})
		return changes, true, nil
	}
	for i := len(b.spans) - 1; i >= 0; i-- {
		if s := &b.spans[i]; s.To == state.Unset && b.names.Same(s.Fault, e.Fault) {
			s.To = now
			break
		}
	}
	return changes, true, nil
}

// applied notes that rules have become effective, unless they are a circuit's alone.
func (b *breakdown) applied(now time.Duration, a device.Applied) {
	circuit := func(t southbound.Tag) bool { return t == southbound.TagCircuit }
	if !a.Replace && !slices.ContainsFunc(a.Set, func(r southbound.Rule) bool { return !circuit(r.Tag) }) &&
		!slices.ContainsFunc(a.Drop, func(m southbound.Match) bool { return !circuit(m.Tag) }) {
		return
	}
	b.tables = append(b.tables, now)
}

// reaction is how long after an event the controller's answer to it may come.
const reaction = 2 * time.Second

// settle finds when tables had been changed for each fault: the last change before the next event, and not long after.
func (b *breakdown) settle() []faultSpan {
	var events []time.Duration
	for _, s := range b.spans {
		events = append(events, s.From, s.To)
	}
	slices.Sort(events)
	last := func(from time.Duration) time.Duration {
		end := from + reaction
		for _, e := range events {
			if e > from {
				end = min(end, e)
				break
			}
		}
		at := state.Unset
		for _, t := range b.tables {
			if t >= from && t < end {
				at = t
			}
		}
		return at
	}
	for i := range b.spans {
		s := &b.spans[i]
		if s.Settled = last(s.From); s.To != state.Unset {
			s.Healed = last(s.To)
		}
	}
	return b.spans
}

// intervals are the faults as the report shows them.
func intervals(spans []faultSpan, end time.Duration) []report.FaultInterval {
	var out []report.FaultInterval
	for _, s := range spans {
		f := report.FaultInterval{Kind: s.Kind.String(), Name: s.Name, From: s.From, To: s.To, Lasts: s.To == state.Unset}
		if f.Lasts {
			f.To = max(end, s.From)
		}
		if s.Settled != state.Unset {
			f.Rerouted, f.WasRerouted = s.Settled-s.From, true
		}
		if s.Healed != state.Unset {
			f.Restored, f.WasRestored = s.Healed-s.To, true
		}
		out = append(out, f)
	}
	return out
}

// drawnLevels is how many intervals a timeline of received bytes has at most.
const drawnLevels = 240

// received thins levels out to at most so many, evenly over time, and returns what came in between.
func received(levels []level, most int) []report.Received {
	if len(levels) < 2 {
		return nil
	}
	first, last := levels[0], levels[len(levels)-1]
	step := max((last.At-first.At)/time.Duration(most), 1)
	var out []report.Received
	was := first
	for _, l := range levels[1:] {
		if l.At-was.At < step && l != last || l.At == was.At {
			continue
		}
		out = append(out, report.Received{From: was.At, To: l.At, Bytes: l.Bytes - was.Bytes})
		was = l
	}
	return out
}
